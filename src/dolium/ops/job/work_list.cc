#include "dolium/ops/job/work_list.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/base/checked_math.h"
#include "dolium/base/endian.h"
#include "dolium/ops/job/work_record.h"

namespace dolium {
namespace {

constexpr std::string_view kMagic = "DOLIUMWL";
constexpr uint32_t kWorkListVersion = 3;
constexpr uint64_t kTrailerBytes = 64;
constexpr uint64_t kRowBytes = 40;
constexpr uint64_t kMinMemory = uint64_t{64} << 10;
constexpr size_t kBlockBytes = size_t{256} << 10;
constexpr size_t kWriteBytes = size_t{256} << 10;
constexpr uint64_t kReadBytes = uint64_t{256} << 10;
constexpr uint64_t kMaxVarintBytes = 10;
// What Find() reads of a table at once; a larger table is narrowed down to it row by row.
constexpr uint64_t kRowsAtOnce = 256;

// Passes bytes on to an object in segments of a good size, and counts them.
class SegmentWriter {
 public:
  explicit SegmentWriter(ObjectWriter& writer) : writer_(writer) {}

  ByteVector& buffer() { return buffer_; }
  uint64_t position() const { return writer_.size() + buffer_.size(); }

  Result<void> FlushIfFull() {
    if (buffer_.size() < kWriteBytes) return {};
    return Flush();
  }
  Result<void> Flush() {
    DOLIUM_TRY_VOID(writer_.Append(buffer_));
    buffer_.clear();
    return {};
  }

