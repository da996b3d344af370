#include "dolium/ops/volume/export_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "dolium/domain/volume/dvid/dvid_export.h"

namespace dolium::volume {

Result<std::vector<Finding>> CheckExportToRead(const Volume& volume,
                                               const WriterOptions& options,
                                               const FindingVisitor& visitor) {
  if (volume.dvid_export() == nullptr) return std::vector<Finding>();
  DOLIUM_TRY(const ExportReport report,
             CheckExport(*volume.dvid_export(), options.jobs, options.stop));
  if (visitor) {
    for (const auto* const findings :
         {&report.warnings, &report.of_spec, &report.damage}) {
      std::ranges::for_each(*findings, visitor);
    }
  }
  if (!report.damage.empty()) {
    const Finding& first = report.damage.front();
    std::string message = fmt::format("{}: {}", first.object, first.message);
    if (report.damage.size() > 1) {
      message += fmt::format("; and {} more", report.damage.size() - 1);
    }
    return Corrupt(std::move(message)).WithHint(Hint::kSalvage);
  }
  return report.LeftOut();
}

}  // namespace dolium::volume
