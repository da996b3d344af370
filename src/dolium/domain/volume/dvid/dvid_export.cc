#include "dolium/domain/volume/dvid/dvid_export.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "dolium/container/entry_error.h"
#include "dolium/domain/volume/dvid/dvid_transcode.h"
#include "dolium/domain/volume/encodings/compressed_segmentation.h"
#include "dolium/domain/volume/morton.h"
#include "dolium/domain/volume/scratch.h"
#include "dolium/domain/volume/voxel_view.h"

namespace dolium::volume {
namespace {

constexpr Vec3 kChunkSize = {dvid::kBlockSide, dvid::kBlockSide, dvid::kBlockSide};
constexpr Vec3 kSubBlockSize = {8, 8, 8};

class DvidChunks : public ChunkStorage {
 public:
  DvidChunks(std::shared_ptr<const dvid::ExportScale> scale, Grid grid,
             dvid::LabelKind labels)
      : scale_(std::move(scale)), grid_(grid), labels_(labels) {}

  std::string Describe(const Vec3& cell) const override {
    return fmt::format("{}: block {}", scale_->location().Describe(),
                       dvid::ToString(KeyOf(cell)));
  }

  std::vector<std::string> ObjectsOf(const Vec3&) const override {
    return scale_->objects();
  }

  std::optional<Vec3> CellOf(std::string_view key) const override {
    const auto parsed = dvid::ParseKey(key);
    if (!parsed) return std::nullopt;
    const Vec3 cell = {(*parsed)[0], (*parsed)[1], (*parsed)[2]};
    const Box one = {cell, {cell[0] + 1, cell[1] + 1, cell[2] + 1}};
    if (!grid_.cells().Contains(one)) return std::nullopt;
    return cell;
  }

  Result<Bytes> Unwrap(std::string_view key, const Bytes&) const override {
    return Unsupported(fmt::format("{}: block {}: an export is verified as such",
                                   scale_->location().Describe(), key));
  }

  Result<std::optional<Bytes>> Get(const Vec3& cell) const override {
    DOLIUM_TRY(const auto found, scale_->FindBlock(KeyOf(cell)));
    if (!found) return std::nullopt;
    const auto read = [&]() -> Result<std::optional<Bytes>> {
      DOLIUM_TRY(const dvid::Row row, found->shard->Read(found->number));
      return MakeChunk(row, cell);
    };
    auto chunk = read();
    if (chunk) return chunk;
    const bool is_damaged = chunk.error().code == ErrorCode::kCorrupt;
    if (is_damaged && scale_->options().salvage) return std::nullopt;
    return EntryError(found->shard->Describe(),
                      dvid::ToString(found->shard->key(found->number)), chunk.error());
  }

  Result<std::optional<StoredChunk>> GetStored(const Vec3& cell) const override {
    DOLIUM_TRY(auto chunk, Get(cell));
    if (!chunk) return std::nullopt;
    return StoredChunk{*std::move(chunk), Wrapper::kNone, /*is_fresh=*/true};
  }

  Result<void> GetEach(std::span<const Vec3> cells, const WorkOptions& options,
                       const Visitor& visit) const override {
    return GetInRuns(*this, cells, options, visit);
  }

  // What is damaged of an export is met when it is opened.
  Result<bool> VisitOccupied(const BoxVisitor& visit,
                             const DamagedIndexVisitor& /*damaged*/) const override {
    DOLIUM_TRY_VOID(scale_->VisitOccupied(
        [&](const dvid::ExportScale::BlockBox& blocks) -> Result<void> {
          Box cells;
          for (size_t d = 0; d < 3; ++d) {
            cells.begin[d] = blocks.begin[d];
            cells.end[d] = blocks.end[d];
          }
          cells = cells.Intersect(grid_.cells());
          return cells.empty() ? Result<void>() : visit(cells);
        }));
    return true;
  }

