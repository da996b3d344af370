#include "dolium/formats/shardpack/stream_reader.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/crc32c.h"
#include "dolium/base/endian.h"
#include "dolium/bytes/spool.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/tail.h"

namespace dolium::shardpack {

namespace {

constexpr size_t kPeek = 16;
// Memory taken on the word of a record's header: more only as its bytes come.
constexpr uint64_t kTrustedSize = uint64_t{64} << 20;
constexpr size_t kSegment = size_t{4} << 20;
constexpr size_t kTailSegment = size_t{64} << 10;
// What a file is read ahead by; larger reads go past it.
constexpr size_t kReadAhead = size_t{256} << 10;

// Whether these first bytes of an input, fewer than decide it, may begin a record.
bool MayBeginRecord(BytesView bytes) {
  if (bytes.size() <= kRecordMagicAt) return true;
  const std::string_view magic = AsText(bytes.subspan(kRecordMagicAt));
  return kRecordMagic.starts_with(magic.substr(0, kRecordMagic.size()));
}

// The size of a record's header with all that belongs to it, by its first 32 bytes.
uint64_t ClaimedHeaderSize(BytesView header) {
  return uint64_t{kRecordHeaderBytes} + LoadLE<uint32_t>(header.data() + 16) +
         LoadLE<uint16_t>(header.data() + 20) + LoadLE<uint16_t>(header.data() + 22);
}

// Whether the header of a record that came in part is damaged, as far as that can be
// known.
Result<void> CheckHeader(BytesView begin) {
  if (begin.size() < kRecordHeaderBytes) return {};
  const auto size = ClaimedRecordSize(begin.first(kPeek));
  const uint64_t header_end = ClaimedHeaderSize(begin);
  if (begin.size() < header_end && size && *size && header_end <= **size) return {};
  const auto header = ParseRecordHeader(begin, Check::kHeaders);
  if (header || header.error().code == ErrorCode::kUnsupported) return {};
  return header.error();
}

class FileDescriptorInput final : public ByteInput {
 public:
  explicit FileDescriptorInput(int fd) : fd_(fd) {}

  Result<size_t> Read(MutableBytes into) override {
    if (at_ == ahead_.size()) {
      if (into.size() >= kReadAhead) return ReadFile(into);
      ahead_.resize(kReadAhead);
      const auto got = ReadFile(ahead_);
      ahead_.resize(got ? *got : 0);
      at_ = 0;
      if (!got || *got == 0) return got;
    }
    const size_t size = std::min(into.size(), ahead_.size() - at_);
    std::memcpy(into.data(), ahead_.data() + at_, size);
    at_ += size;
    return size;
  }

 private:
  Result<size_t> ReadFile(MutableBytes into) const {
    while (true) {
      const ssize_t got = read(fd_, into.data(), into.size());
      if (got >= 0) return static_cast<size_t>(got);
      if (errno != EINTR) return SystemError(errno, "cannot read");
    }
  }

  int fd_;
  ByteVector ahead_;
  size_t at_ = 0;
};

class StoreInput final : public ByteInput {
 public:
  StoreInput(Location location, ObjectInfo info)
      : location_(std::move(location)), info_(std::move(info)) {}

  Result<size_t> Read(MutableBytes into) override {
    if (at_ == segment_.size()) {
      const uint64_t size = std::min<uint64_t>(kSegment, info_.size - position_);
      if (size == 0) return size_t{0};
      DOLIUM_TRY(segment_, ReadSegment(size));
      position_ += segment_.size();
      at_ = 0;
    }
    const size_t size = std::min(into.size(), segment_.size() - at_);
    std::memcpy(into.data(), segment_.data() + at_, size);
    at_ += size;
    return size;
  }

 private:
  Result<Bytes> ReadSegment(uint64_t size) {
    if (!spool_) {
      auto read = location_.store->ReadRange(location_.path, {position_, size},
                                             {.if_generation = info_.generation});
      if (read || read.error().code != ErrorCode::kUnsupported) return read;
      // No ranges are to be had there: all of it at once, then.
      DOLIUM_TRY(spool_, Spool::Of(*location_.store, location_.path, info_.generation));
      if (spool_->size() != info_.size) return std::move(read).error();
    }
    Buffer buffer(static_cast<size_t>(size));
    DOLIUM_TRY_VOID(spool_->Read(position_, buffer.view()));
    return std::move(buffer).Share();
  }

