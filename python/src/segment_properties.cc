// Segment properties, as the JSON of their info; python/dolium/properties.py makes
// columns of it.
#include <string>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "dolium/ops/properties/segment_tables.h"
#include "dolium/ops/source/capabilities.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"

namespace dolium::python {
namespace {

using properties::SegmentProperties;

Location PropertiesLocation(nb::handle location) {
  return Must(ParseLocation(LocationText(location)));
}

std::string ReadProperties(nb::handle location) {
  const Location at = PropertiesLocation(location);
  return Must(WithoutGil(!IsLocal(at), [&]() -> Result<std::string> {
    DOLIUM_TRY(const Location folder, FindPropertiesFolder(at));
    DOLIUM_TRY(const SegmentProperties table, properties::ReadSegmentProperties(folder));
    return ToJson(table);
  }));
}

std::string WriteProperties(nb::handle location, const std::string& info, bool force) {
  const Location at = PropertiesLocation(location);
  return Must(WithoutGil([&]() -> Result<std::string> {
    auto table = properties::ParseSegmentProperties(info);
    // It is what the caller gave.
    if (!table) return InvalidArgument(table.error().message);
    DOLIUM_TRY(const PropertiesTarget place, PutSegmentProperties(at, *table, force));
    return place.folder.Describe();
  }));
}

std::string PropertiesOfCsv(nb::handle csv) {
  const Location at = PropertiesLocation(csv);
  return Must(WithoutGil(!IsLocal(at), [&]() -> Result<std::string> {
    DOLIUM_TRY(const SegmentProperties table, ReadPropertiesCsv(at));
    return ToJson(table);
  }));
}

std::string MeasureProperties(nb::handle volume, size_t scale, size_t jobs,
                              nb::object progress) {
  const Location at = PropertiesLocation(volume);
  const std::stop_source stop;
  ProgressCall call(std::move(progress), stop);
  const MeasureOptions options = {.scale = scale,
                                  .jobs = jobs,
                                  .progress = call.function(),
                                  .stop = stop.get_token()};
  Result<std::string> measured = std::string();
  RunInterruptible(stop, [&] {
    measured = [&]() -> Result<std::string> {
      DOLIUM_TRY(const volume::Volume opened, OpenVolume(at));
      DOLIUM_TRY(const SegmentProperties table, MeasureSegments(opened, options));
      return ToJson(table);
    }();
  });
  call.Check();
  return Must(std::move(measured));
}

}  // namespace

void BindSegmentProperties(nb::module_& module) {
  module.def("read_segment_properties", ReadProperties, nb::arg("location"),
             "The info of segment properties, as JSON.");
  module.def("write_segment_properties", WriteProperties, nb::arg("location"),
             nb::arg("info"), nb::arg("force"), "Writes an info; gives its folder.");
  module.def("segment_properties_of_csv", PropertiesOfCsv, nb::arg("csv"),
             "The info that a CSV file makes.");
  module.def("measure_segments", MeasureProperties, nb::arg("volume"), nb::arg("scale"),
             nb::arg("jobs"), nb::arg("progress").none(),
             "The info that the voxels of a volume make.");
}

}  // namespace dolium::python
