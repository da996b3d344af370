#include "dolium/bytes/slice_check.h"

#include <fmt/format.h>

namespace dolium {

Error PastEndError(std::string_view described_object, uint64_t offset, uint64_t length,
                   uint64_t size) {
  const auto range = ByteRange::Make(offset, length);
  return Corrupt(fmt::format(
      "{}: bytes {} end past the object ({} bytes)", described_object,
      range ? ToString(*range) : fmt::format("[{}, {} + {})", offset, offset, length),
      size));
}

Error NoSuchObjectError(std::string_view described_object) {
  return NotFound(fmt::format("{}: no such object", described_object));
}

Error ChangedError(std::string_view described_object) {
  return Conflict(fmt::format("{}: changed since it was first read", described_object));
}

Error OverLimitError(std::string_view described_object, uint64_t size, uint64_t limit) {
  return Corrupt(fmt::format("{}: {} bytes, more than the limit of {}", described_object,
                             size, limit));
}

Result<void> CheckPrecondition(const Precondition& precondition,
                               const std::optional<Generation>& current) {
  switch (precondition.kind) {
    case Precondition::Kind::kNone:
      return {};
    case Precondition::Kind::kAbsent:
      if (current) return Exists("exists already");
      return {};
    case Precondition::Kind::kGeneration:
      if (!current) return Conflict("removed since it was first read");
      if (*current != precondition.generation)
        return Conflict("changed since it was first read");
      return {};
  }
  return {};
}

}  // namespace dolium
