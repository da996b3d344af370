// One entry of a plain folder, written or removed: a file, or two.
#pragma once

#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/entry.h"
#include "dolium/container/writer.h"

namespace dolium::files {

// Writes the value, and the preceding bytes if there are any; takes away preceding bytes
// of an earlier entry. `precondition` holds for the value's file. The key has been
// checked.
Result<WriteSummary> WriteFile(const Location& folder, std::string_view key,
                               BytesView value, BytesView preceding,
                               const Precondition& precondition);

// The same, with the value copied from raw extents of an entry, in bounded memory.
Result<WriteSummary> CopyFile(const Location& folder, const Store& source,
                              const Entry& entry, BytesView preceding,
                              const Precondition& precondition);

// kNotFound if there is no such entry.
Result<void> RemoveFile(const Location& folder, std::string_view key);

}  // namespace dolium::files
