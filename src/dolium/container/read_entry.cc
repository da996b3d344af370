#include "dolium/container/read_entry.h"

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/base/crc32c.h"
#include "dolium/container/entry_error.h"

namespace dolium {
namespace {

// Beyond this, lengths from an index are held against the object's true size before
// memory is taken for them. Below, the read itself finds out and saves a request.
constexpr uint64_t kUncheckedBytes = uint64_t{16} << 20;

// What ReadInSegments() reads at a time, give or take an extent.
constexpr uint64_t kSegmentBytes = uint64_t{16} << 20;

// One range of an entry, and where its bytes go in the entry's buffer.
struct Segment {
  const ObjectVersion* object = nullptr;
  ByteRange range;
  uint64_t position = 0;
  size_t entry = 0;
};

// An entry while it is being read: a buffer for the preceding bytes and then the value.
struct Reading {
  uint64_t size = 0;
  std::optional<Buffer> buffer;
  std::optional<Error> error;
};

std::string ObjectOf(const Store& store, const Entry& entry) {
  return entry.extents.empty() ? std::string()
                               : store.Describe(entry.extents.front().object->name);
}

Error OverLimit(const Store& store, const Entry& entry, uint64_t size, uint64_t limit) {
  return EntryError(
      ObjectOf(store, entry), entry.key,
      Corrupt(fmt::format("{} bytes, more than the limit of {} bytes", size, limit)));
}

// The ranges to read for an entry, in the order of its buffer; empty ones are left out.
Result<uint64_t> AddSegments(const Store& store, const Entry& entry, size_t index,
                             std::vector<Segment>& segments) {
  uint64_t size = 0;
  const auto add = [&](const Extent& extent, uint64_t before) -> Result<void> {
    const auto length = CheckedAdd(extent.range.length, before);
    const auto sum = length ? CheckedAdd(size, *length) : std::nullopt;
    if (before > extent.range.offset || !sum ||
        !CheckedAdd(extent.range.offset, extent.range.length)) {
      return EntryError(store.Describe(extent.object->name), entry.key,
                        Corrupt(fmt::format(
                            "{} bytes at {}, with {} bytes before them, are not a range",
                            extent.range.length, extent.range.offset, before)));
    }
    if (*length > 0) {
      const ByteRange range{extent.range.offset - before, *length};
      segments.push_back({extent.object.get(), range, size, index});
    }
    size = *sum;
    return {};
  };
  if (entry.preceding_from) DOLIUM_TRY_VOID(add(*entry.preceding_from, 0));
  uint64_t before = entry.preceding_from ? 0 : entry.preceding;
  if (before > 0 && entry.extents.empty()) {
    return Corrupt(
        fmt::format("{}: {} bytes before an entry without bytes", entry.key, before));
  }
  for (const Extent& extent : entry.extents) {
    DOLIUM_TRY_VOID(add(extent, before));
    before = 0;
  }
  return size;
}

bool SameVersion(const Segment& a, const Segment& b) {
  return a.object == b.object || (a.object->name == b.object->name &&
                                  a.object->generation == b.object->generation);
}

bool ByVersion(const Segment& a, const Segment& b) {
  if (a.object == b.object) return false;
  return std::tie(a.object->name, a.object->generation.token) <
         std::tie(b.object->name, b.object->generation.token);
}

ReadOptions OptionsFor(const ObjectVersion& object) {
  ReadOptions options;
  if (!object.generation.token.empty()) options.if_generation = object.generation;
  return options;
}

// `stored`: the bytes of all extents.
Result<void> CheckChecksums(const Entry& entry, BytesView stored) {
  for (const Extent& extent : entry.extents) {
    const auto length = static_cast<size_t>(extent.range.length);
    if (extent.crc32c) {
      const uint32_t found = Crc32c(stored.first(length));
      if (found != *extent.crc32c) {
        return Corrupt(fmt::format("bytes {} have CRC-32C {:08x}, {:08x} expected",
                                   ToString(extent.range), found, *extent.crc32c));
      }
    }
    stored = stored.subspan(length);
  }
  return {};
}

// Whether known entries are read all the same.
enum class Known : uint8_t { kRead, kSkip };

class ManyReader {
 public:
  ManyReader(const Store& store, std::span<const Entry> entries, const ReadLimits& limits,
             Known known)
      : store_(store),
        entries_(entries),
        limits_(limits),
        known_(known),
        readings_(entries.size()) {}