 private:
  ObjectWriter& writer_;
  ByteVector buffer_;
};

void PutNumber(ByteVector& to, uint64_t value) {
  to.resize(to.size() + sizeof value);
  StoreLE(to.data() + to.size() - sizeof value, value);
}

void PutRow(ByteVector& to, const PartShare& share) {
  PutNumber(to, share.part);
  PutNumber(to, share.range.offset);
  PutNumber(to, share.range.length);
  PutNumber(to, share.entries);
  PutNumber(to, share.bytes);
}

// Row `number` of a table whose records take `records_size` bytes.
Result<PartShare> GetRow(ByteReader& from, uint64_t number, uint64_t records_size) {
  PartShare share;
  DOLIUM_TRY(share.part, from.Read<uint64_t>("part"));
  DOLIUM_TRY(share.range.offset, from.Read<uint64_t>("share offset"));
  DOLIUM_TRY(share.range.length, from.Read<uint64_t>("share length"));
  DOLIUM_TRY(share.entries, from.Read<uint64_t>("share entries"));
  DOLIUM_TRY(share.bytes, from.Read<uint64_t>("share bytes"));
  const auto end = CheckedAdd(share.range.offset, share.range.length);
  if (!end || *end > records_size) {
    return Corrupt(fmt::format(
        "row {} (part {}): {} bytes at {} end past the records ({} bytes)", number,
        share.part, share.range.length, share.range.offset, records_size));
  }
  if (share.entries == 0 || share.entries > share.range.length / kMinRecordBytes) {
    return Corrupt(fmt::format("row {} (part {}): {} bytes cannot hold {} entries",
                               number, share.part, share.range.length, share.entries));
  }
  return share;
}

}  // namespace

uint64_t SaturatingAdd(uint64_t a, uint64_t b) {
  return CheckedAdd(a, b).value_or(std::numeric_limits<uint64_t>::max());
}

uint64_t PayloadBytes(const Entry& entry) {
  uint64_t sum = entry.preceding_size();
  for (const Extent& extent : entry.extents)
    sum = SaturatingAdd(sum, extent.range.length);
  return sum;
}

WorkListWriter::WorkListWriter(Location folder, uint64_t memory)
    : folder_(std::move(folder)), memory_(std::max(memory, kMinMemory)) {}

uint64_t WorkListWriter::MemoryUsed() const {
  // A pending record may take its place twice while the vector grows, and a row when it
  // is written.
  return block_bytes_ + object_bytes_ +
         pending_.size() * (2 * sizeof(Pending) + kRowBytes);
}

uint32_t WorkListWriter::ObjectIndex(const std::shared_ptr<const ObjectVersion>& object) {
  const auto [at, is_new] =
      object_indexes_.try_emplace(object.get(), static_cast<uint32_t>(objects_.size()));
  if (is_new) {
    objects_.push_back(object);
    object_bytes_ += sizeof(ObjectVersion) + 128 + object->name.capacity() +
                     object->generation.token.capacity();
  }
  return at->second;
}

Result<void> WorkListWriter::Add(uint64_t part, const Entry& entry) {
  DOLIUM_TRY_VOID(CheckEntry(entry));
  const std::lock_guard lock(mutex_);
  if (blocks_.empty() || blocks_.back().size() >= kBlockBytes) {
    blocks_.emplace_back().reserve(std::min<size_t>(kBlockBytes + 1024, memory_ / 4));
  }
  ByteVector& block = blocks_.back();
  const size_t offset = block.size();
  const size_t capacity = offset == 0 ? 0 : block.capacity();
  PutEntry(block, entry, [&](const std::shared_ptr<const ObjectVersion>& object) {
    PutVarint(block, ObjectIndex(object));
  });
  block_bytes_ += block.capacity() - capacity;
  pending_.push_back(
      {part, static_cast<uint32_t>(blocks_.size() - 1), static_cast<uint32_t>(offset)});
  summary_.entries += 1;
  summary_.bytes = SaturatingAdd(summary_.bytes, PayloadBytes(entry));
  if (MemoryUsed() >= memory_) return Spill();
  return {};
}

Result<void> WorkListWriter::Spill() {
  std::sort(pending_.begin(), pending_.end(), [](const Pending& a, const Pending& b) {
    return std::tie(a.part, a.block, a.offset) < std::tie(b.part, b.block, b.offset);
  });
  const Location object = WorkList::ObjectOf(folder_, summary_.lists);
  DOLIUM_TRY(const auto writer, object.store->Begin(object.path));
  SegmentWriter out(*writer);
  std::vector<PartShare> table;
  ByteVector spelled;

  for (size_t next = 0; next < pending_.size();) {
    PartShare share;
    share.part = pending_[next].part;
    share.range.offset = out.position();
    ObjectSpeller speller;
    for (; next < pending_.size() && pending_[next].part == share.part; ++next) {
      ByteReader record(
          BytesView(blocks_[pending_[next].block]).subspan(pending_[next].offset));
      DOLIUM_TRY(const Entry entry,
                 GetEntry(record, [&]() -> Result<std::shared_ptr<const ObjectVersion>> {
                   DOLIUM_TRY(const uint64_t index, GetVarint(record, "object"));
                   return objects_[static_cast<size_t>(index)];
                 }));
      spelled.clear();
      PutEntry(spelled, entry, [&](const std::shared_ptr<const ObjectVersion>& named) {
        speller.Put(spelled, *named);
      });
      PutVarint(out.buffer(), spelled.size());
      Append(out.buffer(), spelled);
      DOLIUM_TRY_VOID(out.FlushIfFull());
      share.entries += 1;
      share.bytes = SaturatingAdd(share.bytes, PayloadBytes(entry));
    }
    share.range.length = out.position() - share.range.offset;
    table.push_back(share);
  }

  const uint64_t records_size = out.position();
  for (const PartShare& share : table) {
    PutRow(out.buffer(), share);
    DOLIUM_TRY_VOID(out.FlushIfFull());
  }
  ByteVector& buffer = out.buffer();
  Append(buffer, AsBytes(kMagic));
  PutNumber(buffer, kWorkListVersion);
  PutNumber(buffer, records_size);
  PutNumber(buffer, table.size());
  PutNumber(buffer, pending_.size());
  buffer.resize(buffer.size() + kTrailerBytes - 5 * sizeof(uint64_t));
  DOLIUM_TRY_VOID(out.Flush());
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             writer->Commit(Precondition::None()));

