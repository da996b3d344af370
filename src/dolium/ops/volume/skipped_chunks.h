// SkippedChunks: damaged chunks that reads of voxels left out, each once, as findings.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "dolium/container/entry.h"
#include "dolium/domain/volume/scale.h"

namespace dolium::volume {

// May be used from many threads.
class SkippedChunks {
 public:
  // For BoxOptions::skip_damaged and the like; valid as long as this is.
  DamageVisitor visitor();

  // By object and message.
  std::vector<Finding> findings() const;

 private:
  mutable std::mutex mutex_;
  std::set<std::pair<std::string, std::string>> seen_;  // guarded by mutex_
  std::vector<Finding> findings_;                       // guarded by mutex_
};

}  // namespace dolium::volume
