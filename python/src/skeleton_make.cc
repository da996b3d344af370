// Making skeletons: plans, and those of arrays.
#include "dolium/ops/skeleton/skeleton_make.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dolium/base/parallel.h"
#include "dolium/domain/skeleton/making/join_strands.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/bulk_work.h"
#include "python/src/errors.h"
#include "python/src/export_options.h"
#include "python/src/interrupt.h"
#include "python/src/reports.h"
#include "python/src/volume_requests.h"
#include "python/src/voxel_buffer.h"
#include "python/src/wishes.h"

namespace dolium::python {
namespace {

using volume::Resolution;
using volume::Vec3;

skeleton::TeasarOptions TeasarOf(const nb::dict& options) {
  skeleton::TeasarOptions teasar;
  TakeWish(options, "cover", teasar.scale);
  TakeWish(options, "cover_length", teasar.constant);
  TakeWish(options, "penalty_scale", teasar.penalty_scale);
  TakeWish(options, "penalty_exponent", teasar.penalty_exponent);
  TakeWish(options, "soma_detection", teasar.soma_detection);
  TakeWish(options, "soma_acceptance", teasar.soma_acceptance);
  TakeWish(options, "soma_cover", teasar.soma_scale);
  TakeWish(options, "soma_cover_length", teasar.soma_constant);
  return teasar;
}

nb::object PlanSkeletons(nb::handle volume, nb::handle target, const nb::dict& options,
                         const nb::dict& exported, uint64_t memory) {
  skeleton::SkeletonMakeRequest request;
  request.volume = LocationText(volume);
  if (!target.is_none()) request.target = LocationText(target);
  request.exported = ExportOptionsFrom(exported);
  request.teasar = TeasarOf(options);
  request.scale = Wish<size_t>(options, "scale");
  TakeWish(options, "cross_sections", request.cross_sections);
  TakeWish(options, "min_voxels", request.min_voxels);
  TakeWish(options, "dust", request.dust);
  TakeWish(options, "tick", request.tick);
  TakeWish(options, "sharded", request.sharded);
  request.segments = Wish<std::vector<uint64_t>>(options, "segments");
  TakeWish(options, "force", request.force);
  return ToPython(DoBulkWork<Plan>(memory, 0, nb::none(), [&](const RunOptions& run) {
    return PlanSkeletonMake(request, run);
  }));
}

// The labels of an array, dense.
Result<skeleton::LabelBlock> NumberArray(const volume::VoxelView& view,
                                         std::span<const uint64_t> wanted) {
  std::vector<std::byte> dense;
  const std::byte* data = view.data;
  if (view.strides != volume::DenseStrides(view.shape)) {
    dense.resize(*view.shape.bytes());
    CopyVoxels(view, volume::MutableVoxelView::Dense(view.shape, dense.data()));
    data = dense.data();
  }
  const auto number = [&]<typename T>(T) {
    return skeleton::NumberLabels(
        std::span(reinterpret_cast<const T*>(data), *view.shape.voxels()),
        view.shape.size, wanted);
  };
  switch (view.shape.type) {
    case volume::DataType::kUint8:
      return number(uint8_t{0});
    case volume::DataType::kUint16:
      return number(uint16_t{0});
    case volume::DataType::kUint32:
      return number(uint32_t{0});
    case volume::DataType::kUint64:
      return number(uint64_t{0});
    default:
      return InvalidArgument(fmt::format("labels of {}, expected an unsigned type",
                                         ToString(view.shape.type)));
  }
}

// Of an array of three dimensions and one channel: id, vertices, edges and attributes, as
// bytes.
nb::list SkeletonsOfArray(nb::handle array, const Vec3& size, const std::string& type,
                          const Resolution& resolution, const nb::dict& options,
                          size_t jobs) {
  const volume::ArrayShape shape{size, 1, DataTypeNamed(type)};
  if (*std::ranges::min_element(size) < 1 || !shape.bytes()) {
    throw nb::value_error("an array without voxels, or one that is too large");
  }
  const BorrowedArray borrowed(array, shape, BorrowedArray::Use::kRead);
  skeleton::StrandOptions strands;
  strands.resolution = resolution;
  strands.teasar = TeasarOf(options);
  TakeWish(options, "cross_sections", strands.cross_sections);
  TakeWish(options, "min_voxels", strands.min_voxels);
  strands.jobs = jobs;
  skeleton::JoinOptions join;
  join.resolution = resolution;
  join.teasar = strands.teasar;
  TakeWish(options, "dust", join.dust);
  TakeWish(options, "tick", join.tick);
  auto segments =
      Wish<std::vector<uint64_t>>(options, "segments").value_or(std::vector<uint64_t>());
  std::ranges::sort(segments);
  std::vector<skeleton::NamedSkeleton> made;
  const std::stop_source stop;
  strands.stop = stop.get_token();
  Result<void> result;
  RunInterruptible(stop, [&] {
    result = [&]() -> Result<void> {
      DOLIUM_TRY(const auto block, NumberArray(borrowed.view(), segments));
      DOLIUM_TRY(made, MakeSkeletons(block, strands, join));
      return {};
    }();
  });
  Must(result);
  nb::list skeletons;
  for (skeleton::NamedSkeleton& named : made) {
    skeleton::Skeleton& line = named.skeleton;
    nb::list attributes;
    for (const ByteVector& attribute : line.attributes) {
      attributes.append(CopyToPython(attribute));
    }
    skeletons.append(
        nb::make_tuple(named.id, CopyToPython(std::as_bytes(std::span(line.vertices))),
                       CopyToPython(std::as_bytes(std::span(line.edges))), attributes));
    line = {};
  }
  return skeletons;
}

}  // namespace

void BindSkeletonMake(nb::module_& module) {
  module.def("plan_skeleton_make", PlanSkeletons, nb::arg("volume"),
             nb::arg("target").none(), nb::arg("options"), nb::arg("exported"),
             nb::arg("memory"));
  module.def("skeletons_of_array", SkeletonsOfArray, nb::arg("array"), nb::arg("size"),
             nb::arg("data_type"), nb::arg("resolution"), nb::arg("options"),
             nb::arg("jobs"));
}

}  // namespace dolium::python
