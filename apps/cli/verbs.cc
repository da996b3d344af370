#include "cli/verbs.h"

#include <algorithm>

#include <fmt/format.h>

#include "cli/verb_options.h"
#include "dolium/ops/write_voxels.h"

namespace dolium::cli {
namespace {

constexpr Option kFormat = Value(ValueKind::kFormat, "f", "format", "<name>",
                                 "skip detection; `dolium formats` lists the names");
constexpr Option kSetSpec =
    Aliased(Value(ValueKind::kFile, "", "spec", "<file>",
                  "the spec of the set, where no info file has it"),
            "sharding");
constexpr Option kXorbs =
    Value(ValueKind::kFile, "", "xorbs", "<folder>",
          "xorbs of a Xet shard [`xorbs` beside its folder, and that]");
constexpr Option kUnfinished =
    Flag("", "unfinished", "read a set whose writing has not ended");

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
          .run = RunFormats,
      },
      {
          .name = "info",
          .usage = "[options] <location>",
          .outline = "what a location holds",
          .description =
              "Show what a location holds: format, parameters, whether it is finished.",
          .details = "Reads what describes the set, not its entries; `dolium stats` "
                     "counts those. "
                     "The number of objects is shown where the store can list them. "
                     "A location is a set of any format, a volume or a cas store.\n"
                     "`-` is an MDB shard of Xet or a ShardPack shard on standard input, "
                     "read as it comes.",
          .options = {kFormat, kSetSpec, kCoordinates, kSkipDamaged, kJson},
          .examples = {"dolium info seg/s0", "dolium info --json https://host/seg/s0"},
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
              "and the listing goes on behind them; the exit status is then 1.\n"
              "With --json, each entry has `key`, `size` (decoded bytes, null where the "
              "index does not know), `stored_size`, `object`, `offset`, and `preceding` "
              "where bytes before the entry belong to it.\n"
              "`-` is an MDB shard of Xet or a ShardPack shard on standard input; its "
              "files are listed as they come, with `key` and `size`.",
          .options = {Flag("l", "long",
                           "a table: key, size, stored size, object, offset"),
                      kFormat, kSetSpec, kXorbs, kUnfinished, kCoordinates, kSkipDamaged,
                      kJson},
          .examples =
              {"dolium ls seg/s0/1f.shard",
               "dolium ls --json seg/s0 | jq 'select(.stored_size > 1000000).key'"},
          .run = RunLs,
      },
      {
          .name = "cat",
          .usage = "[options] <location> <key>",
          .outline = "write one entry to standard output",
          .description = "Write the bytes of one entry, decoded.",
          .details = "The file of --output appears whole or not at all.\n"
                     "Voxels are uint64, little-endian, x fastest, then y, then z.",
          .options =
              {Flag("", "raw", "as stored: nothing is decoded"),
               Flag("", "preceding",
                    "the bytes right before the entry that belong to it"),
               Value(ValueKind::kFile, "o", "output", "<file>",
                     "write to a file [-: standard output]"),
               Choice("voxels", "<kind>", "voxels of a DVID block: labels or supervoxels",
                      "labels supervoxels"),
               Flag("", "npy", "voxels as an .npy array [if the file is named so]"),
               Flag("", "lists", "labels and supervoxels of a DVID block, as JSON"),
               Flag("", "force", "replace the output file"), kFormat, kSetSpec, kXorbs,
               kUnfinished, kCoordinates, kSkipDamaged, kJson},
          .examples = {"dolium cat seg/s0 4021 | hexdump -C | head",
                       "dolium cat --raw -o chunk.gz https://host/seg/s0 4021",
                       "dolium cat --voxels labels -o block.npy export s0/12_7_3",
                       "dolium cat --lists export s0/12_7_3"},
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
                     "byte range, and what is wrong. What is unusual but legal is a "
                     "warning and leaves the exit status at 0, unless --strict is given. "
                     "Chunks that a volume lacks are zero, and warnings only with "
                     "--strict.\n"
                     "With --json, findings have `type` (\"bad\" or \"warning\"), "
                     "`kind`, `object`, `key`, `offset`, `length` and `message`; the "
                     "last line of each location has `type` \"summary\".\n"
                     "A cas store is checked whole: xorbs, shards, and the files of all "
                     "versions.\n"
                     "`-` is an MDB shard of Xet or a ShardPack shard on standard input, "
                     "read front to back. Of an MDB shard the structure, the records and "
                     "the names of xorbs are checked; not what needs two places at once, "
                     "such as terms against xorbs.",
          .options = {kQuick,
                      Deep("compare catalogs of ShardPack sets, and lists of labels in "
                           "DVID blocks, with what is there; nothing more of others"),
                      Value(ValueKind::kText, "", "sample", "<n | p%>",
                            "read a random part of the entries"),
                      Value(ValueKind::kNumber, "", "seed", "<n>",
                            "choose the same part again [at random]"),
                      Flag("", "strict", "warnings count as errors"),
                      Flag("q", "quiet", "leave out warnings"), kAllFindings, kFormat,
                      kSetSpec, kXorbs, kCoordinates, kSkipDamaged, kJobs, kJson,
                      kNoSummary, kProgress},
          .examples = {"dolium verify seg/s0/1f.shard",
                       "dolium verify --json --sample 5% https://host/seg | jq -r "
                       "'select(.type == \"bad\").key'"},
          .run = RunVerify,
      },
      ConvertVerb(),
      {
          .name = "task",
          .usage = "[options] [<task>...]",
          .outline = "do tasks that --plan printed",
          .description = "Do tasks that a verb with --plan printed, given as arguments "
                         "or as lines on standard input.",
          .details =
              "A task makes one part of the target. Any process may do it, any number of "
              "times: its output appears whole. The verb with the arguments of the plan, "
              "but without --plan, completes the target.\n"
              "Tasks of volumes have a `stage`, one for each scale. Those of a stage may "
              "be done in any order, but only when all of the stages before it are done; "
              "tasks given together are done in that order.",
          .options = {kAllFindings, kJobs, kMemory, kJson, kProgress},
          .examples = {"dolium task < tasks.aa"},
          .run = RunTask,
      },
      {
          .name = "put",
          .usage = "[options] <location> <key> <file>",
          .outline = "add or replace one entry",
          .description =
              "Add one entry, or replace it, by an atomic rewrite of its object.",
          .details = "The file may be `-`, standard input. Many processes may change one "
                     "object at the same time; nothing is lost.",
          .options = {Flag("", "force", "replace an entry that is there"),
                      Value(ValueKind::kFile, "", "preceding", "<file>",
                            "bytes to lie right before the entry, not indexed"),
                      kFormat, kSetSpec, kJson, kProgress},
          .examples = {"dolium put seg/s0 4021 chunk.bin",
                       "make-chunk | dolium put --force seg/s0 4021 -"},
          .run = RunPut,
      },
      {
          .name = "rm",
          .usage = "[options] <location> <key>...",
          .outline = "remove entries",
          .description =
              "Remove entries, by an atomic rewrite of each object that holds some.",
          .details = "If one of the keys is not there, nothing is changed.",
          .options = {kFormat, kSetSpec, kJson, kProgress},
          .examples = {"dolium rm seg/s0 4021 4022"},
          .run = RunRm,
      },
      {
          .name = "reindex",
          .usage = "[options] <location>",
          .outline = "write indexes that are missing",
          .description =
              "Write the index of shards that have none, where the format keeps it "
              "beside them: of DVID exports the CSV.",
          .details =
              "Readers of a shard without an index go through all of it. What a shard "
              "holds is read from the shard alone; an index that is there stays, unless "
              "--force is given. Damaged shards are reported, and the exit status is "
              "then 1.",
          .options = {Flag("", "force", "replace indexes that are there"), kFormat, kJobs,
                      kJson, kNoSummary},
          .examples = {"dolium reindex export", "dolium reindex --force export/s0"},
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
                     "one class for each power of two.\n"
                     "`-` is an MDB shard of Xet or a ShardPack shard on standard input, "
                     "read as it comes; sizes are then those of the decoded entries.",
          .options = {kFormat, kSetSpec, kUnfinished, kCoordinates, kSkipDamaged, kJobs,
                      kJson, kProgress},
          .examples = {"dolium stats seg/s0",
                       "dolium stats --json seg/s0 | jq .stored_size.mean"},
          .run = RunStats,
      },
      {
          .name = "completion",
          .usage = "<shell>",
          .outline = "print a shell's completion script",
          .description = "Print the completion script for a shell: bash, zsh or fish.",
          .details = "",
          .options = {kJson},
          .examples = {"source <(dolium completion bash)",
                       "dolium completion bash > /etc/bash_completion.d/dolium",
                       "dolium completion zsh > ~/.zfunc/_dolium",
                       "dolium completion fish > ~/.config/fish/completions/dolium.fish"},
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
          .run = RunHelp,
      },
  };
}

}  // namespace