  summary_.lists += 1;
  blocks_.clear();
  pending_.clear();
  objects_.clear();
  object_indexes_.clear();
  block_bytes_ = 0;
  object_bytes_ = 0;
  return {};
}

Result<WorkListWriter::Summary> WorkListWriter::Finish() {
  const std::lock_guard lock(mutex_);
  if (!pending_.empty()) DOLIUM_TRY_VOID(Spill());
  return summary_;
}

Location WorkList::ObjectOf(const Location& folder, uint64_t number) {
  return folder.Child(fmt::format("work-{}", number));
}

Result<WorkList> WorkList::Open(const Location& object) {
  WorkList list;
  list.object_ = object;
  DOLIUM_TRY(const auto info, object.store->Stat(object.path));
  if (!info) return NotFound(object.Describe() + ": no such work list");
  list.generation_ = info->generation;
  const auto corrupt = [&](std::string_view what) {
    return Corrupt(fmt::format("{}: {}", object.Describe(), what));
  };
  if (info->size < kTrailerBytes) {
    return corrupt(fmt::format("{} bytes are too few for a work list", info->size));
  }
  const uint64_t body = info->size - kTrailerBytes;
  DOLIUM_TRY(const Bytes bytes, list.ReadBytes({body, kTrailerBytes}));
  ByteReader trailer(bytes);
  DOLIUM_TRY(const BytesView magic, trailer.ReadBytes(kMagic.size(), "magic"));
  if (AsText(magic) != kMagic) return corrupt("not a work list");
  DOLIUM_TRY(const uint64_t version, trailer.Read<uint64_t>("version"));
  if (version != kWorkListVersion) {
    return Unsupported(
        fmt::format("{}: a work list of version {}, not {}; another version of "
                    "dolium began this",
                    object.Describe(), version, kWorkListVersion));
  }
  DOLIUM_TRY(list.records_size_, trailer.Read<uint64_t>("records size"));
  DOLIUM_TRY(list.parts_, trailer.Read<uint64_t>("number of parts"));
  DOLIUM_TRY(list.entries_, trailer.Read<uint64_t>("number of entries"));
  const auto table_size = CheckedMul(list.parts_, kRowBytes);
  if (!table_size || CheckedAdd(list.records_size_, *table_size) != body) {
    return corrupt(fmt::format("{} bytes of records and {} rows are not {} bytes",
                               list.records_size_, list.parts_, body));
  }
  return list;
}

Result<Bytes> WorkList::ReadBytes(ByteRange range) const {
  ReadOptions options;
  if (!generation_.token.empty()) options.if_generation = generation_;
  return object_.store->ReadRange(object_.path, range, options);
}

Result<std::vector<PartShare>> WorkList::ReadRows(uint64_t first, uint64_t count) const {
  DOLIUM_TRY(const Bytes bytes,
             ReadBytes({records_size_ + first * kRowBytes, count * kRowBytes}));
  ByteReader reader(bytes);
  std::vector<PartShare> rows;
  rows.reserve(static_cast<size_t>(count));
  for (uint64_t i = 0; i < count; ++i) {
    DOLIUM_TRY(const PartShare row,
               GetRow(reader, first + i, records_size_).Within(object_.Describe()));
    if (!rows.empty() && row.part <= rows.back().part) {
      return Corrupt(fmt::format("{}: row {} is of part {}, behind part {}",
                                 object_.Describe(), first + i, row.part,
                                 rows.back().part));
    }
    rows.push_back(row);
  }
  return rows;
}

Result<void> WorkList::KeepTable() {
  DOLIUM_TRY(auto rows, ReadRows(0, parts_));
  table_ = std::make_shared<const std::vector<PartShare>>(std::move(rows));
  return {};
}

