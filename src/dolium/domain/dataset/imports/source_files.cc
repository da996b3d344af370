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

Result<std::string> SourceFiles::Bind() {
  for (const Location& location : locations_) {
    DOLIUM_TRY(const auto info, location.store->Stat(location.path));
    bound_.Add(location.Describe(), info ? info->generation.token : "");
  }
  return bound_.text();
}

Result<std::unique_ptr<InputStream>> SourceFiles::Next() {
  std::unique_ptr<InputStream> stream = std::move(next_);
  if (!stream) {
    if (opened_ == locations_.size()) return nullptr;
    DOLIUM_TRY(stream, InputStream::Open(locations_[opened_++]));
  }
  DOLIUM_TRY_VOID(
      bound_.Check(opened_ - 1, stream->generation().token).Within(stream->name()));
  return stream;
}

}  // namespace dolium::dataset