  Location location_;
  ObjectInfo info_;
  std::optional<Spool> spool_;
  uint64_t position_ = 0;
  Bytes segment_;
  size_t at_ = 0;
};

}  // namespace

std::unique_ptr<ByteInput> FileInput(int fd) {
  return std::make_unique<FileDescriptorInput>(fd);
}

Result<std::unique_ptr<ByteInput>> ObjectInput(const Location& location) {
  DOLIUM_TRY(const auto info, location.store->Stat(location.path));
  if (!info) return NotFound(fmt::format("{}: no such object", location.Describe()));
  return std::unique_ptr<ByteInput>(std::make_unique<StoreInput>(location, *info));
}

Result<size_t> StreamReader::Fill(MutableBytes into) {
  size_t filled = 0;
  while (filled < into.size()) {
    DOLIUM_TRY(const size_t got, input_->Read(into.subspan(filled)));
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

std::string StreamReader::Here() const {
  return fmt::format("record {} at {}", offsets_.size(), position_);
}

Result<std::optional<Record>> StreamReader::Next() {
  if (is_done_) return std::nullopt;
  is_done_ = true;  // Unless a record comes.
  return ReadNext();
}

Result<std::optional<Record>> StreamReader::ReadNext() {
  std::array<std::byte, kPeek> first{};
  DOLIUM_TRY(const size_t got, Fill(first));
  if (got < kPeek) {
    if (offsets_.empty() && !MayBeginRecord(BytesView(first).first(got))) {
      return Corrupt(fmt::format("not a ShardPack: {} bytes", got))
          .WithKind(kind::kNotShardPack);
    }
    return Corrupt(
               fmt::format("the shard ends {} bytes behind its {} records ({} bytes), "
                           "without an index",
                           got, offsets_.size(), position_))
        .WithKind(kind::kIncomplete);
  }
  DOLIUM_TRY(const auto size, ClaimedRecordSize(first).Within(Here()));
  if (!size) {
    DOLIUM_TRY_VOID(ReadTail(first));
    return std::nullopt;
  }
  DOLIUM_TRY(Bytes block, ReadRecord(first, *size));
  auto record = Record::Parse(std::move(block), options_.check);
  if (record && align_log2_ && *align_log2_ != record->header().align_log2) {
    record = Corrupt("alignment differs from that of the first record")
                 .WithKind(kind::kRecord);
  }
  if (!record) {
    Error error = std::move(record).error().Within(Here());
    if (error.code == ErrorCode::kUnsupported) {
      is_done_ = false;
      offsets_.push_back(position_);
      position_ += *size;
    }
    return error;
  }
  is_done_ = false;
  align_log2_ = record->header().align_log2;
  if (offsets_.empty()) dictionaries_ = DictionariesIn(*record, content_options());
  offsets_.push_back(position_);
  position_ += *size;
  return std::optional<Record>(*std::move(record));
}

Result<Bytes> StreamReader::ReadRecord(BytesView first16, uint64_t size) {
  ByteVector block(first16.begin(), first16.end());
  const auto fill_to = [&](uint64_t end) -> Result<void> {
    const size_t begin = block.size();
    block.resize(static_cast<size_t>(end));
    DOLIUM_TRY(const size_t got, Fill(MutableBytes(block).subspan(begin)));
    if (got == block.size() - begin) return {};
    // Is the input too short, or does the header lie?
    DOLIUM_TRY_VOID(CheckHeader(BytesView(block).first(begin + got)).Within(Here()));
    return Corrupt(
               fmt::format("{}: ends after {} of {} bytes", Here(), begin + got, size))
        .WithKind(kind::kIncomplete);
  };
  if (size > std::min(kTrustedSize, options_.record_limit)) {
    // So large a size is believed only if the checksum of the header says so.
    DOLIUM_TRY_VOID(fill_to(kRecordHeaderBytes));
    const uint64_t header_end = std::min(ClaimedHeaderSize(block), size);
    while (block.size() < header_end) {
      const uint64_t step = std::max<uint64_t>(kTrustedSize, block.size());
      DOLIUM_TRY_VOID(fill_to(std::min(header_end, block.size() + step)));
    }
    DOLIUM_TRY_VOID(CheckHeader(block).Within(Here()));
  }
  if (size > options_.record_limit) {
    return Corrupt(fmt::format("{}: {} bytes, the limit is {}", Here(), size,
                               options_.record_limit))
        .WithKind(kind::kLimit);
  }
  while (block.size() < size) {
    const uint64_t step = std::max<uint64_t>(kTrustedSize, block.size());
    DOLIUM_TRY_VOID(fill_to(std::min(size, block.size() + step)));
  }
  return Bytes::FromVector(std::move(block));
}

ContentOptions StreamReader::content_options() const {
  return {.check = options_.check,
          .raw_limit = options_.raw_limit,
          .ratio_limit = options_.ratio_limit,
          .dictionaries = &dictionaries_};
}

Result<void> StreamReader::TakeTail(BytesView bytes) {
  tail_size_ += bytes.size();
  return options_.take_tail && !bytes.empty() ? options_.take_tail(bytes)
                                              : Result<void>();
}

Result<void> StreamReader::ReadTail(BytesView first16) {
  const auto count = LoadLE<uint64_t>(first16.data());
  if (count != offsets_.size()) {
    if (offsets_.empty()) {
      return Corrupt("not a ShardPack: neither a record nor the index of an empty shard")
          .WithKind(kind::kNotShardPack);
    }
    return Corrupt(fmt::format("neither a record nor the index of {} records at {}",
                               offsets_.size(), position_))
        .WithKind(kind::kRecord);
  }
  index_crc32c_ = Crc32c(first16.first(8));
  DOLIUM_TRY_VOID(TakeTail(first16));
  ByteVector rest(first16.begin() + 8, first16.end());
  DOLIUM_TRY_VOID(ReadIndex(rest));
  DOLIUM_TRY(const ByteVector last, ReadRest(std::move(rest)));
  return CheckFooter(last);
}

Result<void> StreamReader::ReadIndex(ByteVector& rest) {
  // As it comes, so that no more memory is taken than there are records.
  const size_t size = 8 * offsets_.size();
  const size_t begin = rest.size();
  if (size > begin) {
    rest.resize(size);
    DOLIUM_TRY(const size_t got, Fill(MutableBytes(rest).subspan(begin)));
    DOLIUM_TRY_VOID(TakeTail(BytesView(rest).subspan(begin, got)));
    if (got < size - begin) {
      return Corrupt(fmt::format("the input ends within the index behind {} records",
                                 offsets_.size()))
          .WithKind(kind::kIncomplete);
    }
  }
  for (size_t i = 0; i < offsets_.size(); ++i) {
    const auto offset = LoadLE<uint64_t>(rest.data() + 8 * i);
    if (offset != offsets_[i]) {
      return Corrupt(fmt::format("the index has record {} at {}, it was at {}", i, offset,
                                 offsets_[i]))
          .WithKind(kind::kIndex);
    }
  }
  index_crc32c_ = Crc32c(BytesView(rest).first(size), index_crc32c_);
  rest.erase(rest.begin(), rest.begin() + static_cast<ptrdiff_t>(size));
  return {};
}

Result<ByteVector> StreamReader::ReadRest(ByteVector rest) {
  while (true) {
    const size_t begin = rest.size();
    rest.resize(begin + kTailSegment);
    DOLIUM_TRY(const size_t got, Fill(MutableBytes(rest).subspan(begin)));
    rest.resize(begin + got);
    DOLIUM_TRY_VOID(TakeTail(BytesView(rest).subspan(begin)));
    // A footer of this shard that is not the end of the input: something was added.
    const std::string_view text = AsText(rest);
    const uint64_t rest_at = position_ + tail_size_ - rest.size();
    for (size_t at = text.find(kFooterMagic); at != std::string_view::npos;
         at = text.find(kFooterMagic, at + 1)) {
      if (at < kFooterMagicAt) continue;
      const uint64_t end = rest_at + at + kFooterMagic.size();
      const auto footer =
          ParseFooter(BytesView(rest).subspan(at - kFooterMagicAt, kFooterBytes), end);
      if (footer && footer->index_offset == position_) footer_end_ = end;
    }
    if (got == 0) return rest;
    if (rest.size() > kFooterBytes) rest.erase(rest.begin(), rest.end() - kFooterBytes);
  }
}

Result<void> StreamReader::CheckFooter(BytesView rest) {
  const uint64_t total = position_ + tail_size_;
  auto footer =
      ParseFooter(rest.last(std::min<size_t>(rest.size(), kFooterBytes)), total);
  if (!footer && footer.error().kind == kind::kIncomplete) {
    if (footer_end_ > 0) {
      return Corrupt(fmt::format("{} bytes follow the footer", total - footer_end_))
          .WithKind(kind::kTrailingData);
    }
    if (offsets_.empty()) {
      return Corrupt("not a ShardPack: no record and no footer")
          .WithKind(kind::kNotShardPack);
    }
  }
  if (!footer) return std::move(footer).error();
  if (footer->record_count != offsets_.size() || footer->index_offset != position_ ||
      footer->index_crc32c != index_crc32c_) {
    return Corrupt(fmt::format("the footer counts {} records before {}, {} came before "
                               "{}",
                               footer->record_count, footer->index_offset,
                               offsets_.size(), position_))
        .WithKind(kind::kIndex);
  }
  if (align_log2_ && *align_log2_ != footer->align_log2) {
    return Corrupt(fmt::format("records of alignment 2^{}, a footer of 2^{}",
                               *align_log2_, footer->align_log2))
        .WithKind(kind::kIndex);
  }
  return {};
}

}  // namespace dolium::shardpack
