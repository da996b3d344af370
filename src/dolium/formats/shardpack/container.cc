#include "dolium/formats/shardpack/container.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "dolium/container/entry_error.h"
#include "dolium/formats/shardpack/format.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/record.h"
#include "dolium/formats/shardpack/shard_writer.h"
#include "dolium/formats/shardpack/verify.h"

namespace dolium::shardpack {

namespace {

// Remote records that are larger are not read whole for their headers.
constexpr uint64_t kRemoteLargeRecord = uint64_t{64} << 10;
// What is read of them at a time, and what the header of an entry can take.
constexpr uint64_t kHeaderRead = 4096;
constexpr uint64_t kMaxEntryHeader = kEntryHeaderBytes + 3 * uint64_t{UINT16_MAX};

Result<CodecChain> ChainOf(const EntryHeader& entry, BytesView stored, uint64_t raw_size,
                           const ContentOptions& contents) {
  switch (static_cast<Compression>(entry.codec)) {
    case Compression::kNone:
      return CodecChain();
    case Compression::kGzip:
      return CodecChain{{CodecId::kGzip}};
    case Compression::kLz4:
      return CodecChain{{CodecId::kLz4Block, raw_size}};
    case Compression::kZstd: {
      CodecStep step{CodecId::kZstd, raw_size};
      const uint32_t id = ZstdDictionaryId(stored);
      if (id != 0) {
        if (contents.dictionaries == nullptr || !contents.dictionaries->contains(id)) {
          return Corrupt(fmt::format("zstd dictionary {} is not in the shard", id))
              .WithKind(kind::kEntry);
        }
        step.dictionary = contents.dictionaries->at(id);
      }
      return CodecChain{std::move(step)};
    }
  }
  return Unsupported(fmt::format("codec {} is not known", entry.codec))
      .WithKind(kind::kUnsupportedCodec);
}

// One record's entries, from as few of its bytes as it takes.
class EntryWalker {
 public:
  // `block`: the record, if it is at hand.
  EntryWalker(const Shard& shard, uint64_t number, std::optional<Bytes> block,
              const ContentOptions& contents, std::shared_ptr<const ObjectVersion> object)
      : shard_(shard),
        place_(shard.range(number)),
        block_(std::move(block)),
        contents_(contents),
        object_(std::move(object)) {}

  // Whose trouble an error is. Of an entry whose header is damaged, the name is empty.
  struct EntryName {
    std::string_view key;
    std::string_view name;
  };
  // An entry with its name, and, if it is but a segment of a file, which.
  struct Visited {
    Entry entry;
    std::string_view name;
    std::optional<FileSegment> segment;
  };
  // Calls visit() for each, aux ones left out, until it returns false. An entry that
  // cannot be had is reported to `fail`, which may return false too.
  Result<void> Visit(const std::function<bool(Visited)>& visit,
                     const std::function<bool(const Error&, EntryName)>& fail) {
    DOLIUM_TRY(const RecordHeader header, ReadHeader());
    uint64_t at = header.first_entry_at;
    for (uint32_t i = 0; i < header.entry_count; ++i) {
      auto entry = ReadEntryHeader(at, header);
      if (!entry) {
        fail(std::move(entry).error().Within(
                 fmt::format("\"{}\": entry {}", header.key, i)),
             {header.key, {}});
        return {};
      }
      at = RoundUp(entry->content_end(), kEntryAlignment);
      if (entry->is_aux()) continue;
      auto made = MakeEntry(header, *entry);
      const bool goes_on = made ? visit({*std::move(made), entry->name, entry->segment})
                                : fail(std::move(made).error().Within(
                                           EntryContext(header.key, entry->name)),
                                       {header.key, entry->name});
      if (!goes_on) return {};
    }
    return {};
  }

