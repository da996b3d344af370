#include <array>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/export_options.h"
#include "python/src/reports.h"
#include "python/src/volume.h"

namespace dolium::python {
namespace {

using volume::Box;
using volume::Vec3;

constexpr uint64_t kVolumeCacheBytes = volume::StorageOptions().cache_bytes;

// A box as Python has it: its first voxel, and the one past its last.
using Corners = std::pair<Vec3, Vec3>;

Box ToBox(const Corners& corners) { return {corners.first, corners.second}; }

template <typename Number>
nb::tuple TupleOf(const std::array<Number, 3>& vector) {
  return nb::make_tuple(vector[0], vector[1], vector[2]);
}

nb::tuple TupleOf(const Box& box) {
  return nb::make_tuple(TupleOf(box.begin), TupleOf(box.end));
}

void InitVolume(PyVolume* self, nb::handle location, size_t scale, bool unfinished,
                bool gzip_files, uint64_t cache_bytes, const nb::dict& exported,
                nb::handle cache) {
  VolumeArguments arguments;
  arguments.location = LocationText(location);
  arguments.scale = scale;
  arguments.allow_unfinished = unfinished;
  arguments.storage.gzip_files = gzip_files;
  arguments.storage.cache_bytes = cache_bytes;
  arguments.exported = ExportOptionsFrom(exported);
  arguments.cache = CacheFrom(cache);
  const CacheFor scope(arguments.cache);
  new (self) PyVolume(std::move(arguments));
}

// First and last + 1.
using Channels = std::pair<int64_t, int64_t>;

// A box, the steps in it, and the channels.
using Request = std::tuple<Corners, Vec3, Channels>;

volume::ChannelRange ToRange(const Channels& channels) {
  return {channels.first, channels.second};
}

BoxRequest ToRequest(const Request& request) {
  const auto& [box, step, channels] = request;
  for (const int64_t side : step) {
    if (side < 1) throw nb::value_error("a step below 1");
  }
  return {ToBox(box), step, ToRange(channels)};
}

void Read(const PyVolume& self, const Request& request, nb::handle array, bool strict,
          size_t jobs) {
  self.Read(ToRequest(request), array, strict, jobs);
}

void ReadMany(const PyVolume& self, const std::vector<Request>& requests,
              const nb::list& arrays, bool strict, size_t jobs) {
  std::vector<BoxRequest> wanted;
  wanted.reserve(requests.size());
  for (const Request& request : requests) wanted.push_back(ToRequest(request));
  self.ReadMany(wanted, arrays, strict, jobs);
}

void Write(PyVolume& self, const Corners& box, const Channels& channels, nb::handle array,
           size_t jobs, nb::handle mask) {
  self.Write(ToBox(box), ToRange(channels), array, jobs, mask);
}

// For pickle.
nb::tuple ReduceVolume(nb::handle self) {
  const VolumeArguments& arguments = nb::cast<const PyVolume&>(self).arguments();
  return nb::make_tuple(
      self.type(),
      nb::make_tuple(NameText(arguments.location), arguments.scale,
                     arguments.allow_unfinished, arguments.storage.gzip_files,
                     arguments.storage.cache_bytes, ExportOptionsTo(arguments.exported),
                     CacheTo(arguments.cache)));
}

nb::str ReprVolume(const PyVolume& self) {
  return nb::str("<VolumeScale {} of {!r}>")
      .format(self.arguments().scale, NameText(self.volume().folder().Describe()));
}

}  // namespace

void BindVolume(nb::module_& module) {
  nb::class_<PyVolume>(module, "VolumeScale",
                       "One scale of a volume: what dolium.Volume reads and writes by. "
                       "Boxes are pairs of corners, arrays have four dimensions.")
      .def("__init__", InitVolume, nb::arg("location"), nb::arg("scale") = 0,
           nb::arg("unfinished") = false, nb::arg("gzip_files") = false,
           nb::arg("cache_bytes") = kVolumeCacheBytes, nb::arg("exported") = nb::dict(),
           nb::arg("cache") = nb::none())
      .def(
          "other",
          [](const PyVolume& self, size_t scale) { return new PyVolume(self, scale); },
          nb::arg("scale"), "Another scale of the same volume.")
      .def("read", Read, nb::arg("request"), nb::arg("array"), nb::arg("strict"),
           nb::arg("jobs"),
           "Fills an array with what a request names: a box, the steps in it, and the "
           "first channel and the one past the last.")
      .def("read_many", ReadMany, nb::arg("requests"), nb::arg("arrays"),
           nb::arg("strict"), nb::arg("jobs"), "Fills an array for each request.")
      .def(
          "write", Write, nb::arg("box"), nb::arg("channels"), nb::arg("array"),
          nb::arg("jobs"), nb::arg("mask").none() = nb::none(),
          "Replaces some channels of a box by an array; with a mask of uint8, the voxels "
          "alone where that is not 0.")
      .def_prop_ro(
          "skipped", [](const PyVolume& self) { return ToPython(self.skipped()); },
          "Damaged chunks that reads have left out.")
      .def_prop_ro(
          "write_unit",
          [](const PyVolume& self) {
            return TupleOf(Must(self.whole_scale().WriteUnit()));
          },
          "The size of a shard's box in voxels; without shards, of a block of chunks.")
      .def_prop_ro("location",
                   [](const PyVolume& self) {
                     return NameText(self.volume().folder().Describe());
                   })
      .def_prop_ro(
          "opened",
          [](const PyVolume& self) {
            const VolumeArguments& arguments = self.arguments();
            return nb::make_tuple(NameText(arguments.location),
                                  ExportOptionsTo(arguments.exported),
                                  CacheTo(arguments.cache));
          },
          "The location that was opened, how an export is read, and the cache.")
      .def_prop_ro("index", [](const PyVolume& self) { return self.arguments().scale; })
      .def_prop_ro(
          "num_scales",
          [](const PyVolume& self) { return self.volume().info().scales.size(); })
      .def_prop_ro(
          "info_text",
          [](const PyVolume& self) { return MessageText(ToJson(self.volume().info())); },
          "The info, as JSON.")
      .def_prop_ro("data_type",
                   [](const PyVolume& self) { return ToString(self.scale().type()); })
      .def_prop_ro("num_channels",
                   [](const PyVolume& self) { return self.scale().channels(); })
      .def_prop_ro("bounds",
                   [](const PyVolume& self) { return TupleOf(self.scale().bounds()); })
      .def_prop_ro(
          "resolution",
          [](const PyVolume& self) { return TupleOf(self.scale().info().resolution); })
      .def_prop_ro(
          "chunk_size",
          [](const PyVolume& self) { return TupleOf(self.scale().grid().chunk_size()); })
      .def_prop_ro("encoding",
                   [](const PyVolume& self) {
                     return ToString(self.scale().info().encoding.encoding);
                   })
      .def_prop_ro("sharding",
                   [](const PyVolume& self) { return self.scale().info().sharding; })
      .def("__repr__", ReprVolume)
      .def("__reduce__", ReduceVolume);
}

}  // namespace dolium::python