  Result<std::optional<std::vector<Vec3>>> FindOccupied(
      const Box& within, const DamagedIndexVisitor& /*damaged*/) const override {
    const Box cells = within.Intersect(grid_.cells());
    dvid::ExportScale::BlockBox box;
    for (size_t d = 0; d < 3; ++d) {
      box.begin[d] = static_cast<int32_t>(std::min<int64_t>(cells.begin[d], INT32_MAX));
      box.end[d] = static_cast<int32_t>(std::min<int64_t>(cells.end[d], INT32_MAX));
    }
    DOLIUM_TRY(const auto blocks, scale_->BlocksWithin(box));
    std::vector<Vec3> found;
    found.reserve(blocks.size());
    for (const dvid::Key& block : blocks) found.push_back({block[0], block[1], block[2]});
    return found;
  }

  Result<void> Update(std::span<const ChunkUpdate>, const WorkOptions&) override {
    return Unsupported(
        fmt::format("{}: an export cannot be changed; convert it to a volume first",
                    scale_->location().Describe()));
  }

 private:
  static dvid::Key KeyOf(const Vec3& cell) {
    return {static_cast<int32_t>(cell[0]), static_cast<int32_t>(cell[1]),
            static_cast<int32_t>(cell[2])};
  }

  Result<std::optional<Bytes>> MakeChunk(const dvid::Row& row, const Vec3& cell) const {
    DOLIUM_TRY(const Bytes bytes, row.Block());
    DOLIUM_TRY(const dvid::LabelBlock block, dvid::ParseRowBlock(row, bytes));
    for (const size_t side : block.size()) {
      if (side != size_t{dvid::kBlockSide}) {
        return Unsupported(
            fmt::format("a block {} voxels long, expected {}", side, dvid::kBlockSide));
      }
    }
    const bool mapped = labels_ == dvid::LabelKind::kLabels;
    const dvid::LabelList list = mapped ? dvid::LabelList(row.labels) : block.labels();
    if (AllZero(list)) return std::nullopt;
    const Vec3 size = grid_.VoxelsOf(cell).size();
    if (size == kChunkSize) {
      DOLIUM_TRY(ByteVector chunk, TranscodeDvidBlock(block, list));
      return Bytes::FromVector(std::move(chunk));
    }
    // At the end of the volume chunks are cut off.
    const ArrayShape whole{kChunkSize, 1, DataType::kUint64};
    const ArrayShape part{size, 1, DataType::kUint64};
    Scratch all(static_cast<size_t>(*whole.bytes()));
    DOLIUM_TRY_VOID(dvid::DecodeBlock(
        block, list, {reinterpret_cast<uint64_t*>(all.data()), block.voxels()}));
    Scratch some(static_cast<size_t>(*part.bytes()));
    CopyVoxels(VoxelView::Dense(whole, all.data())
                   .Part({{0, 0, 0}, kChunkSize}, {{0, 0, 0}, size}),
               MutableVoxelView::Dense(part, some.data()));
    DOLIUM_TRY(ByteVector chunk,
               EncodeCompressedSegmentation(part, kSubBlockSize, some.view()));
    return Bytes::FromVector(std::move(chunk));
  }

