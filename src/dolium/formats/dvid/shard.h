// Shard: one Arrow file of an export, open for reading.
//
// A local file is mapped, up to a size; rows are copied out of it, and one that is cut
// short meanwhile is kConflict. Others are read by ranges of exactly their bytes. With a
// CSV whose byte ranges are those of all messages, opening reads that alone; else it goes
// through the messages once. Const methods may be called from many threads.
//
// DVID damages files in two ways silently: an export into a folder that has one
// already appends to its files, and shards that are not cubes share files. Both are
// found and refused with an explanation; `salvage` takes the rows that are whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/entry.h"
#include "dolium/formats/dvid/batch_cache.h"
#include "dolium/formats/dvid/ipc.h"
#include "dolium/formats/dvid/shard_index.h"

namespace dolium::dvid {

inline constexpr std::string_view kExtension = ".arrow";

// Of the CSV or JSON beside a shard.
inline constexpr uint64_t kMaxIndexBytes = uint64_t{1} << 30;

// Finding::kind of what salvage finds no whole rows in: blocks are missing.
inline constexpr std::string_view kLostKind = "lost";
// Of a stream that ends without saying so.
inline constexpr std::string_view kEndKind = "end";
inline constexpr std::string_view kNoEndMark =
    "the stream has no end mark; if its writer was stopped, blocks are missing";

// What keys count: blocks, or voxels (the seed's layout). kAuto: voxels if the file is an
// Arrow IPC file and all keys are multiples of 64.
enum class Coordinates : uint8_t { kAuto, kBlock, kVoxel };
// "auto", "block", "voxel"; nullopt if it is another word.
std::optional<Coordinates> ParseCoordinates(std::string_view word);

struct ShardOptions {
  Coordinates coordinates = Coordinates::kAuto;
  // Take whole rows out of files that exports have damaged; of blocks that are there
  // twice the last; where the index is damaged or contradicts the columns, go by these.
  bool salvage = false;
  // Follow the index. Without, the columns say all.
  bool use_index = true;
  // Local files up to this size are mapped.
  uint64_t map_limit = uint64_t{256} << 20;
};

// One row, as the columns have it. Keeps what it shows alive.
struct Row {
  Key key = {0, 0, 0};  // of the columns
  Bytes labels;         // uint64 each
  Bytes supervoxels;    // uint64 each
  Bytes stored;         // the block with what is around it
  CodecChain wrapper;   // gives the block
  ByteRange range;      // where the stored bytes are in the object, before ...
  CodecChain buffer;    // ... this undoes the compression of buffers

  // The label block.
  Result<Bytes> Block() const;
  // All steps from the object's bytes to the block.
  CodecChain codecs() const;
};

class Shard {
 public:
  // Shards that share a cache keep no more batches than one. nullptr: one of its own.
  static Result<std::shared_ptr<const Shard>> Open(
      const Location& location, const ShardOptions& options = {},
      std::shared_ptr<BatchCache> cache = nullptr);

  const Location& location() const { return location_; }
  std::string Describe() const { return location_.Describe(); }
  const std::shared_ptr<const ObjectVersion>& object() const { return object_; }
  uint64_t bytes() const { return size_; }
  // Whether rows are copies of memory that the system fills; else each was read.
  bool is_mapped() const { return !map_.empty(); }
  const Schema& schema() const { return schema_; }

  // Arrow's file flavour, with a footer of its own.
  bool is_file() const { return is_file_; }
  // Where the index came from: "csv", "json", "footer", or "none".
  std::string_view index_form() const { return index_form_; }
  bool in_voxels() const { return in_voxels_; }
  // The seed's index, at the end of the file.
  bool has_footer() const { return footer_.has_value(); }
  // The bytes that Arrow readers can take: without the seed's footer.
  uint64_t arrow_bytes() const { return arrow_end_; }
  // Those before the first batch.
  uint64_t schema_bytes() const { return schema_end_; }

  // In storage order.
  size_t size() const { return places_.size(); }
  // As stored. Precondition of this and the next two: number < size().
  const Key& key(size_t number) const { return places_[number].key; }
  // In blocks.
  Key BlockOf(size_t number) const;
  // Errors name shard and key.
  Result<Row> Read(size_t number) const;
  // The row with this key as stored; nullopt if there is none.
  std::optional<size_t> Find(const Key& key) const;
  std::optional<size_t> FindBlock(const Key& block) const;

  // Not as it should be, but no hindrance: no end mark, say. With `salvage`, what was.
  const std::vector<Finding>& warnings() const { return warnings_; }

  // Reads every message and compares it with the index, and blocks with the file's name:
  // the corner of a cube whose side is `side` voxels, if that is known. Does not open
  // blocks.
  Result<void> Check(const std::function<void(const Finding&)>& visit,
                     int64_t side = 0) const;

  // What the rows take in memory.
  uint64_t index_bytes() const { return places_.size() * (sizeof(BlockLocation) + 4); }

