// The Python classes of one sample: Record and Entry of the package shardpack.
#pragma once

#include <cstdint>
#include <vector>

#include <nanobind/nanobind.h>

#include "dolium/domain/dataset/loaded_sample.h"

namespace dolium::python {

namespace nb = nanobind;

// A sample as Python sees it. Needs the GIL.
struct PyRecord {
  dataset::LoadedSample sample;
  // What batched reads have decoded already: a bytes object for each of sample.files().
  std::vector<nb::object> loaded = {};
};

// Type and lengths of an entry that is an array; None of any other. Needs the GIL.
nb::object ShapeObject(const shardpack::EntryHeader& header);

// A Python object for a sample that was read.
nb::object RecordObject(dataset::LoadedSample sample);

// Samples whose contents were decoded on threads, without the GIL: a list of Record, with
// an exception object in place of each that could not be read, if `keep_errors`; else the
// first error is raised. Needs the GIL.
nb::list LoadedRecords(std::vector<Result<dataset::LoadedSample>> samples,
                       bool keep_errors, size_t jobs);

}  // namespace dolium::python
