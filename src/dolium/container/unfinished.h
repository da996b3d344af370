// The marker that a set carries while it is being written.
//
// It is an object beside the parts, put there before the first of them and removed after
// the last. Its text (JSON) says what is being done, so that a rerun can resume it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"

namespace dolium {

inline constexpr std::string_view kMarkerName = ".dolium-unfinished";

// What the names of folders begin with that writers spill to.
inline constexpr std::string_view kSpillPrefix = ".dolium-spill-";

// Whether a base name is dolium's own bookkeeping rather than part of a set.
bool IsBookkeeping(std::string_view name);

// The marker's text, or nullopt if the set in `folder` is not being written.
Result<std::optional<std::string>> ReadMarker(const Location& folder);

Result<void> WriteMarker(const Location& folder, std::string_view text);
Result<void> RemoveMarker(const Location& folder);

// Removes what writers that died spilled into a set. No writer may be at work on it.
Result<void> RemoveSpills(const Location& folder);

// The error that readers give for an unfinished set.
Error UnfinishedError(const Location& folder);

// That error if the set in `folder` has a marker, or is what a job works in until its set
// takes its place.
Result<void> CheckFinished(const Location& folder);

// That error if a job was cut short while it moved files into `folder`, so that some of
// them are there and some in the folder of the job.
Result<void> CheckAllMoved(const Location& folder);

// The error of either; nullopt if the set is finished.
Result<std::optional<Error>> FindUnfinished(const Location& folder);

}  // namespace dolium
