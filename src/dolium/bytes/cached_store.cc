#include "dolium/bytes/cached_store.h"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/base/endian.h"
#include "dolium/base/size_text.h"
#include "dolium/bytes/slice_check.h"

namespace dolium {
namespace {

constexpr int kCacheAttempts = 3;
// What is fetched with one call and held in memory meanwhile, and in one range.
constexpr size_t kFetchBlocks = 512;
constexpr size_t kRunBlocks = 128;
// Larger whole objects are not kept: whoever wants these reads ranges.
constexpr uint64_t kMaxKeptWhole = uint64_t{64} << 20;

void AppendNumber(ByteVector& to, uint64_t number) {
  std::byte bytes[8];
  StoreLE<uint64_t>(bytes, number);
  Append(to, bytes);
}

void AppendInfo(ByteVector& to, const std::optional<ObjectInfo>& info) {
  AppendNumber(to, info ? 1 : 0);
  if (!info) return;
  AppendNumber(to, info->size);
  AppendNumber(to, info->generation.token.size());
  Append(to, AsBytes(info->generation.token));
}

bool SameInfo(const std::optional<ObjectInfo>& a, const std::optional<ObjectInfo>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  return a->size == b->size && a->generation == b->generation;
}

std::string KeyOf(std::string_view kind, std::string_view scope, std::string_view object,
                  std::string_view generation, uint64_t block) {
  // Lengths make it unambiguous.
  return fmt::format("{} {} {} {} {} {}{}{}", kind, scope.size(), object.size(),
                     generation.size(), block, scope, object, generation);
}

}  // namespace

Result<CacheOptions> ParseCacheOptions(std::string_view text) {
  CacheOptions options;
  const std::string_view whole = text;
  if (text.ends_with(",offline")) {
    options.offline = true;
    text.remove_suffix(std::string_view(",offline").size());
  }
  // A comma in the name of a folder is no mark unless a size follows.
  if (const size_t comma = text.rfind(','); comma != std::string_view::npos) {
    if (const auto limit = ParseSize(text.substr(comma + 1))) {
      if (*limit < CacheOptions::kMinLimit) {
        return InvalidArgument(
            fmt::format("cache \"{}\": the limit is {} bytes, expected at least {}",
                        whole, *limit, CacheOptions::kMinLimit));
      }
      options.limit = *limit;
      text = text.substr(0, comma);
    }
  }
  if (text.empty() || text.find('\0') != std::string_view::npos) {
    return InvalidArgument(fmt::format(
        "cache \"{}\": names no folder; write DIR or DIR,SIZE or DIR,SIZE,offline",
        whole));
  }
  options.folder = text;
  return options;
}

bool CachedStore::Record::Is(const Record& other) const {
  return SameInfo(info, other.info) && SameInfo(whole, other.whole);
}

Result<std::shared_ptr<CachedStore>> CachedStore::Open(std::shared_ptr<Store> store,
                                                       std::string_view scope,
                                                       const CacheOptions& options) {
  DOLIUM_TRY(auto folder, CacheFolder::Open(options.folder, options.limit));
  return std::shared_ptr<CachedStore>(
      new CachedStore(std::move(store), scope, options, std::move(folder)));
}

std::string CachedStore::Describe(std::string_view object) const {
  return store_->Describe(object);
}

Error CachedStore::NotKept(std::string_view object, std::string_view what) const {
  return Unavailable(fmt::format("{}: {} not in the cache {}, which is used offline",
                                 Describe(object), what, folder_->path()));
}

std::string CachedStore::RecordKey(std::string_view object) const {
  return KeyOf("object", scope_, object, {}, 0);
}

std::string CachedStore::WholeKey(std::string_view object,
                                  const Generation& generation) const {
  return KeyOf("whole", scope_, object, generation.token, 0);
}

std::string CachedStore::BlockKey(std::string_view object, const Generation& generation,
                                  uint64_t block) const {
  return KeyOf("block", scope_, object, generation.token, block);
}

std::optional<CachedStore::Record> CachedStore::ReadRecord(
    std::string_view object) const {
  const auto kept = folder_->Get(RecordKey(object));
  if (!kept) return std::nullopt;
  ByteReader reader(*kept);
  const auto read_info = [&](std::optional<ObjectInfo>& info) {
    const auto is_there = reader.Read<uint64_t>("record");
    if (!is_there) return false;
    if (*is_there == 0) return true;
    const auto size = reader.Read<uint64_t>("record");
    const auto length = reader.Read<uint64_t>("record");
    if (!size || !length) return false;
    const auto token = reader.ReadBytes(*length, "record");
    if (!token) return false;
    info = ObjectInfo{*size, {std::string(AsText(*token))}};
    return true;
  };
  Record record;
  if (!read_info(record.info) || !read_info(record.whole)) return std::nullopt;
  return record;
}

void CachedStore::WriteRecord(std::string_view object, const Record& record) const {
  if (const auto old = ReadRecord(object); old && old->Is(record)) return;
  ByteVector bytes;
  AppendInfo(bytes, record.info);
  AppendInfo(bytes, record.whole);
  folder_->Put(RecordKey(object), bytes);
}

void CachedStore::Note(std::string_view object, const std::optional<ObjectInfo>& info,
                       uint64_t changes) const {
  Record record;
  if (info) {
    known_.Put(object, std::make_shared<const Known>(
                           Known{*info, std::chrono::steady_clock::now()}));
    record = ReadRecord(object).value_or(Record{});
    // What was read whole before it changed is of no use.
    if (!record.info || record.info->generation != info->generation) {
      if (record.whole && record.whole->generation != info->generation) {
        record.whole.reset();
      }
    }
    record.info = info;
    // One of our writers may have replaced it since the store was asked.
    if (changes_ != changes) Forget(object);
  } else {
    Forget(object);
  }
  WriteRecord(object, record);
}

Result<std::optional<ObjectInfo>> CachedStore::Stat(std::string_view object) const {
  if (options_.offline) {
    const auto record = ReadRecord(object);
    if (!record) return NotKept(object, "what is known of it is");
    return record->info ? record->info : record->whole;
  }
  const uint64_t changes = changes_;
  DOLIUM_TRY(auto info, store_->Stat(object));
  Note(object, info, changes);
  return info;
}

Result<std::optional<ObjectInfo>> CachedStore::LookUp(std::string_view object,
                                                      bool& is_fresh) const {
  is_fresh = false;
  if (!options_.offline) {
    const auto known = known_.Get(object);
    const auto now = std::chrono::steady_clock::now();
    if (known && now - known->asked < options_.max_age) return known->info;
  }
  is_fresh = true;
  return Stat(object);
}

// A part of a slice that lies within one block.
struct CachedStore::Segment {
  uint64_t block = 0;
  size_t offset = 0;  // in the block
  MutableBytes into;
};

Result<ObjectInfo> CachedStore::ReadInto(std::string_view object,
                                         std::span<const ReadSlice> slices,
                                         const ReadOptions& options) const {
  for (int attempt = 0; attempt < kCacheAttempts; ++attempt) {
    bool is_fresh = false;
    DOLIUM_TRY(const auto info, LookUp(object, is_fresh));
    const bool is_other =
        info && options.if_generation && *options.if_generation != info->generation;
    const ReadSlice* const past = info ? FindSlicePastEnd(slices, info->size) : nullptr;
    if (!is_fresh && (!info || is_other || past != nullptr)) {
      Forget(object);  // It may have changed since it was looked up.
      continue;
    }
    if (!info) return NoSuchObjectError(Describe(object));
    if (is_other) return ChangedError(Describe(object));
    if (past != nullptr) {
      // The store words what is wrong with a range better, if it can be asked.
      if (!options_.offline) return store_->ReadInto(object, slices, options);
      return PastEndError(Describe(object), past->offset, past->into.size(), info->size);
    }
    if (info->generation.token.empty() && !options_.offline) {
      return store_->ReadInto(object, slices, options);
    }
    auto filled = Fill(object, *info, slices);
    if (filled) return *info;
    if (filled.error().code == ErrorCode::kUnsupported && attempt == 0) {
      DOLIUM_TRY_VOID(FetchWhole(object, filled.error()));
      continue;
    }
    if (filled.error().code != ErrorCode::kConflict) return std::move(filled).error();
    Forget(object);
    if (options.if_generation) return std::move(filled).error();
  }
  // It changes faster than it is looked up: one call delivers one generation.
  return store_->ReadInto(object, slices, options);
}

Result<void> CachedStore::Fill(std::string_view object, const ObjectInfo& info,
                               std::span<const ReadSlice> slices) const {
  std::vector<Segment> segments;
  for (const ReadSlice& slice : slices) {
    uint64_t at = slice.offset;
    for (MutableBytes left = slice.into; !left.empty();) {
      const auto inside = static_cast<size_t>(at % kBlock);
      const size_t length = std::min<size_t>(left.size(), kBlock - inside);
      segments.push_back({at / kBlock, inside, left.first(length)});
      left = left.subspan(length);
      at += length;
    }
  }
  std::ranges::sort(segments, {}, &Segment::block);
  // Those that are not in the folder move to the front, in order.
  size_t missing = 0;
  for (size_t begin = 0; begin < segments.size();) {
    const uint64_t block = segments[begin].block;
    size_t end = begin;
    while (end < segments.size() && segments[end].block == block) ++end;
    const auto kept = folder_->Get(BlockKey(object, info.generation, block));
    const bool is_whole =
        kept && kept->size() == std::min(kBlock, info.size - block * kBlock);
    for (; begin < end; ++begin) {
      const Segment& segment = segments[begin];
      if (is_whole) {
        std::memcpy(segment.into.data(), kept->data() + segment.offset,
                    segment.into.size());
      } else {
        segments[missing++] = segment;
      }
    }
  }
  if (missing == 0) return {};
  if (options_.offline) {
    const uint64_t at = segments.front().block * kBlock + segments.front().offset;
    return NotKept(object,
                   fmt::format("bytes {} are",
                               ToString(ByteRange{at, segments.front().into.size()})));
  }
  return Fetch(object, info, std::span(segments).first(missing));
}

Result<void> CachedStore::Fetch(std::string_view object, const ObjectInfo& info,
                                std::span<Segment> missing) const {
  while (!missing.empty()) {
    // Runs of blocks that follow each other, as many as one call may fetch.
    struct Run {
      uint64_t first;
      uint64_t blocks;
    };
    std::vector<Run> runs;
    size_t blocks = 0;
    size_t taken = 0;
    for (; taken < missing.size(); ++taken) {
      const uint64_t block = missing[taken].block;
      if (!runs.empty() && block < runs.back().first + runs.back().blocks) continue;
      if (blocks == kFetchBlocks) break;
      ++blocks;
      if (!runs.empty() && block == runs.back().first + runs.back().blocks &&
          runs.back().blocks < kRunBlocks) {
        ++runs.back().blocks;
      } else {
        runs.push_back({block, 1});
      }
    }
    std::vector<Buffer> buffers;
    std::vector<ReadSlice> slices;
    for (const Run& run : runs) {
      const uint64_t begin = run.first * kBlock;
      const uint64_t end = std::min((run.first + run.blocks) * kBlock, info.size);
      buffers.emplace_back(static_cast<size_t>(end - begin));
      slices.push_back({begin, buffers.back().view()});
    }
    DOLIUM_TRY([[maybe_unused]] const ObjectInfo read,
               store_->ReadInto(object, slices, {.if_generation = info.generation}));
    for (const ReadSlice& slice : slices) {
      for (size_t at = 0; at < slice.into.size(); at += kBlock) {
        KeepBlock(
            object, info.generation, (slice.offset + at) / kBlock,
            slice.into.subspan(at, std::min<size_t>(kBlock, slice.into.size() - at)));
      }
    }
    size_t run = 0;
    for (const Segment& segment : missing.first(taken)) {
      while (segment.block >= runs[run].first + runs[run].blocks) ++run;
      const size_t at = static_cast<size_t>((segment.block - runs[run].first) * kBlock) +
                        segment.offset;
      std::memcpy(segment.into.data(), slices[run].into.data() + at, segment.into.size());
    }
    missing = missing.subspan(taken);
  }
  return {};
}

Result<void> CachedStore::FetchWhole(std::string_view object, const Error& why) const {
  const uint64_t changes = changes_;
  ObjectInfo begun;
  ByteVector block;
  const auto read = store_->ReadThrough(
      object, {.begin = [&](const ObjectInfo& info) -> Result<void> {
                 // Nothing can be kept of what has no generation, nor more than the cache
                 // holds.
                 if (info.generation.token.empty() || info.size > options_.limit)
                   return why;
                 begun = info;
                 block.clear();
                 return {};
               },
               .take = [&](uint64_t offset, BytesView bytes) -> Result<void> {
                 while (!bytes.empty()) {
                   const size_t size =
                       std::min<size_t>(bytes.size(), kBlock - block.size());
                   Append(block, bytes.first(size));
                   bytes = bytes.subspan(size);
                   offset += size;
                   if (block.size() < kBlock) continue;
                   KeepBlock(object, begun.generation, offset / kBlock - 1, block);
                   block.clear();
                 }
                 return {};
               }});
  if (!read) return read.error();
  if (!block.empty()) KeepBlock(object, read->generation, read->size / kBlock, block);
  Note(object, *read, changes);
  return {};
}

void CachedStore::KeepBlock(std::string_view object, const Generation& generation,
                            uint64_t block, BytesView bytes) const {
  folder_->Put(BlockKey(object, generation, block), bytes);
}

Result<WholeObject> CachedStore::ReadWhole(std::string_view object,
                                           uint64_t limit) const {
  const auto record = ReadRecord(object);
  if (record || options_.offline) {
    // Something is known of it: is it that still?
    bool is_fresh = false;
    DOLIUM_TRY(const auto info, LookUp(object, is_fresh));
    if (!info) return NoSuchObjectError(Describe(object));
    // Offline, what was read whole counts, even if it came in another encoding.
    const Generation& generation = options_.offline && record && record->whole
                                       ? record->whole->generation
                                       : info->generation;
    if (!generation.token.empty()) {
      if (auto kept = folder_->Get(WholeKey(object, generation))) {
        if (kept->size() > limit) {
          return OverLimitError(Describe(object), kept->size(), limit);
        }
        return WholeObject{*std::move(kept), generation};
      }
    }
    if (options_.offline) return NotKept(object, "the whole of it is");
  }
  auto whole = store_->ReadWhole(object, limit);
  if (!whole) {
    if (whole.error().code == ErrorCode::kNotFound) Note(object, std::nullopt, changes_);
    return whole;
  }
  if (!whole->generation.token.empty() && whole->bytes.size() <= kMaxKeptWhole) {
    folder_->Put(WholeKey(object, whole->generation), whole->bytes);
    Record noted = ReadRecord(object).value_or(Record{});
    noted.whole = ObjectInfo{whole->bytes.size(), whole->generation};
    WriteRecord(object, noted);
  }
  return whole;
}

Result<Suffix> CachedStore::ReadSuffix(std::string_view object, uint64_t length) const {
  // What is known can be read by ranges. Else one request gives the size as well.
  if (options_.offline || length == 0 || length > kFetchBlocks * kBlock ||
      folder_->Has(RecordKey(object))) {
    for (int attempt = 0; attempt < kCacheAttempts; ++attempt) {
      auto suffix = Store::ReadSuffix(object, length);
      if (suffix || suffix.error().code != ErrorCode::kConflict) return suffix;
    }
  }
  // So much more that the blocks it lies in are whole.
  const uint64_t changes = changes_;
  auto read = store_->ReadSuffix(object, length + kBlock);
  if (!read && read.error().code == ErrorCode::kUnsupported) {
    DOLIUM_TRY_VOID(FetchWhole(object, read.error()));
    return Store::ReadSuffix(object, length);
  }
  if (!read) return std::move(read).error();
  Suffix suffix = *std::move(read);
  const uint64_t size = suffix.info.size;
  if (!suffix.info.generation.token.empty()) {
    Note(object, suffix.info, changes);
    const uint64_t from = size - suffix.bytes.size();
    for (uint64_t at = (from + kBlock - 1) / kBlock * kBlock; at < size; at += kBlock) {
      KeepBlock(
          object, suffix.info.generation, at / kBlock,
          suffix.bytes.view().subspan(static_cast<size_t>(at - from),
                                      static_cast<size_t>(std::min(kBlock, size - at))));
    }
  }
  if (const size_t wanted = static_cast<size_t>(std::min(length, size));
      wanted < suffix.bytes.size()) {
    suffix.bytes = suffix.bytes.Slice(suffix.bytes.size() - wanted, wanted);
  }
  return suffix;
}

Result<void> CachedStore::List(std::string_view folder, const ListVisitor& visit) const {
  return store_->List(folder, visit);
}

// Lets the cache forget what it knew once the object is another.
class CachedStore::Writer final : public ObjectWriter {
 public:
  Writer(const CachedStore& cache, std::string_view object,
         std::unique_ptr<ObjectWriter> writer)
      : cache_(cache), object_(object), writer_(std::move(writer)) {}

