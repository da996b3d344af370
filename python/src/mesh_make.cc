// Plans of meshes.
#include <optional>
#include <string>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dolium/ops/mesh/mesh_make.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/bulk_work.h"
#include "python/src/export_options.h"
#include "python/src/reports.h"
#include "python/src/wishes.h"

namespace dolium::python {
namespace {

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

}  // namespace

void BindMeshMake(nb::module_& module) {
  module.def("plan_mesh_make", PlanMeshes, nb::arg("volume"), nb::arg("target").none(),
             nb::arg("options"), nb::arg("exported"));
}

}  // namespace dolium::python