bool IsFor(const Option& option, std::string_view target) {
  if (option.targets.empty()) return true;
  for (std::string_view rest = option.targets; !rest.empty();) {
    const std::string_view word = rest.substr(0, rest.find(' '));
    // The source's own format is never one of those made of voxels.
    if (target.empty() ? FindVoxelTarget(word) == nullptr : word == target) return true;
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
  }
  return false;
}

std::vector<Option> DistinctOptions(const Verb& verb) {
  std::vector<Option> options;
  for (const Option& option : verb.options) {
    if (std::ranges::find(options, option.name, &Option::name) == options.end()) {
      options.push_back(option);
    }
  }
  return options;
}

std::span<const Verb> Verbs() {
  static const std::vector<Verb> verbs = [] {
    std::vector<Verb> all = MakeVerbs();
    for (const std::vector<Verb>& group :
         {VolumeVerbs(), SkeletonVerbs(), PackVerbs(), CasVerbs()}) {
      all.insert(std::ranges::find(all, "completion", &Verb::name), group.begin(),
                 group.end());
    }
    return all;
  }();
  return verbs;
}

const Verb* FindVerb(std::string_view name) {
  const auto found = std::ranges::find_if(Verbs(), [&](const Verb& verb) {
    return verb.name == name || (!name.empty() && verb.alias == name);
  });
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
