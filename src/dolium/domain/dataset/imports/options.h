// What can be chosen about samples that come from, or go to, other formats.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "dolium/base/result.h"

namespace dolium::dataset {

// Which files of a folder make up a sample.
enum class Grouping : uint8_t {
  kAuto,       // kDirectory or kStem, if the tree fits just one of them
  kDirectory,  // the files directly in a directory; the key is the directory's path
  kStem,       // files equal up to the first dot of their names; that is the key
  kManifest,   // as a manifest says (manifest.h)
};

// What kAuto came to. Directories look like classes, each of many samples, if they hold
// many files each, or several of which none has the name of one in another directory.
struct GroupingChoice {
  Grouping grouping = Grouping::kAuto;
  bool looks_like_classes = false;
};

// How records of a TFRecord file are understood.
enum class TfRecords : uint8_t {
  kAuto,     // as the first record looks
  kRaw,      // one file `data` with the record's bytes
  kExample,  // a tf.train.Example; one file for each feature
};

struct ImportOptions {
  // folder; lmdb: kDirectory makes one sample of neighbouring keys that are equal up to
  // their last slash, as exports write them
  Grouping grouping = Grouping::kAuto;
  std::string manifest = {};  // its path; empty: `manifest.jsonl` in the folder
  bool skip_links = false;    // links that may not be followed are left out, not errors

  // folder, webdataset: keep modification times and permissions.
  bool keep_attributes = false;

  // webdataset: names are made lower case, as its readers do, unless this is set.
  bool keep_case = false;

  // tfrecord
  TfRecords records = TfRecords::kAuto;

  // lmdb: a named database in the environment; empty: the unnamed one.
  std::string database = {};

  // jsonl: lines that list files (sample_json.h) become those files. Off: every line is
  // one file of JSON.
  bool jsonl_files = true;

  // tfrecord, mds, jsonl: put before the running number where samples have no key.
  std::string key_prefix = {};

  // Samples that are damaged are left out where the source can go on behind them, and
  // reported (SampleSource::TakeLeftOut), not errors.
  bool skip_damaged = false;

  // The most that one file, record or line may take: more is an error, before it is
  // read.
  uint64_t max_file_bytes = uint64_t{4} << 30;
};

// How samples are laid out in a folder.
enum class FolderLayout : uint8_t {
  kDirectory,  // <key>/<name>
  kStem,       // <key>.<name>
};

struct SampleExportOptions {
  // Replace what is there. Off: a file in the way is kExists.
  bool force = false;

  // webdataset, tfrecord, mds, jsonl: begin a new file once one has so many bytes (before
  // compression) or samples; 0: no limit. With a limit, files are numbered. MDS always
  // numbers its shards, and has a limit of 64 MiB if none is given.
  uint64_t shard_bytes = 0;
  uint64_t shard_samples = 0;

  // webdataset, tfrecord, jsonl: compress. Names that end in .gz or .tgz ask for it too.
  bool gzip = false;

  // folder
  FolderLayout layout = FolderLayout::kDirectory;
  bool manifest = false;  // write manifest.jsonl too: keys, types and metadata survive
  // Where files are moved to later: one that is there already is kExists. Empty: nowhere.
  std::string destination = {};

  // webdataset: takes the place of dots in the last part of a key, where a reader would
  // end the key. Empty: such a key is an error.
  std::string dot_replacement = {};

  // tfrecord, mds: store keys in a feature or column `__key__`, from which they are read
  // again.
  bool keys = true;

  // All but folder, for a job that goes on: how many files are there already, and what is
  // called when another one has appeared. LMDB has one.
  uint64_t files_before = 0;
  std::function<Result<void>(bool is_last)> file_done = {};
};

}  // namespace dolium::dataset
