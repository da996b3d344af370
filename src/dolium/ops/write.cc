#include "dolium/ops/write.h"

#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/bytes/folder_swap.h"
#include "dolium/container/unfinished.h"

namespace dolium {
namespace {

constexpr std::string_view kOperation = "write";

std::string MarkerText(const Target& target) {
  return nlohmann::json{{"operation", kOperation},
                        {"format", target.format_name()},
                        {"target", target.Describe()}}
      .dump(2);
}

bool IsWriteMarker(std::string_view text) {
  const auto marker = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  return marker.is_object() && marker.value("operation", "") == kOperation;
}

// Removes what a writer that died left in `folder`: parts, bookkeeping, temporaries.
Result<void> Clear(const Location& folder, const Format& format) {
  std::vector<std::string> doomed;
  auto listed =
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        const bool ours = IsBookkeeping(name) || format.owns_object(name);
        if (!is_folder && ours && name != kMarkerName) doomed.emplace_back(name);
        return true;
      });
  if (!listed) {
    if (listed.error().code == ErrorCode::kNotFound) return {};
    return listed;
  }
  for (const std::string& name : doomed) {
    DOLIUM_TRY_VOID(
        folder.store->Remove(JoinPath(folder.path, name), Precondition::None()));
  }
  DOLIUM_TRY_VOID(RemoveSpills(folder));
  DOLIUM_TRY_VOID(folder.store->RemoveStaleTemporaries(folder.path));
  return {};
}

}  // namespace

Result<std::unique_ptr<SetWriter>> SetWriter::Begin(Formats formats,
                                                    const WriteRequest& request,
                                                    const WriterOptions& options) {
  DOLIUM_TRY(Location place, ParseLocation(request.target));
  DOLIUM_TRY(const Format* format, FindFormat(formats, request.format));
  DOLIUM_TRY(const Occupancy occupancy, LookInto(place));
  DOLIUM_TRY(const auto marker, ReadMarker(place));
  std::unique_ptr<SetWriter> set(new SetWriter());
  const bool resumes = marker && IsWriteMarker(*marker);
  if (!resumes && (marker || occupancy == Occupancy::kOccupied)) {
    if (!request.force) {
      return Exists(
          marker ? fmt::format("{}: holds an unfinished set that another operation "
                               "began; finish that, or use --force to replace it",
                               place.Describe())
                 : fmt::format("{}: is there already; use --force to replace it",
                               place.Describe()));
    }
    DOLIUM_TRY_VOID(CheckReplaceable(place, *format));
    DOLIUM_TRY(set->swap_, SwapFolders::Of(place));
    DOLIUM_TRY(const Location fresh, ParseLocation(set->swap_->fresh));
    DOLIUM_TRY(const auto other, ReadMarker(fresh));
    if (other && !IsWriteMarker(*other)) {
      return Exists(
          fmt::format("{}: another operation is building its replacement of {} there",
                      fresh.Describe(), place.Describe()));
    }
    DOLIUM_TRY_VOID(RemoveFolder(set->swap_->fresh));
    place = fresh;
  }
  DOLIUM_TRY(set->target_, format->create(place, request.create));
  // The marker comes first: what it stands beside may be removed by the next run.
  if (!resumes) DOLIUM_TRY_VOID(WriteMarker(place, MarkerText(*set->target_)));
  DOLIUM_TRY_VOID(Clear(place, *format));
  if (resumes) DOLIUM_TRY_VOID(WriteMarker(place, MarkerText(*set->target_)));
  DOLIUM_TRY(set->writer_, set->target_->NewWriter(options));
  return set;
}

Result<WriteSummary> SetWriter::Finish() {
  DOLIUM_TRY(const WriteSummary summary, writer_->Finish());
  writer_.reset();
  DOLIUM_TRY_VOID(target_->Finish());
  DOLIUM_TRY_VOID(RemoveMarker(target_->location()));
  if (swap_) {
    DOLIUM_TRY_VOID(SwapIn(*swap_));
    DOLIUM_TRY_VOID(RemoveReplaced(*swap_));
  }
  return summary;
}

}  // namespace dolium
