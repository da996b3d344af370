// AnnotationWriter: a new folder of annotations, with all its indexes, in bounded memory.
//
// What is added goes to a log. Finish() then knows how many there are and how far they
// reach, chooses levels and shards, and makes each index (by id, of each relationship, of
// each level) by a pass over the log, several at a time. The info is written last, so
// that a folder without one is not complete. The files depend on the annotations and the
// options alone, not on their order, the memory or the number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/progress.h"
#include "dolium/container/writer.h"
#include "dolium/domain/annotation/annotation_info.h"
#include "dolium/domain/annotation/annotation_table.h"
#include "dolium/domain/annotation/record_log.h"

namespace dolium::annotation {

struct AnnotationWriteOptions {
  // Files for each id, cell and related id, and no shards.
  bool unsharded = false;
  // The lists in shards; values by id are too small to gain.
  neuroglancer::Encoding encoding = neuroglancer::Encoding::kGzip;
  uint64_t shard_bytes = 50'000'000;  // about
  uint64_t limit = 10000;             // annotations in a cell of a level, about
  uint64_t seed = 0;                  // of the random choice of levels
  WriterOptions writer = {};
  ProgressFunction progress = {};
};

// The type, dimensions, properties and relationships of an info; the rest follows from
// what is added. Bounds, if given, must hold it all.
struct AnnotationSchema {
  AnnotationType type = AnnotationType::kPoint;
  std::vector<Dimension> dimensions;
  std::vector<Property> properties = {};
  std::vector<Relationship> relationships = {};  // without sharding; an empty key: rel_ID
  std::vector<double> lower_bound = {};          // empty: the least there is
  std::vector<double> upper_bound = {};
};

struct AnnotationSummary {
  uint64_t annotations = 0;
  uint64_t levels = 0;
  WriteSummary written = {};  // of all indexes together
};

// One thread at a time.
class AnnotationWriter {
 public:
  // kExists if the folder has an info, kInvalidArgument if the schema is none.
  static Result<std::unique_ptr<AnnotationWriter>> Create(
      Location folder, AnnotationSchema schema, const AnnotationWriteOptions& options);

  const AnnotationInfo& info() const { return info_; }
  const RecordLayout& layout() const { return layout_; }

  // kInvalidArgument for what CheckAnnotation() refuses, for another number of
  // relationships, and for what lies outside of bounds that were given. That an id is
  // there twice is found out in Finish().
  Result<void> Add(const AnnotationView& annotation,
                   std::span<const std::span<const uint64_t>> related = {});

  Result<AnnotationSummary> Finish();

 private:
  struct Progressing;

  AnnotationWriter(Location folder, AnnotationInfo info, bool has_bounds,
                   const AnnotationWriteOptions& options);

  Location folder_;
  AnnotationInfo info_;
  RecordLayout layout_;
  AnnotationWriteOptions options_;
  bool has_bounds_;
  RecordLog log_;
};

}  // namespace dolium::annotation
