#include "dolium/domain/dataset/loaded_sample.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dolium/bytes/spool.h"
#include "dolium/formats/shardpack/kinds.h"

namespace dolium::dataset {

using shardpack::EntryHeader;

namespace {

// Joined files beyond this go to a temporary file.
constexpr uint64_t kJoinedInMemory = uint64_t{64} << 20;

Error InPart(Error error, const SamplePart& part) {
  return std::move(error).Within(
      fmt::format("{}: record {}", part.shard->Describe(), part.number));
}

Error InEntry(Error error, const SamplePart& part, const EntryHeader& entry) {
  return InPart(
      std::move(error).Within(shardpack::EntryContext(part.record.key(), entry.name)),
      part);
}

Result<Bytes> RangeOf(const SamplePart& part, const EntryHeader& entry, ByteRange range) {
  DOLIUM_TRY(const auto options, part.shard->content_options());
  auto bytes =
      shardpack::DecodeContentRange(entry, part.record.Stored(entry), range, options);
  DOLIUM_TRY_VOID(part.shard->CheckMap());
  if (!bytes) return InEntry(std::move(bytes).error(), part, entry);
  return bytes;
}

}  // namespace

LoadedSample::LoadedSample(SamplePart first) {
  parts_.push_back(std::move(first));
  AddFiles(0, 0);
}

void LoadedSample::AddFiles(uint32_t part, uint32_t first_entry) {
  const auto entries = parts_[part].record.entries();
  files_.reserve(files_.size() + entries.size());
  for (uint32_t i = first_entry; i < entries.size(); ++i) {
    if (!entries[i].is_aux()) files_.push_back({part, i});
  }
}

Result<void> LoadedSample::AddSegment(const SamplePart& part) {
  const EntryHeader& entry = part.record.entries().front();
  const auto wrong = [&] {
    return InEntry(Corrupt(fmt::format("a segment at {} of {} does not follow the "
                                       "segment before it",
                                       entry.segment->offset, entry.segment->whole_size))
                       .WithKind(shardpack::kind::kRecord),
                   part, entry);
  };
  if (files_.empty() || files_.back().part + files_.back().segments != parts_.size()) {
    return wrong();
  }
  FileRef& file = files_.back();
  const EntryHeader& before = header(file);
  if (!before.segment || before.segment->whole_size != entry.segment->whole_size ||
      before.raw_size != entry.segment->offset || before.name != entry.name ||
      before.content_type != entry.content_type) {
    return wrong();
  }
  if (file.segments == 1) {
    joined_.push_back(before);
    file.joined = static_cast<uint32_t>(joined_.size() - 1);
  }
  ++file.segments;
  EntryHeader& joined = joined_[file.joined];
  joined.raw_size += entry.raw_size;
  joined.stored_size += entry.stored_size;
  joined.crc32c = 0;
  return {};
}

Result<void> LoadedSample::Add(SamplePart part, bool replaces) {
  uint32_t first_entry = 0;
  const auto entries = part.record.entries();
  if (!entries.empty() && entries[0].segment && entries[0].segment->offset > 0) {
    DOLIUM_TRY_VOID(AddSegment(part));
    first_entry = 1;
  }
  for (const EntryHeader& entry : entries.subspan(first_entry)) {
    if (entry.is_aux()) continue;
    const auto there = Find(entry.name);
    if (!there) continue;
    if (!replaces) {
      return InvalidArgument(
          fmt::format("\"{}\": entry \"{}\" is in {} and in {}", key(), entry.name,
                      parts_[there->part].shard->Describe(), part.shard->Describe()));
    }
    std::erase_if(files_, [&](FileRef file) { return header(file).name == entry.name; });
  }
  parts_.push_back(std::move(part));
  AddFiles(static_cast<uint32_t>(parts_.size() - 1), first_entry);
  return {};
}

shardpack::Metadata LoadedSample::metadata() const {
  for (auto part = parts_.rbegin(); part != parts_.rend(); ++part) {
    auto metadata = part->record.metadata();
    if (metadata.format != shardpack::MetadataFormat::kNone) return metadata;
  }
  return {};
}

std::optional<LoadedSample::FileRef> LoadedSample::Find(std::string_view name) const {
  for (const FileRef file : files_) {
    if (header(file).name == name) return file;
  }
  return std::nullopt;
}

const Error* LoadedSample::damage() const {
  for (const SamplePart& part : parts_) {
    if (part.record.damage()) return &*part.record.damage();
  }
  return nullptr;
}

LoadedSample::Segment LoadedSample::SegmentOf(FileRef file, uint32_t index) const {
  const SamplePart& part = parts_[file.part + index];
  return {&part, &part.record.entries()[index == 0 ? file.entry : 0]};
}

Result<void> LoadedSample::CheckWhole(FileRef file) const {
  const EntryHeader& all = header(file);
  if (!all.is_partial()) return {};
  return InEntry(shardpack::PartOfFile(all), parts_[file.part], all);
}

Result<Bytes> LoadedSample::Content(FileRef file) const {
  DOLIUM_TRY_VOID(CheckWhole(file));
  if (file.segments == 1) {
    const SamplePart& part = parts_[file.part];
    return part.shard->Content(part.number, part.record, header(file));
  }
  const uint64_t size = header(file).raw_size;
  if (size <= kJoinedInMemory) {
    Buffer buffer(static_cast<size_t>(size));
    DOLIUM_TRY_VOID(ContentInto(file, buffer.view()));
    return std::move(buffer).Share();
  }
  DOLIUM_TRY(Spool spool, Spool::Make());
  for (uint32_t i = 0; i < file.segments; ++i) {
    const auto [part, entry] = SegmentOf(file, i);
    // In steps, so that of a segment no more than some chunks are in memory.
    const uint64_t step = entry->is_chunked() ? kJoinedInMemory : entry->raw_size;
    for (uint64_t at = 0; at < entry->raw_size; at += step) {
      const uint64_t length = std::min(step, entry->raw_size - at);
      DOLIUM_TRY(const Bytes some, RangeOf(*part, *entry, {at, length}));
      DOLIUM_TRY_VOID(spool.Append(some));
    }
  }
  return spool.Map();
}

Result<void> LoadedSample::ContentInto(FileRef file, MutableBytes into) const {
  DOLIUM_TRY_VOID(CheckWhole(file));
  for (uint32_t i = 0; i < file.segments; ++i) {
    const auto [part, entry] = SegmentOf(file, i);
    const auto size = static_cast<size_t>(entry->raw_size);
    DOLIUM_TRY_VOID(
        part->shard->ContentInto(part->number, part->record, *entry, into.first(size)));
    into = into.subspan(size);
  }
  return {};
}

Result<Bytes> LoadedSample::ContentRange(FileRef file, ByteRange range) const {
  DOLIUM_TRY_VOID(CheckWhole(file));
  if (file.segments == 1) return RangeOf(parts_[file.part], header(file), range);
  const EntryHeader& all = header(file);
  if (range.offset > all.raw_size || range.length > all.raw_size - range.offset) {
    return InEntry(InvalidArgument(fmt::format("bytes {} end past its {}",
                                               ToString(range), all.raw_size)),
                   parts_[file.part], all);
  }
  ByteVector joined;
  uint64_t begin = 0;
  for (uint32_t i = 0; i < file.segments; ++i) {
    const auto [part, entry] = SegmentOf(file, i);
    const uint64_t from = std::max(range.offset, begin);
    const uint64_t to = std::min(range.end(), begin + entry->raw_size);
    if (from < to) {
      DOLIUM_TRY(Bytes some, RangeOf(*part, *entry, {from - begin, to - from}));
      if (some.size() == range.length) return some;
      Append(joined, some);
    }
    begin += entry->raw_size;
  }
  return Bytes::FromVector(std::move(joined));
}

Result<void> LoadedSample::CheckMaps() const {
  for (const SamplePart& part : parts_) DOLIUM_TRY_VOID(part.shard->CheckMap());
  return {};
}

Result<shardpack::Sample> LoadedSample::Decode() const {
  shardpack::Sample sample{.key = std::string(key()), .metadata = metadata()};
  sample.tombstone = parts_.size() == 1 && parts_.front().record.is_tombstone();
  for (const SamplePart& part : parts_) {
    if (part.record.damage()) return InPart(*part.record.damage(), part);
  }
  for (const FileRef ref : files_) {
    const SamplePart& part = parts_[ref.part];
    const EntryHeader& entry = header(ref);
    shardpack::File file{.name = std::string(entry.name),
                         .content_type = std::string(entry.content_type)};
    DOLIUM_TRY(file.data, Content(ref));
    auto extras = shardpack::ParseExtras(entry);
    if (!extras) return InEntry(std::move(extras).error(), part, entry);
    extras->GiveTo(file);
    file.compression = static_cast<shardpack::Compression>(entry.codec);
    sample.files.push_back(std::move(file));
  }
  DOLIUM_TRY_VOID(CheckMaps());
  return sample;
}

}  // namespace dolium::dataset
