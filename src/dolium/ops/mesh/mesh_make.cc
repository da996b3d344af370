#include "dolium/ops/mesh/mesh_make.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/stable_hash.h"
#include "dolium/domain/mesh/making/label_cells.h"
#include "dolium/domain/mesh/multires_manifest.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/builtin.h"
#include "dolium/formats/neuroglancer/chooser.h"
#include "dolium/ops/job/job_engine.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/mesh/mesh_make_job.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::mesh {
namespace {

using volume::Resolution;
using volume::ScaleInfo;
using volume::Vec3;

constexpr std::string_view kDefaultKey = "mesh";
// Scales whose voxels are not much longer than that of the most isotropic one.
constexpr double kNearlyIsotropic = 1.5;
// Voxels of a cell of the finest level, along their longest side: a fragment has some
// thousand triangles then.
constexpr double kCellVoxels = 128;
// What a volume is taken to have of labels and of stored bytes, for the choice of shards,
// and what a group of labels without shards is to be of it.
constexpr uint64_t kVoxelsOfLabel = uint64_t{1} << 14;
constexpr uint64_t kVoxelsOfByte = 4;
constexpr uint64_t kVoxelsOfGroup = uint64_t{1} << 29;
constexpr unsigned kMostGroupBits = 12;

double LongestSide(const Resolution& resolution) {
  return *std::ranges::max_element(resolution);
}
double StretchOf(const ScaleInfo& scale) {
  return LongestSide(scale.resolution) / *std::ranges::min_element(scale.resolution);
}

size_t ChooseScale(const std::vector<ScaleInfo>& scales) {
  const double least = StretchOf(*std::ranges::min_element(scales, {}, StretchOf));
  const auto found = std::ranges::find_if(scales, [&](const ScaleInfo& scale) {
    return StretchOf(scale) <= kNearlyIsotropic * least;
  });
  return static_cast<size_t>(found - scales.begin());
}

// Nearly as long in each direction.
Vec3 CellOf(const Resolution& resolution) {
  Vec3 cell;
  for (size_t d = 0; d < 3; ++d) {
    const double voxels = kCellVoxels * LongestSide(resolution) / resolution[d];
    cell[d] = static_cast<int64_t>(std::clamp(std::round(voxels), 1.0, 65536.0));
  }
  return cell;
}

// Until a mesh as large as the scale is one cell.
unsigned LevelsFor(const ScaleInfo& scale, const Vec3& cell) {
  unsigned levels = 1;
  for (size_t d = 0; d < 3; ++d) {
    const double cells =
        static_cast<double>(scale.size[d]) / static_cast<double>(cell[d]);
    const double needed = cells > 1 ? 1 + std::ceil(std::log2(cells)) : 1;
    levels = std::max(levels, static_cast<unsigned>(needed));
  }
  return std::min(levels, kMaxLevels);
}

// Whole chunks, so that few are decoded for two blocks.
Vec3 BlockOf(const ScaleInfo& scale, int64_t side) {
  Vec3 block;
  for (size_t d = 0; d < 3; ++d) {
    const int64_t chunk = scale.chunk_sizes.front()[d];
    block[d] = chunk > side ? side : side / chunk * chunk;
    block[d] = std::min(block[d], std::max<int64_t>(1, scale.size[d]));
  }
  return block;
}

unsigned BitsFor(double count) {
  return count > 1 ? static_cast<unsigned>(std::ceil(std::log2(count))) : 0;
}

class MeshMakeDraft final : public JobDraft {
 public:
  explicit MeshMakeDraft(const MeshMakeRequest& request) : request_(request) {}

  Result<void> Resolve() {
    DOLIUM_TRY(const Location source, ParseLocation(request_.volume));
    DOLIUM_TRY(const volume::Volume volume,
               OpenVolume(source, {.exported = request_.exported}));
    const bool is_export = volume.dvid_export() != nullptr;
    DOLIUM_TRY(job_.source, PortableText(source, request_.volume));
    if (is_export) job_.exported = request_.exported;
    DOLIUM_TRY_VOID(ChooseTarget(volume, source));
    DOLIUM_TRY_VOID(ChooseNumbers(volume.info()));
    DOLIUM_TRY_VOID(CheckMeshSource(job_));
    DOLIUM_TRY(text_, ToText(job_));
    return {};
  }

  const Location& target() const { return *target_; }
  const MeshMakeChoice& choice() const { return choice_; }

  std::string_view kind() const override { return kMeshMakeKind; }
  const std::string& request() const override { return text_; }
  Result<std::string> FindSourceState() override { return FindMeshSourceState(job_, {}); }
  Result<void> CheckReplaceable(const Location& folder) const override {
    return CheckMeshReplaceable(folder);
  }
  Result<std::string> Plan(const PlanFolder& folder) override {
    if (request_.segments) DOLIUM_TRY_VOID(WriteSegments(folder, *request_.segments));
    return text_;
  }

