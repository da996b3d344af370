// What the options for DVID exports say, in the words of the library.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/context.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/dvid/dvid_export.h"

namespace dolium::cli {

// --supervoxels, --spec, --resolution, --coordinates, --skip-damaged: those that the
// verb has.
Result<volume::DvidReadOptions> ExportOptionsOf(const Context& context);
// The same, where the spec was already read.
Result<volume::DvidReadOptions> ExportOptionsOf(const Context& context,
                                                std::optional<std::string> spec);

// Shows what reads left out; the exit status for that.
ExitStatus ReportSkipped(const Context& context, const std::vector<Finding>& skipped);

}  // namespace dolium::cli
