// Dropping scales of a volume: from its info first, at once, then their data.
//
// A note (`.dolium-drop` beside the info) holds what is to go while it goes. Killed at
// any point, the same request completes it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/volume/volume_info.h"

namespace dolium::volume {

// A scale by its number, or by its resolution.
using ScaleName = std::variant<size_t, Resolution>;

// The number of a scale. kInvalidArgument if there is none, or if several have the
// resolution.
Result<size_t> FindScale(const VolumeInfo& info, const ScaleName& name);

struct DropScalesRequest {
  std::string volume;  // location
  std::vector<ScaleName> scales;
  bool force = false;                     // also scale 0, of which the others are made
  std::function<void()> after_step = {};  // for tests: called after each change
};

struct DropScalesReport {
  std::string volume;             // location
  std::vector<std::string> keys;  // of the scales that were dropped
  size_t scales = 0;              // that are left
};

// kInvalidArgument for scale 0 unless `force`, and for all scales; kExists if the folder
// of one holds what is not part of it; kUnsupported if a folder has several parts, or
// lies outside of the volume. kConflict if another request had been cut short: that is
// completed, and nothing else is done.
Result<DropScalesReport> DropScales(const DropScalesRequest& request);

}  // namespace dolium::volume