 private:
  Result<Bytes> ReadSome(uint64_t at, uint64_t length) const {
    const uint64_t size = std::min(length, place_.length - at);
    if (block_) return block_->Slice(static_cast<size_t>(at), static_cast<size_t>(size));
    return shard_.ReadBytes({place_.offset + at, size});
  }

  Result<RecordHeader> ReadHeader() {
    DOLIUM_TRY(record_, ReadSome(0, block_ ? place_.length : kHeaderRead));
    auto header = ParseRecordHeader(record_, shard_.options().check);
    if (!header && record_.size() < place_.length) {
      DOLIUM_TRY(record_, ReadSome(0, place_.length));
      header = ParseRecordHeader(record_, shard_.options().check);
    }
    if (!header) return header;
    if (header->record_size != place_.length) {
      return Corrupt(fmt::format("a record of {} bytes, the index has it with {}",
                                 header->record_size, place_.length))
          .WithKind(kind::kIndex);
    }
    if (header->align_log2 != shard_.footer().align_log2) {
      return Corrupt("alignment differs from the shard's").WithKind(kind::kRecord);
    }
    return header;
  }

  // Its views are good until the next one is read.
  Result<EntryHeader> ReadEntryHeader(uint64_t at, const RecordHeader& record) {
    if (block_) {
      return ParseEntryHeader(*block_, at, record.align_log2, shard_.options().check);
    }
    if (at >= place_.length) {
      return Corrupt(fmt::format("header at {} ends past the record's {} bytes", at,
                                 place_.length))
          .WithKind(kind::kEntry);
    }
    DOLIUM_TRY(entry_, ReadSome(at, kHeaderRead));
    const auto parse = [&] {
      return ParseEntryHeader(entry_, 0, record.align_log2, shard_.options().check,
                              /*whole=*/false);
    };
    auto entry = parse();
    if (!entry && entry_.size() == kHeaderRead) {
      DOLIUM_TRY(entry_, ReadSome(at, kMaxEntryHeader));
      entry = parse();
    }
    if (!entry) return entry;
    const uint64_t header_end = at + kEntryHeaderBytes + entry->name.size() +
                                entry->content_type.size() + entry->extensions.size();
    entry->content_at = RoundUp(header_end, uint64_t{1} << record.align_log2);
    if (entry->content_at > place_.length ||
        entry->stored_size > place_.length - entry->content_at) {
      return Corrupt(fmt::format("content of {} bytes at {} ends past the record's {}",
                                 entry->stored_size, entry->content_at, place_.length))
          .WithKind(kind::kEntry);
    }
    return entry;
  }

  Result<Entry> MakeEntry(const RecordHeader& record, const EntryHeader& header) const {
    Entry entry;
    entry.key = fmt::format("{}/{}", record.key, header.name);
    entry.size = header.raw_size;
    const uint64_t begin = place_.offset + header.content_at;
    if (!header.is_chunked()) {
      // The header of a zstd frame names its dictionary.
      const bool is_zstd = header.codec == static_cast<uint8_t>(Compression::kZstd);
      Bytes stored;
      if (is_zstd && header.stored_size > 0) {
        DOLIUM_TRY(stored, ReadSome(header.content_at,
                                    std::min(header.stored_size, kFrameHeader)));
      }
      DOLIUM_TRY(CodecChain chain, ChainOf(header, stored, header.raw_size, contents_));
      entry.extents.push_back(
          {object_, {begin, header.stored_size}, std::move(chain), header.crc32c});
      return entry;
    }
    DOLIUM_TRY(const Bytes first,
               ReadSome(header.content_at, std::min<uint64_t>(header.stored_size, 16)));
    DOLIUM_TRY(const uint64_t size, ChunkTable::TableSize(header, first));
    DOLIUM_TRY(const Bytes bytes,
               ReadSome(header.content_at, std::min(header.stored_size, size)));
    DOLIUM_TRY(const ChunkTable table, ChunkTable::Parse(header, bytes, Check::kFull));
    for (size_t i = 0; i < table.size(); ++i) {
      const ContentChunk chunk = table[i];
      CodecChain chain;
      if (chunk.is_compressed) {
        Bytes stored;
        if (contents_.dictionaries != nullptr) {
          DOLIUM_TRY(stored, ReadSome(header.content_at + chunk.stored.offset,
                                      std::min(chunk.stored.length, kFrameHeader)));
        }
        DOLIUM_TRY(chain, ChainOf(header, stored, chunk.raw_size, contents_));
      }
      entry.extents.push_back({object_,
                               {begin + chunk.stored.offset, chunk.stored.length},
                               std::move(chain),
                               chunk.crc32c});
    }
    return entry;
  }

