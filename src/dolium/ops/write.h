// write: a new set from entries that a program has, one by one.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "dolium/base/result.h"
#include "dolium/container/format.h"
#include "dolium/container/writer.h"
#include "dolium/ops/job/target_folder.h"

namespace dolium {

namespace neuroglancer {
class ShardedWriter;
}

struct WriteRequest {
  std::string target;  // location
  std::string format;  // name
  CreateOptions create;
  bool force = false;  // replace a finished set: build beside, then swap
};

// A set being written. It carries the marker (unfinished.h) from Begin to Finish; after a
// crash, a rerun begins it again. One thread at a time.
class SetWriter {
 public:
  // kExists if the target is a finished set and not `force`.
  static Result<std::unique_ptr<SetWriter>> Begin(Formats formats,
                                                  const WriteRequest& request,
                                                  const WriterOptions& options);

  // Takes the entries. Do not call its Finish().
  Writer& writer() { return *writer_; }
  // The same for a key that is a number, without making it text where the format has such
  // keys.
  Result<void> AddChunk(uint64_t id, BytesView value, BytesView preceding);
  const Target& target() const { return *target_; }

  // Completes the set and makes it appear.
  Result<WriteSummary> Finish();

 private:
  SetWriter() = default;

  std::shared_ptr<void> lock_;       // keeps other writers away
  std::optional<SwapFolders> swap_;  // if the set replaces another
  std::unique_ptr<Target> target_;
  std::unique_ptr<Writer> writer_;
  neuroglancer::ShardedWriter* chunks_ = nullptr;  // writer_, if its keys are numbers
};

}  // namespace dolium