Result<std::optional<PartShare>> WorkList::Find(uint64_t part) const {
  std::vector<PartShare> read;
  if (!table_) {
    uint64_t first = 0;
    uint64_t end = parts_;
    while (end - first > kRowsAtOnce) {
      const uint64_t middle = first + (end - first) / 2;
      DOLIUM_TRY(const auto row, ReadRows(middle, 1));
      (row.front().part <= part ? first : end) = middle;
    }
    DOLIUM_TRY(read, ReadRows(first, end - first));
  }
  const std::vector<PartShare>& rows = table_ ? *table_ : read;
  const auto at = std::lower_bound(
      rows.begin(), rows.end(), part,
      [](const PartShare& share, uint64_t wanted) { return share.part < wanted; });
  if (at == rows.end() || at->part != part) return std::nullopt;
  return *at;
}

Result<void> WorkList::ForEachShare(
    const std::function<void(const PartShare&)>& visit) const {
  std::optional<uint64_t> previous;
  for (uint64_t first = 0; first < parts_; first += kRowsAtOnce) {
    DOLIUM_TRY(const auto rows, ReadRows(first, std::min(kRowsAtOnce, parts_ - first)));
    if (previous && rows.front().part <= *previous) {
      return Corrupt(fmt::format("{}: row {} is of part {}, behind part {}",
                                 object_.Describe(), first, rows.front().part,
                                 *previous));
    }
    previous = rows.back().part;
    for (const PartShare& share : rows) visit(share);
  }
  return {};
}

ShareReader::ShareReader(const WorkList& list, const PartShare& share)
    : list_(list), share_(share) {}

Result<BytesView> ShareReader::Peek(uint64_t length) {
  const uint64_t left = share_.range.length - position_;
  const uint64_t ahead = buffer_begin_ + buffer_.size() - position_;
  if (ahead < std::min(length, left)) {
    const uint64_t read = std::min(std::max(length, kReadBytes), left);
    DOLIUM_TRY(buffer_, list_.ReadBytes({share_.range.offset + position_, read}));
    buffer_begin_ = position_;
  }
  return buffer_.view().subspan(static_cast<size_t>(position_ - buffer_begin_));
}

Result<Entry> ShareReader::ReadEntry() {
  DOLIUM_TRY(const BytesView first, Peek(kMaxVarintBytes));
  ByteReader number_reader(first);
  DOLIUM_TRY(const uint64_t length, GetVarint(number_reader, "record length"));
  position_ += number_reader.position();
  const uint64_t left = share_.range.length - position_;
  if (length > left) {
    return Corrupt(
        fmt::format("a record of {} bytes at {}, {} remain", length, position_, left));
  }
  DOLIUM_TRY(const BytesView bytes, Peek(length));
  position_ += length;
  ByteReader record(bytes.first(static_cast<size_t>(length)));
  DOLIUM_TRY(Entry entry,
             GetEntry(record, [&] { return objects_.Get(record, position_); }));
  if (record.remaining() == 0) return entry;
  return Corrupt(fmt::format("{} bytes are left over of the record before {}",
                             record.remaining(), position_));
}

Result<void> ShareReader::Read(size_t count, std::vector<Entry>& to) {
  const auto context = [&] {
    return fmt::format("{}: share {} of part {}", list_.object_.Describe(),
                       ToString(share_.range), share_.part);
  };
  to.clear();
  while (to.size() < count && entries_ < share_.entries) {
    auto entry = ReadEntry();
    if (!entry) return std::move(entry).error().Within(context());
    to.push_back(*std::move(entry));
    ++entries_;
  }
  if (entries_ == share_.entries && position_ != share_.range.length) {
    return Corrupt(fmt::format("{}: {} bytes are left over after {} entries", context(),
                               share_.range.length - position_, entries_));
  }
  return {};
}

}  // namespace dolium
