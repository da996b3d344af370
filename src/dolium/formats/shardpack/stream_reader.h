// StreamReader: records front to back, without seeking, from a pipe if need be. At the
// end it knows whether the shard was complete.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/formats/shardpack/content.h"
#include "dolium/formats/shardpack/record.h"

namespace dolium::shardpack {

// Bytes that come one after another.
class ByteInput {
 public:
  virtual ~ByteInput() = default;

  // Fills some of `into`, at least one byte; 0 at the end.
  virtual Result<size_t> Read(MutableBytes into) = 0;
};

// An open file, which stays the caller's. Reads ahead.
std::unique_ptr<ByteInput> FileInput(int fd);
// An object of a store, by ranges of some MiB; from a server that answers none, by way of
// a temporary file.
Result<std::unique_ptr<ByteInput>> ObjectInput(const Location& location);

struct StreamOptions {
  Check check = Check::kFull;
  uint64_t record_limit = uint64_t{16} << 30;  // bytes of one record
  uint64_t raw_limit = kDefaultRawLimit;
  uint64_t ratio_limit = kDefaultRatioLimit;
  // Gets the bytes behind the records as they come: index, sections, footer. An error is
  // that of Next.
  std::function<Result<void>(BytesView bytes)> take_tail = {};
};

// Holds one record at a time. One thread at a time.
class StreamReader {
 public:
  StreamReader(std::unique_ptr<ByteInput> input, StreamOptions options)
      : input_(std::move(input)), options_(std::move(options)) {}

  // The next record; nullopt at the end of a shard that proved complete: as many records
  // as its index says, each where it says, index and footer sound. Errors: kIncomplete if
  // the input ends too early, kRecord, kIndex and kTrailingData as they are met, and
  // kNotShardPack if it does not begin like one. The records before it were good.
  //
  // A record that is whole but not understood (kUnsupported) is an error too, and the one
  // after which is_done() is false: the next call goes on behind it.
  Result<std::optional<Record>> Next();

  // Whether nothing more can come.
  bool is_done() const { return is_done_; }

  // Records met so far, and bytes of them.
  uint64_t records() const { return offsets_.size(); }
  uint64_t bytes() const { return position_; }
  // Bytes behind them that came.
  uint64_t tail_bytes() const { return tail_size_; }

  // How to read contents of records that came.
  ContentOptions content_options() const;

 private:
  // Reads up to `size` bytes behind those in `into`; fewer at the end of the input.
  Result<size_t> Fill(MutableBytes into);
  Result<std::optional<Record>> ReadNext();
  Result<Bytes> ReadRecord(BytesView first16, uint64_t size);
  Result<void> ReadTail(BytesView first16);
  // Counts bytes of the tail, and hands them on.
  Result<void> TakeTail(BytesView bytes);
  Result<void> ReadIndex(ByteVector& rest);
  // Reads to the end; the last bytes of all.
  Result<ByteVector> ReadRest(ByteVector rest);
  Result<void> CheckFooter(BytesView rest);
  std::string Here() const;  // for messages

  std::unique_ptr<ByteInput> input_;
  StreamOptions options_;
  std::vector<uint64_t> offsets_;
  uint64_t position_ = 0;   // behind the last record
  uint64_t tail_size_ = 0;  // bytes behind the records so far
  uint32_t index_crc32c_ = 0;
  uint64_t footer_end_ = 0;  // where a footer of this shard ended; 0: none yet
  std::optional<unsigned> align_log2_;
  Dictionaries dictionaries_;
  bool is_done_ = false;
};

}  // namespace dolium::shardpack
