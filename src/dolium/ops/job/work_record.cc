#include "dolium/ops/job/work_record.h"

#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace dolium {
namespace {

constexpr uint64_t kMaxCodecs = 16;
// Real names are a few hundred bytes, and take a few bytes each as differences. Spellings
// that each repeat the one before could blow a small list up without end.
constexpr uint64_t kMaxSpelledPerByte = 512;
constexpr uint64_t kMaxSpelledFree = uint64_t{1} << 20;

enum RecordFlags : uint8_t {
  kHasSize = 1,
  kHasPreceding = 2,
  kHasPrecedingFrom = 4,
  kAllFlags = 7,
};

void PutText(ByteVector& to, std::string_view text) {
  PutVarint(to, text.size());
  Append(to, AsBytes(text));
}

Result<std::string_view> GetText(ByteReader& from, std::string_view what) {
  DOLIUM_TRY(const uint64_t length, GetVarint(from, what));
  DOLIUM_TRY(const BytesView bytes, from.ReadBytes(length, what));
  return AsText(bytes);
}

// `text` as the number of first bytes that it shares with `previous`, and the rest.
void PutDifference(ByteVector& to, std::string_view previous, std::string_view text) {
  const auto [a, b] =
      std::mismatch(previous.begin(), previous.end(), text.begin(), text.end());
  const auto shared = static_cast<size_t>(b - text.begin());
  PutVarint(to, shared);
  PutText(to, text.substr(shared));
}

Result<std::string> GetDifference(ByteReader& from, std::string_view previous,
                                  std::string_view what) {
  DOLIUM_TRY(const uint64_t shared, GetVarint(from, what));
  if (shared > previous.size()) {
    return Corrupt(fmt::format("{} before {} shares {} bytes with one of {}", what,
                               from.position(), shared, previous.size()));
  }
  DOLIUM_TRY(const std::string_view rest, GetText(from, what));
  std::string text(previous.substr(0, static_cast<size_t>(shared)));
  text += rest;
  return text;
}

// A codec that gains parameters must gain them here, with a new version.
void PutCodecs(ByteVector& to, const CodecChain& codecs) {
  for (const CodecStep& step : codecs) {
    to.push_back(static_cast<std::byte>(step.codec));
    if (step.codec != CodecId::kGzip) PutVarint(to, step.decoded_size);
    if (step.codec == CodecId::kSlice) PutVarint(to, step.slice_offset);
  }
}

Result<CodecChain> GetCodecs(ByteReader& from, uint64_t count) {
  if (count > kMaxCodecs) {
    return Corrupt(fmt::format("{} codecs before {}, more than {}", count,
                               from.position(), kMaxCodecs));
  }
  CodecChain codecs;
  codecs.reserve(static_cast<size_t>(count));
  for (uint64_t i = 0; i < count; ++i) {
    DOLIUM_TRY(const uint8_t id, from.Read<uint8_t>("codec"));
    if (id > static_cast<uint8_t>(CodecId::kSlice)) {
      return Corrupt(
          fmt::format("no codec has the number {} (before {})", id, from.position()));
    }
    CodecStep& step = codecs.emplace_back(CodecStep{static_cast<CodecId>(id)});
    if (step.codec != CodecId::kGzip) {
      DOLIUM_TRY(step.decoded_size, GetVarint(from, "decoded size"));
    }
    if (step.codec == CodecId::kSlice) {
      DOLIUM_TRY(step.slice_offset, GetVarint(from, "offset of a slice"));
    }
  }
  return codecs;
}

void PutExtent(ByteVector& to, const Extent& extent,
               const std::function<void(const ObjectPointer&)>& put_object) {
  put_object(extent.object);
  PutVarint(to, extent.range.offset);
  PutVarint(to, extent.range.length);
  PutVarint(to, 2 * uint64_t{extent.codecs.size()} + (extent.crc32c ? 1 : 0));
  if (extent.crc32c) PutVarint(to, *extent.crc32c);
  PutCodecs(to, extent.codecs);
}

Result<Extent> GetExtent(ByteReader& from,
                         const std::function<Result<ObjectPointer>()>& get_object) {
  Extent extent;
  DOLIUM_TRY(extent.object, get_object());
  DOLIUM_TRY(const uint64_t offset, GetVarint(from, "offset"));
  DOLIUM_TRY(const uint64_t length, GetVarint(from, "length"));
  const auto range = ByteRange::Make(offset, length);
  if (!range) {
    return Corrupt(fmt::format("{} bytes at {} end past 2^64 (before {})", length, offset,
                               from.position()));
  }
  extent.range = *range;
  DOLIUM_TRY(const uint64_t codecs, GetVarint(from, "number of codecs"));
  if (codecs % 2 != 0) {
    DOLIUM_TRY(const uint64_t crc32c, GetVarint(from, "CRC-32C"));
    if (crc32c > UINT32_MAX) {
      return Corrupt(
          fmt::format("a CRC-32C of {:#x} (before {})", crc32c, from.position()));
    }
    extent.crc32c = static_cast<uint32_t>(crc32c);
  }
  DOLIUM_TRY(extent.codecs, GetCodecs(from, codecs / 2));
  return extent;
}

}  // namespace

void PutVarint(ByteVector& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7) to.push_back(static_cast<std::byte>(value | 0x80));
  to.push_back(static_cast<std::byte>(value));
}

