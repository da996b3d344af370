#include "dolium/ops/stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <mutex>
#include <string>
#include <vector>

#include "dolium/base/parallel.h"
#include "dolium/ops/job/work_list.h"

namespace dolium {
namespace {

constexpr uint64_t kEntriesPerProgress = 4096;

void Merge(Distribution& into, const Distribution& from) {
  if (from.count == 0) return;
  into.min = into.count == 0 ? from.min : std::min(into.min, from.min);
  into.max = std::max(into.max, from.max);
  into.count += from.count;
  into.sum = SaturatingAdd(into.sum, from.sum);
  for (size_t i = 0; i < into.histogram.size(); ++i)
    into.histogram[i] += from.histogram[i];
}

class Collector {
 public:
  Collector(const Container& container, const StatsOptions& options)
      : container_(container), options_(options) {}

  Result<StatsReport> Run() {
    DOLIUM_TRY(const std::vector<std::string> objects, container_.Objects());
    DOLIUM_TRY_VOID(ParallelFor(
        objects.size(), options_.jobs, [&](size_t i) { return ScanOne(objects[i]); },
        options_.stop));
    return report_;
  }

 private:
  Result<void> ScanOne(const std::string& object) {
    StatsReport one;
    uint64_t not_told = 0;
    ScanVisitor visitor;
    visitor.entry = [&](const Entry& entry) {
      one.stored_size.Add(entry.stored_size());
      one.preceding_bytes = SaturatingAdd(one.preceding_bytes, entry.preceding_size());
      if (++not_told == kEntriesPerProgress) TellProgress(std::exchange(not_told, 0));
      return !options_.stop.stop_requested();
    };
    visitor.damage = [&](const Finding&) {
      ++one.damaged;
      return !options_.stop.stop_requested();
    };
    const auto scanned = container_.ScanObject(object, visitor);
    if (options_.stop.stop_requested()) return Cancelled();
    if (!scanned) {
      if (scanned.error().code != ErrorCode::kCorrupt) return scanned.error();
      ++one.damaged;
    }
    DOLIUM_TRY(const auto info, container_.store().Stat(object));
    // A folder that is its own index has no size but that of its files.
    one.object_bytes =
        info ? info->size : SaturatingAdd(one.stored_size.sum, one.preceding_bytes);
    TellProgress(not_told);
    AddToReport(one);
    return {};
  }

  void AddToReport(const StatsReport& one) {
    const std::lock_guard lock(mutex_);
    ++report_.objects;
    report_.object_bytes = SaturatingAdd(report_.object_bytes, one.object_bytes);
    report_.preceding_bytes = SaturatingAdd(report_.preceding_bytes, one.preceding_bytes);
    report_.damaged += one.damaged;
    Merge(report_.stored_size, one.stored_size);
    report_.entries_per_object.Add(one.stored_size.count);
  }

  void TellProgress(uint64_t entries) {
    const std::lock_guard lock(mutex_);
    progress_.entries += entries;
    if (options_.progress) options_.progress(progress_);
  }

  const Container& container_;
  const StatsOptions& options_;
  std::mutex mutex_;
  StatsReport report_;  // guarded by mutex_
  Progress progress_;   // guarded by mutex_
};

}  // namespace

void Distribution::Add(uint64_t value) {
  min = count == 0 ? value : std::min(min, value);
  max = std::max(max, value);
  ++count;
  sum = SaturatingAdd(sum, value);
  ++histogram[static_cast<size_t>(std::bit_width(value))];
}

uint64_t Distribution::Quantile(double q) const {
  const double wanted = std::ceil(std::clamp(q, 0.0, 1.0) * static_cast<double>(count));
  uint64_t seen = 0;
  for (size_t bits = 0; bits < histogram.size(); ++bits) {
    seen += histogram[bits];
    if (histogram[bits] > 0 && static_cast<double>(seen) >= wanted) {
      return std::min(max, LowBits(static_cast<unsigned>(bits)));
    }
  }
  return max;
}

Result<StatsReport> Stats(const Container& container, const StatsOptions& options) {
  return Collector(container, options).Run();
}

}  // namespace dolium
