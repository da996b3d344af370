// The verbs in one visible table: parser, help, man pages and completion are made from
// it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/exit_status.h"

namespace dolium::cli {

class Context;

// What an option's value is: how it is checked, and completed in a shell.
enum class ValueKind : uint8_t {
  kFlag,
  kText,
  kFile,
  kNumber,
  kSize,
  kChoice,
  kFormat,
  kPairs,  // one word NAME=VALUE or several
  kFiles,  // one word or several: all up to the next option
  kTexts,  // one word each time it is given
};

struct Option {
  std::string_view letter;  // "j"; empty: none
  std::string_view name;    // "jobs"
  ValueKind kind;
  std::string_view value;    // as help shows it: "<n>"
  std::string_view help;     // defaults in []
  std::string_view choices;  // kChoice: separated by spaces
  // Older names, separated by spaces: they mean the same, and no text shows them.
  std::string_view aliases = {};
  // Of convert: the targets that it is for, separated by spaces; empty: all.
  std::string_view targets = {};
};

struct Verb {
  std::string_view name;  // a word, or two: that of a group and its own
  // After `dolium NAME `. It also says how many arguments there may be.
  std::string_view usage;
  std::string_view outline;      // a few words, for the list of verbs
  std::string_view description;  // what `--help` says
  std::string details;           // what only the man page says; paragraphs
  std::vector<Option> options;
  std::vector<std::string_view> examples;
  ExitStatus (*run)(Context& context);
  std::string_view alias = {};  // an older name, which no text shows
};

// In the order that help lists them.
std::span<const Verb> Verbs();

// By its name or its alias; nullptr if there is none.
const Verb* FindVerb(std::string_view name);

// The words that names go on with after `group`, or begin with if that is empty.
std::vector<std::string_view> WordsAfter(std::string_view group);

// The first words of names that have two.
std::vector<std::string_view> Groups();

// The options of a verb, each name once: convert has some for more than one target.
std::vector<Option> DistinctOptions(const Verb& verb);

// Whether the option is for `target`. An empty target is the source's own format.
bool IsFor(const Option& option, std::string_view target);

// The rows of families, and of convert, which are in files of their own.
std::vector<Verb> VolumeVerbs();
std::vector<Verb> MeshVerbs();
std::vector<Verb> PackVerbs();
std::vector<Verb> CasVerbs();
std::vector<Verb> SkeletonVerbs();
std::vector<Verb> AnnotationVerbs();
std::vector<Verb> PropertyVerbs();
Verb VolumePropertiesVerb();
Verb ConvertVerb();
Verb MeshMakeVerb();
Verb SkeletonMakeVerb();

// "-j, --jobs <n>", "--json".
std::string Signature(const Option& option);

// What stands in front of all verbs.
inline constexpr std::string_view kProgramSummary =
    "One engine for sharded chunk storage: look into sets of shards, check, change and "
    "convert them; make volumes and cut boxes out of them; pack samples into shards; "
    "keep versions of files, each chunk once.";

// A group whose verbs are also a program: `shardpack create` is `dolium pack create`.
inline constexpr std::string_view kPackGroup = "pack";
inline constexpr std::string_view kPackProgram = "shardpack";

ExitStatus RunAnnotationsExport(Context& context);
ExitStatus RunAnnotationsImport(Context& context);
ExitStatus RunAnnotationsLs(Context& context);
ExitStatus RunAnnotationsQuery(Context& context);
ExitStatus RunCasDiff(Context& context);
ExitStatus RunCasExport(Context& context);
ExitStatus RunCasForget(Context& context);
ExitStatus RunCasGc(Context& context);
ExitStatus RunCasGet(Context& context);
ExitStatus RunCasImport(Context& context);
ExitStatus RunCasInit(Context& context);
ExitStatus RunCasLog(Context& context);
ExitStatus RunCasLs(Context& context);
ExitStatus RunCasPut(Context& context);
ExitStatus RunCasReindex(Context& context);
ExitStatus RunCasRm(Context& context);
ExitStatus RunCasStats(Context& context);
ExitStatus RunCasVerify(Context& context);
ExitStatus RunCat(Context& context);
ExitStatus RunCompletion(Context& context);
ExitStatus RunConvert(Context& context);
ExitStatus RunFormats(Context& context);
ExitStatus RunHelp(Context& context);
ExitStatus RunInfo(Context& context);
ExitStatus RunLs(Context& context);
ExitStatus RunMeshExport(Context& context);
ExitStatus RunMeshGet(Context& context);
ExitStatus RunMeshImport(Context& context);
ExitStatus RunMeshLs(Context& context);
ExitStatus RunMeshPreview(Context& context);
ExitStatus RunMeshMake(Context& context);
ExitStatus RunPackCat(Context& context);
ExitStatus RunPackCatalog(Context& context);
ExitStatus RunPackCompact(Context& context);
ExitStatus RunPackCreate(Context& context);
ExitStatus RunPackDiff(Context& context);
ExitStatus RunPackExport(Context& context);
ExitStatus RunPackExtract(Context& context);
ExitStatus RunPackImport(Context& context);
ExitStatus RunPackInfo(Context& context);
ExitStatus RunPackLs(Context& context);
ExitStatus RunPackMerge(Context& context);
ExitStatus RunPackRepair(Context& context);
ExitStatus RunPackReshard(Context& context);
ExitStatus RunPackShuffle(Context& context);
ExitStatus RunPackSort(Context& context);
ExitStatus RunPackSplit(Context& context);
ExitStatus RunPackStats(Context& context);
ExitStatus RunPackSubset(Context& context);
ExitStatus RunPackVerify(Context& context);
ExitStatus RunPackView(Context& context);
ExitStatus RunPropertiesExport(Context& context);
ExitStatus RunPropertiesImport(Context& context);
ExitStatus RunPut(Context& context);
ExitStatus RunReindex(Context& context);
ExitStatus RunRm(Context& context);
ExitStatus RunSkeletonExport(Context& context);
ExitStatus RunSkeletonGet(Context& context);
ExitStatus RunSkeletonImport(Context& context);
ExitStatus RunSkeletonLs(Context& context);
ExitStatus RunSkeletonMake(Context& context);
ExitStatus RunStats(Context& context);
ExitStatus RunTask(Context& context);
ExitStatus RunVerify(Context& context);
ExitStatus RunVolumeCutout(Context& context);
ExitStatus RunVolumeDownsample(Context& context);
ExitStatus RunVolumeDropScale(Context& context);
ExitStatus RunVolumeInfo(Context& context);
ExitStatus RunVolumeIngest(Context& context);
ExitStatus RunVolumePreview(Context& context);
ExitStatus RunVolumeProperties(Context& context);
ExitStatus RunVolumeTranscode(Context& context);

}  // namespace dolium::cli
