#include "dolium/domain/dataset/imports/source_files.h"

#include <algorithm>
#include <utility>

namespace dolium::dataset {

Result<SourceFiles> SourceFiles::Open(std::vector<Location> locations) {
  SourceFiles files;
  files.locations_ = std::move(locations);
  if (std::ranges::all_of(files.locations_, IsLocal)) {
    for (const Location& location : files.locations_) {
      DOLIUM_TRY(const auto info, location.store->Stat(location.path));
      if (info) files.total_bytes_ += info->size;
    }
  }
  DOLIUM_TRY(files.next_, files.Next());
  return files;
}

Result<std::unique_ptr<InputStream>> SourceFiles::Next() {
  if (next_) return std::move(next_);
  if (opened_ == locations_.size()) return nullptr;
  return InputStream::Open(locations_[opened_++]);
}

}  // namespace dolium::dataset
