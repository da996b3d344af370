// WebDataset: tar archives, plain or gzip, whose files are samples by their names.
//
// A path's key is its part up to the first dot of the base name; the file's name in the
// sample is what follows ("a/b.seg.png": key "a/b", name "seg.png"). Files in a row with
// equal keys are a sample; the end of an archive ends it. A key that comes again later is
// another sample with the same key: whether that may be is for whoever takes the samples
// to say. The same name twice in a sample is kCorrupt. As WebDataset's own reader does,
// this passes directories, links, files without a dot in their names, and what is named
// or lies under `__like_this__`; and names become lower case (ASCII).
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

// The archives are opened one after another. kNotFound comes at once if the first one is
// not there.
Result<std::unique_ptr<SampleSource>> OpenWebDataset(std::vector<Location> files,
                                                     const ImportOptions& options);
// One archive that is open already.
std::unique_ptr<SampleSource> ReadWebDataset(std::unique_ptr<InputStream> stream,
                                             const ImportOptions& options);

// Files are written in the order of the sample, with time 0 and permissions 0444 unless
// they have their own; metadata of the sample as a last file `__metadata__.json` (or
// `.msgpack`, `.cbor`, `.bin`), of which an import makes metadata again. Those of files
// have no place in this format. Keys that a reader would cut are kInvalidArgument (see
// SampleExportOptions::dot_replacement).
Result<std::unique_ptr<SampleSink>> CreateWebDataset(const std::string& path,
                                                     const SampleExportOptions& options);

}  // namespace dolium::dataset
