// The rows of `dolium cas`.
#include <string_view>
#include <vector>

#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace dolium::cli {
namespace {

constexpr Option kStore = Value(ValueKind::kFile, "", "store", "<folder>",
                                "the store [the environment's DOLIUM_STORE]");
constexpr Option kCasForce = Flag("", "force", "replace what is there");
constexpr Option kCasXorbs = Value(ValueKind::kFile, "", "xorbs", "<folder>",
                                   "a folder with xorbs beside the shard");

constexpr std::string_view kReferenceDetails =
    "A version is named as `name`, for the latest, or `name@3`. A file can also be named "
    "by its hash, of 64 digits.";

constexpr Option kCasTags =
    Value(ValueKind::kTexts, "", "tag", "<tag,...>",
          "only versions with all of these tags; may be given several times");
constexpr Option kCasHost =
    Value(ValueKind::kText, "", "host", "<name>", "only versions that were put there");

constexpr std::string_view kTagDetails =
    "Given several times, --tag means the versions that have all tags of any of them.";

constexpr std::string_view kHexDetails =
    "With --json, names that are not UTF-8 are given in hex: `path_hex` for `path`.";

std::string WithReferences(std::string_view details) {
  std::string all(details);
  if (!all.empty()) all += '\n';
  return all += kReferenceDetails;
}

Verb Init() {
  return {
      .name = "cas init",
      .usage = "[options] <folder>",
      .outline = "make an empty store",
      .description = "Make an empty store in a folder that is new or empty.",
      .details = "What is in a store, docs/formats/cas.md describes.",
      .options = {kJson},
      .examples = {"dolium cas init /data/store"},
      .run = RunCasInit,
  };
}

Verb Put() {
  return {
      .name = "cas put",
      .usage = "[options] <path>...",
      .outline = "store files and folders, each chunk once",
      .description =
          "Store files or folders as the next version of a name; chunks that "
          "the store has are not stored again.",
      .details =
          "One file is restored as a file, one folder by what is in it, several paths "
          "under their base names. `-` is standard input. Permissions, times, owners (as "
          "numbers), links, hard links, extended attributes, holes, pipes and devices "
          "are "
          "kept.\n"
          "What cannot be read, vanishes, or is a socket is left out, with a line on "
          "standard error and exit status 1. A file that changes while it is read is "
          "read "
          "again; one that changes each time is left out, too.\n"
          "--exclude leaves out what a pattern matches: `*.tmp` what is called so, at "
          "any "
          "depth; `build/cache` what has these names, at any depth; `/build` what lies "
          "right in the folder that is put; `cache/` folders alone. `*`, `?` and `[a-z]` "
          "stand for characters of one name, a name `**` for any number of folders. What "
          "is below a folder that is left out is left out with it. A file of patterns "
          "has "
          "one on each line; empty lines and those that begin with `#` are none. A "
          "pattern of --exclude that excludes nothing is named at the end.\n"
          "Files of a folder are not read again if the last put of the name read them "
          "and "
          "their inodes, sizes, and times of modification and of change are what they "
          "were then.\n"
          "When it ends, all is on the disk. One that was stopped or killed made no "
          "version; begun again, it does not store again what it stored.\n"
          "With --align-entries, chunks of ShardPack and Neuroglancer shards end where "
          "their entries end: versions of a set that differ in some entries share all "
          "others. The hashes of such files are not those that Xet gives them. `dolium "
          "cas stats` of two versions shows what it gains.",
      .options = {kStore,
                  Value(ValueKind::kText, "n", "name", "<name>",
                        "the name [the base name of one path]"),
                  Flag("", "align-entries",
                       "end chunks where entries of shards end; hashes are then not "
                       "those of Xet"),
                  Flag("", "reread",
                       "read files of folders even if nothing shows a change"),
                  Value(ValueKind::kTexts, "", "exclude", "<pattern>",
                        "leave out what it matches; may be given several times"),
                  Value(ValueKind::kTexts, "", "exclude-file", "<file>",
                        "leave out what its patterns match; may be given several times"),
                  Flag("", "one-file-system",
                       "leave out what is in folders where others are mounted"),
                  Aliased(Flag("", "no-owners", "do not keep owners"), "no-owner"),
                  Value(ValueKind::kTexts, "", "tag", "<tag>",
                        "a tag of the version; may be given several times"),
                  Value(ValueKind::kText, "", "host", "<name>",
                        "the host of the version [the name of this machine]"),
                  Value(ValueKind::kSize, "", "memory", "<size>",
                        "most to hold of files at once [256MiB]"),
                  kJobs, kJson, kNoSummary, kProgress},
      .examples = {"dolium cas put --store /data/store model.safetensors",
                   "dolium cas put --name train train-data",
                   "dolium cas put --exclude '*.o' --exclude /build --tag nightly src",
                   "tar c src | dolium cas put --name src.tar -"},
      .run = RunCasPut,
  };
}

Verb Get() {
  return {
      .name = "cas get",
      .usage = "[options] <name[/path] | hash> [<path>]",
      .outline = "restore a version, checked",
      .description =
          "Restore a version of a file or folder, or what has a path in a folder. Every "
          "chunk is checked before it is written.",
      .details = WithReferences(
          "A folder is restored into the folder <path>, which is made, or "
          "must be empty unless --force is given. Files appear whole or not at all. "
          "Nothing is written outside of it. `-` is standard output, for files. --force "
          "replaces files and links, also a link in the place of a folder, and follows "
          "none; folders, devices and pipes are never replaced.\n"
          "Damage is an error that names file, term, xorb and chunk; wrong bytes are "
          "never written. With --skip-damaged, damaged files are left out, each with a "
          "line on standard error, and the exit status is 1.\n"
          "Owners that may not be set here, extended attributes, and devices that may "
          "not "
          "be made are reported on standard error, and the exit status is 1; the rest is "
          "restored. --no-owners leaves all to whoever restores them."),
      .options = {kStore,
                  Value(ValueKind::kFile, "o", "output", "<path>",
                        "<path>: the file or folder to make [-: standard output]"),
                  kCasForce, Flag("", "skip-damaged", "go on past damaged files"),
                  Aliased(Flag("", "no-owners", "do not set owners"), "no-owner"), kJobs,
                  kJson, kNoSummary, kProgress},
      .examples = {"dolium cas get train restored", "dolium cas get train@2 -o before",
                   "dolium cas get train/labels labels",
                   "dolium cas get src.tar - | tar t"},
      .run = RunCasGet,
  };
}

Verb CasLs() {
  return {
      .name = "cas ls",
      .usage = "[options] [<name[/path]>]",
      .outline = "list names, or what is in a version",
      .description =
          "List the names in a store, or the paths of one version, or those below one of "
          "them.",
      .details = WithReferences(kHexDetails),
      .options = {kStore, Flag("l", "long", "a table: path, size, time, mode, hash"),
                  kJson},
      .examples = {"dolium cas ls", "dolium cas ls -l train@2",
                   "dolium cas ls train/labels",
                   "dolium cas ls --json train | jq -r 'select(.size > 1e9).key'"},
      .run = RunCasLs,
  };
}

Verb Log() {
  return {
      .name = "cas log",
      .usage = "[options] [<name>]",
      .outline = "list versions, with what each added",
      .description = "List the versions of a name, or of all, with what each added.",
      .details = std::string(kTagDetails),
      .options = {kStore, kCasTags, kCasHost, kJson},
      .examples = {"dolium cas log train", "dolium cas log --json | jq .new_bytes"},
      .run = RunCasLog,
  };
}

Verb Stat() {
  return {
      .name = "cas stats",
      .usage = "[options] [<name> [<name>]]",
      .outline = "sizes, ratios, a histogram; what a version added",
      .description =
          "Show how much a store holds, and what it saves; or what one version "
          "is made of and added; or what the second of two has that the first has not.",
      .details = WithReferences(
          "`dedup ratio` is the bytes of all versions to the bytes of all chunks; "
          "`compression` the bytes of chunks to those on disk.\n"
          "Of two versions that were put with --align-entries, `not aligned` is what the "
          "second would have added without it, and `gain` the difference: for this, both "
          "are read, and cut again."),
      .options = {kStore, kJson},
      .examples = {"dolium cas stats", "dolium cas stats train@2",
                   "dolium cas stats train@1 train@2",
                   "dolium cas stats --json | jq .dedup_ratio"},
      .run = RunCasStats,
      .alias = "cas stat",
  };
}

Verb CasDiff() {
  return {
      .name = "cas diff",
      .usage = "[options] <name> <name>",
      .outline = "what differs between two versions",
      .description =
          "Show what differs between two versions: `-` only in the first, `+` "
          "only in the second, `~` in both.",
      .details = WithReferences("The exit status is 1 if anything differs.\n" +
                                std::string(kHexDetails)),
      .options = {kStore, Flag("q", "quiet", "show the sums only"), kJson, kNoSummary},
      .examples = {"dolium cas diff train@1 train@2"},
      .run = RunCasDiff,
  };
}

Verb Rm() {
  return {
      .name = "cas rm",
      .usage = "[options] <name>...",
      .outline = "remove versions; gc frees their space",
      .description =
          "Remove a version, or all versions of a name. `dolium cas gc` frees "
          "the space that nothing needs any more.",
      .details =
          "A version is named as `name@3`; `name` means all versions of it, and "
          "needs --all if there are several.",
      .options = {kStore, Flag("", "all", "all versions of a name"), kJson},
      .examples = {"dolium cas rm train@1", "dolium cas rm --all train"},
      .run = RunCasRm,
  };
}

Verb Forget() {
  return {
      .name = "cas forget",
      .usage = "[options] [<name>...]",
      .outline = "remove old versions by rules; gc frees their space",
      .description =
          "Remove versions of the names, or of all, but for those that a rule keeps. "
          "`dolium cas gc` frees the space that nothing needs any more.",
      .details =
          "--keep-last keeps the latest versions; --keep-daily the latest of each day "
          "that "
          "has one, as many days as it says, and the others in the same way. Days are "
          "those of the local time zone, weeks begin on Mondays. A version stays if any "
          "rule keeps it. A rule that has some left keeps the oldest version, too. The "
          "rules are those of restic.\n"
          "Each name is treated for itself. With --tag or --host, all other versions "
          "stay, "
          "and do not count. " +
          std::string(kTagDetails),
      .options =
          {kStore, Value(ValueKind::kNumber, "", "keep-last", "<n>", "the latest"),
           Value(ValueKind::kNumber, "", "keep-daily", "<n>", "the latest of each day"),
           Value(ValueKind::kNumber, "", "keep-weekly", "<n>", "the latest of each week"),
           Value(ValueKind::kNumber, "", "keep-monthly", "<n>",
                 "the latest of each month"),
           Value(ValueKind::kNumber, "", "keep-yearly", "<n>", "the latest of each year"),
           kCasTags, kCasHost, Flag("", "dry-run", "show what would be removed"), kJson,
           kNoSummary},
      .examples = {"dolium cas forget --keep-daily 7 --keep-weekly 4 --keep-monthly 12",
                   "dolium cas forget --dry-run --keep-last 3 train"},
      .run = RunCasForget,
  };
}

Verb Gc() {
  return {
      .name = "cas gc",
      .usage = "[options]",
      .outline = "remove what no version needs",
      .description = "Remove what no version needs and no running command uses.",
      .details =
          "May run beside all other verbs. What is younger than --grace stays, so "
          "that a put that was killed can be begun again and find what it stored.\n"
          "A xorb is replaced when less than --repack of its bytes is needed: what is "
          "needed goes to a new one, which takes that much space until the old one is "
          "removed. One that a running command uses stays as it is.\n"
          "A version, file or shard that is damaged keeps everything: see `dolium cas "
          "verify`.",
      .options = {kStore,
                  Value(ValueKind::kText, "", "grace", "<time>",
                        "keep what is younger, as in 90m, 24h or 7d [24h]"),
                  Value(ValueKind::kText, "", "repack", "<percent>",
                        "replace xorbs of which less is needed, as in 80%, or never "
                        "[50%]"),
                  Flag("", "dry-run", "show what would be removed"), kJson, kProgress},
      .examples = {"dolium cas gc", "dolium cas gc --repack never",
                   "dolium cas gc --dry-run --grace 0s"},
      .run = RunCasGc,
  };
}

Verb CasVerify() {
  return {
      .name = "cas verify",
      .usage = "[options]",
      .outline = "find what is damaged, and whose it is",
      .description =
          "Read everything and check it: that it is there, fits together, and that every "
          "byte is right. Names each damaged object and each file of a version that it "
          "damages.",
      .details =
          "With --json, findings have `type` (\"bad\"), `kind`, `object`, `key` and "
          "`message`; a damaged file is of kind \"damaged_file\", its object is the "
          "version, its key the path. To repair a store: `dolium cas verify "
          "--quarantine` moves damaged xorbs and shards to the store's folder "
          "`quarantine`; then put the files that it names again, or remove their "
          "versions. What is whole in a quarantined xorb can still be read with "
          "`dolium cas get`.",
      .options = {kStore,
                  Flag(
                      "", "quick",
                      "check that everything is there and fits together; read no chunks"),
                  Deep("nothing more: without --quick, all that can be is recomputed"),
                  Aliased(
                      Flag("", "quarantine",
                           "move what is damaged away, so that a put stores it again"),
                      "set-aside"),
                  kAllFindings, kJobs, kJson, kNoSummary, kProgress},
      .examples = {"dolium cas verify", "dolium cas verify --quarantine",
                   "dolium cas verify --json | jq -r 'select(.kind == "
                   "\"damaged_file\").key'"},
      .run = RunCasVerify,
  };
}

Verb Reindex() {
  return {
      .name = "cas reindex",
      .usage = "[options]",
      .outline = "rebuild the index from the shards",
      .description =
          "Rebuild the index from the shards. It is a cache: nothing depends "
          "on it but how much new versions share with old ones.",
      .details =
          "A put does the same by itself when it finds the index missing or damaged.",
      .options = {kStore, kJson},
      .examples = {"dolium cas reindex"},
      .run = RunCasReindex,
  };
}

Verb CasExport() {
  return {
      .name = "cas export",
      .usage = "[options] -o <shard> [<name>...]",
      .outline = "write a shard that lists files and xorbs",
      .description =
          "Write an MDB shard with the files of versions, or of all, and the "
          "xorbs they need.",
      .details = WithReferences(
          "Xorbs appear one after another, the shard when all are there. Cut short, the "
          "same command goes on with those that are missing; until then the folder "
          "`<shard>.dolium-new` says which are there.\n"
          "With --upload, the shard is as clients send it to a server: without footer "
          "and "
          "tables, and with the SHA-256 of every file, for which files are read that the "
          "store has none of."),
      .options = {kStore,
                  Value(ValueKind::kFile, "o", "output", "<shard>", "the shard to write"),
                  Value(ValueKind::kFile, "", "xorbs", "<folder>",
                        "copy the xorbs to a folder too"),
                  Flag("", "upload", "a shard to be uploaded"), kCasForce, kPlan, kJobs,
                  kJson, kNoSummary},
      .examples = {"dolium cas export -o train.mdb --xorbs xorbs train",
                   "dolium cas export --upload -o upload.mdb --xorbs xorbs train"},
      .run = RunCasExport,
  };
}

Verb CasImport() {
  return {
      .name = "cas import",
      .usage = "[options] --name <name> <shard>",
      .outline = "take the files of a shard",
      .description =
          "Take the files of an MDB shard as a version of a name. Everything "
          "is checked; xorbs that the store lacks are copied.",
      .details = "In the version, each file is called by its hash.",
      .options = {kStore, Value(ValueKind::kText, "n", "name", "<name>", "the name"),
                  kCasXorbs, kJson, kNoSummary},
      .examples = {"dolium cas import --name train --xorbs xorbs train.mdb"},
      .run = RunCasImport,
  };
}

}  // namespace

std::vector<Verb> CasVerbs() {
  return {Init(), Put(),    Get(), CasLs(),     Log(),     Stat(),      CasDiff(),
          Rm(),   Forget(), Gc(),  CasVerify(), Reindex(), CasExport(), CasImport()};
}

}  // namespace dolium::cli
