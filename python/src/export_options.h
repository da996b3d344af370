// How to read a DVID export as a volume, as Python callers say it.
#pragma once

#include <nanobind/nanobind.h>

#include "dolium/domain/volume/dvid/dvid_export.h"

namespace dolium::python {

namespace nb = nanobind;

// Members: supervoxels, spec (text, dict, file or None), resolution (or None),
// coordinates, salvage; any may be missing. Needs the GIL.
volume::DvidReadOptions ExportOptionsFrom(const nb::dict& options);
// The way back.
nb::dict ExportOptionsTo(const volume::DvidReadOptions& options);

}  // namespace dolium::python
