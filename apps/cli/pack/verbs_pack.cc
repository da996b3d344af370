// The rows of `dolium pack`, which are those of `shardpack`.
#include <string_view>
#include <vector>

#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace dolium::cli {
namespace {

using Options = std::vector<Option>;

constexpr Option kPackForce = Flag("", "force", "replace shards that are there");
constexpr Option kPackPlan =
    Flag("", "plan", "refused: which files there will be is not known beforehand");
constexpr Option kPackMemory = Value(ValueKind::kSize, "", "memory", "<size>",
                                     "most to hold of samples at once [256MiB]");
constexpr Option kThreads =
    Value(ValueKind::kNumber, "", "threads", "<n>", "the same as --jobs");
constexpr Option kPrefix =
    Value(ValueKind::kText, "", "prefix", "<text>", "samples whose keys begin with this");
constexpr Option kOutput = Value(ValueKind::kFile, "o", "output", "<shard>",
                                 "the shard to write; with a limit on shards, the first");
constexpr Option kReproducible =
    Flag("", "reproducible", "equal input gives equal bytes: no time in the shard");
constexpr Option kSeed =
    Value(ValueKind::kNumber, "", "seed", "<n>", "choose another order or part [0]");
constexpr Option kMetadata = {"",
                              "metadata",
                              ValueKind::kPairs,
                              "<name=value>...",
                              "fields of the shards' metadata; several after one another",
                              ""};

constexpr std::string_view kSetDetails =
    "A set is one shard; shards in brace notation, as in `train-{000000..000099}"
    ".shardpack`; a pattern in quotes; a folder, for the *.shardpack in it; a list, as "
    "in "
    "`shards.txt` or `@shards`, with a reference on each line; or a catalog, as in "
    "`catalog.json`. Shards may be URLs.";

constexpr std::string_view kCopyDetails =
    "Records are copied as they are: nothing is decoded, unless --align or --compression "
    "asks for it or a shard has a dictionary of its own. Contents are checked on the "
    "way. "
    "Metadata of the shards are kept; --metadata adds fields or replaces them.\n"
    "The shards appear when all are complete; if the work fails, none of them does. "
    "Until then they are in `<first shard>.dolium-new`. Cut short, the same command goes "
    "on with the shards that are left. With --plan, the work is only planned: each line "
    "printed is a task that `dolium task` does, here or elsewhere; then the same command "
    "without --plan completes the set.";

Options Join(const std::vector<Options>& lists) {
  Options all;
  for (const Options& list : lists) all.insert(all.end(), list.begin(), list.end());
  return all;
}

// How shards and records are laid out.
Options ShardRows() {
  return {
      Value(ValueKind::kSize, "", "shard-size", "<size>",
            "begin a new shard before one is larger, as in 256MiB or 1GB"),
      Value(ValueKind::kNumber, "", "shard-records", "<n>",
            "begin a new shard after so many records"),
  };
}

Options TailRows() {
  return {
      Flag("", "no-keyx", "no index of keys: finding one reads all headers"),
      Flag("", "keys", "a list of keys too: `ls` of a remote shard needs no records"),
      Choice("entx", "<when>",
             "an index of entries: yes, no or auto [auto: if records are large]",
             "auto yes no"),
  };
}

Options EncodeRows() {
  return {
      Choice("compression", "<name>", "none, gzip, lz4 or zstd [none]",
             "none gzip lz4 zstd"),
      Value(ValueKind::kNumber, "", "level", "<n>",
            "effort: gzip and lz4 up to 12, zstd up to 22 [the codec's usual]"),
      Value(ValueKind::kSize, "", "chunk-size", "<size>",
            "compress larger files in chunks of this size; 0: never [1MiB, above 4MiB]"),
      Value(ValueKind::kNumber, "", "align", "<bytes>",
            "contents begin at multiples of this: 8 to 4096 [8]"),
  };
}

Options LimitRows() {
  return {
      Value(ValueKind::kSize, "", "record-size-limit", "<size>",
            "the largest record, as in 1GB (10^9) or 1GiB (2^30) [no limit]"),
      Choice("oversize", "<what>",
             "what becomes of larger samples: error, split (into records that readers "
             "join) or skip [error]",
             "error split skip"),
      Value(ValueKind::kSize, "", "dict", "<size>",
            "zstd: train a dictionary of this size from the first samples"),
  };
}

Options WriteRows() {
  return Join({LimitRows(),
               EncodeRows(),
               ShardRows(),
               TailRows(),
               {kMetadata, kReproducible, kPackForce, kPackPlan, kJobs, kThreads,
                kPackMemory, kJson, kNoSummary, kProgress}});
}

Options SelectRows() {
  return {
      kPrefix,
      Value(ValueKind::kFile, "", "keys-from", "<file>",
            "samples whose keys are the lines of a file [-: standard input]"),
      Flag("", "ignore-missing", "keys of the file that are not there are no error"),
      Value(ValueKind::kText, "", "range", "<begin:end>",
            "samples of these numbers, as in 0:1000 or 500:"),
      Value(ValueKind::kNumber, "", "every", "<n>", "of those left, every n-th"),
      Value(ValueKind::kText, "", "sample", "<n | p%>",
            "of those left, a random part, in the order of the set"),
      kSeed,
  };
}

// For verbs that write samples of a set as another.
Options CopyRows() {
  return Join({{kOutput, Value(ValueKind::kNumber, "", "shards", "<n>",
                               "so many shards, of about as many samples each")},
               ShardRows(),
               {Choice("compression", "<name>",
                       "compress again: none, gzip, lz4 or zstd [as they are]",
                       "none gzip lz4 zstd"),
                Value(ValueKind::kNumber, "", "level", "<n>",
                      "effort: gzip and lz4 up to 12, zstd up to 22"),
                Value(ValueKind::kNumber, "", "align", "<bytes>",
                      "contents begin at multiples of this: 8 to 4096 [as they do]")},
               TailRows(),
               {kMetadata, kReproducible, kPackForce, kPlan, kJobs, kThreads, kPackMemory,
                kJson, kNoSummary, kProgress}});
}

Verb CopyVerb(std::string_view name, std::string_view usage, std::string_view outline,
              std::string_view description, std::string_view details, Options first,
              std::vector<std::string_view> examples, ExitStatus (*run)(Context&)) {
  std::string all(details);
  if (!all.empty()) all += '\n';
  all += kCopyDetails;
  all += '\n';
  all += kSetDetails;
  return {.name = name,
          .usage = usage,
          .outline = outline,
          .description = description,
          .details = std::move(all),
          .options = Join({std::move(first), CopyRows()}),
          .examples = std::move(examples),
          .least_arguments = 1,
          .most_arguments = kAny,
          .run = run};
}

Verb Create() {
  return {
      .name = "pack create",
      .usage = "--input <folder> --output <shard> [options]",
      .outline = "pack the files of a folder into shards",
      .description = "Pack the files of a folder into shards: each sample is a record.",
      .details =
          "Which files make a sample, --group-by says. dir: the files directly in a "
          "directory; the key is its path. stem: files of a directory that are equal up "
          "to the first dot of their names; that is the key. manifest: as the lines of a "
          "file say, each {\"key\": ..., \"files\": [{\"path\": ...}]}; `manifest.jsonl` "
          "in the folder, or the file that --input names. auto: stem if the folder holds "
          "files alone, dir if every directory holds either files or directories. "
          "Samples are in the order of their keys.\n"
          "Contents whose type says that they are compressed (JPEG, MP4, zip and the "
          "like) are stored as they are, as is what does not get smaller.\n"
          "With --shard-size or --shard-records, shards are numbered from the digits "
          "that "
          "end the name of --output: `train-000000.shardpack`, `train-000001.shardpack` "
          "and so on. The number of threads does not show in the files.\n"
          "The shards appear when all are complete; if the work fails, none of them "
          "does. Until then they are in `<first shard>.dolium-new`. Cut short, the same "
          "command goes on behind the last shard that is complete, if the source has "
          "not changed. Of the shard that was being written, `dolium pack repair` makes "
          "one with the samples it had.",
      .options = Join({
          {Value(ValueKind::kFile, "i", "input", "<folder>",
                 "the folder, or a manifest: a file that lists samples"),
           kOutput,
           Choice("group-by", "<what>", "auto, dir, stem or manifest [auto]",
                  "auto dir stem manifest"),
           Value(ValueKind::kFile, "", "manifest", "<file>",
                 "a manifest for the files of the folder"),
           Flag("", "keep-times", "keep times of modification and permissions"),
           Flag("", "skip-links", "leave out links that lead out of the folder")},
          WriteRows(),
      }),
      .examples = {"shardpack create --input input_data_directory --output "
                   "dataset-train-000000.shardpack --record-size-limit 1GB --compression "
                   "lz4 --metadata creator=\"MyName\" training=\"true\"",
                   "shardpack create -i images -o train-000000.shardpack --shard-size "
                   "256MiB --group-by stem",
                   "shardpack create -i manifest.jsonl -o train.shardpack --compression "
                   "zstd --dict 64KiB"},
      .least_arguments = 0,
      .most_arguments = 0,
      .run = RunPackCreate,
  };
}

Verb Info() {
  return {
      .name = "pack info",
      .usage = "[options] <set>...",
      .outline = "what a shard or a set is: records, sizes, columns",
      .description = "Show what a set is: records, entries, sizes, columns, metadata.",
      .details =
          std::string("Reads the ends of shards only, unless --scan is given. Where "
                      "shards differ in something, it reads `different`; --json "
                      "shows each.\n") +
          std::string(kSetDetails),
      .options =
          {Flag("l", "long", "a table of the shards too"),
           Flag("", "scan",
                "read the headers of all records: counts, sizes and codecs by file"),
           kJobs, kThreads, kJson, kProgress},
      .examples = {"shardpack info train-000000.shardpack",
                   "shardpack info --scan 'train-{000000..000099}.shardpack'",
                   "shardpack info --json data | jq .records"},
      .least_arguments = 1,
      .most_arguments = kAny,
      .run = RunPackInfo,
  };
}

Verb Ls() {
  return {
      .name = "pack ls",
      .usage = "[options] <set>...",
      .outline = "list samples",
      .description = "List samples: number, key, size, and the names of their files.",
      .details =
          std::string(
              "Samples that cannot be read are reported on standard error, and the "
              "listing goes on behind them; the exit status is then 1.\n"
              "With --json, each sample has `number`, `key`, `shard`, `record`, "
              "`offset`, `size` and `files`, each with `name`, `content_type`, `size`, "
              "`stored_size` and `compression`.\n") +
          std::string(kSetDetails),
      .options = {Flag("l", "long", "a table with a row for each file"),
                  Flag("", "keys-only", "just the keys, one per line"), kPrefix,
                  Value(ValueKind::kText, "", "range", "<begin:end>",
                        "samples of these numbers, as in 0:1000 or 500:"),
                  kJson},
      .examples = {"shardpack ls train-000000.shardpack",
                   "shardpack ls --keys-only --prefix cat/ data > keys.txt",
                   "shardpack ls --json data | jq 'select(.size > 1000000).key'"},
      .least_arguments = 1,
      .most_arguments = kAny,
      .run = RunPackLs,
  };
}

Verb Cat() {
  return {
      .name = "pack cat",
      .usage = "[options] <set> <key> [<file>]",
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
      .least_arguments = 1,
      .most_arguments = 3,
      .run = RunPackCat,
  };
}

Verb Extract() {
  return {
      .name = "pack extract",
      .usage = "[options] <set>...",
      .outline = "write samples as files of a folder",
      .description = "Write the files of samples to a folder.",
      .details = std::string("Files appear whole. Keys and names that would lead out of "
                             "the folder are refused. With --manifest, `dolium pack "
                             "create` makes the same samples of the folder again, with "
                             "their types and metadata.\n") +
                 std::string(kSetDetails),
      .options = Join({{Value(ValueKind::kFile, "o", "output", "<folder>",
                              "the folder to write to [.]"),
                        Flag("", "dir", "files are <key>/<name>; the default"),
                        Flag("", "stem", "files are <key>.<name>"),
                        Flag("", "manifest", "write manifest.jsonl too")},
                       SelectRows(),
                       {Flag("", "force", "replace files that are there"), kJobs,
                        kThreads, kPackMemory, kJson, kNoSummary, kProgress}}),
      .examples = {"shardpack extract train-000000.shardpack -o train",
                   "shardpack extract --stem --prefix images17/ data -o images"},
      .least_arguments = 1,
      .most_arguments = kAny,
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
              "pipe is checked front to back, and proved complete by its index.\n"
              "With --json, findings have `type` (\"bad\" or \"warning\"), `kind`, "
              "`object`, `key`, `offset`, `length` and `message`; the last line of each "
              "shard has `type` \"summary\".\n") +
          std::string(kSetDetails),
      .options = {Flag("", "quick", "check headers and index; read no contents"),
                  Flag("", "strict", "warnings count as errors"),
                  Flag("q", "quiet", "leave out warnings"), kJobs, kThreads, kJson,
                  kNoSummary, kProgress},
      .examples = {"shardpack verify train-000000.shardpack",
                   "curl -s https://host/train-000000.shardpack | shardpack verify -"},
      .least_arguments = 1,
      .most_arguments = kAny,
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
          "shard, but "
          "the temporary of a writer "
          "that "
          "was killed, the shard is made of that. A shard that is there is replaced only "
          "with --force.",
      .options = {Value(ValueKind::kFile, "o", "output", "<shard>",
                        "the shard to write [the shard itself]"),
                  Flag("", "quick", "take contents as they are, unchecked"),
                  Flag("", "force", "replace a shard that is there"), kJson, kNoSummary},
      .examples = {"shardpack repair damaged.shardpack -o good.shardpack",
                   "shardpack repair train-000007.shardpack"},
      .least_arguments = 1,
      .most_arguments = 1,
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
                  Flag("", "force", "replace a catalog that is there"), kJobs, kThreads,
                  kJson, kNoSummary},
      .examples =
          {"shardpack catalog data",
           "shardpack catalog 'train-{000000..000099}.shardpack' -o catalog.json"},
      .least_arguments = 1,
      .most_arguments = kAny,
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
                  kThreads, kJson, kNoSummary, kProgress},
      .examples = {"shardpack diff old.shardpack new.shardpack"},
      .least_arguments = 2,
      .most_arguments = 2,
      .run = RunPackDiff,
  };
}

