// Keys of plain folders: paths of files in them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "dolium/base/result.h"

namespace dolium::files {

inline constexpr std::string_view kPrecedingSuffix = ".preceding";
inline constexpr uint64_t kParts = 64;

// kInvalidArgument, with the reason, for a key that is not a safe path below a folder.
Result<void> CheckKey(std::string_view key);

uint64_t PartOfKey(std::string_view key);

// Base name of the file with the bytes that precede `key`'s value.
std::string PrecedingName(std::string_view key);

}  // namespace dolium::files