  const std::shared_ptr<const dvid::ExportScale> scale_;
  const Grid grid_;
  const dvid::LabelKind labels_;
};

Result<std::optional<std::string>> FindSpec(const Location& location,
                                            const DvidReadOptions& options) {
  if (options.spec) return *options.spec;
  if (location.path.ends_with(dvid::kExtension)) {
    DOLIUM_TRY(const auto shard, location.store->Stat(location.path));
    if (shard) return std::nullopt;  // There is nothing within it.
  }
  const Location object = location.Child(kSpecName);
  auto whole = object.store->ReadWhole(object.path, dvid::kMaxSpecBytes);
  if (whole) return std::string(AsText(whole->bytes));
  if (whole.error().code == ErrorCode::kNotFound) return std::nullopt;
  return std::move(whole).error();
}

Result<void> CheckSpecScale(const ScaleInfo& scale, size_t index) {
  if (scale.chunk_sizes.front() != kChunkSize) {
    return InvalidArgument(
        fmt::format("the spec has chunks of {} at scale {}, exports have blocks of {}",
                    ToString(scale.chunk_sizes.front()), index, ToString(kChunkSize)));
  }
  if (scale.voxel_offset != Vec3{0, 0, 0}) {
    return InvalidArgument(fmt::format(
        "the spec has a voxel_offset of {} at scale {}, which DVID ignores: shards "
        "would not line up; set it to 0,0,0 and enlarge the size",
        ToString(scale.voxel_offset), index));
  }
  return {};
}

// What all scales of exports have in common.
void MakeScaleOfBlocks(ScaleInfo& scale) {
  scale.chunk_sizes = {kChunkSize};
  scale.encoding = {};
  scale.encoding.encoding = Encoding::kCompressedSegmentation;
  scale.encoding.block_size = kSubBlockSize;
  scale.extra.clear();
  scale.foreign_encoding.clear();
  scale.hidden = false;
}

VolumeInfo InfoOfLabels() {
  VolumeInfo info;
  info.type = VolumeType::kSegmentation;
  info.data_type = DataType::kUint64;
  return info;
}

// As far as no spec says.
ScaleInfo MakeScale(size_t number, const Vec3& size, const Resolution& finest) {
  ScaleInfo scale;
  scale.size = size;
  for (size_t d = 0; d < 3; ++d) {
    scale.resolution[d] = finest[d] * static_cast<double>(uint64_t{1} << number);
  }
  scale.key = DefaultScaleKey(scale.resolution);
  return scale;
}

}  // namespace

Result<std::optional<DvidExport>> DvidExport::Open(const Location& named,
                                                   const DvidReadOptions& options) {
  const Location location = dvid::ExportFolder(named);
  auto listed = dvid::ListScales(location);
  if (!listed) {
    const ErrorCode code = listed.error().code;
    if (code == ErrorCode::kNotFound || code == ErrorCode::kUnsupported) {
      return std::nullopt;
    }
    return std::move(listed).error();
  }
  const bool is_file = listed->size() == 1 &&
                       listed->front().location.path == location.path &&
                       !location.path.ends_with(dvid::kExtension);
  if (listed->empty()) return std::nullopt;
  if (is_file) {
    // A folder of shards and an object of any kind look alike so far.
    DOLIUM_TRY(const auto object, location.store->Stat(location.path));
    if (object) return std::nullopt;
  }
  DvidExport out(location, options);
  DOLIUM_TRY(const auto text, FindSpec(location, options));
  std::optional<VolumeInfo>& spec = out.spec_;
  if (text) {
    auto parsed = ParseVolumeInfo(*text);
    if (!parsed && options.spec) {
      return InvalidArgument(parsed.error().message).Within("the spec");
    }
    if (!parsed) {
      return std::move(parsed).error().Within(location.Child(kSpecName).Describe());
    }
    spec = *std::move(parsed);
  }
  out.info_ = InfoOfLabels();
  const dvid::ShardOptions shard_options{.coordinates = options.coordinates,
                                         .salvage = options.salvage};
  Vec3 finest = {0, 0, 0};
  for (const dvid::ScaleFolder& folder : *listed) {
    ScaleInfo scale;
    dvid::Key volume_end = {INT32_MAX, INT32_MAX, INT32_MAX};
    if (spec && folder.scale < spec->scales.size()) {
      scale = spec->scales[folder.scale];
      DOLIUM_TRY_VOID(CheckSpecScale(scale, folder.scale));
      for (size_t d = 0; d < 3; ++d) {
        const int64_t blocks = (scale.size[d] + dvid::kBlockSide - 1) / dvid::kBlockSide;
        volume_end[d] = static_cast<int32_t>(std::min<int64_t>(blocks, INT32_MAX));
      }
    } else if (spec) {
      return InvalidArgument(
          fmt::format("the spec has {} scales, the export has scale {}",
                      spec->scales.size(), folder.scale));
    }
    DOLIUM_TRY(auto shards, dvid::ExportScale::Open(folder.location, shard_options,
                                                    dvid::kDefaultIndexBytes, volume_end,
                                                    folder.objects));
    if (!spec) {
      DOLIUM_TRY(const dvid::Key end, shards->BlockEnd());
      Vec3 size;
      for (size_t d = 0; d < 3; ++d) {
        size[d] = int64_t{end[d]} * dvid::kBlockSide;
        // Half of the scale before, unless blocks lie beyond it.
        const int64_t half =
            (finest[d] + (int64_t{1} << folder.scale) - 1) >> folder.scale;
        const int64_t blocks = (half + dvid::kBlockSide - 1) / dvid::kBlockSide;
        if (folder.scale > 0 && blocks >= end[d]) size[d] = half;
      }
      if (folder.scale == 0) finest = size;
      scale = MakeScale(folder.scale, size, options.resolution);
    }
    MakeScaleOfBlocks(scale);
    out.info_.scales.push_back(std::move(scale));
    out.scales_.push_back(std::move(shards));
    out.numbers_.push_back(folder.scale);
  }
  DOLIUM_TRY_VOID(Validate(out.info_).Within(location.Describe()));
  return out;
}

std::shared_ptr<ChunkStorage> DvidExport::OpenStorage(size_t index,
                                                      const Grid& grid) const {
  return std::make_shared<DvidChunks>(scales_[index], grid, options_.labels);
}

VolumeInfo DvidExport::MakeSpec() const {
  if (spec_) return SpecOf(*spec_);
  VolumeInfo spec = InfoOfLabels();
  spec.scales.resize(numbers_.back() + 1);
  size_t left = numbers_.size();
  for (size_t number = spec.scales.size(); number-- > 0;) {
    ScaleInfo& scale = spec.scales[number];
    if (left > 0 && numbers_[left - 1] == number) {
      scale = info_.scales[--left];
      continue;
    }
    scale = spec.scales[number + 1];
    for (size_t d = 0; d < 3; ++d) {
      scale.size[d] = std::min(scale.size[d] * 2, kMaxCoordinate);
      scale.resolution[d] /= 2;
    }
    scale.key = DefaultScaleKey(scale.resolution);
  }
  return spec;
}

VolumeInfo SpecOf(const VolumeInfo& info) {
  VolumeInfo spec = InfoOfLabels();
  for (ScaleInfo scale : info.scales) {
    const Vec3 end = scale.bounds().end;
    for (size_t d = 0; d < 3; ++d) scale.size[d] = std::max<int64_t>(end[d], 0);
    scale.voxel_offset = {0, 0, 0};
    if (scale.chunk_sizes.front() != kChunkSize || WhyNotCubic(scale)) {
      scale.sharding.reset();
    }
    MakeScaleOfBlocks(scale);
    spec.scales.push_back(std::move(scale));
  }
  return spec;
}

bool AllZero(const dvid::LabelList& list) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i] != 0) return false;
  }
  return true;
}

