#include "dolium/ops/volume/dvid_write.h"

#include <algorithm>
#include <atomic>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/parallel.h"
#include "dolium/codec/zstd.h"
#include "dolium/container/entry_error.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/dvid/format.h"
#include "dolium/formats/dvid/label_block.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/volume/volume_job.h"

namespace dolium::volume {
namespace {

using nlohmann::json;

constexpr std::array<uint32_t, 3> kBlockGrid = {8, 8, 8};
constexpr size_t kBlockVoxels = size_t{64} * 64 * 64;
// Rows that are made before any of them is written, for each thread.
constexpr size_t kWindowPerJob = 16;

// One row, ready to be written.
struct MadeRow {
  Bytes labels;
  Bytes supervoxels;
  Bytes stored;
  uint32_t block_bytes = 0;
};

// Where the rows of a scale come from. May be used from many threads.
class RowSource {
 public:
  virtual ~RowSource() = default;
  // Nullopt if all voxels are zero, or it is not there.
  virtual Result<std::optional<MadeRow>> Make(const dvid::Key& block) const = 0;
};

// Puts around a block what the layout wants.
Bytes Wrapped(const Bytes& block, dvid::ShardLayout layout) {
  if (layout == dvid::ShardLayout::kSeed) return block;
  return Bytes::FromVector(ZstdEncodeChecked(block));
}

class VoxelRows : public RowSource {
 public:
  VoxelRows(std::shared_ptr<const Scale> scale, dvid::ShardLayout layout)
      : scale_(std::move(scale)), layout_(layout) {}

  Result<std::optional<MadeRow>> Make(const dvid::Key& block) const override {
    Box whole;
    for (size_t d = 0; d < 3; ++d) {
      whole.begin[d] = int64_t{block[d]} * dvid::kBlockSide;
      whole.end[d] = whole.begin[d] + dvid::kBlockSide;
    }
    const Box part = whole.Intersect(scale_->bounds());
    std::vector<uint64_t> voxels(kBlockVoxels);
    DOLIUM_TRY(const uint64_t found, Read(whole, part, voxels));
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
                        std::vector<uint64_t>& voxels) const {
    const ArrayShape shape{whole.size(), 1, DataType::kUint64};
    const auto view =
        MutableVoxelView::Dense(shape, reinterpret_cast<std::byte*>(voxels.data()));
    if (scale_->type() == DataType::kUint64) {
      return scale_->Read(part, view.Part(whole, part), {.jobs = 1});
    }
    const ArrayShape narrow{part.size(), 1, DataType::kUint32};
    std::vector<uint32_t> labels(static_cast<size_t>(*narrow.voxels()));
    DOLIUM_TRY(const uint64_t found,
               scale_->Read(part,
                            MutableVoxelView::Dense(
                                narrow, reinterpret_cast<std::byte*>(labels.data())),
                            {.jobs = 1}));
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

  Result<std::optional<MadeRow>> Make(const dvid::Key& block) const override {
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

Result<void> CheckSource(const Volume& volume, const std::vector<size_t>& scales) {
  const VolumeInfo& info = volume.info();
  const std::string name = volume.folder().Describe();
  if (info.num_channels != 1 ||
      (info.data_type != DataType::kUint64 && info.data_type != DataType::kUint32)) {
    return Unsupported(fmt::format(
        "{}: exports hold labels, one uint64 for each voxel; this volume has {} channels "
        "of {}",
        name, info.num_channels, ToString(info.data_type)));
  }
  for (const size_t index : scales) {
    if (index >= info.scales.size()) {
      return InvalidArgument(fmt::format("{}: no scale {}; the volume has {}", name,
                                         index, info.scales.size()));
    }
    const Box bounds = info.scales[index].bounds();
    for (size_t d = 0; d < 3; ++d) {
      if (bounds.begin[d] >= 0 && bounds.end[d] <= INT32_MAX) continue;
      return Unsupported(
          fmt::format("{}: scale {} has voxels {}, blocks of exports lie "
                      "within 0:{}",
                      name, index, ToString(bounds), INT32_MAX));
    }
  }
  return {};
}

// Whether a folder has nothing but an export in it.
Result<void> CheckOnlyExport(const Location& folder) {
  std::string foreign;
  std::vector<std::string> scales;
  const auto owned = [](std::string_view name) {
    return IsBookkeeping(name) || dvid::OwnsObject(name) || name == "export.log";
  };
  DOLIUM_TRY_VOID(
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        if (is_folder && dvid::ParseScaleName(name)) {
          scales.emplace_back(name);
        } else if (is_folder ? !IsBookkeeping(name) : !owned(name) && name != kSpecName) {
          foreign = name;
        }
        return true;
      }));
  for (const std::string& scale : scales) {
    const Location inner = folder.Child(scale);
    DOLIUM_TRY_VOID(
        inner.store->List(inner.path, [&](std::string_view name, bool is_folder) {
          if (is_folder || !owned(name)) foreign = JoinPath(scale, name);
          return true;
        }));
  }
  if (foreign.empty()) return {};
  return Exists(
      fmt::format("{}: holds {}, which is no part of an export and would be "
                  "lost; it is to be moved away first",
                  folder.Describe(), foreign));
}

class ExportWriter {
 public:
  ExportWriter(const DvidWriteRequest& request, const RunOptions& options)
      : request_(request), options_(options) {}

