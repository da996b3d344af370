#include "dolium/ops/list.h"

#include <utility>

#include <fmt/format.h>

#include "dolium/ops/read_key.h"

namespace dolium {

namespace {

Error NoSuchKey(const Container& container, std::string_view key) {
  return NotFound(
      fmt::format("{}: no entry \"{}\"", container.location().Describe(), key));
}

}  // namespace

Result<void> List(const Container& container, const ScanVisitor& visitor) {
  return Scan(container, visitor);
}

Result<EntryData> Cat(const Container& container, std::string_view key, bool raw,
                      const ReadLimits& limits) {
  DOLIUM_TRY(auto data, ReadKey(container, key, raw, limits));
  if (!data) return NoSuchKey(container, key);
  return *std::move(data);
}

Result<uint64_t> CatStreamed(
    const Container& container, std::string_view key,
    const std::function<Result<void>(const Bytes& segment)>& take,
    const ReadLimits& limits) {
  uint64_t size = 0;
  bool is_taken = false;
  Result<void> ended;  // by an error behind which there is no beginning again
  DOLIUM_TRY(const bool is_there,
             WithEntry(container, key, [&](const Entry& entry) -> Result<void> {
               auto read = ReadInSegments(
                   container.store(), entry,
                   [&](const Bytes& segment) {
                     is_taken = true;
                     size += segment.size();
                     return take(segment);
                   },
                   limits);
               if (read || !is_taken) return read;
               ended = std::move(read);
               return {};
             }));
  if (!is_there) return NoSuchKey(container, key);
  if (!ended) return std::move(ended).error();
  return size;
}

}  // namespace dolium
