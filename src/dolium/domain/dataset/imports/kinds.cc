#include "dolium/domain/dataset/imports/kinds.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/imports/folder.h"
#include "dolium/domain/dataset/imports/jsonl.h"
#include "dolium/domain/dataset/imports/lmdb.h"
#include "dolium/domain/dataset/imports/mds.h"
#include "dolium/domain/dataset/imports/skipping_source.h"
#include "dolium/domain/dataset/imports/tfrecord.h"
#include "dolium/domain/dataset/imports/webdataset.h"
#include "dolium/domain/dataset/set_reference.h"

namespace dolium::dataset {
namespace {

using SourcePointer = std::unique_ptr<SampleSource>;
using SinkPointer = std::unique_ptr<SampleSink>;

struct KindRow {
  SampleKind kind;
  // Of one place, or of several files; the other is nullptr.
  Result<SourcePointer> (*open)(const std::string&, const ImportOptions&);
  Result<SourcePointer> (*open_files)(std::vector<Location>, const ImportOptions&);
  std::vector<std::string_view> suffixes;  // of such files in a folder
  Result<SinkPointer> (*create)(const std::string&, const SampleExportOptions&);
};

const std::vector<KindRow>& Rows() {
  static const auto* const rows = new std::vector<KindRow>{
      {{"folder", "files of a folder, grouped by directory, stem or manifest"},
       OpenFolderSource,
       nullptr,
       {},
       CreateFolderSink},
      {{"webdataset", "tar archives, plain or gzip, grouped by the files' names"},
       nullptr,
       OpenWebDataset,
       {".tar", ".tar.gz", ".tgz"},
       CreateWebDataset},
      {{"mds", "a folder of mosaicml-streaming shards with its index.json"},
       OpenMds,
       nullptr,
       {},
       CreateMds},
      {{"tfrecord", "TFRecord files, plain or gzip, of tf.train.Examples or raw records"},
       nullptr,
       OpenTfRecords,
       {".tfrecord", ".tfrecords", ".tfrecord.gz", ".tfrecords.gz"},
       CreateTfRecords},
      {{"lmdb", "an LMDB environment; each entry is a sample"},
       OpenLmdb,
       nullptr,
       {},
       CreateLmdb},
      {{"jsonl", "JSON Lines, plain or gzip; each line is a sample"},
       nullptr,
       OpenJsonLines,
       {".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz"},
       CreateJsonLines},
  };
  return *rows;
}

Result<const KindRow*> FindRow(std::string_view name) {
  std::string names;
  for (const KindRow& row : Rows()) {
    if (row.kind.name == name) return &row;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", row.kind.name);
  }
  return InvalidArgument(fmt::format("no kind \"{}\"; there are {}", name, names));
}

// The files of a local folder with one of the suffixes; none if it is no folder.
Result<std::vector<Location>> FilesOfFolder(const Location& folder, const KindRow& row) {
  if (!IsLocal(folder)) return std::vector<Location>();
  std::vector<std::string> names;
  const auto listed =
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        const bool fits =
            !is_folder && std::ranges::any_of(row.suffixes, [&](std::string_view suffix) {
              return name.ends_with(suffix);
            });
        if (fits) names.emplace_back(name);
        return true;
      });
  if (!listed) return std::vector<Location>();
  if (names.empty()) {
    return NotFound(fmt::format("{}: no files in it that end in {}", folder.Describe(),
                                row.suffixes.front()));
  }
  std::ranges::sort(names);
  std::vector<Location> files;
  files.reserve(names.size());
  for (const std::string& name : names) files.push_back(folder.Child(name));
  return files;
}

Result<std::vector<Location>> ResolveFiles(const std::string& path, const KindRow& row) {
  if (auto location = ParseLocation(path)) {
    if (IsLocal(*location)) {
      DOLIUM_TRY(const auto there, location->store->Stat(location->path));
      if (there) return std::vector<Location>{*std::move(location)};
    }
    DOLIUM_TRY(auto files, FilesOfFolder(*location, row));
    if (!files.empty()) return files;
  }
  DOLIUM_TRY(auto references, ResolveSet(path));
  std::vector<Location> files;
  files.reserve(references.size());
  for (ShardReference& reference : references) {
    files.push_back(std::move(reference.location));
  }
  return files;
}

}  // namespace

std::span<const SampleKind> SampleKinds() {
  static const auto* const kinds = [] {
    auto* made = new std::vector<SampleKind>;
    for (const KindRow& row : Rows()) {
      made->push_back(row.kind);
      if (!row.suffixes.empty()) made->back().suffix = row.suffixes.front();
    }
    return made;
  }();
  return *kinds;
}

Result<SourcePointer> OpenSampleSource(std::string_view kind, const std::string& path,
                                       const ImportOptions& options) {
  DOLIUM_TRY(const KindRow* const row, FindRow(kind));
  SourcePointer source;
  if (row->open != nullptr) {
    DOLIUM_TRY(source, row->open(path, options));
  } else {
    DOLIUM_TRY(auto files, ResolveFiles(path, *row));
    DOLIUM_TRY(source, row->open_files(std::move(files), options));
  }
  return options.skip_damaged ? SkipDamaged(std::move(source)) : std::move(source);
}

Result<SinkPointer> OpenSampleSink(std::string_view kind, const std::string& path,
                                   const SampleExportOptions& options) {
  DOLIUM_TRY(const KindRow* const row, FindRow(kind));
  return row->create(path, options);
}

Result<Grouping> ParseGrouping(std::string_view name) {
  if (name == "auto") return Grouping::kAuto;
  if (name == "dir") return Grouping::kDirectory;
  if (name == "stem") return Grouping::kStem;
  if (name == "manifest") return Grouping::kManifest;
  return InvalidArgument(
      fmt::format("no grouping \"{}\"; there are auto, dir, stem, manifest", name));
}

}  // namespace dolium::dataset
