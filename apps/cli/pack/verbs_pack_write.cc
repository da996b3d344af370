// The rows of `dolium pack` that write shards: create, import, and the copies of sets.
#include <string_view>
#include <utility>
#include <vector>

#include "cli/pack/pack_rows.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace dolium::cli {
namespace {

constexpr Option kPackForce = Flag("", "force", "replace shards that are there");
constexpr Option kOutput =
    Value(ValueKind::kFile, "o", "output", "<shard>",
          "the shard to write; with a limit on shards, the first; -: standard output");
constexpr Option kReproducible =
    Flag("", "reproducible", "equal input gives equal bytes: no time in the shard");
constexpr Option kMetadata = {"",
                              "metadata",
                              ValueKind::kPairs,
                              "<name=value>...",
                              "fields of the shards' metadata; several after one another",
                              ""};

constexpr Option kSkipDamagedSamples =
    Flag("", "skip-damaged",
         "leave out samples that are damaged, and report them; exit status 1");

constexpr std::string_view kCopyDetails =
    "Records are copied as they are: nothing is decoded, unless --align or --compression "
    "asks for it or a shard has a dictionary of its own. Contents are checked on the "
    "way. "
    "Metadata of the shards are kept; --metadata adds fields or replaces them.\n"
    "The shards appear when all are complete; if the work fails, none of them does. "
    "Until then they are in `<first shard>.dolium-new`. Cut short, the same command goes "
    "on with the shards that are left. With --plan, the work is only planned: each line "
    "printed is a task that `dolium task` does, here or elsewhere; then the same command "
    "without --plan completes the set.\n"
    "With `-o -`, the one shard is made in a temporary folder, and goes to standard "
    "output when it is complete; the closing line goes to standard error.";

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
      Aliased(Flag("", "no-key-index", "no index of keys: finding one reads all headers"),
              "no-keyx"),
      Flag("", "keys", "a list of keys too: `ls` of a remote shard needs no records"),
      Aliased(Choice("entry-index", "<when>",
                     "an index of entries: yes, no or auto [auto: if records are large]",
                     "auto yes no"),
              "entx"),
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
      Aliased(Value(ValueKind::kSize, "", "dictionary", "<size>",
                    "zstd: train a dictionary of this size from the first samples"),
              "dict"),
  };
}

Options WriteRows() {
  return JoinOptions({LimitRows(),
                      EncodeRows(),
                      ShardRows(),
                      TailRows(),
                      {kMetadata, kReproducible, kPackForce, kPackPlan, kJobs,
                       kPackMemory, kJson, kNoSummary, kProgress}});
}

// For verbs that write samples of a set as another.
Options CopyRows() {
  return JoinOptions(
      {{kOutput, Value(ValueKind::kNumber, "", "shards", "<n>",
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
       {kMetadata, kReproducible, kPackForce, kPlan, kJobs, kPackMemory, kJson,
        kNoSummary, kProgress}});
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
          .options = JoinOptions({std::move(first), CopyRows()}),
          .examples = std::move(examples),
          .run = run};
}

}  // namespace

Verb PackCreateVerb() {
  return {
      .name = "pack create",
      .usage = "[options] [<folder>] [<shard>]",
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
          "one with the samples it had.\n"
          "With `-o -`, the one shard is made in a temporary folder, and goes to "
          "standard "
          "output when it is complete; the closing line goes to standard error.",
      .options = JoinOptions({
          {Value(ValueKind::kFile, "i", "input", "<folder>",
                 "<folder>: or a manifest, a file that lists samples"),
           kOutput,
           Choice("group-by", "<what>", "auto, dir, stem or manifest [auto]",
                  "auto dir stem manifest"),
           Value(ValueKind::kFile, "", "manifest", "<file>",
                 "a manifest for the files of the folder"),
           Flag("", "keep-times", "keep times of modification and permissions"),
           Flag("", "skip-links", "leave out links that lead out of the folder"),
           kSkipDamagedSamples, kAllFindings},
          WriteRows(),
      }),
      .examples = {"shardpack create --input input_data_directory --output "
                   "dataset-train-000000.shardpack --record-size-limit 1GB --compression "
                   "lz4 --metadata creator=\"MyName\" training=\"true\"",
                   "shardpack create images train-000000.shardpack --shard-size 256MiB "
                   "--group-by stem",
                   "shardpack create -i manifest.jsonl -o train.shardpack --compression "
                   "zstd --dictionary 64KiB"},
      .run = RunPackCreate,
  };
}

Verb PackImportVerb() {
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
          "With --skip-damaged, a sample that cannot be read, or that no shard can hold, "
          "is left out and reported: a line of jsonl or of a manifest, a record of "
          "tfrecord whose length is good, a value of lmdb, a sample of a tar archive "
          "whose "
          "files do not fit together, a sample of mds. Where damage hides what follows, "
          "the rest of a tar archive or a whole shard of mds is left out as one. All "
          "else "
          "is an error still.\n"
          "The shards appear when all are complete. Cut short, the same command goes on "
          "behind the last of them, as that of `dolium pack create` does. `-` is "
          "standard "
          "input or output: for <source> of kinds that are files, for <shard> if it is "
          "one.",
      .options = JoinOptions(
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
                  "before the numbers of samples without a key"),
            kSkipDamagedSamples, kAllFindings},
           WriteRows()}),
      .examples = {"shardpack import --from webdataset 'train-{0000..0099}.tar' "
                   "train-000000.shardpack --shard-size 1GB",
                   "shardpack import --from jsonl captions.jsonl captions.shardpack "
                   "--compression zstd --dictionary 64KiB"},
      .run = RunPackImport,
  };
}

std::vector<Verb> PackCopyVerbs() {
  return {
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
               PackSelectRows(),
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
  };
}

}  // namespace dolium::cli
