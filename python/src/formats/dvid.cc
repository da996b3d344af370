// DVID exports: shards by block, label blocks, writing an export.
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "dolium/container/entry_error.h"
#include "dolium/formats/dvid/container.h"
#include "dolium/formats/dvid/label_block.h"
#include "dolium/formats/dvid/shard.h"
#include "dolium/formats/dvid/shard_writer.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/volume/dvid_write.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/bulk_work.h"
#include "python/src/errors.h"
#include "python/src/export_options.h"
#include "python/src/interrupt.h"
#include "python/src/reports.h"
#include "python/src/voxel_buffer.h"

namespace dolium::python {
namespace {

using dvid::Key;
using dvid::LabelKind;

// One shard. All methods need the GIL and let go of it for I/O; any thread may call them.
class PyShard {
 public:
  PyShard(std::string location, std::string coordinates, bool salvage)
      : location_(std::move(location)),
        coordinates_(std::move(coordinates)),
        salvage_(salvage) {
    const auto known = dvid::ParseCoordinates(coordinates_);
    if (!known) throw nb::value_error("coordinates: expected auto, block or voxel");
    const dvid::ShardOptions options{.coordinates = *known, .salvage = salvage};
    const auto open = [&]() -> Result<std::shared_ptr<const dvid::Shard>> {
      DOLIUM_TRY(const Location place, ParseLocation(location_));
      DOLIUM_TRY(location_, PortableText(place, location_));
      is_remote_ = !IsLocal(place);
      return dvid::Shard::Open(place, options);
    };
    shard_ = Must(WithoutGil(/*is_remote=*/true, open));
  }

  const dvid::Shard& shard() const { return *shard_; }

  // None, or (labels, supervoxels, stored block): each as bytes.
  nb::object Row(const Key& key) const {
    const auto number = shard_->Find(key);
    if (!number) return nb::none();
    const dvid::Row row =
        Must(WithoutGil(is_remote_, [&] { return shard_->Read(*number); }));
    return nb::make_tuple(CopyToPython(row.labels), CopyToPython(row.supervoxels),
                          CopyToPython(row.stored));
  }

  // The label block; None if it is not there.
  nb::object Block(const Key& key) const {
    const auto number = shard_->Find(key);
    if (!number) return nb::none();
    const auto read = [&]() -> Result<Bytes> {
      DOLIUM_TRY(const dvid::Row row, shard_->Read(*number));
      return row.Block();
    };
    return CopyToPython(Must(Named(key, WithoutGil(is_remote_, read))));
  }

  // Fills an array of 64 x 64 x 64 x 1; false if the block is not there.
  bool Voxels(const Key& key, bool labels, nb::handle array) const {
    const auto number = shard_->Find(key);
    if (!number) return false;
    const volume::ArrayShape shape{{64, 64, 64}, 1, volume::DataType::kUint64};
    const BorrowedArray borrowed(array, shape, BorrowedArray::Use::kWrite);
    const auto fill = [&]() -> Result<void> {
      DOLIUM_TRY(const dvid::Row row, shard_->Read(*number));
      DOLIUM_TRY(const auto voxels,
                 DecodeRow(row, labels ? LabelKind::kLabels : LabelKind::kSupervoxels));
      if (voxels.size != std::array<size_t, 3>{64, 64, 64}) {
        return Unsupported("a block that is not 64 x 64 x 64");
      }
      CopyVoxels(volume::VoxelView::Dense(
                     shape, reinterpret_cast<const std::byte*>(voxels.voxels.data())),
                 borrowed.mutable_view());
      return {};
    };
    Must(Named(key, WithoutGil(is_remote_, fill)));
    return true;
  }

  nb::list Keys() const {
    nb::list keys;
    for (size_t i = 0; i < shard_->size(); ++i) {
      const Key& key = shard_->key(i);
      keys.append(nb::make_tuple(key[0], key[1], key[2]));
    }
    return keys;
  }

  nb::tuple Arguments() const {
    return nb::make_tuple(NameText(location_), coordinates_, salvage_);
  }

 private:
  // Has errors name shard and key.
  template <typename T>
  Result<T> Named(const Key& key, Result<T> result) const {
    if (result) return result;
    return EntryError(shard_->Describe(), dvid::ToString(key), result.error());
  }

