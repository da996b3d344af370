// The values of the Neuroglancer format: what others of the module need of them.
#pragma once

#include <optional>
#include <string>

#include <nanobind/nanobind.h>

namespace dolium::neuroglancer {
struct ShardingSpec;
}

namespace dolium::python {

namespace nb = nanobind;

// A spec from what SpecText() takes. Raises TypeError for None.
neuroglancer::ShardingSpec ShardingFrom(nb::handle spec);
// The way back: a ShardingSpec.
nb::object ShardingToPython(const neuroglancer::ShardingSpec& spec);

// The text that describes a set: its info, if there is one, with the spec in it. Either
// may be None, not both.
std::string SetDescription(nb::handle spec, nb::handle info);

}  // namespace dolium::python
