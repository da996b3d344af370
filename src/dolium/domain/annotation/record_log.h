// RecordLog: annotations in the order that they came, in memory or, beyond a limit, in
// spill files, to be read as often as need be.
//
// What a writer is given goes here first: how many there are and how far they reach, on
// which all indexes depend, is known only at the end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/annotation/annotation_table.h"
#include "dolium/formats/neuroglancer/spill.h"

namespace dolium::annotation {

// One of them as it is kept.
struct LoggedRecord {
  uint64_t id = 0;
  BytesView record;                 // geometry and properties, as they are stored
  BytesView related;                // the rest of the value of its id
  std::span<const float> geometry;  // of the record
};

// One thread adds; then any number of them read.
class RecordLog {
 public:
  // `folder` is where the set will be: spills go beside it, or to `spill_folder`.
  RecordLog(Location folder, const std::string& spill_folder, RecordLayout layout,
            uint64_t memory)
      : layout_(std::move(layout)),
        memory_(memory),
        spills_(std::make_unique<neuroglancer::SpillFolder>(std::move(folder),
                                                            spill_folder)) {}

  // Precondition: CheckAnnotation() holds, and there is a span for each relationship.
  Result<void> Add(const AnnotationView& annotation,
                   std::span<const std::span<const uint64_t>> related);

  uint64_t size() const { return size_; }
  uint64_t value_bytes() const { return value_bytes_; }  // of all values by id
  size_t block_count() const { return blocks_.size(); }

  // Calls `visit(record)` for each in one block. An error of it ends the reading. Any
  // thread, after the last Add().
  template <typename Visit>
  Result<void> Read(size_t block, const Visit& visit) const;

  // Where others spill to as well. One thread at a time.
  Result<Store*> spill_store() { return spills_->store(); }

 private:
  struct Block {
    ByteVector bytes;     // empty: in a spill
    std::string spill;    // the object
    uint64_t offset = 0;  // there
    uint64_t length = 0;
  };
  // Before a record: its id, how many numbers its geometry has, and the bytes of related
  // ids.
  static constexpr size_t kHeaderBytes = 16;

  Result<void> Spill();
  Result<Bytes> Load(const Block& block) const;
  // The next record of a block; its geometry goes to `scratch`.
  Result<LoggedRecord> Next(BytesView bytes, size_t& at,
                            std::vector<float>& scratch) const;

  RecordLayout layout_;
  uint64_t memory_;
  std::unique_ptr<neuroglancer::SpillFolder> spills_;
  const Store* store_ = nullptr;  // of the spills, once there are some
  std::vector<Block> blocks_;
  uint64_t held_ = 0;  // bytes of blocks in memory
  uint64_t spill_count_ = 0;
  uint64_t size_ = 0;
  uint64_t value_bytes_ = 0;
};

template <typename Visit>
Result<void> RecordLog::Read(size_t block, const Visit& visit) const {
  DOLIUM_TRY(const Bytes bytes, Load(blocks_[block]));
  std::vector<float> scratch;
  for (size_t at = 0; at < bytes.size();) {
    DOLIUM_TRY(const LoggedRecord record, Next(bytes, at, scratch));
    DOLIUM_TRY_VOID(visit(record));
  }
  return {};
}

}  // namespace dolium::annotation
