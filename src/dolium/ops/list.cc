#include "dolium/ops/list.h"

#include <fmt/format.h>

namespace dolium {

Result<void> List(const Container& container, const ScanVisitor& visitor) {
  return Scan(container, visitor);
}

Result<EntryData> Cat(const Container& container, std::string_view key, bool raw,
                      const ReadLimits& limits) {
  DOLIUM_TRY(const std::optional<Entry> entry, container.Find(key));
  if (!entry) {
    return NotFound(
        fmt::format("{}: no entry \"{}\"", container.location().Describe(), key));
  }
  if (raw) return ReadStored(container.store(), *entry, limits);
  return ReadEntry(container.store(), *entry, limits);
}

}  // namespace dolium
