// Spool: bytes in an unnamed temporary file, for who reads front to back from a server
// that answers no ranges, or from a pipe. It takes disk space, not memory, until it is
// destroyed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/store.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium {

class Spool {
 public:
  // An empty one, in the system's folder for temporary files.
  static Result<Spool> Make();
  // Reads the object by Store::ReadThrough into the system's folder for temporary files.
  // kConflict if it is not `expected`, unless that is empty.
  static Result<Spool> Of(const Store& store, std::string_view object,
                          const Generation& expected);

  uint64_t size() const { return size_; }
  Result<void> Append(BytesView bytes);
  // Precondition: they lie within.
  Result<void> Read(uint64_t offset, MutableBytes into) const;
  // All of it as memory that the system fills as it is touched. Outlives the spool.
  Result<Bytes> Map() const;

 private:
  Spool(UniqueFd file, std::string folder)
      : file_(std::move(file)), folder_(std::move(folder)) {}

  UniqueFd file_;
  std::string folder_;  // for messages
  uint64_t size_ = 0;
};

}  // namespace dolium