  Result<DvidWriteReport> Run() {
    DOLIUM_TRY(const Location source, ParseLocation(request_.source));
    DOLIUM_TRY(const Location target, ParseLocation(request_.target));
    DOLIUM_TRY_VOID(CheckApart(source, target));
    if (request_.layout == dvid::ShardLayout::kSeed &&
        request_.csv != dvid::CsvForm::kDocumented) {
      return InvalidArgument("the seed's layout has no CSV, so none of DVID's form");
    }
    if (request_.shard_side < dvid::kBlockSide ||
        request_.shard_side % dvid::kBlockSide != 0) {
      return InvalidArgument(fmt::format("shards of {} voxels, expected a multiple of {}",
                                         request_.shard_side, dvid::kBlockSide));
    }
    DOLIUM_TRY(const Volume volume,
               Volume::Open(source, /*allow_unfinished=*/false, request_.exported));
    std::vector<size_t> scales = request_.scales;
    if (scales.empty()) {
      scales.resize(volume.info().scales.size());
      std::iota(scales.begin(), scales.end(), size_t{0});
    }
    DOLIUM_TRY_VOID(CheckSource(volume, scales));
    DOLIUM_TRY(const std::string text, RequestText(volume, source, scales));
    DOLIUM_TRY_VOID(Begin(target, text));
    const DvidExport* const exported = volume.dvid_export();
    for (const size_t index : scales) {
      DOLIUM_TRY(const auto scale, volume.OpenScale(index));
      std::unique_ptr<RowSource> rows;
      if (exported != nullptr) {
        rows = std::make_unique<CopiedRows>(exported->scale(index), request_.layout);
      } else {
        rows = std::make_unique<VoxelRows>(scale, request_.layout);
      }
      const size_t number = exported != nullptr ? exported->number(index) : index;
      DOLIUM_TRY_VOID(WriteScale(*scale, *rows, home_.Child(fmt::format("s{}", number))));
    }
    DOLIUM_TRY_VOID(
        WriteSpec(exported != nullptr ? exported->MakeSpec() : SpecOf(volume.info())));
    DOLIUM_TRY_VOID(RemoveMarker(home_));
    if (swap_) {
      DOLIUM_TRY_VOID(SwapIn(*swap_));
      DOLIUM_TRY_VOID(RemoveReplaced(*swap_));
    }
    return report_;
  }

 private:
  Result<std::string> RequestText(const Volume& volume, const Location& source,
                                  const std::vector<size_t>& scales) const {
    DOLIUM_TRY(const std::string from, PortableText(source, request_.source));
    return json{{"dolium_dvid_export", 1},
                {"source", from},
                {"export", volume.dvid_export() ? ToText(request_.exported) : ""},
                {"info", ToJson(volume.info())},
                {"scales", scales},
                {"layout", static_cast<int>(request_.layout)},
                {"csv", static_cast<int>(request_.csv)},
                {"shard_side", request_.shard_side}}
        .dump(2, ' ', false, json::error_handler_t::replace);
  }

  // Decides where the export is built.
  Result<void> Begin(const Location& target, const std::string& text) {
    home_ = target;
    DOLIUM_TRY(const Occupancy occupancy, LookInto(target));
    DOLIUM_TRY(auto marker, ReadMarker(target));
    if (occupancy == Occupancy::kOccupied && marker != text) {
      if (!request_.force) {
        return Exists(fmt::format("{}: is there already{}; --force replaces it",
                                  target.Describe(),
                                  marker ? ", begun by another request" : ""));
      }
      DOLIUM_TRY_VOID(CheckOnlyExport(target));
      DOLIUM_TRY(swap_, SwapFolders::Of(target));
      DOLIUM_TRY(home_, ParseLocation(swap_->fresh));
      DOLIUM_TRY(marker, ReadMarker(home_));
      DOLIUM_TRY(const Occupancy beside, LookInto(home_));
      if (beside == Occupancy::kOccupied && marker != text) {
        return Exists(fmt::format("{}: left by another request; remove it first",
                                  home_.Describe()));
      }
    }
    if (!marker) DOLIUM_TRY_VOID(WriteMarker(home_, text));
    return {};
  }

