// LoadedSample: one sample as it was read, from one record or from several.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

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
  // One file: an entry of one of the parts.
  struct FileRef {
    uint32_t part = 0;
    uint32_t entry = 0;
  };

  explicit LoadedSample(SamplePart first);

  // Adds the files of another record. Of two files of one name, the later one counts, if
  // `replaces`; else that is kInvalidArgument.
  Result<void> Add(SamplePart part, bool replaces);

  std::string_view key() const { return parts_.front().record.key(); }
  // Of the last part that has any.
  shardpack::Metadata metadata() const;
  const std::vector<SamplePart>& parts() const { return parts_; }

  // Without aux entries.
  const std::vector<FileRef>& files() const { return files_; }
  const shardpack::EntryHeader& header(FileRef file) const {
    return parts_[file.part].record.entries()[file.entry];
  }
  // nullopt if there is none of that name.
  std::optional<FileRef> Find(std::string_view name) const;
  // The first damage that keeps files from being reached.
  const Error* damage() const;

  // Decoded and checked. Errors name shard, record, key and entry.
  Result<Bytes> Content(FileRef file) const;
  // The same, into memory of header(file).raw_size bytes.
  Result<void> ContentInto(FileRef file, MutableBytes into) const;

  // kConflict if one of its shards has become shorter since: see Shard::CheckMap.
  Result<void> CheckMaps() const;

  // All of it as it was given. Contents that are stored as they are are views into the
  // shard: CheckMaps() says, once they were used, whether that was them.
  Result<shardpack::Sample> Decode() const;

 private:
  void AddFiles(uint32_t part);

  std::vector<SamplePart> parts_;
  std::vector<FileRef> files_;
};

}  // namespace dolium::dataset
