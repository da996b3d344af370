// Samples from files of a local folder, and back.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/domain/dataset/imports/options.h"
#include "dolium/domain/dataset/sample_source.h"

namespace dolium::dataset {

inline constexpr std::string_view kFolderManifest = "manifest.jsonl";

// Which files make a sample, and in which order samples come, FolderListing says; with
// Grouping::kManifest the lines of a manifest (sample_json.h), in their order, with paths
// relative to the folder. `path` may be a manifest itself: then its folder is meant.
// Paths and links that lead out of the folder are refused. Large files are memory maps
// (FileLoader): they must not be cut short meanwhile.
Result<std::unique_ptr<SampleSource>> OpenFolderSource(const std::string& path,
                                                       const ImportOptions& options);

// Writes `<key>/<name>` or `<key>.<name>`. Each file appears whole, with its time and
// mode if it has them; Finish sees to it that all of them outlive a crash. Keys and names
// that would lead out of the folder are kInvalidArgument; a file that is there is
// kExists, unless SampleExportOptions::force. With SampleExportOptions::manifest,
// `manifest.jsonl` appears in Finish: from it, everything about the samples can be read
// again.
Result<std::unique_ptr<SampleSink>> CreateFolderSink(const std::string& path,
                                                     const SampleExportOptions& options);

}  // namespace dolium::dataset
