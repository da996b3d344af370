// LoadedSample: one sample as it was read, from one record or from several.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "dolium/base/byte_range.h"
#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/shardpack/record.h"
#include "dolium/formats/shardpack/shard.h"

namespace dolium::dataset {

// One record, and where it is from.
struct SamplePart {
  std::shared_ptr<const shardpack::Shard> shard;
  uint64_t number = 0;  // of the record
  shardpack::Record record;
};

// Parts that were cut, columns and overlays all make one sample of several records.
// Shares their bytes. Const methods may be called from many threads.
class LoadedSample {
 public:
  // One file: an entry of one of the parts; or, where it is cut into segments, that and
  // the first entries of the parts behind.
  struct FileRef {
    uint32_t part = 0;
    uint32_t entry = 0;
    uint32_t segments = 1;
    uint32_t joined = 0;  // which of the files in segments
  };

  explicit LoadedSample(SamplePart first);

  // Adds the files of another record. Of two files of one name, the later one counts, if
  // `replaces`; else that is kInvalidArgument. A segment is added to those of its file;
  // kCorrupt if it does not follow them.
  Result<void> Add(SamplePart part, bool replaces);

  std::string_view key() const { return parts_.front().record.key(); }
  // Of the last part that has any.
  shardpack::Metadata metadata() const;
  const std::vector<SamplePart>& parts() const { return parts_; }

  // Without aux entries.
  const std::vector<FileRef>& files() const { return files_; }
  // Of a file in segments: that of the first, with the sizes of all together, and no CRC.
  const shardpack::EntryHeader& header(FileRef file) const {
    return file.segments > 1 ? joined_[file.joined]
                             : parts_[file.part].record.entries()[file.entry];
  }
  // nullopt if there is none of that name.
  std::optional<FileRef> Find(std::string_view name) const;
  // The first damage that keeps files from being reached.
  const Error* damage() const;

  // Decoded and checked. Errors name shard, record, key and entry. Segments are joined; a
  // large file of them in a temporary file, which takes no memory.
  Result<Bytes> Content(FileRef file) const;
  // The same, into memory of header(file).raw_size bytes.
  Result<void> ContentInto(FileRef file, MutableBytes into) const;
  // Bytes [range) of it, from no more chunks and segments than have them.
  // kInvalidArgument if they end past it.
  Result<Bytes> ContentRange(FileRef file, ByteRange range) const;

  // kConflict if one of its shards has become shorter since: see Shard::CheckMap.
  Result<void> CheckMaps() const;

  // All of it as it was given. Contents that are stored as they are are views into the
  // shard: CheckMaps() says, once they were used, whether that was them.
  Result<shardpack::Sample> Decode() const;

 private:
  void AddFiles(uint32_t part, uint32_t first_entry);
  Result<void> AddSegment(const SamplePart& part);
  // kCorrupt if a segment of the file is missing.
  Result<void> CheckWhole(FileRef file) const;
  // The parts that have the file, and its entry in each.
  struct Segment {
    const SamplePart* part = nullptr;
    const shardpack::EntryHeader* header = nullptr;
  };
  Segment SegmentOf(FileRef file, uint32_t index) const;

  std::vector<SamplePart> parts_;
  std::vector<FileRef> files_;
  std::vector<shardpack::EntryHeader> joined_;
};

}  // namespace dolium::dataset
