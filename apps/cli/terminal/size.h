// Numbers as people write and read them: sizes, counts, durations.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/base/size_text.h"

namespace dolium::cli {

using dolium::ParseSize;

// A plain decimal number; kInvalidArgument otherwise.
Result<uint64_t> ParseNumber(std::string_view text);

// "999 B", "1.2 kB", "51.2 MB": three digits or so, powers of 1000.
std::string FormatSize(uint64_t bytes);

// "1,234,567".
std::string FormatCount(uint64_t count);
// "1 entry", "2 entries", "1,000 chunks".
std::string FormatCount(uint64_t count, std::string_view word);
// "entries", "chunks", "meshes".
std::string Plural(std::string_view word);

// "0:07", "12:34", "3:00:00".
std::string FormatDuration(std::chrono::seconds duration);

}  // namespace dolium::cli
