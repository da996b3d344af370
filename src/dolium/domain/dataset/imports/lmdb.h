// LMDB environments: each entry is a sample.
#pragma once

#include <memory>
#include <string>

#include "dolium/base/result.h"
#include "dolium/domain/dataset/imports/options.h"
#include "dolium/domain/dataset/sample_source.h"

namespace dolium::dataset {

// `path` is a folder with `data.mdb`, or such a file itself. An entry becomes a sample
// with one file `data`, in the order of the database; what values mean is not asked
// (named databases look like entries of the unnamed one; ImportOptions::database reads
// them). Keys that are not UTF-8 become hexadecimal digits after `0x`, integer keys
// (MDB_INTEGERKEY) decimal ones. Nothing is written, no lock is taken: nobody may write
// to the environment meanwhile. Values lie in the memory map of the library, which trusts
// its files: open only those that you trust too.
Result<std::unique_ptr<SampleSource>> OpenLmdb(const std::string& path,
                                               const ImportOptions& options);

// Writes `path`/data.mdb, or the file `path` if it ends in `.mdb`; it appears in Finish.
// A file `data` that is its sample's only one is stored under the sample's key, any other
// under `<key>/<name>`; keys have at most 511 bytes. Metadata and content types have no
// place in this format and are left out. A key that comes twice is kExists.
//
// What OpenLmdb would not give back is kInvalidArgument, here or in Finish. It gives back
// sets of samples with `data` alone as they are, and all others, but for the order, with
// Grouping::kDirectory. Then names have no slash, the files of a sample are not among
// those of another (`a` with `x` and `z`, `a/x` with `q`), and keys of samples with
// `data` alone have no slash either.
Result<std::unique_ptr<SampleSink>> CreateLmdb(const std::string& path,
                                               const SampleExportOptions& options);

}  // namespace dolium::dataset
