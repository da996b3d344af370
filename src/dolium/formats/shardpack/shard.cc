#include "dolium/formats/shardpack/shard.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/bytes/memory_store.h"
#include "dolium/container/json.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/layout.h"

namespace dolium::shardpack {

namespace {

// What a section may decode to.
constexpr uint64_t kSectionLimit = uint64_t{4} << 30;
// How many headers of records one request for keys takes in.
constexpr size_t kHeadersAtOnce = 1024;
// What is read of a remote record for its header.
constexpr uint64_t kHeaderBytes = 4096;
// What one read takes in where blocks are visited, unless a single one is larger.
constexpr uint64_t kBytesAtOnce = uint64_t{8} << 20;
// More dictionaries than this are no use to anybody.
constexpr size_t kMaxDictionaries = 64;
// A record that is kept between Find() and Read() of a remote shard takes no more.
constexpr size_t kFoundLimit = size_t{1} << 20;

bool BeginsLikeRecord(BytesView bytes) {
  return bytes.size() >= 16 &&
         AsText(bytes.subspan(kRecordMagicAt, kRecordMagic.size())) == kRecordMagic;
}

bool EndsLikeShard(BytesView bytes) {
  return bytes.size() >= kFooterBytes &&
         AsText(bytes.last(kFooterMagic.size())) == kFooterMagic;
}

// The error with the shard's name in front, unless a store put it there.
Error InShard(Error error, const std::string& name) {
  if (error.message.starts_with(name + ": ")) return error;
  return std::move(error).Within(name);
}

Error NotShardPack(uint64_t size) {
  return Corrupt(fmt::format("not a ShardPack: {} bytes that neither begin with a record "
                             "nor end with an index",
                             size))
      .WithKind(kind::kNotShardPack);
}

}  // namespace

Result<std::shared_ptr<const Shard>> Shard::Open(const Location& location,
                                                 const ShardOptions& options) {
  std::shared_ptr<Shard> shard(new Shard(location, options));
  const bool is_mapped = options.map && IsLocal(location);
  auto opened = is_mapped ? shard->OpenMapped() : shard->OpenByRanges();
  if (!opened) return InShard(std::move(opened).error(), shard->Describe());
  return std::shared_ptr<const Shard>(std::move(shard));
}

Result<std::shared_ptr<const Shard>> Shard::OpenTail(const std::string& name,
                                                     uint64_t file_size, Bytes tail) {
  std::shared_ptr<Shard> shard(
      new Shard({std::make_shared<MemoryStore>(name), "tail"}, {}));
  shard->footer_.file_size = file_size;
  shard->kept_tail_ = std::move(tail);
  auto parsed = shard->ParseTail(shard->kept_tail_);
  if (!parsed) return InShard(std::move(parsed).error(), shard->Describe());
  return std::shared_ptr<const Shard>(std::move(shard));
}

Result<void> Shard::OpenMapped() {
  // Should it be replaced now, later reads of this generation are refused.
  DOLIUM_TRY(const auto info, location_.store->Stat(location_.path));
  if (info) generation_ = info->generation;
  DOLIUM_TRY(std::optional<Bytes> map,
             location_.store->Map(location_.path, Store::MapGuard::kZeros));
  if (!map) return OpenByRanges();
  map_ = *std::move(map);
  footer_.file_size = map_.size();
  auto parsed = ParseTail(map_);
  DOLIUM_TRY_VOID(CheckMap());
  return parsed;
}

Result<void> Shard::OpenByRanges() {
  DOLIUM_TRY(const auto tail,
             location_.store->ReadSuffix(
                 location_.path, std::max<uint64_t>(options_.tail_bytes, kFooterBytes)));
  generation_ = tail.info.generation;
  footer_.file_size = tail.info.size;
  kept_tail_ = tail.bytes;
  return ParseTail(kept_tail_);
}

Result<void> Shard::ParseTail(const Bytes& tail) {
  const uint64_t size = footer_.file_size;
  const size_t last = std::min(tail.size(), kFooterBytes);
  auto footer = ParseFooter(tail.Slice(tail.size() - last, last), size);
  if (!footer) {
    if (footer.error().kind != kind::kIncomplete) return std::move(footer).error();
    // Which of the two it is, only its beginning shows.
    BytesView begin = tail.view().first(std::min<size_t>(tail.size(), 16));
    Bytes first;
    if (tail.size() < size) {
      DOLIUM_TRY(first, ReadBytes({0, 16}));
      begin = first;
    }
    if (!EndsLikeShard(tail) && !BeginsLikeRecord(begin)) return NotShardPack(size);
    return std::move(footer).error();
  }
  footer_ = *footer;
  DOLIUM_TRY_VOID(LoadIndex());
  return LoadSections();
}

Result<void> Shard::LoadIndex() {
  const ByteRange index = footer_.index();
  const uint64_t kept = footer_.file_size - kept_tail_.size();
  if (map_.empty() && index.offset < kept && index.end() > kept) {
    // Its front was not in the first request. Sections behind it are left until somebody
    // asks for them.
    DOLIUM_TRY(const Bytes front, ReadBytes({index.offset, kept - index.offset}));
    ByteVector joined;
    joined.reserve(static_cast<size_t>(index.length));
    Append(joined, front);
    Append(joined,
           kept_tail_.view().first(static_cast<size_t>(index.length) - front.size()));
    index_ = Bytes::FromVector(std::move(joined));
  } else {
    DOLIUM_TRY(index_, ReadBytes(index));
  }
  return CheckIndex(footer_, index_);
}

Result<void> Shard::LoadSections() {
  DOLIUM_TRY(const Bytes directory, ReadBytes(footer_.directory()));
  sections_ = ParseDirectory(footer_, directory);
  if (!sections_) {
    if (sections_.error().code == ErrorCode::kUnsupported) return sections_.error();
    return {};
  }
  for (const Section& section : *sections_) {
    // One that is required must be readable; else nobody may use the shard.
    if ((section.flags & kSectionRequired) == 0) continue;
    DOLIUM_TRY([[maybe_unused]] const auto body, ReadSection(section.name()));
  }
  auto stat = ReadSection("STAT");
  if (!stat && !IsDamage(stat.error())) return std::move(stat).error();
  if (stat && *stat) {
    if (auto parsed = ParseStat(**stat)) stat_ = *parsed;
  }
  return {};
}

Result<Bytes> Shard::ReadBytes(ByteRange range) const {
  const auto slice = [&](const Bytes& from, uint64_t begin) {
    return from.Slice(static_cast<size_t>(range.offset - begin),
                      static_cast<size_t>(range.length));
  };
  if (!map_.empty()) return slice(map_, 0);
  if (IsKept(range)) return slice(kept_tail_, footer_.file_size - kept_tail_.size());
  return location_.store->ReadRange(location_.path, range,
                                    {.if_generation = generation_});
}

// The index was checked when it was opened. A file that changes in place must not lead
// out of it all the same.
uint64_t Shard::offset(uint64_t number) const {
  return std::min(LoadLE<uint64_t>(index_.data() + 8 * (number + 1)),
                  footer_.index_offset);
}

ByteRange Shard::range(uint64_t number) const {
  const uint64_t begin = offset(number);
  const uint64_t end = number + 1 < size() ? offset(number + 1) : footer_.index_offset;
  return {begin, std::max(begin, end) - begin};
}

std::optional<uint64_t> Shard::NumberAt(uint64_t at) const {
  uint64_t begin = 0;
  uint64_t end = size();
  while (begin < end) {
    const uint64_t middle = begin + (end - begin) / 2;
    if (offset(middle) < at) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == size() || offset(begin) != at) return std::nullopt;
  return begin;
}

Error Shard::LostError() const {
  return Conflict(fmt::format(
      "{}: has become shorter, or cannot be read, since it was opened", Describe()));
}

Error Shard::InRecord(Error error, uint64_t number) const {
  if (HasLostBytes(map_)) return LostError();
  const std::string name = Describe();
  if (error.message.starts_with(name + ": ")) {
    error.message.erase(0, name.size() + 2);
  }
  return std::move(error).Within(fmt::format("{}: record {}", name, number));
}

Result<void> Shard::CheckAlignment(const RecordHeader& header) const {
  if (header.align_log2 == footer_.align_log2) return {};
  return Corrupt(fmt::format("alignment 2^{}, the shard's is 2^{}", header.align_log2,
                             footer_.align_log2))
      .WithKind(kind::kRecord);
}

Result<Record> Shard::Parse(uint64_t number, Bytes block) const {
  auto record = Record::Parse(std::move(block), options_.check);
  if (!record) return InRecord(std::move(record).error(), number);
  auto checked = CheckAlignment(record->header());
  if (!checked) return InRecord(std::move(checked).error(), number);
  DOLIUM_TRY_VOID(CheckMap());
  return record;
}

Result<std::string_view> Shard::Pick(uint64_t number, BytesView block,
                                     std::span<const std::string> names,
                                     std::span<EntryHeader> found) const {
  auto header = PickEntries(block, names, options_.check, found);
  if (!header) return InRecord(std::move(header).error(), number);
  auto checked = CheckAlignment(*header);
  if (!checked) return InRecord(std::move(checked).error(), number);
  return header->key;
}

Result<Bytes> Shard::ReadBlocks(uint64_t first, uint64_t count) const {
  if (first >= size() || count > size() - first) {
    return InvalidArgument(fmt::format("{}: record {}, there are {}", Describe(),
                                       count == 1 ? first : first + count - 1, size()));
  }
  const uint64_t begin = offset(first);
  const uint64_t end = count == 0 ? begin : range(first + count - 1).end();
  auto blocks = ReadBytes({begin, std::max(begin, end) - begin});
  if (!blocks) return InRecord(std::move(blocks).error(), first);
  return blocks;
}

Result<void> Shard::VisitBlocks(
    uint64_t begin, uint64_t end,
    const std::function<Result<void>(uint64_t, const Bytes&)>& visit) const {
  for (uint64_t first = begin; first < end;) {
    uint64_t last = first;
    while (last + 1 < end && range(last + 1).end() - offset(first) <= kBytesAtOnce) {
      ++last;
    }
    DOLIUM_TRY(const Bytes blocks, ReadBlocks(first, last + 1 - first));
    for (uint64_t number = first; number <= last; ++number) {
      const ByteRange at{offset(number) - offset(first), range(number).length};
      if (at.offset > blocks.size() || at.length > blocks.size() - at.offset) {
        return InRecord(Conflict("changed while it was read"), number);
      }
      DOLIUM_TRY_VOID(visit(number, blocks.Slice(static_cast<size_t>(at.offset),
                                                 static_cast<size_t>(at.length))));
    }
    first = last + 1;
  }
  return {};
}

void Shard::KeepFound(uint64_t number, const Bytes& block) const {
  if (is_mapped() || block.size() > kFoundLimit) return;
  const std::lock_guard hold(found_mutex_);
  found_ = FoundBlock{number, block};
}

std::optional<Bytes> Shard::TakeFound(uint64_t number) const {
  if (is_mapped()) return std::nullopt;
  const std::lock_guard hold(found_mutex_);
  if (!found_ || found_->number != number) return std::nullopt;
  std::optional<Bytes> block(std::move(found_->block));
  found_.reset();
  return block;
}

Result<Record> Shard::Read(uint64_t number) const {
  if (auto found = TakeFound(number)) return Parse(number, *std::move(found));
  DOLIUM_TRY(Bytes block, ReadBlock(number));
  return Parse(number, std::move(block));
}

std::vector<Result<Record>> Shard::ReadMany(std::span<const uint64_t> numbers) const {
  std::vector<Result<Record>> records;
  records.reserve(numbers.size());
  const bool all_known =
      std::ranges::all_of(numbers, [&](uint64_t number) { return number < size(); });
  if (map_.empty() && all_known && numbers.size() > 1) {
    std::vector<ByteRange> ranges;
    for (const uint64_t number : numbers) ranges.push_back(range(number));
    auto read = location_.store->ReadRanges(location_.path, ranges,
                                            {.if_generation = generation_});
    if (read) {
      for (size_t i = 0; i < numbers.size(); ++i) {
        records.push_back(Parse(numbers[i], std::move(read->parts[i])));
      }
      return records;
    }
  }
  for (const uint64_t number : numbers) records.push_back(Read(number));
  return records;
}

Result<KeyIndex> Shard::LoadKeys() const {
  const Section* section = sections_ ? FindSection(*sections_, "KEYX") : nullptr;
  if (section != nullptr) {
    const bool is_remote =
        map_.empty() && section->range.offset < footer_.file_size - kept_tail_.size();
    auto keys = [&]() -> Result<KeyIndex> {
      if (is_remote && section->codec == 0 &&
          section->range.length > options_.key_index_bytes) {
        return KeyIndex::Open(section->range.length, size(),
                              [this, begin = section->range.offset](ByteRange range) {
                                return ReadBytes({begin + range.offset, range.length});
                              });
      }
      DOLIUM_TRY(const auto body, ReadSection("KEYX"));
      return KeyIndex::FromBody(*body, size());
    }();
    if (keys || !IsDamage(keys.error())) return keys;
  }
  // Without the section, or if it is damaged, one is made of the keys themselves.
  if (size() > UINT32_MAX) {
    return Unsupported(fmt::format("{} records, too many to find one by key", size()));
  }
  std::vector<KeyHash> hashes;
  DOLIUM_TRY_VOID(VisitKeys([&](uint64_t number, std::string_view key) {
    hashes.push_back({HashKey(key), static_cast<uint32_t>(number)});
    return true;
  }));
  std::ranges::sort(hashes);
  return KeyIndex::FromBody(Bytes::FromVector(WriteKeyIndex(hashes)), size());
}

Result<const KeyIndex*> Shard::Keys() const {
  auto keys = keys_.Get([&] { return LoadKeys(); });
  if (!keys) return InShard(std::move(keys).error(), Describe());
  return keys;
}

Result<std::vector<uint64_t>> Shard::FindAll(std::string_view key) const {
  DOLIUM_TRY(const KeyIndex* keys, Keys());
  DOLIUM_TRY(const auto candidates, keys->Candidates(HashKey(key)).Within(Describe()));
  std::vector<uint64_t> found;
  for (const uint64_t number : candidates) {
    DOLIUM_TRY(const Record record, Read(number));
    if (record.key() != key) continue;
    if (found.empty()) KeepFound(number, record.block());
    found.push_back(number);
  }
  // That it is not there, an index that is gone cannot say.
  if (found.empty()) DOLIUM_TRY_VOID(CheckMap());
  return found;
}

Result<std::optional<uint64_t>> Shard::Find(std::string_view key) const {
  DOLIUM_TRY(const auto all, FindAll(key));
  if (all.empty()) return std::nullopt;
  return all.front();
}

Result<void> Shard::VisitKeys(
    const std::function<bool(uint64_t, std::string_view)>& visit) const {
  auto keys =
      sections_ ? ReadSection("KEYS") : Result<std::optional<Bytes>>(std::nullopt);
  if (!keys && !IsDamage(keys.error())) return std::move(keys).error();
  // All of them are there before the first is reported.
  if (keys && *keys && shardpack::VisitKeys(**keys, size(), [](auto, auto) {})) {
    bool goes_on = true;
    return shardpack::VisitKeys(**keys, size(),
                                [&](uint64_t number, std::string_view key) {
                                  if (goes_on) goes_on = visit(number, key);
                                });
  }
  return VisitKeysOfRecords(visit);
}

Result<void> Shard::VisitKeysOfRecords(
    const std::function<bool(uint64_t, std::string_view)>& visit) const {
  std::vector<ByteRange> headers;
  for (uint64_t begin = 0; begin < size(); begin += headers.size()) {
    headers.clear();
    for (uint64_t i = begin; i < size() && headers.size() < kHeadersAtOnce; ++i) {
      headers.push_back({offset(i), std::min(range(i).length, kHeaderBytes)});
    }
    std::vector<Bytes> parts;
    if (map_.empty()) {
      DOLIUM_TRY(auto read, location_.store->ReadRanges(location_.path, headers,
                                                        {.if_generation = generation_}));
      parts = std::move(read.parts);
    }
    for (size_t i = 0; i < headers.size(); ++i) {
      const uint64_t number = begin + i;
      Bytes block = map_.empty() ? std::move(parts[i]) : *ReadBlock(number);
      auto header = ParseRecordHeader(block, options_.check);
      if (!header && block.size() < range(number).length) {
        // It may have more metadata than was read.
        DOLIUM_TRY(block, ReadBlock(number));
        header = ParseRecordHeader(block, options_.check);
      }
      if (!header) return InRecord(std::move(header).error(), number);
      if (!visit(number, header->key)) return {};
    }
  }
  return {};
}

Result<std::optional<Bytes>> Shard::ReadSection(std::string_view tag) const {
  if (!sections_) return InShard(sections_.error(), Describe());
  const Section* section = FindSection(*sections_, tag);
  if (section == nullptr) return std::nullopt;
  DOLIUM_TRY(const Bytes stored, ReadBytes(section->range));
  auto body = shardpack::ReadSection(*section, stored, kSectionLimit).Within(Describe());
  DOLIUM_TRY_VOID(CheckMap());
  if (!body) return std::move(body).error();
  return std::optional<Bytes>(*std::move(body));
}

Result<nlohmann::ordered_json> Shard::metadata() const {
  DOLIUM_TRY(const auto body, ReadSection("META"));
  if (!body) return nlohmann::ordered_json::object();
  auto parsed = ParseOrderedJson(AsText(*body));
  if (!parsed || !parsed->is_object()) {
    return Corrupt(fmt::format("{}: META is not a JSON object", Describe()))
        .WithKind(kind::kSection);
  }
  return *std::move(parsed);
}

Result<std::optional<Dictionaries>> Shard::LoadListedDictionaries() const {
  auto body =
      sections_ ? ReadSection("ZDIC") : Result<std::optional<Bytes>>(std::nullopt);
  if (!body && !IsDamage(body.error())) return std::move(body).error();
  if (!body || !*body) return std::nullopt;
  const auto places = ParseDictionaryLocations(**body);
  if (!places || places->size() > kMaxDictionaries || size() == 0) return std::nullopt;
  const uint64_t records_end = range(0).end();
  Dictionaries loaded;
  for (const DictionaryLocation& place : *places) {
    const auto at = ByteRange::Make(place.range.offset, place.range.length);
    if (!at || at->end() > records_end) return std::nullopt;
    DOLIUM_TRY(const Bytes bytes, ReadBytes(*at));
    // Its content ends where the range does; how it is padded depends on its record.
    const auto header =
        ParseEntryHeader(bytes, 0, kMinAlignLog2, options_.check, /*whole=*/false);
    if (!header || header->stored_size > bytes.size()) return std::nullopt;
    const size_t begin = bytes.size() - static_cast<size_t>(header->stored_size);
    const auto content =
        DecodeContent(*header, bytes.Slice(begin, bytes.size() - begin),
                      {.check = options_.check, .raw_limit = options_.raw_limit});
    if (!content) return std::nullopt;
    const auto dictionary = ZstdDictionary::Load(*content);
    if (!dictionary || (*dictionary)->id() != place.id) return std::nullopt;
    loaded[place.id] = *dictionary;
  }
  return std::optional<Dictionaries>(std::move(loaded));
}

Result<Dictionaries> Shard::LoadDictionaries() const {
  DOLIUM_TRY(auto listed, LoadListedDictionaries());
  if (listed) return *std::move(listed);
  // Without a list, from where a streaming reader has them. One that cannot be had is
  // missed by those contents only that need it.
  if (size() == 0) return Dictionaries();
  const auto first = Read(0);
  if (first) return DictionariesIn(*first, {.raw_limit = options_.raw_limit});
  if (!IsDamage(first.error())) return first.error();
  return Dictionaries();
}

Result<ContentOptions> Shard::content_options() const {
  ContentOptions content{.check = options_.check,
                         .raw_limit = options_.raw_limit,
                         .ratio_limit = options_.ratio_limit};
  if ((footer_.features_optional & kFeatureDictionaries) == 0) return content;
  DOLIUM_TRY(content.dictionaries, dictionaries_.Get([&] { return LoadDictionaries(); }));
  return content;
}

Result<Bytes> Shard::Content(uint64_t number, const Record& record,
                             const EntryHeader& entry) const {
  DOLIUM_TRY(const ContentOptions options, content_options());
  auto content = record.Content(entry, options);
  if (!content) return InRecord(std::move(content).error(), number);
  DOLIUM_TRY_VOID(CheckMap());
  return content;
}

Result<void> Shard::ContentInto(uint64_t number, const Record& record,
                                const EntryHeader& entry, MutableBytes into) const {
  DOLIUM_TRY(const ContentOptions options, content_options());
  auto done = record.ContentInto(entry, into, options);
  if (!done) return InRecord(std::move(done).error(), number);
  return CheckMap();
}

Result<bool> LooksLikeShard(const Location& location) {
  DOLIUM_TRY(const auto info, location.store->Stat(location.path));
  if (!info || info->size < kFooterBytes) return false;
  DOLIUM_TRY(
      const auto read,
      location.store->ReadRanges(
          location.path, std::array{ByteRange{0, 16}, ByteRange{info->size - 8, 8}}));
  return AsText(read.parts[1]) == kFooterMagic || BeginsLikeRecord(read.parts[0]);
}

}  // namespace dolium::shardpack