std::optional<std::string> WhyNotCubic(const ScaleInfo& scale) {
  if (!scale.sharding) return std::nullopt;
  const auto grid = Grid::Make(scale.bounds(), kChunkSize);
  if (!grid) return std::nullopt;
  const auto morton = MortonCode::Make(grid->shape());
  if (!morton) return std::nullopt;
  const unsigned wanted = scale.sharding->preshift_bits + scale.sharding->minishard_bits;
  std::array<unsigned, 3> taken = {0, 0, 0};
  unsigned steps = 0;
  for (unsigned level = 0; level < 64 && steps < wanted; ++level) {
    for (size_t d = 0; d < 3 && steps < wanted; ++d) {
      if (level >= morton->bits()[d]) continue;
      ++taken[d];
      ++steps;
    }
    if (steps == morton->total_bits()) break;
  }
  Vec3 extent;
  int64_t side = 0;
  for (size_t d = 0; d < 3; ++d) {
    extent[d] = std::min(grid->shape()[d], int64_t{1} << std::min(taken[d], 62U));
    side = std::max(side, extent[d]);
  }
  for (size_t d = 0; d < 3; ++d) {
    const bool spans = (int64_t{1} << std::min(taken[d], 62U)) >= grid->shape()[d];
    if (extent[d] == side || spans) continue;
    return fmt::format(
        "its shards are {} blocks, not cubes: DVID writes several of them into one file "
        "and damages it; preshift_bits + minishard_bits should be divisible by 3, they "
        "are {}",
        ToString(extent), wanted);
  }
  return std::nullopt;
}

}  // namespace dolium::volume
