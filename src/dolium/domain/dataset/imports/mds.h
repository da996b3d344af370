// MDS data sets (mosaicml-streaming): a folder with index.json and shards.
#pragma once

#include <memory>
#include <string>

#include "dolium/base/result.h"
#include "dolium/domain/dataset/imports/options.h"
#include "dolium/domain/dataset/sample_source.h"

namespace dolium::dataset {

// Each column is a file of that name, with the bytes as they are stored. Its encoding
// gives the content type, and the array type of numbers (mds_shard.h). The key is the
// column `__key__` if there is one of encoding `str`, else a running number of nine
// digits. A shard is held in memory while it is read; compressed ones (gz, zstd) are
// decompressed first, others are kUnsupported. Sizes are checked against the index, and
// so are xxh64 hashes; other hashes are not.
Result<std::unique_ptr<SampleSource>> OpenMds(const std::string& path,
                                              const ImportOptions& options);

// Writes uncompressed shards, and index.json in Finish. Columns are those of the first
// sample, ordered by name; a sample with others is kInvalidArgument. Text becomes `str`,
// JSON `json`, JPEG and PNG `jpeg` and `png`, single numbers `int` and the like, all else
// `bytes`. Metadata have no place in this format and are left out.
Result<std::unique_ptr<SampleSink>> CreateMds(const std::string& path,
                                              const SampleExportOptions& options);

}  // namespace dolium::dataset