 private:
  Result<void> ChooseTarget(const volume::Volume& volume, const Location& source) {
    if (!request_.target.empty()) {
      DOLIUM_TRY(target_, ParseLocation(request_.target));
    } else {
      const Location& folder = volume.folder();
      DOLIUM_TRY(const auto path, folder.store->LocalPath(folder.path));
      if (!path || volume.dvid_export() != nullptr) {
        return InvalidArgument(fmt::format(
            "{}: cannot be written to, so that a target for its meshes is needed",
            folder.Describe()));
      }
      job_.key = volume.info().mesh.value_or(std::string(kDefaultKey));
      job_.volume = *path;
      target_ = volume::ResolveScaleKey(folder, job_.key);
      choice_.is_registered = true;
    }
    choice_.target = target_->Describe();
    return CheckDisjoint(source, *target_);
  }

  Result<void> ChooseNumbers(const volume::VolumeInfo& info) {
    job_.scale = request_.scale.value_or(ChooseScale(info.scales));
    if (job_.scale >= info.scales.size()) {
      return InvalidArgument(fmt::format("{}: no scale {}; the volume has {}",
                                         request_.volume, job_.scale,
                                         info.scales.size()));
    }
    const ScaleInfo& scale = info.scales[job_.scale];
    job_.error = request_.error.value_or(LongestSide(scale.resolution));
    if (!std::isfinite(job_.error) || job_.error < 0) {
      return InvalidArgument(
          fmt::format("an error of {} nm, expected 0 or more", job_.error));
    }
    job_.cell = CellOf(scale.resolution);
    job_.levels = request_.levels.value_or(LevelsFor(scale, job_.cell));
    if (job_.levels < 1 || job_.levels > kMaxLevels) {
      return InvalidArgument(
          fmt::format("{} levels of detail, expected 1 to {}", job_.levels, kMaxLevels));
    }
    job_.bits = request_.bits;
    if (job_.bits != 10 && job_.bits != 16) {
      return InvalidArgument(
          fmt::format("positions of {} bits, expected 10 or 16", job_.bits));
    }
    job_.open = request_.open;
    job_.min_voxels = request_.min_voxels;
    // With one cell more before the first, a block is below kMaxBlockCells.
    constexpr int64_t kMostSide = 512;
    if (request_.block_side < 1 || request_.block_side > kMostSide) {
      return InvalidArgument(fmt::format("blocks of {} cells a side, expected 1 to {}",
                                         request_.block_side, kMostSide));
    }
    job_.block = BlockOf(scale, request_.block_side);
    ChooseSegments();
    ChooseGroups(scale);
    choice_.scale = job_.scale;
    choice_.resolution = scale.resolution;
    choice_.error = job_.error;
    choice_.levels = job_.levels;
    choice_.sharding = job_.sharding;
    return {};
  }

  void ChooseSegments() {
    if (!request_.segments) return;
    auto& segments = *request_.segments;
    std::ranges::sort(segments);
    const auto repeated = std::ranges::unique(segments);
    segments.erase(repeated.begin(), repeated.end());
    const auto bytes = std::as_bytes(std::span(segments));
    job_.segments = std::max<uint64_t>(1, StableHash(AsText(bytes)));
  }

  void ChooseGroups(const ScaleInfo& scale) {
    double voxels = 1;
    for (const int64_t side : scale.size) voxels *= static_cast<double>(side);
    if (!request_.sharded) {
      job_.group_bits =
          std::min(kMostGroupBits, BitsFor(voxels / static_cast<double>(kVoxelsOfGroup)));
      return;
    }
    neuroglancer::ShardingSpec base;
    base.hash = neuroglancer::ShardHash::kMurmur3;
    base.minishard_index_encoding = neuroglancer::Encoding::kGzip;
    neuroglancer::SetSize size;
    size.entries = static_cast<uint64_t>(voxels / static_cast<double>(kVoxelsOfLabel));
    if (request_.segments) size.entries = request_.segments->size();
    size.bytes = static_cast<uint64_t>(voxels / static_cast<double>(kVoxelsOfByte));
    job_.sharding = ChooseSharding(base, size, neuroglancer::kDefaultShardBytes);
    job_.sharding->shard_bits = std::min(job_.sharding->shard_bits, kMostGroupBits);
    job_.group_bits = job_.sharding->shard_bits;
  }

  MeshMakeRequest request_;
  MeshMakeJob job_;
  MeshMakeChoice choice_;
  std::optional<Location> target_;
  std::string text_;
};

}  // namespace

Result<OpenJob> BeginMeshMake(const MeshMakeRequest& request, const RunOptions& options,
                              const ChoiceVisitor& visitor) {
  MeshMakeDraft draft(request);
  DOLIUM_TRY_VOID(draft.Resolve());
  DOLIUM_TRY(OpenJob open,
             BeginJob(BuiltinFormats(), draft, draft.target(), request.force, options));
  if (visitor) visitor(draft.choice());
  return open;
}

Result<Plan> PlanMeshMake(const MeshMakeRequest& request, const RunOptions& options,
                          const ChoiceVisitor& visitor) {
  DOLIUM_TRY(const OpenJob open, BeginMeshMake(request, options, visitor));
  return PlanOf(open);
}

Result<JobReport> MakeMeshes(const MeshMakeRequest& request, const RunOptions& options,
                             const ChoiceVisitor& visitor) {
  MeshMakeRequest asked = request;
  return BeginAndRun(
      BuiltinFormats(),
      [&](bool again) {
        asked.force |= again;
        return BeginMeshMake(asked, options, visitor);
      },
      options);
}

}  // namespace dolium::mesh
