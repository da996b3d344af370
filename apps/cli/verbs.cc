#include "cli/verbs.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/verb_options.h"
#include "cli/volume/export_arguments.h"

namespace dolium::cli {
namespace {

constexpr Option kFormat = Value(ValueKind::kFormat, "f", "format", "<name>",
                                 "skip detection; `dolium formats` lists the names");
constexpr Option kSharding = Value(ValueKind::kFile, "", "sharding", "<file>",
                                   "the spec of the set, where no info file tells it");
constexpr Option kXorbs =
    Value(ValueKind::kFile, "", "xorbs", "<folder>",
          "xorbs of a Xet shard [`xorbs` beside its folder, and that]");
constexpr Option kUnfinished =
    Flag("", "unfinished", "read a set whose writing has not ended");
constexpr Option kMemory = Value(ValueKind::kSize, "", "memory", "<size>",
                                 "most to hold before spilling to disk [256MiB]");

// Those of convert: some are for exports alone.
std::vector<Option> WithExportRows(std::vector<Option> options) {
  for (const Option& option : ExportRows()) options.push_back(option);
  for (const Option& option : {
           Value(ValueKind::kNumber, "", "downsample", "<n>",
                 "to a volume: add so many coarser scales, by most frequent label"),
           Choice("layout", "<name>",
                  "to an export: stream, as DVID has it, or seed [stream]",
                  "stream seed"),
           Choice("csv", "<form>",
                  "to an export: the index as documented, or as DVID writes it "
                  "[documented]",
                  "documented dvid"),
           Value(ValueKind::kNumber, "", "shard-side", "<n>",
                 "to an export: voxels along the side of a shard [2048]"),
       }) {
    options.push_back(option);
  }
  return options;
}

std::vector<Verb> MakeVerbs() {
  return {
      {
          .name = "formats",
          .usage = "[options]",
          .outline = "list the formats of this build",
          .description = "List the formats that this build reads and writes.",
          .details = "",
          .options = {kJson},
          .examples = {"dolium formats"},
          .least_arguments = 0,
          .most_arguments = 0,
          .run = RunFormats,
      },
      {
          .name = "info",
          .usage = "[options] <location>",
          .outline = "what a location holds",
          .description =
              "Tell what a location holds: format, parameters, whether it is finished.",
          .details = "Reads what describes the set, not its entries; `dolium stats` "
                     "counts those. "
                     "The number of objects is told where the store can list them. "
                     "A location is a set of any format, a volume or a cas store.\n"
                     "`-` is an MDB shard of Xet or a ShardPack shard on standard input, "
                     "read as it comes.",
          .options = {kFormat, kSharding, kCoordinates, kSalvage, kJson},
          .examples = {"dolium info seg/s0", "dolium info --json https://host/seg/s0"},
          .least_arguments = 1,
          .most_arguments = 1,
          .run = RunInfo,
      },
      {
          .name = "ls",
          .usage = "[options] <location>",
          .outline = "list entries",
          .description = "List the keys of all entries, one per line, in storage order.",
          .details =
              "Keys of a volume are `PART/KEY`: a scale, or what its info names as mesh, "
              "skeletons or segment properties, and the key there. Keys of a cas store "
              "are `NAME@N/path`.\n"
              "Parts of the index that cannot be read are reported on standard error, "
              "and "
              "the listing goes on behind them; the exit status is then 1.\n"
              "With --json, each entry has `key`, `size` (decoded bytes, null where the "
              "index does not know), `stored_size`, `object`, `offset`, and `preceding` "
              "where bytes before the entry belong to it.\n"
              "`-` is an MDB shard of Xet or a ShardPack shard on standard input; its "
              "files are listed as they come, with `key` and `size`.",
          .options = {Flag("l", "long",
                           "a table: key, size, stored size, object, offset"),
                      kFormat, kSharding, kXorbs, kUnfinished, kCoordinates, kSalvage,
                      kJson},
          .examples =
              {"dolium ls seg/s0/1f.shard",
               "dolium ls --json seg/s0 | jq 'select(.stored_size > 1000000).key'"},
          .least_arguments = 1,
          .most_arguments = 1,
          .run = RunLs,
      },
      {
          .name = "cat",
          .usage = "[options] <location> <key>",
          .outline = "write one entry to standard output",
          .description = "Write the bytes of one entry, decoded.",
          .details = "The file of --output appears whole or not at all.\n"
                     "Voxels are uint64, little-endian, x fastest, then y, then z.",
          .options = {Flag("", "raw", "as stored: nothing is decoded"),
                      Flag("", "preceding",
                           "the bytes right before the entry that belong to it"),
                      Value(ValueKind::kFile, "o", "output", "<file>",
                            "write to a file [-: standard output]"),
                      Choice("voxels", "<kind>",
                             "voxels of a DVID block: labels or supervoxels",
                             "labels supervoxels"),
                      Flag("", "npy",
                           "voxels as an .npy array [if the file is named so]"),
                      Flag("", "force", "replace the output file"), kFormat, kSharding,
                      kXorbs, kUnfinished, kCoordinates, kSalvage, kJson},
          .examples = {"dolium cat seg/s0 4021 | hexdump -C | head",
                       "dolium cat --raw -o chunk.gz https://host/seg/s0 4021",
                       "dolium cat --voxels labels -o block.npy export s0/12_7_3"},
          .least_arguments = 2,
          .most_arguments = 2,
          .run = RunCat,
      },
      {
          .name = "verify",
          .usage = "[options] <location>...",
          .outline = "read everything and check it",
          .description =
              "Read every entry and check it: index, byte ranges, codecs, and digests "
              "where the format has them.",
          .details = "Carries on past damage. Each finding is one line: object, key, "
                     "byte range, and "
                     "what is wrong. What is unusual but legal is a warning and leaves "
                     "the exit status "
                     "at 0, unless --strict is given. Chunks that a volume lacks are "
                     "zero, and warnings only with --strict.\n"
                     "With --json, findings have `type` (\"bad\" or \"warning\"), "
                     "`kind`, `object`, "
                     "`key`, `offset`, `length` and `message`; the last line of each "
                     "location has "
                     "`type` \"summary\".\n"
                     "A cas store is checked whole: xorbs, shards, and the files of all "
                     "versions.\n"
                     "`-` is an MDB shard of Xet or a ShardPack shard on standard input, "
                     "read front to back. Of an MDB shard the structure, the records and "
                     "the names of xorbs are checked; not what needs two places at once, "
                     "such as terms against xorbs.",
          .options = {Flag("", "quick",
                           "check the index and the ranges; read no payload"),
                      Value(ValueKind::kText, "", "sample", "<n | p%>",
                            "read a random part of the entries"),
                      Value(ValueKind::kNumber, "", "seed", "<n>",
                            "choose the same part again [at random]"),
                      Flag("", "strict", "warnings count as errors"),
                      Flag("q", "quiet", "leave out warnings"), kFormat, kSharding,
                      kXorbs, kCoordinates, kSalvage, kJobs, kJson, kNoSummary,
                      kProgress},
          .examples = {"dolium verify seg/s0/1f.shard",
                       "dolium verify --json --sample 5% https://host/seg | jq -r "
                       "'select(.type == "
                       "\"bad\").key'"},
          .least_arguments = 1,
          .most_arguments = kAny,
          .run = RunVerify,
      },
      {
          .name = "convert",
          .usage = "[options] <source> <target>",
          .outline = "write a set anew: other shards, other format",
          .description = "Write a set anew, with other shards or in another format.",
          .details =
              "The target carries a marker until it is complete. A conversion "
              "that was stopped "
              "is resumed by the same command. With --force, a finished target is "
              "replaced: the "
              "new set is built beside it and then swapped in.\n"
              "Where neither a spec nor parameters are given, they are chosen by "
              "the number and "
              "sizes of the entries.\n"
              "A volume is copied whole, with mesh, skeletons and all else in its "
              "folder; parts in other folders come to lie in the target, and its info "
              "names them there. The versions of a cas store become folders "
              "`name@number`. A source that holds something that its format does not "
              "show is refused, unless -f names the format.\n"
              "With --plan, the work is only planned: each line printed is a task "
              "that `dolium "
              "task` does, on any machine that sees both locations. When all are "
              "done, the same "
              "convert without --plan completes the target.\n"
              "With --to precomputed, the source is a volume or an export of DVID, "
              "with all of its scales, and the target a sharded volume; blocks "
              "become chunks of compressed_segmentation without being decoded. "
              "Damage that DVID does to exports without a word is explained before "
              "anything is written, and blocks outside of the volume are counted. "
              "With --salvage, damaged blocks are told and left out, and the exit status "
              "is 1.\n"
              "With --to dvid, the source is a volume of labels or another export, and "
              "the target an export; its spec.json keeps sizes and resolutions.",
          .options = WithExportRows(
              {Value(ValueKind::kFormat, "", "to", "<format>",
                     "format of the target, `files`, `precomputed` (a volume) or `dvid` "
                     "(an "
                     "export) [the source's]"),
               Value(ValueKind::kFormat, "f", "format", "<name>",
                     "format of the source [detect]"),
               Value(ValueKind::kFile, "", "sharding", "<file>", "spec of the target"),
               Value(ValueKind::kFile, "", "from-sharding", "<file>",
                     "spec of the source, where no info file tells it"),
               Value(ValueKind::kSize, "", "shard-size", "<size>",
                     "about this much in each shard, as in 64MiB or 1GB"),
               Choice("hash", "<name>", "identity or murmurhash3_x86_128",
                      "identity murmurhash3_x86_128"),
               Value(ValueKind::kNumber, "", "preshift-bits", "<n>",
                     "low bits of the key that do not count"),
               Value(ValueKind::kNumber, "", "minishard-bits", "<n>",
                     "bits of the hash that name the minishard"),
               Value(ValueKind::kNumber, "", "shard-bits", "<n>",
                     "bits of the hash that name the shard"),
               Choice("minishard-index-encoding", "<name>", "raw or gzip", "raw gzip"),
               Choice("data-encoding", "<name>", "raw or gzip", "raw gzip"),
               Flag("", "force", "replace a finished target"),
               Flag("", "skip-damaged", "leave out what cannot be read; exit status 1"),
               Flag("", "unfinished", "read a source whose writing has not ended"),
               kPlan,
               kJobs,
               kMemory,
               kJson,
               kNoSummary,
               kProgress}),
          .examples = {"dolium convert --shard-size 1GB seg/s0 seg-large/s0",
                       "dolium convert --to files seg/s0 chunks",
                       "dolium convert seg seg-copy",
                       "dolium convert --to precomputed --spec info.json export seg",
                       "dolium convert --to dvid seg export",
                       "dolium convert --plan seg/s0 new/s0 | split -n l/8 - tasks."},
          .least_arguments = 2,
          .most_arguments = 2,
          .run = RunConvert,
      },
      {
          .name = "task",
          .usage = "[options] [<task>...]",
          .outline = "do tasks that --plan printed",
          .description = "Do tasks that a verb with --plan printed, given as arguments "
                         "or as lines on "
                         "standard input.",
          .details =
              "A task makes one part of the target. Any process may do it, any number of "
              "times: its output appears whole. The verb with the arguments of the plan, "
              "but without --plan, completes the target.\n"
              "Tasks of volumes have a `stage`, one for each scale. Those of a stage may "
              "be done in any order, but only when all of the stages before it are done; "
              "tasks given together are done in that order.",
          .options = {kJobs, kMemory, kJson, kProgress},
          .examples = {"dolium task < tasks.aa"},
          .least_arguments = 0,
          .most_arguments = kAny,
          .run = RunTask,
      },
      {
          .name = "put",
          .usage = "[options] <location> <key> <file>",
          .outline = "add or replace one entry",
          .description =
              "Add one entry, or replace it, by an atomic rewrite of its object.",
          .details = "The file may be `-`, standard input. Many processes may change one "
                     "object at "
                     "the same time; nothing is lost.",
          .options = {Flag("", "force", "replace an entry that is there"),
                      Value(ValueKind::kFile, "", "preceding", "<file>",
                            "bytes to lie right before the entry, not indexed"),
                      kFormat, kSharding, kJson, kProgress},
          .examples = {"dolium put seg/s0 4021 chunk.bin",
                       "make-chunk | dolium put --force seg/s0 4021 -"},
          .least_arguments = 3,
          .most_arguments = 3,
          .run = RunPut,
      },
      {
          .name = "rm",
          .usage = "[options] <location> <key>...",
          .outline = "remove entries",
          .description =
              "Remove entries, by an atomic rewrite of each object that holds some.",
          .details = "If one of the keys is not there, nothing is changed.",
          .options = {kFormat, kSharding, kJson, kProgress},
          .examples = {"dolium rm seg/s0 4021 4022"},
          .least_arguments = 2,
          .most_arguments = kAny,
          .run = RunRm,
      },
      {
          .name = "reindex",
          .usage = "[options] <location>",
          .outline = "write indexes that are missing",
          .description =
              "Write the index of shards that have none, where the format keeps it "
              "beside them: of exports of DVID the CSV.",
          .details =
              "Readers of a shard without an index go through all of it. What a shard "
              "holds is told by the shard alone; an index that is there stays, unless "
              "--force is given. Damaged shards are reported, and the exit status is "
              "then 1.",
          .options = {Flag("", "force", "replace indexes that are there"), kFormat, kJobs,
                      kJson, kNoSummary},
          .examples = {"dolium reindex export", "dolium reindex --force export/s0"},
          .least_arguments = 1,
          .most_arguments = 1,
          .run = RunReindex,
      },
      {
          .name = "stats",
          .usage = "[options] <location>",
          .outline = "counts and sizes",
          .description =
              "Count entries and sizes, from the index alone; labels, too, where the "
              "format has them.",
          .details = "Quantiles are upper bounds: the histogram that they come from has "
                     "one class "
                     "for each power of two.",
          .options = {kFormat, kSharding, kUnfinished, kCoordinates, kSalvage, kJobs,
                      kJson, kProgress},
          .examples = {"dolium stats seg/s0",
                       "dolium stats --json seg/s0 | jq .stored_size.mean"},
          .least_arguments = 1,
          .most_arguments = 1,
          .run = RunStats,
      },
      {
          .name = "completion",
          .usage = "bash",
          .outline = "print a shell's completion script",
          .description = "Print the completion script for a shell.",
          .details = "",
          .options = {kJson},
          .examples = {"source <(dolium completion bash)",
                       "dolium completion bash > /etc/bash_completion.d/dolium"},
          .least_arguments = 1,
          .most_arguments = 1,
          .run = RunCompletion,
      },
      {
          .name = "help",
          .usage = "[options] [<verb>...]",
          .outline = "explain a verb",
          .description = "Explain a verb, or list all of them.",
          .details = "",
          .options = {Flag("", "man", "as a man page (roff)"),
                      Flag("", "markdown", "as a man page in Markdown"), kJson},
          .examples = {"dolium help verify", "dolium help volume ingest",
                       "dolium help --man verify | man -l -"},
          .least_arguments = 0,
          .most_arguments = 2,
          .run = RunHelp,
      },
  };
}

}  // namespace

std::span<const Verb> Verbs() {
  static const std::vector<Verb> verbs = [] {
    std::vector<Verb> all = MakeVerbs();
    for (const std::vector<Verb>& group : {VolumeVerbs(), PackVerbs(), CasVerbs()}) {
      all.insert(std::ranges::find(all, "completion", &Verb::name), group.begin(),
                 group.end());
    }
    return all;
  }();
  return verbs;
}

const Verb* FindVerb(std::string_view name) {
  const auto found = std::ranges::find(Verbs(), name, &Verb::name);
  return found == Verbs().end() ? nullptr : &*found;
}

std::vector<std::string_view> WordsAfter(std::string_view group) {
  std::vector<std::string_view> words;
  for (const Verb& verb : Verbs()) {
    std::string_view rest = verb.name;
    if (!group.empty()) {
      if (!rest.starts_with(group) || !rest.substr(group.size()).starts_with(' '))
        continue;
      rest.remove_prefix(group.size() + 1);
    }
    const std::string_view word = rest.substr(0, rest.find(' '));
    if (words.empty() || words.back() != word) words.push_back(word);
  }
  return words;
}

std::vector<std::string_view> Groups() {
  std::vector<std::string_view> groups = WordsAfter("");
  std::erase_if(groups, [](std::string_view word) { return WordsAfter(word).empty(); });
  return groups;
}

std::string Signature(const Option& option) {
  std::string text;
  if (!option.letter.empty()) text = fmt::format("-{}, ", option.letter);
  text += fmt::format("--{}", option.name);
  if (!option.value.empty()) text += fmt::format(" {}", option.value);
  return text;
}

}  // namespace dolium::cli