  std::vector<Result<EntryData>> Run() {
    std::vector<Segment> segments;
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (IsSkipped(entries_[i])) continue;
      const size_t count = segments.size();
      auto size = AddSegments(store_, entries_[i], i, segments);
      if (size && *size > limits_.stored) {
        size = OverLimit(store_, entries_[i], *size, limits_.stored);
      }
      if (size) {
        readings_[i].size = *size;
      } else {
        segments.resize(count);
        readings_[i].error = size.error();
      }
    }
    // Usually all are of one object already.
    if (!std::is_sorted(segments.begin(), segments.end(), ByVersion)) {
      std::stable_sort(segments.begin(), segments.end(), ByVersion);
    }
    std::vector<std::span<const Segment>> groups;
    for (size_t begin = 0, end = 0; begin < segments.size(); begin = end) {
      while (end < segments.size() && SameVersion(segments[begin], segments[end])) ++end;
      groups.push_back(std::span(segments).subspan(begin, end - begin));
    }
    uint64_t total = 0;
    for (const Reading& reading : readings_) {
      total = CheckedAdd(total, reading.size).value_or(~uint64_t{0});
    }
    // All groups before the first read: an entry may have segments in several objects.
    const bool checked = total > kUncheckedBytes;
    if (checked) {
      for (const auto& group : groups) CheckAgainstSize(group);
    }
    for (const auto& group : groups) ReadObject(group, checked);
    return Collect();
  }

 private:
  bool IsSkipped(const Entry& entry) const {
    return known_ == Known::kSkip && entry.is_predecoded();
  }

  // Reads segments that are all of one object.
  void ReadObject(std::span<const Segment> segments, bool checked) {
    Result<void> batch = ReadBatch(segments);
    if (batch) return;
    if (!checked && IsAboutSomeSegments(batch.error())) {
      CheckAgainstSize(segments);
      batch = ReadBatch(segments);
      if (batch) return;
    }
    const bool one_by_one = IsAboutSomeSegments(batch.error()) && segments.size() > 1;
    for (const Segment& segment : segments) {
      if (readings_[segment.entry].error) continue;
      const Result<void> result = one_by_one ? ReadBatch({&segment, 1}) : batch;
      if (!result) Fail(segment, result.error());
    }
  }

  // Whether other segments of the object may be readable all the same.
  static bool IsAboutSomeSegments(const Error& error) {
    return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kIo;
  }

  // Fails the segments that end past the object.
  void CheckAgainstSize(std::span<const Segment> segments) {
    const auto info = store_.Stat(segments.front().object->name);
    for (const Segment& segment : segments) {
      if (readings_[segment.entry].error) continue;
      if (!info) {
        Fail(segment, info.error());
      } else if (!*info) {
        Fail(segment, NotFound("no such object"));
      } else if (segment.range.end() > (*info)->size) {
        Fail(segment, Corrupt(fmt::format("bytes {} end past the object ({} bytes)",
                                          ToString(segment.range), (*info)->size)));
      }
    }
  }

  // One request for all segments whose entries have not failed yet.
  Result<void> ReadBatch(std::span<const Segment> segments) {
    std::vector<ReadSlice> slices;
    slices.reserve(segments.size());
    for (const Segment& segment : segments) {
      Reading& reading = readings_[segment.entry];
      if (reading.error) continue;
      if (!Allocate(reading)) {
        Fail(segment, Unavailable(fmt::format("no memory for {} bytes", reading.size)));
        continue;
      }
      slices.push_back(
          {segment.range.offset,
           reading.buffer->view().subspan(static_cast<size_t>(segment.position),
                                          static_cast<size_t>(segment.range.length))});
    }
    if (slices.empty()) return {};
    const ObjectVersion& object = *segments.front().object;
    DOLIUM_TRY([[maybe_unused]] const ObjectInfo info,
               store_.ReadInto(object.name, slices, OptionsFor(object)));
    return {};
  }

  static bool Allocate(Reading& reading) {
    if (reading.buffer) return true;
    try {
      reading.buffer.emplace(static_cast<size_t>(reading.size));
    } catch (const std::bad_alloc&) {
      return false;
    }
    return true;
  }

  void Fail(const Segment& segment, const Error& error) {
    Reading& reading = readings_[segment.entry];
    reading.buffer.reset();
    reading.error = EntryError(store_.Describe(segment.object->name),
                               entries_[segment.entry].key, error);
  }

  std::vector<Result<EntryData>> Collect() {
    std::vector<Result<EntryData>> results;
    results.reserve(entries_.size());
    for (size_t i = 0; i < entries_.size(); ++i) {
      Reading& reading = readings_[i];
      if (reading.error) {
        results.emplace_back(*std::move(reading.error));
        continue;
      }
      if (IsSkipped(entries_[i])) {
        results.emplace_back(EntryData{});
        continue;
      }
      const Bytes all = reading.buffer ? std::move(*reading.buffer).Share() : Bytes();
      const auto preceding = static_cast<size_t>(entries_[i].preceding_size());
      if (auto checked = CheckChecksums(entries_[i], all.view().subspan(preceding));
          !checked) {
        results.emplace_back(EntryError(ObjectOf(store_, entries_[i]), entries_[i].key,
                                        std::move(checked).error()));
        continue;
      }
      results.emplace_back(EntryData{all.Slice(preceding, all.size() - preceding),
                                     all.Slice(0, preceding)});
    }
    return results;
  }

