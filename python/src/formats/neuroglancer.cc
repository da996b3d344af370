#include "python/src/formats/neuroglancer.h"

#include <string>

#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/formats/neuroglancer/chooser.h"
#include "dolium/formats/neuroglancer/info.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"

namespace dolium::python {
namespace {

using neuroglancer::ParseEncoding;
using neuroglancer::ParseHash;
using neuroglancer::ShardingSpec;

constexpr const char* kDefaultHash = "murmurhash3_x86_128";

ShardingSpec MakeSpec(unsigned preshift_bits, unsigned minishard_bits,
                      unsigned shard_bits, std::string_view hash,
                      std::string_view minishard_index_encoding,
                      std::string_view data_encoding) {
  ShardingSpec spec;
  spec.preshift_bits = preshift_bits;
  spec.minishard_bits = minishard_bits;
  spec.shard_bits = shard_bits;
  spec.hash = Must(ParseHash("hash", hash));
  spec.minishard_index_encoding =
      Must(ParseEncoding("minishard_index_encoding", minishard_index_encoding));
  spec.data_encoding = Must(ParseEncoding("data_encoding", data_encoding));
  Must(spec.Validate());
  return spec;
}

std::string ReprSpec(const ShardingSpec& spec) {
  return fmt::format(
      "ShardingSpec(preshift_bits={}, minishard_bits={}, shard_bits={}, hash='{}', "
      "minishard_index_encoding='{}', data_encoding='{}')",
      spec.preshift_bits, spec.minishard_bits, spec.shard_bits, ToString(spec.hash),
      ToString(spec.minishard_index_encoding), ToString(spec.data_encoding));
}

// The members, as the constructor takes them.
nb::tuple SpecMembers(const ShardingSpec& spec) {
  return nb::make_tuple(spec.preshift_bits, spec.minishard_bits, spec.shard_bits,
                        ToString(spec.hash), ToString(spec.minishard_index_encoding),
                        ToString(spec.data_encoding));
}

std::string ShardName(const ShardingSpec& spec, uint64_t shard) {
  std::string stem = spec.ShardStem(shard);
  if (spec.ParseShardStem(stem) != shard) {
    throw nb::value_error(
        fmt::format("there is no shard {} with {} shard bits", shard, spec.shard_bits)
            .c_str());
  }
  return std::move(stem) + ".shard";
}

ShardingSpec Choose(uint64_t entries, uint64_t bytes, std::string_view hash,
                    std::string_view minishard_index_encoding,
                    std::string_view data_encoding, uint64_t largest_id,
                    uint64_t shard_size) {
  if (shard_size == 0) throw nb::value_error("shard_size is 0");
  const ShardingSpec base =
      MakeSpec(0, 0, 0, hash, minishard_index_encoding, data_encoding);
  return neuroglancer::ChooseSharding(base, {entries, bytes, largest_id}, shard_size);
}

}  // namespace

ShardingSpec ShardingFrom(nb::handle spec) {
  const auto text = SpecText(spec);
  if (!text) throw nb::type_error("None is no sharding spec");
  return Must(neuroglancer::ParseShardingText(*text));
}

nb::object ShardingToPython(const ShardingSpec& spec) { return nb::cast(spec); }

std::string SetDescription(nb::handle spec, nb::handle info) {
  if (spec.is_none() && info.is_none()) {
    throw nb::type_error("a set needs a sharding spec");
  }
  if (info.is_none()) return *SpecText(spec);
  std::string text = *SpecText(info);
  return spec.is_none() ? text : neuroglancer::InfoText(text, ShardingFrom(spec));
}

void BindShardingSpec(nb::module_& module) {
  nb::class_<ShardingSpec>(module, "ShardingSpec",
                           "How a Neuroglancer set spreads chunk ids over shards and "
                           "minishards. Immutable.")
      .def(
          "__init__",
          [](ShardingSpec* self, unsigned preshift_bits, unsigned minishard_bits,
             unsigned shard_bits, std::string_view hash,
             std::string_view minishard_index_encoding, std::string_view data_encoding) {
            new (self)
                ShardingSpec(MakeSpec(preshift_bits, minishard_bits, shard_bits, hash,
                                      minishard_index_encoding, data_encoding));
          },
          nb::arg("preshift_bits"), nb::arg("minishard_bits"), nb::arg("shard_bits"),
          nb::arg("hash") = kDefaultHash, nb::arg("minishard_index_encoding") = "gzip",
          nb::arg("data_encoding") = "raw")
      .def_ro("preshift_bits", &ShardingSpec::preshift_bits)
      .def_ro("minishard_bits", &ShardingSpec::minishard_bits)
      .def_ro("shard_bits", &ShardingSpec::shard_bits)
      .def_prop_ro("hash", [](const ShardingSpec& spec) { return ToString(spec.hash); })
      .def_prop_ro("minishard_index_encoding",
                   [](const ShardingSpec& spec) {
                     return ToString(spec.minishard_index_encoding);
                   })
      .def_prop_ro("data_encoding",
                   [](const ShardingSpec& spec) { return ToString(spec.data_encoding); })
      .def(
          "place",
          [](const ShardingSpec& spec, nb::handle id) {
            const neuroglancer::MinishardLocation place = spec.LocationOf(ChunkId(id));
            return std::pair(place.shard, place.minishard);
          },
          nb::arg("id"), "The numbers of the shard and the minishard that hold a chunk.")
      .def("shard_name", ShardName, nb::arg("shard"), "The file name of a shard.")
      .def(
          "to_json", [](const ShardingSpec& spec) { return DumpJson(ToJson(spec)); },
          "The `sharding` member of an info file, as text.")
      .def(
          "to_dict",
          [](const ShardingSpec& spec) {
            return nb::module_::import_("json").attr("loads")(DumpJson(ToJson(spec)));
          },
          "The `sharding` member of an info file, as a dict.")
      .def_static("from_json", ShardingFrom, nb::arg("spec"),
                  "From what to_json() or to_dict() gave, or a file of it.")
      .def(
          "__eq__",
          [](const ShardingSpec& spec, const ShardingSpec& other) {
            return spec == other;
          },
          nb::is_operator(), nb::sig("def __eq__(self, arg: object, /) -> bool"))
      .def("__hash__",
           [](const ShardingSpec& spec) { return nb::hash(SpecMembers(spec)); })
      .def("__repr__", ReprSpec)
      .def("__reduce__", [](nb::handle self) {
        return nb::make_tuple(self.type(),
                              SpecMembers(nb::cast<const ShardingSpec&>(self)));
      });

  module.def(
      "choose_sharding", Choose, nb::arg("entries"), nb::arg("bytes"), nb::kw_only(),
      nb::arg("hash") = kDefaultHash, nb::arg("minishard_index_encoding") = "gzip",
      nb::arg("data_encoding") = "raw", nb::arg("largest_id") = 0,
      nb::arg("shard_size") = neuroglancer::kDefaultShardBytes,
      "A spec for a set of so many entries, which take so many bytes as stored: "
      "shards of about `shard_size` bytes, minishards of about a thousand entries. "
      "The identity hash needs `largest_id`.");
}

}  // namespace dolium::python
