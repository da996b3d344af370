#include "dolium/ops/cas/cas_verify.h"

#include <fmt/format.h>

#include "dolium/domain/cas/check.h"

namespace dolium {

Result<VerifyReport> VerifyCas(const cas::CasStore& store, const VerifyOptions& options,
                               bool quarantine, const FindingVisitor& visitor) {
  if (options.sample < 1.0) {
    return Unsupported(
        fmt::format("{}: a cas store is checked whole, or quickly; not a sample of it",
                    store.layout().Describe()));
  }
  const bool is_quick = options.depth == CheckDepth::kQuick;
  cas::CheckOptions check;
  check.deep = !is_quick;
  check.quarantine = quarantine;
  check.jobs = options.jobs;
  check.progress = options.progress;
  check.stop = options.stop;
  DOLIUM_TRY(const cas::CheckReport checked, cas::CheckStore(store, check, visitor));
  VerifyReport report;
  report.objects = checked.xorbs + checked.shards + checked.versions;
  report.entries = checked.files;
  report.entries_read = is_quick ? 0 : checked.files;
  report.bytes_read = checked.bytes;
  report.errors = checked.errors;
  report.unreadable = checked.unreadable;
  return report;
}

}  // namespace dolium
