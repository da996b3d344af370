// What the Python classes of cas stores take and give, as values of Python.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "dolium/domain/cas/exchange.h"
#include "dolium/domain/cas/manifest.h"
#include "dolium/domain/cas/statistics.h"
#include "dolium/domain/cas/version.h"
#include "python/src/arguments.h"

namespace dolium::python {

nb::dict ToDict(const cas::Version& version);
nb::dict ToDict(const cas::ManifestEntry& entry);
nb::dict ToDict(const cas::ChunkSums& sums);
nb::dict ToDict(const cas::ExchangeReport& report);

// Paths or texts.
std::vector<std::string> Texts(const nb::sequence& sequence);

// Paths that were left out, and why.
using LeftOut = std::vector<std::pair<std::string, std::string>>;
nb::tuple LeftOutToPython(const LeftOut& left_out);

}  // namespace dolium::python
