#include "dolium/ops/write.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/bytes/folder_swap.h"
#include "dolium/container/json.h"
#include "dolium/container/unfinished.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"
#include "dolium/ops/source/kinds.h"

namespace dolium {
namespace {

constexpr std::string_view kOperation = "write";

std::string MarkerText(const Target& target) {
  return DumpJson(nlohmann::json{{"operation", kOperation},
                                 {"format", target.format_name()},
                                 {"description", target.Describe()}},
                  2);
}

bool IsWriteMarker(std::string_view text) {
  const auto marker = ParseJson(text);
  return marker && marker->is_object() && marker->contains("operation") &&
         (*marker)["operation"] == kOperation;
}

// Removes what a writer that died left in `folder`: parts, bookkeeping, temporaries.
Result<void> Clear(const Location& folder, const Format& format) {
  std::vector<std::string> doomed;
  std::vector<std::string> folders;
  auto listed =
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        const bool is_bookkeeping = IsBookkeeping(name);
        if (is_folder && !is_bookkeeping) {
          if (format.owns_object(fmt::format("{}/", name))) folders.emplace_back(name);
        } else if (!is_folder && (is_bookkeeping || format.owns_object(name)) &&
                   name != kMarkerName) {
          doomed.emplace_back(name);
        }
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
  for (const std::string& name : folders) {
    DOLIUM_TRY(const auto path, folder.store->LocalPath(JoinPath(folder.path, name)));
    if (path) DOLIUM_TRY_VOID(RemoveFolder(*path));
  }
  DOLIUM_TRY_VOID(RemoveSpills(folder));
  DOLIUM_TRY_VOID(folder.store->RemoveStaleTemporaries(folder.path));
  return {};
}

// Puts the marker there, in the place of one that a dead writer left, and holds it.
// kExists if a live writer holds it, or if it is another operation's.
Result<std::shared_ptr<void>> TakeMarker(const Location& location,
                                         const std::string& text) {
  const std::string object = JoinPath(location.path, kMarkerName);
  const auto lock = [&]() -> Result<std::shared_ptr<void>> {
    auto locked = location.store->LockForRewrite(object, /*wait=*/false);
    if (locked || locked.error().code != ErrorCode::kUnavailable) return locked;
    return Exists(
        fmt::format("{}: is being written by another process", location.Describe()));
  };
  auto put = location.store->Put(object, AsBytes(text), Precondition::Absent());
  if (put) return lock();
  if (put.error().code != ErrorCode::kExists) return std::move(put).error();
  DOLIUM_TRY(const auto marker, ReadMarker(location));
  if (marker && !IsWriteMarker(*marker)) {
    return Exists(fmt::format("{}: holds an unfinished set that another operation began; "
                              "finish that first",
                              location.Describe()))
        .WithHint(Hint::kReplace);
  }
  DOLIUM_TRY(const auto old, lock());  // Held until the new one is.
  DOLIUM_TRY_VOID(WriteMarker(location, text));
  return lock();
}

}  // namespace

Result<std::unique_ptr<SetWriter>> SetWriter::Begin(Formats formats,
                                                    const WriteRequest& request,
                                                    const WriterOptions& options) {
  DOLIUM_TRY(Location location, ParseLocation(request.target));
  DOLIUM_TRY(const Format* format, FindFormat(formats, request.format));
  DOLIUM_TRY(const Occupancy occupancy, InspectFolder(location));
  DOLIUM_TRY(const auto marker, ReadMarker(location));
  std::unique_ptr<SetWriter> set(new SetWriter());
  const bool replaces =
      marker ? !IsWriteMarker(*marker) : occupancy == Occupancy::kOccupied;
  if (replaces && !marker && !request.force) {
    return Exists(location.Describe() + ": is there already").WithHint(Hint::kReplace);
  }
  if (replaces && request.force) {
    DOLIUM_TRY_VOID(CheckTargetReplaceable(formats, location, *format));
    DOLIUM_TRY(set->swap_, SwapFolders::Of(location));
    DOLIUM_TRY(location, ParseLocation(set->swap_->fresh));
  }
  DOLIUM_TRY(set->target_, format->create(location, request.create));
  // The marker comes first: what it stands beside may be removed by the next run.
  DOLIUM_TRY(set->lock_, TakeMarker(location, MarkerText(*set->target_)));
  DOLIUM_TRY_VOID(Clear(location, *format));
  DOLIUM_TRY(set->writer_, set->target_->NewWriter(options));
  set->chunks_ = dynamic_cast<neuroglancer::ShardedWriter*>(set->writer_.get());
  return set;
}

Result<void> SetWriter::AddChunk(uint64_t id, BytesView value, BytesView preceding) {
  if (chunks_ != nullptr) {
    return chunks_->AddChunk(id, value, preceding, /*encoded=*/false);
  }
  return writer_->Add({std::to_string(id), value, preceding});
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
