#include "dolium/ops/volume/dvid_rows.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "dolium/codec/zstd.h"
#include "dolium/container/entry_error.h"
#include "dolium/formats/dvid/label_block.h"

namespace dolium::volume {
namespace {

constexpr std::array<uint32_t, 3> kBlockGrid = {8, 8, 8};

// Puts around a block what the layout wants.
Bytes Wrapped(const Bytes& block, dvid::ShardLayout layout) {
  if (layout == dvid::ShardLayout::kSeed) return block;
  return Bytes::FromVector(ZstdEncodeChecked(block));
}

class VoxelRows : public RowSource {
 public:
  VoxelRows(std::shared_ptr<const Scale> scale, dvid::ShardLayout layout)
      : scale_(std::move(scale)), layout_(layout) {}

  Result<std::optional<MadeRow>> Make(const dvid::Key& block,
                                      const DamageVisitor& skip_damaged) const override {
    Box whole;
    for (size_t d = 0; d < 3; ++d) {
      whole.begin[d] = int64_t{block[d]} * dvid::kBlockSide;
      whole.end[d] = whole.begin[d] + dvid::kBlockSide;
    }
    const Box part = whole.Intersect(scale_->bounds());
    std::vector<uint64_t> voxels(kBlockVoxels);
    DOLIUM_TRY(const uint64_t found, Read(whole, part, skip_damaged, voxels));
    if (found == 0 || std::ranges::all_of(voxels, [](uint64_t v) { return v == 0; })) {
      return std::nullopt;
    }
    MadeRow row;
    const Bytes bytes = Bytes::FromVector(dvid::EncodeBlock(kBlockGrid, voxels));
    DOLIUM_TRY(const dvid::LabelBlock parsed, dvid::LabelBlock::Parse(bytes));
    row.supervoxels = Bytes::Copy(parsed.labels().bytes());
    row.labels = row.supervoxels;
    row.block_bytes = static_cast<uint32_t>(bytes.size());
    row.stored = Wrapped(bytes, layout_);
    return row;
  }

 private:
  Result<uint64_t> Read(const Box& whole, const Box& part,
                        const DamageVisitor& skip_damaged,
                        std::vector<uint64_t>& voxels) const {
    const BoxOptions options{.jobs = 1, .skip_damaged = skip_damaged};
    const ArrayShape shape{whole.size(), 1, DataType::kUint64};
    const auto view =
        MutableVoxelView::Dense(shape, reinterpret_cast<std::byte*>(voxels.data()));
    if (scale_->type() == DataType::kUint64) {
      return scale_->Read(part, view.Part(whole, part), options);
    }
    const ArrayShape narrow{part.size(), 1, DataType::kUint32};
    std::vector<uint32_t> labels(static_cast<size_t>(*narrow.voxels()));
    DOLIUM_TRY(const uint64_t found,
               scale_->Read(part,
                            MutableVoxelView::Dense(
                                narrow, reinterpret_cast<std::byte*>(labels.data())),
                            options));
    const Vec3 size = part.size();
    size_t from = 0;
    for (int64_t z = 0; z < size[2]; ++z) {
      for (int64_t y = 0; y < size[1]; ++y) {
        const Vec3 at = {part.begin[0] - whole.begin[0],
                         part.begin[1] - whole.begin[1] + y,
                         part.begin[2] - whole.begin[2] + z};
        auto* to =
            voxels.data() + at[0] + dvid::kBlockSide * (at[1] + dvid::kBlockSide * at[2]);
        for (int64_t x = 0; x < size[0]; ++x) *to++ = labels[from++];
      }
    }
    return found;
  }

  const std::shared_ptr<const Scale> scale_;
  const dvid::ShardLayout layout_;
};

class CopiedRows : public RowSource {
 public:
  CopiedRows(std::shared_ptr<const dvid::ExportScale> scale, dvid::ShardLayout layout)
      : scale_(std::move(scale)), layout_(layout) {}

  // What is damaged of an export is known before anything is written.
  Result<std::optional<MadeRow>> Make(
      const dvid::Key& block, const DamageVisitor& /*skip_damaged*/) const override {
    DOLIUM_TRY(const auto found, scale_->FindBlock(block));
    if (!found) return std::nullopt;
    auto row = found->shard->Read(found->number);
    if (row) {
      auto made = MakeFrom(*row);
      if (made) return made;
      row = EntryError(found->shard->Describe(),
                       dvid::ToString(found->shard->key(found->number)), made.error());
    }
    const bool is_damaged = row.error().code == ErrorCode::kCorrupt;
    if (is_damaged && scale_->options().salvage) return std::nullopt;
    return std::move(row).error();
  }

 private:
  Result<std::optional<MadeRow>> MakeFrom(const dvid::Row& row) const {
    // A row is copied as it is, but not with damage.
    DOLIUM_TRY_VOID(dvid::DecodeRow(row, dvid::LabelKind::kLabels));
    const bool is_zero =
        AllZero(dvid::LabelList(row.labels)) && AllZero(dvid::LabelList(row.supervoxels));
    if (is_zero) return std::nullopt;
    MadeRow made{row.labels, row.supervoxels, row.stored};
    const bool is_zstd =
        row.wrapper.size() == 1 && row.wrapper.front().codec == CodecId::kZstd;
    if (is_zstd && layout_ == dvid::ShardLayout::kStream) {
      made.block_bytes = static_cast<uint32_t>(row.wrapper.front().decoded_size);
      return made;
    }
    DOLIUM_TRY(const Bytes bytes, row.Block());
    made.block_bytes = static_cast<uint32_t>(bytes.size());
    made.stored = Wrapped(bytes, layout_);
    return made;
  }

  const std::shared_ptr<const dvid::ExportScale> scale_;
  const dvid::ShardLayout layout_;
};

}  // namespace

std::unique_ptr<RowSource> RowsOfVoxels(std::shared_ptr<const Scale> scale,
                                        dvid::ShardLayout layout) {
  return std::make_unique<VoxelRows>(std::move(scale), layout);
}

std::unique_ptr<RowSource> RowsOfExport(std::shared_ptr<const dvid::ExportScale> scale,
                                        dvid::ShardLayout layout) {
  return std::make_unique<CopiedRows>(std::move(scale), layout);
}

}  // namespace dolium::volume
