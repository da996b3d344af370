// JSON Lines, plain or gzip: each line is a sample.
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

// A line becomes one file `json` with the bytes of the line. The key is its member
// `__key__`, `key` or `id`, the first of them that is a string or a number; else the
// line's running number over all files, of nine digits. Lines that hold the files of a
// sample (sample_json.h) become that sample, unless ImportOptions::jsonl_files is off.
// Empty lines are passed, and not counted.
Result<std::unique_ptr<SampleSource>> OpenJsonLines(std::vector<Location> files,
                                                    const ImportOptions& options);
// One file that is open already.
std::unique_ptr<SampleSource> ReadJsonLines(std::unique_ptr<InputStream> stream,
                                            const ImportOptions& options);

// The reverse. A sample that is one file `json` of valid JSON, and no metadata, becomes
// that JSON on one line. If it is an object from which the key could not be had again,
// `__key__` is put in; if it is no object, the sample is written as all others are: with
// its key, metadata and files, as sample_json.h has it.
Result<std::unique_ptr<SampleSink>> CreateJsonLines(const std::string& path,
                                                    const SampleExportOptions& options);

}  // namespace dolium::dataset