  std::string location_;
  std::string coordinates_;
  bool salvage_;
  bool is_remote_ = false;
  std::shared_ptr<const dvid::Shard> shard_;
};

dvid::ShardLayout LayoutNamed(const std::string& name) {
  if (name == "stream") return dvid::ShardLayout::kStream;
  if (name == "seed") return dvid::ShardLayout::kSeed;
  throw nb::value_error("layout: expected stream or seed");
}

dvid::CsvForm CsvFormNamed(const std::string& name) {
  if (name == "documented") return dvid::CsvForm::kDocumented;
  if (name == "dvid") return dvid::CsvForm::kDvid;
  throw nb::value_error("csv: expected documented or dvid");
}

// Sides in voxels, as sub-blocks.
std::array<uint32_t, 3> GridOf(const std::array<int64_t, 3>& shape) {
  std::array<uint32_t, 3> grid{};
  for (size_t d = 0; d < 3; ++d) {
    if (shape[d] < 16 || shape[d] > 1024 || shape[d] % 8 != 0) {
      throw nb::value_error(
          "blocks have sides of 16 to 1024 voxels that are multiples of 8");
    }
    grid[d] = static_cast<uint32_t>(shape[d] / 8);
  }
  return grid;
}

std::span<uint64_t> Dense(const BorrowedArray& borrowed,
                          const volume::ArrayShape& shape) {
  const volume::VoxelView view = borrowed.view();
  if (view.strides != DenseStrides(shape)) {
    throw nb::value_error("the array is not in Fortran order");
  }
  return {const_cast<uint64_t*>(reinterpret_cast<const uint64_t*>(view.data)),
          static_cast<size_t>(*shape.voxels())};
}

nb::bytes EncodeBlock(nb::handle array, const std::array<int64_t, 3>& shape) {
  const auto grid = GridOf(shape);
  const volume::ArrayShape dense{
      {shape[0], shape[1], shape[2]}, 1, volume::DataType::kUint64};
  const BorrowedArray borrowed(array, dense, BorrowedArray::Use::kRead);
  const std::span<const uint64_t> voxels = Dense(borrowed, dense);
  return CopyToPython(WithoutGil([&] { return dvid::EncodeBlock(grid, voxels); }));
}

std::array<size_t, 3> BlockShape(nb::handle data) {
  const BorrowedBytes block(data);
  return Must(dvid::LabelBlock::Parse(block.view())).size();
}

// `labels` are those to decode to, as bytes, instead of the block's own; or None.
void DecodeBlock(nb::handle data, nb::handle array, nb::handle labels) {
  const BorrowedBytes bytes(data);
  const auto block = Must(dvid::LabelBlock::Parse(bytes.view()));
  const auto size = block.size();
  const volume::ArrayShape shape{
      {static_cast<int64_t>(size[0]), static_cast<int64_t>(size[1]),
       static_cast<int64_t>(size[2])},
      1,
      volume::DataType::kUint64};
  const BorrowedArray borrowed(array, shape, BorrowedArray::Use::kWrite);
  const std::span<uint64_t> voxels = Dense(borrowed, shape);
  std::optional<BorrowedBytes> other;
  dvid::LabelList list = block.labels();
  if (!labels.is_none()) {
    other.emplace(labels);
    if (other->view().size() % sizeof(uint64_t) != 0) {
      throw nb::value_error("labels: expected 8 bytes for each");
    }
    list = dvid::LabelList(other->view());
  }
  Must(WithoutGil([&] { return dvid::DecodeBlock(block, list, voxels); }));
}

// One row: key, labels, supervoxels (8 bytes each), the block as it is to be stored, and
// what it takes without what is around it.
uint64_t WriteShard(nb::handle location, nb::handle rows, const std::string& layout,
                    const std::string& csv, size_t rows_per_batch) {
  const Location place = Must(ParseLocation(LocationText(location)));
  const dvid::DvidShardWriterOptions options{.layout = LayoutNamed(layout),
                                             .csv = CsvFormNamed(csv),
                                             .rows_per_batch = rows_per_batch};
  const auto writer = Must(dvid::DvidShardWriter::Begin(place, options));
  for (const nb::handle row : rows) {
    const auto [key, labels, supervoxels, stored, size] =
        nb::cast<std::tuple<Key, nb::bytes, nb::bytes, nb::bytes, uint32_t>>(row);
    const auto view = [](const nb::bytes& bytes) {
      return AsBytes(std::string_view(bytes.c_str(), bytes.size()));
    };
    if (labels.size() % sizeof(uint64_t) != 0 ||
        supervoxels.size() % sizeof(uint64_t) != 0) {
      throw nb::value_error("labels: expected 8 bytes for each");
    }
    Must(writer->Add({.block = key,
                      .labels = dvid::LabelList(view(labels)),
                      .supervoxels = dvid::LabelList(view(supervoxels)),
                      .stored = view(stored),
                      .uncompressed_size = size}));
  }
  return Must(WithoutGil([&] { return writer->Finish(); })).stored_bytes;
}

volume::DvidWriteRequest WriteRequestOf(nb::handle source, nb::handle target,
                                        const std::vector<size_t>& scales,
                                        const std::string& layout, const std::string& csv,
                                        int64_t shard_side, const nb::dict& exported,
                                        bool force) {
  volume::DvidWriteRequest request;
  request.source = LocationText(source);
  request.target = LocationText(target);
  request.exported = ExportOptionsFrom(exported);
  request.skip_damaged = request.exported.salvage;
  request.scales = scales;
  request.layout = LayoutNamed(layout);
  request.csv = CsvFormNamed(csv);
  request.shard_side = shard_side;
  request.force = force;
  return request;
}

nb::object PlanExport(nb::handle source, nb::handle target,
                      const std::vector<size_t>& scales, const std::string& layout,
                      const std::string& csv, int64_t shard_side,
                      const nb::dict& exported, bool force) {
  const volume::DvidWriteRequest request =
      WriteRequestOf(source, target, scales, layout, csv, shard_side, exported, force);
  std::vector<Finding> found;
  const Plan plan = DoBulkWork<Plan>(
      WriterOptions().memory, 0, nb::none(), [&](const RunOptions& options) {
        return PlanDvidExport(request, options,
                              [&](const Finding& finding) { found.push_back(finding); });
      });
  WarnOf(found);
  return ToPython(plan);
}

}  // namespace

void BindDvid(nb::module_& module) {
  nb::class_<PyShard>(module, "DvidShard",
                      "One Arrow file of an export: what dolium.dvid reads by. Keys are "
                      "x, y, z as they are stored.")
      .def(
          "__init__",
          [](PyShard* self, nb::handle location, const std::string& coordinates,
             bool salvage) {
            new (self) PyShard(LocationText(location), coordinates, salvage);
          },
          nb::arg("location"), nb::arg("coordinates") = "auto",
          nb::arg("salvage") = false)
      .def("__len__", [](const PyShard& self) { return self.shard().size(); })
      .def("keys", &PyShard::Keys, "In storage order.")
      .def(
          "row", &PyShard::Row, nb::arg("key"),
          "Labels, supervoxels (8 bytes each) and the block as stored; None if it is not "
          "there.")
      .def("block", &PyShard::Block, nb::arg("key"),
           "The label block; None if it is not there.")
      .def("voxels", &PyShard::Voxels, nb::arg("key"), nb::arg("labels"),
           nb::arg("array"),
           "Fills an array of 64 x 64 x 64 x 1; False if the block is not there.")
      .def_prop_ro("location",
                   [](const PyShard& self) { return NameText(self.shard().Describe()); })
      .def_prop_ro("is_file", [](const PyShard& self) { return self.shard().is_file(); })
      .def_prop_ro("in_voxels",
                   [](const PyShard& self) { return self.shard().in_voxels(); })
      .def_prop_ro(
          "arrow_bytes", [](const PyShard& self) { return self.shard().arrow_bytes(); },
          "How many of the first bytes are Arrow's.")
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(), nb::cast<const PyShard&>(self).Arguments());
      });
  module.def("encode_dvid_block", EncodeBlock, nb::arg("array"), nb::arg("shape"),
             "Encodes an array of four dimensions in Fortran order, of one channel.");
  module.def("dvid_block_shape", BlockShape, nb::arg("data"),
             "The size of a label block in voxels.");
  module.def("decode_dvid_block", DecodeBlock, nb::arg("data"), nb::arg("array"),
             nb::arg("labels").none(),
             "Fills an array of four dimensions in Fortran order, of one channel.");
  module.def(
      "write_dvid_shard", WriteShard, nb::arg("location"), nb::arg("rows"),
      nb::arg("layout"), nb::arg("csv"), nb::arg("rows_per_batch"),
      "Writes rows of key, labels, supervoxels, block and size; returns the bytes.");
  module.def("plan_dvid_export", PlanExport, nb::arg("source"), nb::arg("target"),
             nb::arg("scales"), nb::arg("layout"), nb::arg("csv"), nb::arg("shard_side"),
             nb::arg("exported"), nb::arg("force"));
}

}  // namespace dolium::python
