#include "dolium/domain/skeleton/skeleton_source.h"

#include <string>
#include <utility>

#include <fmt/format.h>

namespace dolium::skeleton {
namespace {

constexpr uint64_t kMaxInfoBytes = uint64_t{64} << 20;

}  // namespace

SkeletonSource::SkeletonSource(SkeletonInfo info,
                               std::unique_ptr<objects::ObjectStorage> storage)
    : info_(std::move(info)), storage_(std::move(storage)) {}

Result<SkeletonSource> SkeletonSource::Open(Location folder, uint64_t cache_bytes) {
  const Location at = folder.Child("info");
  DOLIUM_TRY(const auto bytes, objects::ReadWrapped(at, kMaxInfoBytes));
  if (!bytes) return NotFound(fmt::format("{}: is not there", at.Describe()));
  auto info = ParseSkeletonInfo(AsText(*bytes));
  if (!info) return std::move(info).error().Within(at.Describe());
  std::optional<neuroglancer::ShardingInfo> sharding;
  if (info->sharding) {
    sharding = neuroglancer::ShardingInfo{*info->sharding, neuroglancer::Kind::kSkeletons,
                                          std::string(AsText(*bytes)), at.Describe()};
  }
  auto storage = std::make_unique<objects::ObjectStorage>(
      std::move(folder), std::move(sharding), std::string(), cache_bytes);
  return SkeletonSource(*std::move(info), std::move(storage));
}

Result<void> SkeletonSource::GetEach(std::span<const uint64_t> ids,
                                     const SkeletonReadOptions& options,
                                     const Visitor& visit) const {
  return storage_->ReadEach(
      ids, options.read,
      [&](size_t index, const objects::StoredValue* value) -> Result<void> {
        if (value == nullptr) return visit(index, std::nullopt);
        auto skeleton = ParseSkeleton(value->value, info_);
        if (!skeleton) {
          return std::move(skeleton).error().Within(storage_->Describe(value->id));
        }
        if (!options.stored_units) Transform(info_.transform, *skeleton);
        return visit(index, *std::move(skeleton));
      });
}

Result<std::vector<std::optional<Skeleton>>> SkeletonSource::GetMany(
    std::span<const uint64_t> ids, const SkeletonReadOptions& options) const {
  std::vector<std::optional<Skeleton>> skeletons(ids.size());
  DOLIUM_TRY_VOID(GetEach(
      ids, options, [&](size_t index, std::optional<Skeleton> skeleton) -> Result<void> {
        skeletons[index] = std::move(skeleton);
        return {};
      }));
  return skeletons;
}

Result<std::optional<Skeleton>> SkeletonSource::Get(
    uint64_t id, const SkeletonReadOptions& options) const {
  DOLIUM_TRY(auto skeletons, GetMany(std::span(&id, 1), options));
  return std::move(skeletons.front());
}

Result<SkeletonWriter> SkeletonWriter::Create(Location folder, SkeletonInfo info,
                                              Types types, const WriterOptions& options) {
  DOLIUM_TRY_VOID(Validate(info));
  DOLIUM_TRY(auto writer, objects::ObjectWriter::Create(std::move(folder), info.sharding,
                                                        "", options));
  return SkeletonWriter(std::move(info), types, std::move(writer));
}

Result<void> SkeletonWriter::Add(uint64_t id, const Skeleton& skeleton) {
  // First as it was given, which also checks that it fits its info.
  auto bytes = WriteSkeleton(skeleton, info_);
  if (bytes && types_ == Types::kFloat32) {
    const SkeletonInfo written = AsFloat32(info_);
    if (written != info_) bytes = WriteSkeleton(AsFloat32(skeleton, info_), written);
  }
  if (!bytes) return std::move(bytes).error().Within(fmt::format("skeleton {}", id));
  return writer_.Add(id, *bytes);
}

Result<WriteSummary> SkeletonWriter::Finish() {
  return writer_.Finish(ToJson(types_ == Types::kKeep ? info_ : AsFloat32(info_)));
}

}  // namespace dolium::skeleton