  const Store& store_;
  const std::span<const Entry> entries_;
  const ReadLimits limits_;
  const Known known_;
  std::vector<Reading> readings_;
};

// A raw value needs as much memory as its ranges say: held against the limit before it is
// read.
Result<void> CheckRawSize(const Store& store, const Entry& entry,
                          const ReadLimits& limits) {
  uint64_t raw = 0;
  for (const Extent& extent : entry.extents) {
    if (!extent.codecs.empty()) continue;
    raw = CheckedAdd(raw, extent.range.length).value_or(~uint64_t{0});
  }
  if (raw <= limits.decoded) return {};
  return OverLimit(store, entry, raw, limits.decoded);
}

Result<Bytes> DecodeKnown(const Extent& extent, uint64_t limit) {
  const auto done = std::min(extent.predecoded_steps, extent.codecs.size());
  return Decode(
      {extent.codecs.begin() + static_cast<ptrdiff_t>(done), extent.codecs.end()},
      extent.known, limit);
}

// `stored`: the bytes of all extents; nullptr: what is known of them.
Result<Bytes> DecodeExtents(const Entry& entry, const Bytes* stored, uint64_t limit) {
  ByteVector value;
  size_t at = 0;
  for (const Extent& extent : entry.extents) {
    const auto length = static_cast<size_t>(extent.range.length);
    const uint64_t left = limit - value.size();
    DOLIUM_TRY(Bytes segment,
               stored == nullptr
                   ? DecodeKnown(extent, left)
                   : Decode(extent.codecs, stored->Slice(at, length), left));
    if (entry.extents.size() == 1) return segment;
    Append(value, segment);
    at += length;
  }
  return Bytes::FromVector(std::move(value));
}

}  // namespace

std::vector<Result<EntryData>> ReadManyStored(const Store& store,
                                              std::span<const Entry> entries,
                                              const ReadLimits& limits) {
  return ManyReader(store, entries, limits, Known::kSkip).Run();
}

Result<EntryData> ReadStored(const Store& store, const Entry& entry,
                             const ReadLimits& limits) {
  return std::move(ManyReader(store, {&entry, 1}, limits, Known::kRead).Run().front());
}

Result<EntryData> DecodeStored(const Store& store, const Entry& entry, EntryData stored,
                               const ReadLimits& limits) {
  const bool is_predecoded = stored.value.empty() && entry.is_predecoded();
  if (!is_predecoded && stored.value.size() != entry.stored_size()) {
    return EntryError(
        ObjectOf(store, entry), entry.key,
        InvalidArgument(fmt::format("{} bytes to decode, the entry has {}",
                                    stored.value.size(), entry.stored_size())));
  }
  auto value =
      DecodeExtents(entry, is_predecoded ? nullptr : &stored.value, limits.decoded);
  if (!value)
    return EntryError(ObjectOf(store, entry), entry.key, std::move(value).error());
  if (entry.size && value->size() != *entry.size) {
    return EntryError(ObjectOf(store, entry), entry.key,
                      Corrupt(fmt::format("decodes to {} bytes, the index says {}",
                                          value->size(), *entry.size)));
  }
  return EntryData{*std::move(value), std::move(stored.preceding)};
}

Result<void> ReadInSegments(const Store& store, const Entry& entry,
                            const std::function<Result<void>(const Bytes& segment)>& take,
                            const ReadLimits& limits) {
  uint64_t size = 0;
  for (size_t first = 0; first < entry.extents.size();) {
    Entry part;
    part.key = entry.key;
    uint64_t bytes = 0;
    do {
      const Extent& extent = entry.extents[first++];
      const uint64_t decoded =
          extent.codecs.empty() ? 0 : extent.codecs.back().decoded_size;
      bytes = CheckedAdd(bytes, std::max(extent.range.length, decoded))
                  .value_or(~uint64_t{0});
      part.extents.push_back(extent);
    } while (first < entry.extents.size() && bytes < kSegmentBytes);
    DOLIUM_TRY(const EntryData data, ReadEntry(store, part, limits));
    size += data.value.size();
    DOLIUM_TRY_VOID(take(data.value));
  }
  if (entry.size && size != *entry.size) {
    return EntryError(ObjectOf(store, entry), entry.key,
                      Corrupt(fmt::format("decodes to {} bytes, the index says {}", size,
                                          *entry.size)));
  }
  return {};
}

Result<EntryData> ReadEntry(const Store& store, const Entry& entry,
                            const ReadLimits& limits) {
  DOLIUM_TRY_VOID(CheckRawSize(store, entry, limits));
  DOLIUM_TRY(
      EntryData stored,
      std::move(ManyReader(store, {&entry, 1}, limits, Known::kSkip).Run().front()));
  return DecodeStored(store, entry, std::move(stored), limits);
}

}  // namespace dolium
