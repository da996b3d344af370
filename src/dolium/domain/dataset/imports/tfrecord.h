// TFRecord files, plain or gzip: records with a length and checksums, one after another.
//
//   u64 length | u32 masked CRC-32C of it | data | u32 masked CRC-32C of the data
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/imports/input_stream.h"
#include "dolium/domain/dataset/imports/options.h"
#include "dolium/domain/dataset/sample_source.h"

namespace dolium::dataset {

// A record is a sample: one file `data`, or the features of a tf.train.Example
// (tf_example.h); with TfRecords::kAuto the first record decides for all. Keys are the
// Examples' own (a feature `__key__`), else running numbers over all files, of nine
// digits. Checksums are checked. An Example without features is kCorrupt.
Result<std::unique_ptr<SampleSource>> OpenTfRecords(std::vector<Location> files,
                                                    const ImportOptions& options);
// One file that is open already.
std::unique_ptr<SampleSource> ReadTfRecords(std::unique_ptr<InputStream> stream,
                                            const ImportOptions& options);

// Writes tf.train.Examples. Metadata and content types have no place in this format and
// are left out.
Result<std::unique_ptr<SampleSink>> CreateTfRecords(const std::string& path,
                                                    const SampleExportOptions& options);

}  // namespace dolium::dataset
