// Making meshes: plans, and those of arrays.
#include "dolium/ops/mesh/mesh_make.h"

#include <algorithm>
#include <map>
#include <mutex>
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

#include "dolium/domain/mesh/making/label_meshes.h"
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

nb::object PlanMeshes(nb::handle volume, nb::handle target, const nb::dict& options,
                      const nb::dict& exported) {
  mesh::MeshMakeRequest request;
  request.volume = LocationText(volume);
  if (!target.is_none()) request.target = LocationText(target);
  request.exported = ExportOptionsFrom(exported);
  request.scale = Wish<size_t>(options, "scale");
  request.error = Wish<double>(options, "error");
  request.levels = Wish<unsigned>(options, "lods");
  TakeWish(options, "bits", request.bits);
  TakeWish(options, "sharded", request.sharded);
  TakeWish(options, "open", request.open);
  TakeWish(options, "min_voxels", request.min_voxels);
  request.segments = Wish<std::vector<uint64_t>>(options, "segments");
  TakeWish(options, "force", request.force);
  return ToPython(DoBulkWork<Plan>(
      WriterOptions().memory, 0, nb::none(),
      [&](const RunOptions& run) { return PlanMeshMake(request, run); }));
}

// Of an array of three dimensions and one channel: id, vertices and triangles, as bytes.
nb::list MeshesOfArray(nb::handle array, const Vec3& size, const std::string& type,
                       const Resolution& resolution, const Vec3& offset, double error,
                       bool open, size_t jobs) {
  const volume::ArrayShape shape{size, 1, DataTypeNamed(type)};
  if (*std::ranges::min_element(size) < 1 || !shape.bytes()) {
    throw nb::value_error("an array without voxels, or one that is too large");
  }
  const BorrowedArray borrowed(array, shape, BorrowedArray::Use::kRead);
  mesh::MakeOptions options;
  options.resolution = resolution;
  options.voxels.begin = offset;
  for (size_t d = 0; d < 3; ++d) options.voxels.end[d] = offset[d] + size[d];
  options.error = error;
  options.open = open;
  options.jobs = jobs;
  std::mutex mutex;
  std::map<uint64_t, mesh::Mesh> made;
  const std::stop_source stop;
  Result<void> result;
  RunInterruptible(stop, [&] {
    result = MeshLabels(
        borrowed.view(), options,
        [&](uint64_t label, mesh::Mesh mesh) -> Result<void> {
          const std::lock_guard lock(mutex);
          made.emplace(label, std::move(mesh));
          return {};
        },
        stop.get_token());
  });
  Must(result);
  nb::list meshes;
  for (auto& [label, mesh] : made) {
    meshes.append(nb::make_tuple(label,
                                 CopyToPython(std::as_bytes(std::span(mesh.vertices))),
                                 CopyToPython(std::as_bytes(std::span(mesh.triangles)))));
    mesh = {};
  }
  return meshes;
}

}  // namespace

void BindMeshMake(nb::module_& module) {
  module.def("plan_mesh_make", PlanMeshes, nb::arg("volume"), nb::arg("target").none(),
             nb::arg("options"), nb::arg("exported"));
  module.def("meshes_of_array", MeshesOfArray, nb::arg("array"), nb::arg("size"),
             nb::arg("data_type"), nb::arg("resolution"), nb::arg("offset"),
             nb::arg("error"), nb::arg("open"), nb::arg("jobs"));
}

}  // namespace dolium::python
