#include "dolium/ops/scan_source.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include "dolium/base/parallel.h"
#include "dolium/container/entry_error.h"

namespace dolium {

bool IsDamage(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kNotFound;
}

Result<std::vector<Finding>> ScanSource(
    const Container& source, const ScanSourceOptions& options,
    const std::function<Result<void>(const Entry&)>& visit) {
  DOLIUM_TRY(const std::vector<std::string> objects, source.Objects());
  std::mutex mutex;
  std::vector<Finding> findings;  // guarded by mutex

  const auto scan_object = [&](size_t index) -> Result<void> {
    std::optional<Error> failure;
    ScanVisitor visitor;
    visitor.entry = [&](const Entry& entry) {
      auto visited =
          options.stop.stop_requested() ? Result<void>(Cancelled()) : visit(entry);
      if (!visited) failure = std::move(visited).error();
      return !failure;
    };
    const auto add = [&](const Finding& finding) {
      const std::lock_guard lock(mutex);
      findings.push_back(finding);
      return true;
    };
    if (options.skip_damaged) visitor.damage = add;
    auto scanned = source.ScanObject(objects[index], visitor);
    if (failure) return *std::move(failure);
    if (!scanned && options.skip_damaged && IsDamage(scanned.error())) {
      add(ErrorFinding(std::string(ErrorCodeName(scanned.error().code)),
                       source.store().Describe(objects[index]), "", std::nullopt,
                       scanned.error()));
      return {};
    }
    return scanned;
  };
  DOLIUM_TRY_VOID(ParallelFor(objects.size(), options.jobs, scan_object, options.stop));

  const auto begin = [](const Finding& finding) {
    return finding.range ? finding.range->offset : 0;
  };
  std::sort(findings.begin(), findings.end(), [&](const Finding& a, const Finding& b) {
    return std::tuple(std::tie(a.object, a.key), begin(a)) <
           std::tuple(std::tie(b.object, b.key), begin(b));
  });
  return findings;
}

}  // namespace dolium
