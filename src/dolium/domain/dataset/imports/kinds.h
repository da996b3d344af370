// The formats that samples can come from and go to, by name.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/domain/dataset/imports/options.h"
#include "dolium/domain/dataset/sample_source.h"

namespace dolium::dataset {

struct SampleKind {
  std::string_view name;
  std::string_view summary;      // one line, for help
  std::string_view suffix = {};  // of its files; empty: it is no single file
};

// All of them: folder, webdataset, mds, tfrecord, lmdb, jsonl.
std::span<const SampleKind> SampleKinds();

// kInvalidArgument if there is no such kind, with the names of those there are. For
// webdataset, tfrecord and jsonl, `path` may be a file, a folder of such files (by their
// suffix, in name order), brace notation, a pattern or a list (see set_reference.h).
Result<std::unique_ptr<SampleSource>> OpenSampleSource(std::string_view kind,
                                                       const std::string& path,
                                                       const ImportOptions& options);

// What is there already is kExists, unless SampleExportOptions::force.
Result<std::unique_ptr<SampleSink>> OpenSampleSink(std::string_view kind,
                                                   const std::string& path,
                                                   const SampleExportOptions& options);

// "auto", "dir", "stem", "manifest".
Result<Grouping> ParseGrouping(std::string_view name);

}  // namespace dolium::dataset
