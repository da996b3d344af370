// Reads bytes as a work list: everything that its table names, and parts that it may not.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

#include "dolium/base/testing/require.h"
#include "dolium/bytes/memory_store.h"
#include "dolium/ops/job/work_list.h"

namespace {

using namespace dolium;

void ReadAll(const WorkList& list) {
  std::vector<PartShare> shares;
  const auto visited =
      list.ForEachShare([&](const PartShare& share) { shares.push_back(share); });
  if (visited) Require(shares.size() == list.parts());
  for (const PartShare& share : shares) {
    ShareReader reader(list, share);
    std::vector<Entry> entries;
    uint64_t count = 0;
    Result<void> read;
    do {
      read = reader.Read(100, entries);
      count += entries.size();
      for (const Entry& entry : entries) {
        for (const Extent& extent : entry.extents) {
          Require(extent.object != nullptr);
          Require(extent.range.end() >= extent.range.offset);
        }
        (void)PayloadBytes(entry);
      }
    } while (read && !entries.empty());
    if (read) Require(count == share.entries);
    const auto found = list.Find(share.part);
    if (visited) Require(found && *found == share);
  }
  (void)list.Find(0);
  (void)list.Find(~uint64_t{0});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Location object{std::make_shared<MemoryStore>(), "work-0"};
  const auto put = object.store->Put(object.path, std::as_bytes(std::span(data, size)),
                                     Precondition::None());
  Require(put.has_value());
  auto list = WorkList::Open(object);
  if (!list) return 0;
  ReadAll(*list);
  if (list->KeepTable()) ReadAll(*list);
  return 0;
}
