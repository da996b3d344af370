// Errors about one entry, so that they read alike whoever met them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/byte_range.h"
#include "dolium/base/error.h"
#include "dolium/container/entry.h"

namespace dolium {

// The error with `object: key: ` in front, whether or not it named the object already.
// `object` is as a person would type it (Store::Describe).
Error EntryError(std::string_view object, std::string_view key, const Error& error);

// The error as a finding: its message without object and key. An empty `key` means that
// it is not about one entry.
Finding ErrorFinding(std::string kind, std::string object, std::string key,
                     std::optional<ByteRange> range, const Error& error);

}  // namespace dolium
