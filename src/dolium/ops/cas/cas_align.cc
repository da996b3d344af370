#include "dolium/ops/cas/cas_align.h"

#include <algorithm>

#include "dolium/bytes/location.h"
#include "dolium/bytes/store.h"

namespace dolium {

Result<std::vector<uint64_t>> EntryBoundaries(Formats formats, const std::string& path) {
  std::vector<uint64_t> boundaries;
  DOLIUM_TRY(const Location location, ParseLocation(path));
  OpenOptions options;
  options.allow_unfinished = true;
  const auto container = OpenContainer(formats, location, "", options);
  if (!container) return boundaries;
  const std::string name(BaseName(path));
  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    for (const Extent& extent : entry.extents) {
      if (BaseName(extent.object->name) != name) continue;
      boundaries.push_back(extent.range.offset -
                           std::min(extent.range.offset, entry.preceding));
      boundaries.push_back(extent.range.offset);
      boundaries.push_back(extent.range.end());
    }
    return true;
  };
  visitor.damage = [](const Finding&) { return true; };
  const auto objects = (*container)->Objects();
  if (!objects) return boundaries;
  for (const std::string& object : *objects) {
    if (BaseName(object) != name) continue;
    if (!(*container)->ScanObject(object, visitor)) boundaries.clear();
  }
  std::sort(boundaries.begin(), boundaries.end());
  boundaries.erase(std::unique(boundaries.begin(), boundaries.end()), boundaries.end());
  if (!boundaries.empty() && boundaries.front() == 0)
    boundaries.erase(boundaries.begin());
  return boundaries;
}

}  // namespace dolium
