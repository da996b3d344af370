// ObjectWriter: a new folder of values by uint64, each a file or a chunk of a shard.
//
// The info is written last, so that a folder without one is not complete.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/writer.h"
#include "dolium/formats/neuroglancer/sharded_writer.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium::objects {

// One thread at a time.
class ObjectWriter {
 public:
  // kExists if the folder has an info. `suffix` is that of files' names.
  static Result<ObjectWriter> Create(Location folder,
                                     std::optional<neuroglancer::ShardingSpec> sharding,
                                     std::string suffix, const WriterOptions& options);

  // Of some of the values, by one of several processes: those that are there already are
  // replaced, and no info is written. `sharding`: all values of a shard come from one.
  static Result<ObjectWriter> CreatePart(
      Location folder, std::optional<neuroglancer::ShardingSpec> sharding,
      std::string suffix, const WriterOptions& options);

  // `preceding` goes right before the value in a shard, and else into the file `ID`, for
  // which the suffix must not be empty. kInvalidArgument for id 0, which is no label;
  // kExists or kInvalidArgument, here or in Finish(), for an id that is there.
  Result<void> Add(uint64_t id, BytesView value, BytesView preceding = {});

  Result<WriteSummary> Finish(std::string_view info);
  // Of a part.
  Result<WriteSummary> FinishPart();

 private:
  ObjectWriter(Location folder, std::string suffix);

  Result<void> PutFile(const std::string& name, BytesView bytes);

  Location folder_;
  std::string suffix_;
  Precondition precondition_ = Precondition::Absent();  // of files
  std::unique_ptr<neuroglancer::ShardedWriter> shards_;
  WriteSummary files_;
};

}  // namespace dolium::objects