  // More than the header of any zstd frame.
  static constexpr uint64_t kFrameHeader = 32;

  const Shard& shard_;
  const ByteRange place_;
  const std::optional<Bytes> block_;
  const ContentOptions& contents_;
  const std::shared_ptr<const ObjectVersion> object_;
  Bytes record_;
  Bytes entry_;
};

// Makes one entry of the segments of a file.
class SegmentJoiner {
 public:
  // kCorrupt if a segment is missing that should come before this entry.
  Result<void> CheckNext(const EntryWalker::Visited& next) {
    if (!open_) return {};
    const bool follows = next.segment && next.segment->offset == *open_->size &&
                         next.segment->whole_size == whole_size_ &&
                         next.entry.key == open_->key;
    return follows ? Result<void>() : Finish();
  }

  // The file, once it is whole; nullopt if more of it is to come. kCorrupt if it begins
  // amid a file. Precondition: CheckNext().
  Result<std::optional<Entry>> Add(EntryWalker::Visited visited) {
    if (!visited.segment) return std::optional<Entry>(std::move(visited.entry));
    whole_size_ = visited.segment->whole_size;
    if (open_) {
      open_->size = *open_->size + *visited.entry.size;
      std::ranges::move(visited.entry.extents, std::back_inserter(open_->extents));
    } else if (visited.segment->offset > 0) {
      return Corrupt(fmt::format("\"{}\": a segment at {} of {} without those before it",
                                 visited.entry.key, visited.segment->offset, whole_size_))
          .WithKind(kind::kRecord);
    } else {
      open_ = std::move(visited.entry);
    }
    if (*open_->size < whole_size_) return std::nullopt;
    return std::exchange(open_, std::nullopt);
  }

  // No more of it comes.
  Result<void> Finish() {
    const auto open = std::exchange(open_, std::nullopt);
    if (!open) return {};
    return Corrupt(fmt::format("\"{}\": its segment at {} of {} is missing", open->key,
                               *open->size, whole_size_))
        .WithKind(kind::kRecord);
  }

