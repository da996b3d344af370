// Which keys and names a shard may hold.
#pragma once

#include <string_view>

#include "dolium/base/result.h"

namespace dolium::shardpack {

// Whether it is UTF-8 without NUL, as all text in a shard is.
bool IsPlainText(std::string_view text);

// kInvalidArgument unless it is 1 to 65,535 bytes of UTF-8 without NUL.
Result<void> CheckKey(std::string_view key);

// The same, and relative, without a `..` component: safe to extract.
Result<void> CheckEntryName(std::string_view name);

// Up to 65,535 bytes of UTF-8 without NUL.
Result<void> CheckContentType(std::string_view type);

}  // namespace dolium::shardpack