Result<uint64_t> GetVarint(ByteReader& from, std::string_view what) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    DOLIUM_TRY(const uint8_t byte, from.Read<uint8_t>(what));
    const uint64_t bits = byte & 0x7f;
    if (shift == 63 && bits > 1) break;
    value |= bits << shift;
    if (byte < 0x80) return value;
  }
  return Corrupt(fmt::format("{} before {} does not fit 64 bits", what, from.position()));
}

Result<void> CheckEntry(const Entry& entry) {
  for (const Extent& extent : entry.extents) {
    for (const CodecStep& step : extent.codecs) {
      if (step.decoder) {
        return Unsupported(
            fmt::format("\"{}\" is made of chunks of xorbs, which only the shard that "
                        "lists them can read",
                        entry.key));
      }
      if (!step.dictionary) continue;
      return Unsupported(
                 fmt::format("\"{}\" is compressed with a dictionary, which its shard "
                             "alone has",
                             entry.key))
          .WithHint(Hint::kExportSamples);
    }
  }
  return {};
}

void PutEntry(ByteVector& to, const Entry& entry,
              const std::function<void(const ObjectPointer&)>& put_object) {
  PutText(to, entry.key);
  to.push_back(static_cast<std::byte>((entry.size ? kHasSize : 0) |
                                      (entry.preceding != 0 ? kHasPreceding : 0) |
                                      (entry.preceding_from ? kHasPrecedingFrom : 0)));
  if (entry.size) PutVarint(to, *entry.size);
  if (entry.preceding != 0) PutVarint(to, entry.preceding);
  if (entry.preceding_from) PutExtent(to, *entry.preceding_from, put_object);
  PutVarint(to, entry.extents.size());
  for (const Extent& extent : entry.extents) PutExtent(to, extent, put_object);
}

Result<Entry> GetEntry(ByteReader& from,
                       const std::function<Result<ObjectPointer>()>& get_object) {
  Entry entry;
  DOLIUM_TRY(entry.key, GetText(from, "key"));
  DOLIUM_TRY(const uint8_t flags, from.Read<uint8_t>("flags"));
  if ((flags & ~kAllFlags) != 0) {
    return Corrupt(
        fmt::format("flags {:#x} before {} are not known", flags, from.position()));
  }
  if ((flags & kHasSize) != 0) {
    DOLIUM_TRY(entry.size, GetVarint(from, "size"));
  }
  if ((flags & kHasPreceding) != 0) {
    DOLIUM_TRY(entry.preceding, GetVarint(from, "preceding"));
  }
  if ((flags & kHasPrecedingFrom) != 0) {
    DOLIUM_TRY(entry.preceding_from, GetExtent(from, get_object));
  }
  DOLIUM_TRY(const uint64_t extents, GetVarint(from, "number of extents"));
  // Not reserved: the number is not to be believed before so many extents were read.
  for (uint64_t i = 0; i < extents; ++i) {
    DOLIUM_TRY(Extent extent, GetExtent(from, get_object));
    entry.extents.push_back(std::move(extent));
  }
  return entry;
}

void ObjectSpeller::Put(ByteVector& to, const ObjectVersion& object) {
  static const ObjectVersion kNone;
  const ObjectVersion& previous = previous_ == nullptr ? kNone : *previous_;
  const auto [at, is_new] = numbers_.try_emplace(&object, spelled_);
  // Scans may make several of one object.
  if (is_new && previous_ != nullptr && previous.name == object.name &&
      previous.generation == object.generation) {
    at->second = spelled_ - 1;
  } else if (is_new || spelled_ - at->second > kObjectWindow) {
    PutVarint(to, 0);
    PutDifference(to, previous.name, object.name);
    PutDifference(to, previous.generation.token, object.generation.token);
    previous_ = &object;
    at->second = spelled_++;
    return;
  }
  PutVarint(to, spelled_ - at->second);
}

Result<ObjectPointer> ObjectReader::Get(ByteReader& from, uint64_t share_bytes) {
  DOLIUM_TRY(const uint64_t ago, GetVarint(from, "object"));
  if (ago > std::min(spelled_, kObjectWindow)) {
    return Corrupt(fmt::format("object {} ago before {}, but only {} are known", ago,
                               from.position(), std::min(spelled_, kObjectWindow)));
  }
  const auto known = [&](uint64_t number) -> ObjectPointer& {
    return window_[static_cast<size_t>(number % kObjectWindow)];
  };
  if (ago > 0) return known(spelled_ - ago);
  static const ObjectVersion kNone;
  const ObjectVersion& previous = spelled_ == 0 ? kNone : *known(spelled_ - 1);
  auto object = std::make_shared<ObjectVersion>();
  DOLIUM_TRY(object->name, GetDifference(from, previous.name, "object name"));
  DOLIUM_TRY(object->generation.token,
             GetDifference(from, previous.generation.token, "generation"));
  spelled_bytes_ += object->name.size() + object->generation.token.size();
  if (spelled_bytes_ > kMaxSpelledPerByte * share_bytes + kMaxSpelledFree) {
    return Corrupt(fmt::format("object names of {} bytes before {} repeat too much",
                               spelled_bytes_, from.position()));
  }
  if (spelled_ < kObjectWindow) window_.emplace_back();
  return known(spelled_++) = std::move(object);
}

}  // namespace dolium