 private:
  std::optional<Entry> open_;
  uint64_t whole_size_ = 0;
};

// The block of a record, if that costs no more than its headers.
Result<std::optional<Bytes>> CheapBlock(const Shard& shard, uint64_t number) {
  if (!shard.is_mapped() && shard.range(number).length > kRemoteLargeRecord)
    return std::nullopt;
  DOLIUM_TRY(Bytes block, shard.ReadBlock(number));
  return std::optional<Bytes>(std::move(block));
}

std::shared_ptr<const ObjectVersion> VersionOf(const Shard& shard) {
  return std::make_shared<const ObjectVersion>(
      ObjectVersion{shard.location().path, shard.generation()});
}

// The message as VerifyShard has it: without the name of the object.
Finding FindingOf(const Error& error, std::string_view otherwise,
                  const std::string& object, std::string_view key,
                  std::optional<ByteRange> range) {
  return ErrorFinding(std::string(error.kind.empty() ? otherwise : error.kind), object,
                      std::string(key), range, error);
}

}  // namespace

std::string_view PackContainer::format_name() const { return kFormat.name; }

Properties PackContainer::properties() const {
  Properties properties;
  if (is_folder_) return properties;
  const auto shard = OpenShard(location_.path);
  if (!shard) return properties;
  const Footer& footer = (*shard)->footer();
  properties.emplace_back("version", fmt::format("{}.{}", kVersionMajor, footer.minor));
  properties.emplace_back("records", footer.record_count);
  properties.emplace_back("alignment", uint64_t{1} << footer.align_log2);
  if (const auto& stat = (*shard)->stat()) {
    properties.emplace_back("raw_bytes", stat->raw_bytes);
    properties.emplace_back("stored_bytes", stat->stored_bytes);
  }
  if (const auto& sections = (*shard)->sections()) {
    std::string tags;
    for (const Section& section : *sections) {
      tags += fmt::format("{}{}", tags.empty() ? "" : " ", section.name());
    }
    properties.emplace_back("sections", tags);
  }
  if (const auto metadata = (*shard)->metadata()) {
    if (metadata->contains("user") && metadata->at("user").is_object()) {
      for (const auto& [name, value] : metadata->at("user").items()) {
        properties.emplace_back(
            "user." + name, value.is_string() ? value.get<std::string>() : value.dump());
      }
    }
  }
  return properties;
}

Result<std::vector<std::string>> PackContainer::Objects() const {
  if (!is_folder_) return std::vector<std::string>{location_.path};
  std::vector<std::string> objects;
  DOLIUM_TRY_VOID(
      store().List(location_.path, [&](std::string_view name, bool is_folder) {
        if (!is_folder && name.ends_with(kExtension)) {
          objects.push_back(JoinPath(location_.path, name));
        }
        return true;
      }));
  std::ranges::sort(objects);
  return objects;
}

Result<std::shared_ptr<const Shard>> PackContainer::OpenShard(
    std::string_view object) const {
  const Location place{location_.store, std::string(object)};
  if (auto known = open_.Get(object)) {
    // Looking costs nothing here; elsewhere, reads of a shard that was replaced fail.
    if (!IsLocal(place)) return known;
    const auto info = store().Stat(object);
    if (info && *info && (*info)->generation == known->generation()) return known;
  }
  DOLIUM_TRY(auto shard, Shard::Open(place));
  open_.Put(object, shard);
  return shard;
}

Result<std::optional<Entry>> PackContainer::FindIn(const Shard& shard,
                                                   std::string_view sample,
                                                   std::string_view name) const {
  DOLIUM_TRY(const auto numbers, shard.FindAll(sample));
  if (numbers.empty()) return std::nullopt;
  DOLIUM_TRY(const ContentOptions contents, shard.content_options());
  const auto object = VersionOf(shard);
  std::optional<Entry> found;
  SegmentJoiner joiner;
  // The parts of one sample have different files, or segments of one.
  for (const uint64_t number : numbers) {
    std::optional<Error> error;
    DOLIUM_TRY(auto block, CheapBlock(shard, number));
    EntryWalker walker(shard, number, std::move(block), contents, object);
    DOLIUM_TRY_VOID(walker
                        .Visit(
                            [&](EntryWalker::Visited visited) {
                              if (visited.name != name) return true;
                              auto next = joiner.CheckNext(visited);
                              auto whole = next ? joiner.Add(std::move(visited))
                                                : std::move(next).error();
                              if (whole) {
                                found = *std::move(whole);
                              } else {
                                error = std::move(whole).error();
                              }
                              return !found && !error;
                            },
                            [&](const Error& failed, EntryWalker::EntryName place) {
                              if (place.name.empty() || place.name == name)
                                error = failed;
                              return true;
                            })
                        .Within(fmt::format("{}: record {}", shard.Describe(), number)));
    if (found) return found;
    if (error) {
      return std::move(*error).Within(
          fmt::format("{}: record {}", shard.Describe(), number));
    }
  }
  DOLIUM_TRY_VOID(joiner.Finish().Within(
      fmt::format("{}: record {}", shard.Describe(), numbers.back())));
  return std::nullopt;
}

Result<std::optional<Entry>> PackContainer::Find(std::string_view key) const {
  if (key.find('/') == std::string_view::npos) return std::nullopt;
  DOLIUM_TRY(const auto objects, Objects());
  for (const std::string& object : objects) {
    DOLIUM_TRY(const auto shard, OpenShard(object));
    for (size_t slash = key.rfind('/'); slash != std::string_view::npos && slash > 0;
         slash = key.rfind('/', slash - 1)) {
      DOLIUM_TRY(auto entry, FindIn(*shard, key.substr(0, slash), key.substr(slash + 1)));
      if (entry) return entry;
    }
  }
  return std::nullopt;
}

Result<void> PackContainer::ScanObject(std::string_view object,
                                       const ScanVisitor& visitor) const {
  auto opened = OpenShard(object);
  if (!opened) {
    if (!visitor.damage || !IsDamage(opened.error())) return std::move(opened).error();
    visitor.damage(FindingOf(opened.error(), kind::kIndex, store().Describe(object), {},
                             std::nullopt));
    return {};
  }
  const Shard& shard = **opened;
  DOLIUM_TRY(const ContentOptions contents, shard.content_options());
  const auto version = VersionOf(shard);
  bool goes_on = true;
  std::optional<Error> error;
  // What VerifyShard says of it too, in the same words.
  const auto damage = [&](const Error& found, uint64_t number, std::string_view key) {
    const Error named = found.Within(fmt::format("record {}", number));
    if (!visitor.damage || !IsDamage(found)) {
      error = named.Within(shard.Describe());
      return goes_on = false;
    }
    return goes_on = visitor.damage(FindingOf(named, kind::kRecord, shard.Describe(), key,
                                              shard.range(number)));
  };
  SegmentJoiner joiner;
  const auto take = [&](EntryWalker::Visited& visited, uint64_t number) {
    const std::string key = visited.entry.key;
    if (const auto next = joiner.CheckNext(visited); !next) {
      if (!damage(next.error(), number, key)) return false;
    }
    const auto whole = joiner.Add(std::move(visited));
    if (!whole) return damage(whole.error(), number, key);
    return goes_on = !*whole || visitor.entry(**whole);
  };
  const auto scan = [&](uint64_t number, std::optional<Bytes> block) {
    EntryWalker walker(shard, number, std::move(block), contents, version);
    const auto walked =
        walker.Visit([&](EntryWalker::Visited visited) { return take(visited, number); },
                     [&](const Error& found, EntryWalker::EntryName place) {
                       return damage(found, number, place.key);
                     });
    if (!walked) damage(walked.error(), number, {});
  };
  for (uint64_t number = 0; number < shard.size() && goes_on;) {
    if (shard.is_mapped() || shard.range(number).length > kRemoteLargeRecord) {
      DOLIUM_TRY(auto block, CheapBlock(shard, number));
      scan(number, std::move(block));
      ++number;
      continue;
    }
    // Small ones of a remote shard come together.
    uint64_t end = number;
    while (end < shard.size() && shard.range(end).length <= kRemoteLargeRecord) ++end;
    const auto visited = shard.VisitBlocks(
        number, end, [&](uint64_t i, const Bytes& block) -> Result<void> {
          scan(i, block);
          if (!goes_on) return Cancelled();
          return {};
        });
    if (!visited && goes_on) return visited;
    number = end;
  }
  if (const auto last = joiner.Finish(); !last && goes_on) {
    damage(last.error(), shard.size() - 1, {});
  }
  if (error) return *std::move(error);
  return {};
}

Result<void> PackContainer::CheckObject(std::string_view object,
                                        const FindingVisitor& visitor) const {
  const auto checked = VerifyShard({location_.store, std::string(object)},
                                   {.contents = false, .jobs = 1}, visitor);
  if (!checked) return checked.error();
  return {};
}

}  // namespace dolium::shardpack
