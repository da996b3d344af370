// Checks that every store makes alike, so that their errors read alike.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "dolium/bytes/store.h"

namespace dolium {

// The first slice that ends past `size` bytes, or nullptr.
inline const ReadSlice* FindSlicePastEnd(std::span<const ReadSlice> slices,
                                         uint64_t size) {
  for (const ReadSlice& slice : slices) {
    if (slice.offset > size || slice.into.size() > size - slice.offset) return &slice;
  }
  return nullptr;
}

// kCorrupt: `<object>: bytes [a, b) end past the object (n bytes)`.
Error PastEndError(std::string_view described_object, uint64_t offset, uint64_t length,
                   uint64_t size);

// kNotFound: `<object>: no such object`.
Error NoSuchObjectError(std::string_view described_object);

// kConflict: `<object>: changed since it was first read`.
Error ChangedError(std::string_view described_object);

// kCorrupt: `<object>: n bytes, more than the limit of m`.
Error OverLimitError(std::string_view described_object, uint64_t size, uint64_t limit);

// What a commit or removal must answer if `current` (nullopt: absent) does not satisfy
// the precondition: kExists for Absent, kConflict for At. The caller adds the object's
// name.
Result<void> CheckPrecondition(const Precondition& precondition,
                               const std::optional<Generation>& current);

}  // namespace dolium
