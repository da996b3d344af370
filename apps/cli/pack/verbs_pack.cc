// The rows of `dolium pack`, which are those of `shardpack`.
#include <string>
#include <string_view>
#include <vector>

#include "cli/pack/pack_rows.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace dolium::cli {
namespace {

Verb Info() {
  return {
      .name = "pack info",
      .usage = "[options] <set>...",
      .outline = "what a shard or a set is: records, sizes, columns",
      .description = "Show what a set is: records, entries, sizes, columns, metadata.",
      .details =
          std::string("Reads the ends of shards only; `dolium pack stats` reads the "
                      "headers of all records. Where shards differ in something, it "
                      "reads `different`; --json shows each.\n") +
          std::string(kSetDetails),
      // --scan is the older name of `pack stats`.
      .options = {Flag("l", "long", "a table of the shards too"), Flag("", "scan", ""),
                  kJobs, kJson, kProgress},
      .examples = {"shardpack info train-000000.shardpack",
                   "shardpack info --long 'train-{000000..000099}.shardpack'",
                   "shardpack info --json data | jq .records"},
      .run = RunPackInfo,
  };
}

Verb PackStatsVerb() {
  return {
      .name = "pack stats",
      .usage = "[options] <set>...",
      .outline = "counts and sizes, by file",
      .description =
          "Count records, entries and sizes, and for each file of samples its sizes and "
          "codecs.",
      .details =
          std::string("Reads the headers of all records.\n") + std::string(kSetDetails),
      .options = {Flag("l", "long", "a table of the shards too"), kJobs, kJson,
                  kProgress},
      .examples = {"shardpack stats 'train-{000000..000099}.shardpack'",
                   "shardpack stats --json data | jq .columns"},
      .run = RunPackStats,
  };
}

Verb Ls() {
  return {
      .name = "pack ls",
      .usage = "[options] <set>...",
      .outline = "list samples",
      .description = "List the keys of samples, one per line.",
      .details =
          std::string(
              "Samples that cannot be read are reported on standard error, and the "
              "listing goes on behind them; the exit status is then 1.\n"
              "With --json, each sample has `number`, `key`, `shard`, `record`, "
              "`offset`, `size` and `files`, each with `name`, `content_type`, `size`, "
              "`stored_size` and `compression`.\n") +
          std::string(kSetDetails),
      .options = {Flag("l", "long",
                       "a table, a row for each file: key, file, size, stored size, "
                       "object, offset, number, content type, compression"),
                  Flag("", "keys-only",
                       "read no records, where shards have lists of keys; with --json, "
                       "just number and key"),
                  kPrefix,
                  Value(ValueKind::kText, "", "range", "<begin:end>",
                        "samples of these numbers, as in 0:1000 or 500:"),
                  kJson},
      .examples = {"shardpack ls train-000000.shardpack",
                   "shardpack ls --keys-only --prefix cat/ data > keys.txt",
                   "shardpack ls --json data | jq 'select(.size > 1000000).key'"},
      .run = RunPackLs,
  };
}

Verb Cat() {
  return {
      .name = "pack cat",
      .usage = "[options] <set> [<key>] [<file>]",
      .outline = "write one file of a sample to standard output",
      .description = "Write the bytes of one file of a sample, decoded and checked.",
      .details =
          "Without a name, the sample must have just one file. A key like `#17` is "
          "the number of a sample, unless a sample has it as its key. With --number "
          "or --offset, no key is given. The file of --output appears whole or not "
          "at all.",
      .options = {Value(ValueKind::kNumber, "n", "number", "<n>",
                        "the sample of this number, instead of a key"),
                  Value(ValueKind::kNumber, "", "offset", "<n>",
                        "the sample that begins at this byte of the shard"),
                  Flag("", "metadata", "the sample's metadata, instead of a file"),
                  Value(ValueKind::kFile, "o", "output", "<file>",
                        "write to a file [-: standard output]"),
                  Flag("", "force", "replace the output file"), kJson},
      .examples =
          {"shardpack cat train-000000.shardpack images17/image194 left.jpg > a.jpg",
           "shardpack cat --number 123 data meta.json | jq ."},
      .run = RunPackCat,
  };
}

Verb Extract() {
  return {
      .name = "pack extract",
      .usage = "[options] <set>...",
      .outline = "write samples as files of a folder",
      .description = "Write the files of samples to a folder.",
      .details = std::string("Files appear when all are complete, among those that the "
                             "folder has. Keys and names that would lead out of the "
                             "folder are refused. With --manifest, `dolium pack create` "
                             "makes the same samples of the folder again, with their "
                             "types and metadata.\n"
                             "Cut short, the same command goes on with what is missing; "
                             "until then files are in `extract-<digits>.dolium-new` in "
                             "the folder.\n") +
                 std::string(kSetDetails),
      .options = JoinOptions({{Value(ValueKind::kFile, "o", "output", "<folder>",
                                     "the folder to write to [.]"),
                               Flag("", "dir", "files are <key>/<name>; the default"),
                               Flag("", "stem", "files are <key>.<name>"),
                               Flag("", "manifest", "write manifest.jsonl too")},
                              PackSelectRows(),
                              {Flag("", "force", "replace files that are there"), kPlan,
                               kJobs, kPackMemory, kJson, kNoSummary, kProgress}}),
      .examples = {"shardpack extract train-000000.shardpack -o train",
                   "shardpack extract --stem --prefix images17/ data -o images"},
      .run = RunPackExtract,
  };
}

Verb Verify() {
  return {
      .name = "pack verify",
      .usage = "[options] <set>...",
      .outline = "read everything and check it",
      .description =
          "Read every record and check it: headers, contents, index, sections.",
      .details =
          std::string(
              "Carries on past damage. Each finding is one line: shard, key, byte range, "
              "and what is wrong. `-` is standard input: a shard that comes through a "
              "pipe is checked front to back, proved complete by its index, and "
              "its tail is checked as that of a file.\n"
              "With --json, findings have `type` (\"bad\" or \"warning\"), `kind`, "
              "`object`, `key`, `offset`, `length` and `message`; the last line of each "
              "shard has `type` \"summary\".\n") +
          std::string(kSetDetails),
      .options = {kQuick, Deep("compare the catalog of the set with its shards, too"),
                  Flag("", "strict", "warnings count as errors"),
                  Flag("q", "quiet", "leave out warnings"), kAllFindings, kJobs, kJson,
                  kNoSummary, kProgress},
      .examples = {"shardpack verify train-000000.shardpack",
                   "curl -s https://host/train-000000.shardpack | shardpack verify -"},
      .run = RunPackVerify,
  };
}

Verb Repair() {
  return {
      .name = "pack repair",
      .usage = "[options] <shard>",
      .outline = "make a good shard of a damaged or unfinished one",
      .description =
          "Make a good shard of what can be read of a damaged or unfinished one.",
      .details =
          "With a good index, only bad records are left out. Without, records are walked "
          "from the front; behind damage the next one is looked for. What is lost is "
          "reported, a line for each; the exit status is then 1. If there is no such "
          "shard, but the temporary of a writer that was killed, the shard is made of "
          "that. A shard that is there is replaced only with --force: that is how one is "
          "repaired in place.",
      .options = {Value(ValueKind::kFile, "o", "output", "<shard>",
                        "the shard to write [the shard itself, with --force]"),
                  Flag("", "quick", "take contents as they are, unchecked"),
                  Flag("", "force", "replace a shard that is there"), kAllFindings, kJson,
                  kNoSummary},
      .examples = {"shardpack repair damaged.shardpack -o good.shardpack",
                   "shardpack repair --force train-000007.shardpack"},
      .run = RunPackRepair,
  };
}

Verb Catalog() {
  return {
      .name = "pack catalog",
      .usage = "[options] <set>...",
      .outline = "write the catalog of a set",
      .description =
          "Write a catalog: one file that says what is in which shard of a set.",
      .details = std::string("Optional: with it, a remote set is opened by one "
                             "request instead of one for each shard. It names shards "
                             "relative to itself.\n") +
                 std::string(kSetDetails),
      .options = {Value(ValueKind::kFile, "o", "output", "<file>",
                        "the file [catalog.json beside the first shard; -: standard "
                        "output]"),
                  Flag("", "force", "replace a catalog that is there"), kJobs, kJson,
                  kNoSummary},
      .examples =
          {"shardpack catalog data",
           "shardpack catalog 'train-{000000..000099}.shardpack' -o catalog.json"},
      .run = RunPackCatalog,
  };
}

Verb Diff() {
  return {
      .name = "pack diff",
      .usage = "[options] <set> <set>",
      .outline = "in which samples two sets differ",
      .description =
          "Report in which samples two sets differ, by key: exit status 1 if they "
          "do.",
      .details =
          std::string(
              "Lines begin with `-` for what only the first set has, `+` for what only "
              "the second has, `~` for what changed. Contents that are stored in the "
              "same way are compared by sizes and checksums, others are decoded; order, "
              "shards and compression do not matter.\n") +
          std::string(kSetDetails),
      .options = {Flag("q", "quiet", "just the closing line and the exit status"), kJobs,
                  kJson, kNoSummary, kProgress},
      .examples = {"shardpack diff old.shardpack new.shardpack"},
      .run = RunPackDiff,
  };
}

Verb Export() {
  return {
      .name = "pack export",
      .usage = "--to <kind> [options] <set> <target>",
      .outline = "write samples in other formats",
      .description = "Write samples of a set in another format.",
      .details =
          std::string("Kinds are those of `dolium pack import`. Most have no place "
                      "for metadata and content types, which are then left out and "
                      "counted in a warning. webdataset keeps the metadata of samples in "
                      "files `<key>.__metadata__.json` (or .msgpack, .cbor, .bin), of "
                      "which an import makes metadata again. What an import would not "
                      "find again under its key and name is "
                      "refused. An lmdb is imported again with --group-by dir, unless "
                      "all samples have one file, data.\n"
                      "Files appear when all are complete. Cut short, the same command "
                      "goes on behind the last of them (an lmdb is one); until then they "
                      "are in `<first file>.dolium-new`. Of a folder, see `dolium pack "
                      "extract`.\n") +
          std::string(kSetDetails),
      .options = JoinOptions(
          {{Value(ValueKind::kText, "", "to", "<kind>",
                  "folder, webdataset, mds, tfrecord, lmdb or jsonl"),
            Value(ValueKind::kSize, "", "shard-size", "<size>",
                  "begin a new file before one is larger"),
            Value(ValueKind::kNumber, "", "shard-records", "<n>",
                  "begin a new file after so many samples"),
            Flag("", "gzip", "webdataset, tfrecord, jsonl: compress"),
            Flag("", "stem", "folder: files are <key>.<name>"),
            Flag("", "manifest", "folder: write manifest.jsonl too"),
            Value(ValueKind::kText, "", "replace-dots", "<text>",
                  "webdataset: for dots in keys, which end a key there"),
            Flag("", "no-keys", "tfrecord, mds: leave out keys")},
           PackSelectRows(),
           {Flag("", "force", "replace files that are there"),
            Flag("", "plan", "folder: print the tasks as JSON lines and stop"), kJobs,
            kPackMemory, kJson, kNoSummary, kProgress}}),
      .examples = {"shardpack export --to webdataset --shard-size 1GB data train.tar",
                   "shardpack export --to jsonl captions.shardpack captions.jsonl"},
      .run = RunPackExport,
  };
}

Verb View() {
  return {
      .name = "pack view",
      .usage = "[options] <set>...",
      .outline = "look at some samples: metadata, files, a little text",
      .description =
          "Show a page of samples: keys, metadata, files, beginnings of texts.",
      .details = std::string(kSetDetails),
      .options =
          JoinOptions({{Value(ValueKind::kNumber, "", "begin", "<n>",
                              "the first, of those chosen [0]"),
                        Value(ValueKind::kNumber, "n", "count", "<n>", "how many [20]"),
                        Value(ValueKind::kSize, "", "preview", "<size>",
                              "most to show of a text; 0: none [200]")},
                       PackSelectRows(),
                       {kJson, kNoSummary}}),
      .examples = {"shardpack view train-000000.shardpack",
                   "shardpack view --begin 1000 --count 5 --json data"},
      .run = RunPackView,
  };
}

}  // namespace

std::vector<Verb> PackVerbs() {
  std::vector<Verb> verbs = {PackCreateVerb(), Info(), PackStatsVerb(), Ls(),    Cat(),
                             Extract(),        View(), Verify(),        Repair()};
  for (const Verb& verb : PackCopyVerbs()) verbs.push_back(verb);
  for (const Verb& verb : {Catalog(), Diff(), PackImportVerb(), Export()}) {
    verbs.push_back(verb);
  }
  return verbs;
}

}  // namespace dolium::cli
