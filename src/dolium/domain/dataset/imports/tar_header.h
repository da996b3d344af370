// Headers of tar archives: ustar, its PAX extensions, GNU's long names and large numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium::dataset {

inline constexpr size_t kTarBlock = 512;

constexpr uint64_t TarPadding(uint64_t size) {
  return (kTarBlock - size % kTarBlock) % kTarBlock;
}

struct TarHeader {
  std::string name;
  char type = '0';
  uint64_t size = 0;
  int64_t modified = 0;  // nanoseconds since 1970
  uint32_t mode = 0;     // permissions
};

// What a PAX header says of the file after it.
struct PaxRecords {
  std::optional<std::string> path = {};
  std::optional<uint64_t> size = {};
  std::optional<int64_t> modified = {};
  bool sparse = false;  // the file's bytes are not in the archive as they are
};

// A block that is not all zero. kCorrupt if its checksum is wrong or a number is not one.
Result<TarHeader> ParseTarHeader(BytesView block);

// The content of a PAX header. Records of no interest here are passed.
Result<PaxRecords> ParsePaxRecords(BytesView content);

// Appends the header of a regular file: ustar where that can say it all, else with a PAX
// header before it. Equal input gives equal bytes; owner and group are root, by number.
void AppendTarHeader(const TarHeader& header, ByteVector& out);

}  // namespace dolium::dataset
