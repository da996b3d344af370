// SourceFiles: the files that a source is read from, one after another.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/imports/bound_files.h"
#include "dolium/domain/dataset/imports/input_stream.h"

namespace dolium::dataset {

// One thread at a time.
class SourceFiles {
 public:
  // Opens the first, if there is one; looks up the sizes of local ones.
  static Result<SourceFiles> Open(std::vector<Location> locations);
  explicit SourceFiles(std::unique_ptr<InputStream> only)
      : total_bytes_(only->size()), next_(std::move(only)) {}

  // As SampleSource has it.
  Result<std::string> Bind();

  // The next one; nullptr after the last.
  Result<std::unique_ptr<InputStream>> Next();

  // Of all of them, if all are local; else 0.
  uint64_t total_bytes() const { return total_bytes_; }

 private:
  SourceFiles() = default;

  std::vector<Location> locations_;
  BoundFiles bound_;
  size_t opened_ = 0;
  uint64_t total_bytes_ = 0;
  std::unique_ptr<InputStream> next_;  // opened ahead
};

}  // namespace dolium::dataset