Verb Import() {
  return {
      .name = "pack import",
      .usage = "--from <kind> [options] <source> <shard>",
      .outline = "pack samples of other formats",
      .description = "Pack samples of other formats into shards.",
      .details =
          "Kinds: folder, as `dolium pack create` takes it; webdataset, tar archives; "
          "mds, "
          "a folder of mosaicml-streaming shards; tfrecord; lmdb; jsonl. Those of "
          "several files take a file, a folder, brace notation, a pattern or a list. "
          "Each value of an lmdb is a sample; with --group-by dir, those of keys that "
          "are "
          "equal up to their last slash are one, as `dolium pack export` writes them. "
          "parquet is handled by the Python module.\n"
          "The shards appear when all are complete. Cut short, the same command goes on "
          "behind the last of them, as that of `dolium pack create` does.",
      .options = Join(
          {{Value(ValueKind::kText, "", "from", "<kind>",
                  "folder, webdataset, mds, tfrecord, lmdb or jsonl"),
            Choice("group-by", "<what>",
                   "folder: auto, dir, stem or manifest [auto]; lmdb: dir",
                   "auto dir stem manifest"),
            Flag("", "keep-times", "folder, webdataset: keep times and permissions"),
            Flag("", "keep-case", "webdataset: leave names as they are"),
            Choice("records", "<how>",
                   "tfrecord: raw, example or auto [auto: by the first]",
                   "auto raw example"),
            Value(ValueKind::kText, "", "database", "<name>", "lmdb: a named database"),
            Value(ValueKind::kText, "", "key-prefix", "<text>",
                  "before the numbers of samples without a key")},
           WriteRows()}),
      .examples = {"shardpack import --from webdataset 'train-{0000..0099}.tar' "
                   "train-000000.shardpack --shard-size 1GB",
                   "shardpack import --from jsonl captions.jsonl captions.shardpack "
                   "--compression zstd --dict 64KiB"},
      .least_arguments = 2,
      .most_arguments = 2,
      .run = RunPackImport,
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
                      "for metadata and content types, which are then left out. What "
                      "an import would not find again under its key and name is "
                      "refused. An lmdb is imported again with --group-by dir, unless "
                      "all samples have one file, data.\n"
                      "Files of webdataset, tfrecord and jsonl appear when all are "
                      "complete. Cut short, the same command goes on behind the last of "
                      "them; until then they are in `<first file>.dolium-new`.\n") +
          std::string(kSetDetails),
      .options = Join({{Value(ValueKind::kText, "", "to", "<kind>",
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
                       SelectRows(),
                       {Flag("", "force", "replace files that are there"), kPackPlan,
                        kJobs, kThreads, kPackMemory, kJson, kNoSummary, kProgress}}),
      .examples = {"shardpack export --to webdataset --shard-size 1GB data train.tar",
                   "shardpack export --to jsonl captions.shardpack captions.jsonl"},
      .least_arguments = 2,
      .most_arguments = 2,
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
      .options = Join({{Value(ValueKind::kNumber, "", "begin", "<n>",
                              "the first, of those chosen [0]"),
                        Value(ValueKind::kNumber, "n", "count", "<n>", "how many [20]"),
                        Value(ValueKind::kSize, "", "preview", "<size>",
                              "most to show of a text; 0: none [200]")},
                       SelectRows(),
                       {kJson, kNoSummary}}),
      .examples = {"shardpack view train-000000.shardpack",
                   "shardpack view --begin 1000 --count 5 --json data"},
      .least_arguments = 1,
      .most_arguments = kAny,
      .run = RunPackView,
  };
}

}  // namespace

