// SkippedChunks: what reads of voxels left out as damaged, each once, as findings:
// chunks, and indexes without which chunks are not found.
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
  // For the lists of chunks that a scale has; valid as long as both are.
  ChunkStorage::DamagedIndexVisitor index_visitor(const Scale& scale);

  // By object and message.
  std::vector<Finding> findings() const;

 private:
  void Add(Finding finding);

  mutable std::mutex mutex_;
  std::set<std::pair<std::string, std::string>> seen_;  // guarded by mutex_
  std::vector<Finding> findings_;                       // guarded by mutex_
  // Objects, and what is wrong with their indexes. Guarded by mutex_.
  std::set<std::pair<std::string, std::string>> indexes_;
};

}  // namespace dolium::volume