  Result<void> WriteSpec(const VolumeInfo& spec) {
    const Location object = home_.Child(kSpecName);
    DOLIUM_TRY_VOID(Validate(spec).Within(object.Describe()));
    DOLIUM_TRY_VOID(
        object.store->Put(object.path, AsBytes(ToJson(spec)), Precondition::None()));
    return {};
  }

  Result<void> WriteScale(const Scale& scale, const RowSource& rows,
                          const Location& folder) {
    const int64_t side = request_.shard_side;
    const Box& bounds = scale.bounds();
    Vec3 first;
    Vec3 end;
    for (size_t d = 0; d < 3; ++d) {
      first[d] = bounds.begin[d] / side;
      end[d] = (bounds.end[d] + side - 1) / side;
    }
    for (const Vec3& cube : CellsOf({first, end})) {
      if (options_.writer.stop.stop_requested()) return Cancelled();
      Box voxels;
      for (size_t d = 0; d < 3; ++d) {
        voxels.begin[d] = cube[d] * side;
        voxels.end[d] = std::min(bounds.end[d], voxels.begin[d] + side);
      }
      DOLIUM_TRY_VOID(WriteShard(scale, rows, folder, voxels));
    }
    return {};
  }

  Result<void> WriteShard(const Scale& scale, const RowSource& rows,
                          const Location& folder, const Box& voxels) {
    const std::string stem =
        fmt::format("{}_{}_{}", voxels.begin[0], voxels.begin[1], voxels.begin[2]);
    const bool is_stream = request_.layout == dvid::ShardLayout::kStream;
    const Location object = folder.Child(stem + std::string(dvid::kExtension));
    const Location last = is_stream ? folder.Child(stem + ".csv") : object;
    DOLIUM_TRY(const auto done, last.store->Stat(last.path));
    if (done) {
      ++report_.shards;
      ++report_.shards_done_before;
      return {};
    }
    std::vector<dvid::Key> blocks;
    const Box part = voxels.Intersect(scale.bounds());
    Box cells;
    for (size_t d = 0; d < 3; ++d) {
      cells.begin[d] = part.begin[d] / dvid::kBlockSide;
      cells.end[d] = (part.end[d] + dvid::kBlockSide - 1) / dvid::kBlockSide;
    }
    for (const Vec3& cell : CellsOf(cells)) {
      blocks.push_back({static_cast<int32_t>(cell[0]), static_cast<int32_t>(cell[1]),
                        static_cast<int32_t>(cell[2])});
    }
    std::unique_ptr<dvid::DvidShardWriter> writer;
    const size_t jobs = ThreadCount(options_.writer.jobs, SIZE_MAX);
    const size_t window = jobs * kWindowPerJob;
    std::vector<std::optional<MadeRow>> made;
    for (size_t from = 0; from < blocks.size(); from += window) {
      const auto some =
          std::span(blocks).subspan(from, std::min(window, blocks.size() - from));
      made.assign(some.size(), std::nullopt);
      DOLIUM_TRY_VOID(ParallelFor(
          some.size(), jobs,
          [&](size_t i) -> Result<void> {
            DOLIUM_TRY(made[i], rows.Make(some[i]));
            return {};
          },
          options_.writer.stop));
      for (size_t i = 0; i < some.size(); ++i) {
        if (!made[i]) continue;
        if (writer == nullptr) {
          DOLIUM_TRY(writer,
                     dvid::DvidShardWriter::Begin(
                         object, {.layout = request_.layout, .csv = request_.csv}));
        }
        DOLIUM_TRY_VOID(writer->Add({.block = some[i],
                                     .labels = dvid::LabelList(made[i]->labels),
                                     .supervoxels = dvid::LabelList(made[i]->supervoxels),
                                     .stored = made[i]->stored,
                                     .uncompressed_size = made[i]->block_bytes}));
      }
      progress_.entries += some.size();
      progress_.bytes += some.size() * kBlockVoxels * sizeof(uint64_t);
      if (options_.progress) options_.progress(progress_);
    }
    if (writer == nullptr) return {};
    DOLIUM_TRY(const WriteSummary written, writer->Finish());
    report_.written += written;
    ++report_.shards;
    return {};
  }

  const DvidWriteRequest& request_;
  const RunOptions& options_;
  Location home_;
  std::optional<SwapFolders> swap_;
  DvidWriteReport report_;
  Progress progress_;
};

}  // namespace

Result<DvidWriteReport> WriteDvidExport(const DvidWriteRequest& request,
                                        const RunOptions& options) {
  return ExportWriter(request, options).Run();
}

}  // namespace dolium::volume