  Result<void> Append(BytesView bytes) override { return writer_->Append(bytes); }
  Result<void> AppendFrom(const Store& source, std::string_view object, ByteRange range,
                          const Generation& generation) override {
    return writer_->AppendFrom(source, object, range, generation);
  }
  uint64_t size() const override { return writer_->size(); }
  Result<Generation> Commit(const Precondition& precondition) override {
    auto generation = writer_->Commit(precondition);
    cache_.ForgetChanged(object_);
    return generation;
  }

 private:
  const CachedStore& cache_;
  const std::string object_;
  const std::unique_ptr<ObjectWriter> writer_;
};

Result<std::unique_ptr<ObjectWriter>> CachedStore::Begin(std::string_view object) {
  DOLIUM_TRY(auto writer, store_->Begin(object));
  return std::unique_ptr<ObjectWriter>(
      std::make_unique<Writer>(*this, object, std::move(writer)));
}

Result<void> CachedStore::Remove(std::string_view object,
                                 const Precondition& precondition) {
  auto removed = store_->Remove(object, precondition);
  ForgetChanged(object);
  return removed;
}

Result<std::shared_ptr<void>> CachedStore::LockForRewrite(std::string_view object,
                                                          bool wait) {
  return store_->LockForRewrite(object, wait);
}

Result<size_t> CachedStore::RemoveStaleTemporaries(std::string_view folder) {
  return store_->RemoveStaleTemporaries(folder);
}

}  // namespace dolium