  // The message that a row is in, and its number there. Rows of one message follow each
  // other.
  ByteRange MessageOf(size_t number) const { return places_[number].range; }
  uint32_t RowInMessage(size_t number) const { return places_[number].row; }

 private:
  struct BlockLocation {
    Key key = {0, 0, 0};
    uint32_t row = 0;
    ByteRange range;  // of the message, perhaps with a schema before it
  };
  struct Message {
    ByteRange range;
    ByteRange body;
    Bytes metadata;
    MessageHeader header;
    bool is_end = false;
  };
  // Bytes of the object that have been read.
  struct Window {
    uint64_t offset = 0;
    Bytes bytes = {};

    bool Contains(ByteRange range) const {
      return range.offset >= offset && range.end() <= offset + bytes.size();
    }
    Bytes Slice(ByteRange range) const {
      return bytes.Slice(static_cast<size_t>(range.offset - offset),
                         static_cast<size_t>(range.length));
    }
  };
  // What going through all messages shows.
  struct Walk {
    std::vector<BlockLocation> places;
    bool has_end = false;  // there was an end mark
    uint64_t end = 0;      // behind the last message that is well
    std::optional<Error> problem;
  };

  // What going through a damaged file shows.
  struct Salvage {
    std::vector<BlockLocation> places;
    std::vector<ByteRange> lost;  // bytes that belong to no message that is whole
  };

  Shard(Location location, const ShardOptions& options, std::shared_ptr<BatchCache> cache)
      : location_(std::move(location)),
        options_(options),
        cache_(std::move(cache)),
        cache_owner_(cache_->NewOwner()) {}

  // kConflict if the map has lost bytes: what was made of it is nothing.
  Result<void> CheckMap() const;

  Result<void> OpenObject();
  Result<void> LoadEnds();
  Result<void> LoadSchema();
  Result<std::optional<ShardIndex>> LoadIndex();
  Result<std::optional<ShardIndex>> LoadSidecar(std::string_view suffix, bool is_json);
  Result<void> LoadRows();
  // Takes the rows that a CSV lists, if its ranges are all messages of the Arrow data,
  // one behind the other, and rows are counted from 0 in each.
  Result<bool> TakeRanges(const ShardIndex& index);
  bool CountsVoxels() const;
  // Gives rows the keys of an index without ranges.
  Result<void> NameRows(const ShardIndex& index);
  // Of a damaged file, the rows that are whole.
  void TakeSalvaged();
  // What the index has that the rows do not. `is_whole`: the data is all that was
  // written.
  void CompareSalvaged(const ShardIndex& index, bool is_whole);
  Result<void> SortRows();
  void DropRepeated();

  // The batches that the footer of an Arrow file lists.
  Result<std::vector<FooterBlock>> ReadFooter() const;
  Walk WalkStream() const;
  Walk WalkFile() const;
  Walk WalkMessages() const { return is_file_ ? WalkFile() : WalkStream(); }
  // Every row that is whole, wherever it is.
  Salvage SalvageRows() const;
  // What is behind the end of a stream that should not be there.
  Error ExplainRest(uint64_t end) const;
  Error ExplainSecondSchema(uint64_t at) const;

  // From `window`, if it has them, or else from the object.
  Result<Bytes> ReadBytes(ByteRange range, const Window* window = nullptr) const;
  // The same, as bytes that stay as they are whatever becomes of the file.
  Result<Bytes> ReadOwned(ByteRange range) const;
  Result<Message> ReadMessage(uint64_t at, const Window* window = nullptr) const;
  Result<std::shared_ptr<const Batch>> ReadBatch(ByteRange range) const;
  Result<std::shared_ptr<const Batch>> ParseBatch(const Message& message,
                                                  const Window* window = nullptr) const;
  Result<void> AddRows(const Message& message, std::vector<BlockLocation>& places) const;
  Result<Row> MakeRow(const Batch& batch, uint64_t number) const;
  void Warn(std::string kind, std::string message, std::optional<ByteRange> range);

  const Location location_;
  const ShardOptions options_;
  std::shared_ptr<const ObjectVersion> object_;
  uint64_t size_ = 0;
  Bytes map_;    // the whole object, if mapped
  Window head_;  // its ends, if not: read once, each by one request
  Window tail_;
  bool is_file_ = false;
  bool in_voxels_ = false;
  std::string_view index_form_ = "none";
  std::optional<ByteRange> footer_;  // JSON of the seed's layout
  uint64_t arrow_end_ = 0;
  Schema schema_;
  uint64_t schema_end_ = 0;
  std::vector<BlockLocation> places_;
  bool by_ranges_ = false;        // places are those of a CSV
  bool index_unfit_ = false;      // there is a CSV with ranges that are not the messages
  std::vector<uint32_t> sorted_;  // numbers of places, by key
  std::vector<Finding> warnings_;
  const std::shared_ptr<BatchCache> cache_;  // of batches with several rows
  const uint64_t cache_owner_;
};

// Whether an object begins as a shard does.
Result<bool> LooksLikeShard(const Location& location);

}  // namespace dolium::dvid
