// LevelPlan: which level of the spatial index an annotation is in, and what the levels
// are.
//
// Coarse to fine, each level takes of what the levels before it have left, at random, so
// many that about `limit` are in its fullest cell: of all that is left, the part
// min(1, limit / most in a cell). An annotation has one random number, made of its id and
// a seed. A level takes those whose number is below its threshold and not below that of
// the level before, which is the same as a throw for each level, and can be looked up.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/annotation/annotation_info.h"
#include "dolium/domain/annotation/record_log.h"

namespace dolium::annotation {

struct LevelOptions {
  uint64_t limit = 10000;
  uint64_t seed = 0;
  size_t jobs = 0;
  std::stop_token stop = {};
};

// The random number of an annotation, of 64 bits.
uint64_t RandomOf(uint64_t id, uint64_t seed);

struct LevelPlan {
  struct Level {
    SpatialLevel level;    // without sharding
    double threshold = 1;  // takes random numbers below it, as parts of 1
    uint64_t lists = 0;    // at most: cells that have something left
  };
  std::vector<Level> levels;

  // The level of an annotation with that random number.
  size_t LevelOf(uint64_t random) const;
};

// `info` has bounds that hold all of the log.
Result<LevelPlan> PlanLevels(const AnnotationInfo& info, const RecordLog& log,
                             const LevelOptions& options);

}  // namespace dolium::annotation
