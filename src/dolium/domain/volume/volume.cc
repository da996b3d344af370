#include "dolium/domain/volume/volume.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/container/unfinished.h"

namespace dolium::volume {
namespace {

constexpr uint64_t kMaxInfoBytes = uint64_t{64} << 20;
constexpr size_t kMaxRedirects = 10;
constexpr int kMaxRounds = 100;

struct ReadInfo {
  VolumeInfo info;
  Generation generation;
};

Result<ReadInfo> Load(const Location& folder) {
  const Location object = folder.Child(kInfoName);
  auto whole = object.store->ReadWhole(object.path, kMaxInfoBytes);
  if (!whole && whole.error().code == ErrorCode::kNotFound) {
    return NotFound(fmt::format("{}: no volume: there is no info", folder.Describe()));
  }
  if (!whole) return std::move(whole).error();
  auto info = ParseVolumeInfo(AsText(whole->bytes));
  if (!info) return std::move(info).error().Within(object.Describe());
  return ReadInfo{*std::move(info), std::move(whole->generation)};
}

// Only local writers of ours leave markers; a server is spared the question.
Result<void> CheckMarker(const Location& folder, bool allow_unfinished) {
  return allow_unfinished || !IsLocal(folder) ? Result<void>() : CheckFinished(folder);
}

Result<void> Save(const Location& folder, const VolumeInfo& info,
                  const Precondition& precondition) {
  const Location object = folder.Child(kInfoName);
  DOLIUM_TRY_VOID(Validate(info).Within(object.Describe()));
  DOLIUM_TRY_VOID(object.store->Put(object.path, AsBytes(ToJson(info)), precondition));
  return {};
}

}  // namespace

Result<Volume> Volume::Open(const Location& location, bool allow_unfinished) {
  Location folder = location;
  std::vector<std::string> seen;
  for (;;) {
    DOLIUM_TRY_VOID(CheckMarker(folder, allow_unfinished));
    DOLIUM_TRY(ReadInfo read, Load(folder));
    if (!read.info.redirect) return Volume(std::move(folder), std::move(read.info));
    seen.push_back(folder.Describe());
    DOLIUM_TRY(folder, ParseLocation(*read.info.redirect));
    if (seen.size() > kMaxRedirects || std::ranges::count(seen, folder.Describe()) != 0) {
      return InvalidArgument(fmt::format("{}: redirects to {} without an end",
                                         location.Describe(), *read.info.redirect));
    }
  }
}

Result<std::optional<Volume>> Volume::OpenExport(const Location& folder,
                                                 bool allow_unfinished,
                                                 const DvidReadOptions& options) {
  DOLIUM_TRY_VOID(CheckMarker(folder, allow_unfinished));
  DOLIUM_TRY(auto found, DvidExport::Open(folder, options));
  if (!found) return std::nullopt;
  Volume volume(folder, found->info());
  volume.export_ = std::make_shared<const DvidExport>(*std::move(found));
  return volume;
}

Result<std::shared_ptr<WholeScale>> Volume::OpenScale(
    size_t index, const StorageOptions& options) const {
  std::vector<std::shared_ptr<Scale>> copies;
  do {
    DOLIUM_TRY(auto copy, OpenCopy(index, copies.size(), options));
    copies.push_back(std::move(copy));
  } while (copies.size() < info_.scales[index].chunk_sizes.size());
  return std::make_shared<WholeScale>(std::move(copies));
}

Result<std::shared_ptr<Scale>> Volume::OpenCopy(size_t index, size_t chunking,
                                                const StorageOptions& options) const {
  if (export_ == nullptr) {
    return Scale::Open(folder_, info_, index, chunking, options);
  }
  if (index >= info_.scales.size() || chunking > 0) {
    return InvalidArgument(fmt::format("{}: no scale {} with chunk size {}; there are {}",
                                       folder_.Describe(), index, chunking,
                                       info_.scales.size()));
  }
  return Scale::OpenWith(
      export_->scale(index)->location(), info_, index,
      [&](const Grid& grid) { return export_->OpenStorage(index, grid); });
}

Result<Volume> Volume::Create(const Location& folder, VolumeInfo info) {
  DOLIUM_TRY_VOID(WriteNewInfo(folder, info));
  return Volume(folder, std::move(info));
}

Result<void> WriteNewInfo(const Location& folder, const VolumeInfo& info) {
  return Save(folder, info, Precondition::Absent());
}

Result<VolumeInfo> UpdateInfo(
    const Location& folder,
    const std::function<Result<VolumeInfo>(VolumeInfo info)>& change) {
  for (int round = 0;; ++round) {
    DOLIUM_TRY(ReadInfo read, Load(folder));
    DOLIUM_TRY(VolumeInfo changed, change(std::move(read.info)));
    const auto saved = Save(folder, changed, Precondition::At(read.generation));
    if (saved) return changed;
    if (saved.error().code != ErrorCode::kConflict || round == kMaxRounds) {
      return saved.error();
    }
  }
}

}  // namespace dolium::volume
