#include "dolium/ops/cas/cas_align.h"

#include <algorithm>

#include "dolium/bytes/location.h"
#include "dolium/bytes/store.h"

namespace dolium {

Result<std::vector<uint64_t>> EntryBorders(Formats formats, const std::string& path) {
  std::vector<uint64_t> borders;
  DOLIUM_TRY(const Location location, ParseLocation(path));
  OpenOptions options;
  options.allow_unfinished = true;
  const auto container = OpenContainer(formats, location, "", options);
  if (!container) return borders;
  const std::string name(BaseName(path));
  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    for (const Extent& extent : entry.extents) {
      if (BaseName(extent.object->name) != name) continue;
      borders.push_back(extent.range.offset -
                        std::min(extent.range.offset, entry.preceding));
      borders.push_back(extent.range.offset);
      borders.push_back(extent.range.end());
    }
    return true;
  };
  visitor.damage = [](const Finding&) { return true; };
  const auto objects = (*container)->Objects();
  if (!objects) return borders;
  for (const std::string& object : *objects) {
    if (BaseName(object) != name) continue;
    if (!(*container)->ScanObject(object, visitor)) borders.clear();
  }
  std::sort(borders.begin(), borders.end());
  borders.erase(std::unique(borders.begin(), borders.end()), borders.end());
  if (!borders.empty() && borders.front() == 0) borders.erase(borders.begin());
  return borders;
}

}  // namespace dolium
