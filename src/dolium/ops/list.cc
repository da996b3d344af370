#include "dolium/ops/list.h"

#include <optional>
#include <utility>

#include <fmt/format.h>

namespace dolium {

namespace {

Result<Entry> MustFind(const Container& container, std::string_view key) {
  DOLIUM_TRY(std::optional<Entry> entry, container.Find(key));
  if (!entry) {
    return NotFound(
        fmt::format("{}: no entry \"{}\"", container.location().Describe(), key));
  }
  return *std::move(entry);
}

}  // namespace

Result<void> List(const Container& container, const ScanVisitor& visitor) {
  return Scan(container, visitor);
}

Result<EntryData> Cat(const Container& container, std::string_view key, bool raw,
                      const ReadLimits& limits) {
  DOLIUM_TRY(const Entry entry, MustFind(container, key));
  if (raw) return ReadStored(container.store(), entry, limits);
  return ReadEntry(container.store(), entry, limits);
}

Result<uint64_t> CatInPieces(const Container& container, std::string_view key,
                             const std::function<Result<void>(const Bytes& piece)>& take,
                             const ReadLimits& limits) {
  DOLIUM_TRY(const Entry entry, MustFind(container, key));
  uint64_t size = 0;
  DOLIUM_TRY_VOID(ReadInSegments(
      container.store(), entry,
      [&](const Bytes& piece) {
        size += piece.size();
        return take(piece);
      },
      limits));
  return size;
}

}  // namespace dolium
