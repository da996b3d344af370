#include "python/src/export_options.h"

#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>

#include "python/src/arguments.h"

namespace dolium::python {
namespace {

// In the order of dvid::Coordinates.
constexpr const char* kCoordinates[] = {"auto", "block", "voxel"};

}  // namespace

volume::DvidReadOptions ExportOptionsFrom(const nb::dict& options) {
  volume::DvidReadOptions out;
  if (options.contains("supervoxels") && nb::cast<bool>(options["supervoxels"])) {
    out.labels = dvid::LabelKind::kSupervoxels;
  }
  if (options.contains("spec")) out.spec = SpecText(options["spec"]);
  if (options.contains("resolution") && !options["resolution"].is_none()) {
    out.resolution = nb::cast<volume::Resolution>(options["resolution"]);
  }
  if (options.contains("coordinates")) {
    const auto known =
        dvid::ParseCoordinates(nb::cast<std::string>(options["coordinates"]));
    if (!known) throw nb::value_error("coordinates: expected auto, block or voxel");
    out.coordinates = *known;
  }
  if (options.contains("salvage")) out.salvage = nb::cast<bool>(options["salvage"]);
  return out;
}

nb::dict ExportOptionsTo(const volume::DvidReadOptions& options) {
  nb::dict out;
  out["supervoxels"] = options.labels == dvid::LabelKind::kSupervoxels;
  out["spec"] = options.spec ? nb::object(nb::str(options.spec->c_str())) : nb::none();
  out["resolution"] =
      nb::make_tuple(options.resolution[0], options.resolution[1], options.resolution[2]);
  out["coordinates"] = kCoordinates[static_cast<size_t>(options.coordinates)];
  out["salvage"] = options.salvage;
  return out;
}

}  // namespace dolium::python
