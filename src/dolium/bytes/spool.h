// Spool: a whole object in an unnamed temporary file, for who reads front to back from a
// server that answers no ranges. It takes disk space, not memory, until it is destroyed.
#pragma once

#include <cstdint>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/store.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium {

class Spool {
 public:
  // Reads the object by Store::ReadThrough into the system's folder for temporary files.
  // kConflict if it is not `expected`, unless that is empty.
  static Result<Spool> Of(const Store& store, std::string_view object,
                          const Generation& expected);

  uint64_t size() const { return size_; }
  // Precondition: they lie within.
  Result<void> Read(uint64_t offset, MutableBytes into) const;

 private:
  explicit Spool(UniqueFd file) : file_(std::move(file)) {}

  UniqueFd file_;
  uint64_t size_ = 0;
};

}  // namespace dolium