std::vector<Verb> PackVerbs() {
  return {
      Create(),
      Info(),
      Ls(),
      Cat(),
      Extract(),
      View(),
      Verify(),
      Repair(),
      CopyVerb("pack split", "[options] <set>... -o <shard>", "cut a shard into several",
               "Write the samples of a set as several shards.", "", {},
               {"shardpack split large.shardpack --shards 8 -o train-000000.shardpack"},
               RunPackSplit),
      CopyVerb("pack merge", "[options] <set>... -o <shard>", "join sets into one",
               "Write the samples of sets, one after another, as one shard or set.", "",
               {},
               {"shardpack merge a.shardpack b.shardpack -o both.shardpack",
                "shardpack merge old new --shard-size 1GB -o all-000000.shardpack"},
               RunPackMerge),
      CopyVerb(
          "pack reshard", "[options] <set>... -o <shard>", "other sizes of shards",
          "Write the samples of a set as shards of another size.", "", {},
          {"shardpack reshard data --shard-size 256MiB -o new/train-000000.shardpack",
           "shardpack reshard data --shards 64 --compression zstd -o z-000000.shardpack"},
          RunPackReshard),
      CopyVerb("pack subset", "[options] <set>... -o <shard>", "some samples of a set",
               "Write some samples of a set, in its order.",
               "Options that choose samples are all to be true. Samples of --sample are "
               "the same for the same --seed.",
               SelectRows(),
               {"shardpack subset data --keys-from keys.txt -o some.shardpack",
                "shardpack subset data --sample 5% --seed 7 -o five.shardpack"},
               RunPackSubset),
      CopyVerb("pack sort", "[options] <set>... -o <shard>",
               "samples in the order of keys",
               "Write the samples of a set in the order of the bytes of their keys.",
               "Keys are held in memory, records are not.", {},
               {"shardpack sort data --shard-size 1GB -o sorted-000000.shardpack"},
               RunPackSort),
      CopyVerb("pack shuffle", "[options] <set>... -o <shard>",
               "samples in a random order",
               "Write the samples of a set in a random order.",
               "The order is the same for the same --seed.", {kSeed},
               {"shardpack shuffle data --seed 7 --shard-size 1GB -o "
                "shuffled-000000.shardpack"},
               RunPackShuffle),
      CopyVerb(
          "pack compact", "[options] <set>... --overlay <set>... -o <shard>",
          "a set and what is laid over it, as one",
          "Write a set with the changes of others that are laid over it.",
          "Files of the same name are replaced, other files and keys added (new keys "
          "at the end), and what a tombstone names is removed. Later overlays win. "
          "Samples that no overlay touches are copied as they are.",
          {{"", "overlay", ValueKind::kFiles, "<set>...",
            "sets to lay over it, in order; all words up to the next option", ""}},
          {"shardpack compact base.shardpack --overlay labels.shardpack fixes.shardpack "
           "-o new.shardpack"},
          RunPackCompact),
      Catalog(),
      Diff(),
      Import(),
      Export(),
  };
}

}  // namespace dolium::cli
