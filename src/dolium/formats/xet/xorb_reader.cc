#include "dolium/formats/xet/xorb_reader.h"

#include <optional>

#include <fmt/format.h>

namespace dolium::xet {

namespace {

// The footer of `object`, with the length behind it; nullopt if there is none.
std::optional<BytesView> FooterOf(BytesView object) {
  const auto size = FooterBytesOf(object, object.size());
  if (!size) return std::nullopt;
  const BytesView footer = object.last(static_cast<size_t>(*size));
  if (!IsXorbFooter(footer)) return std::nullopt;
  return footer;
}

// Record and raw ends from the headers of the chunks that fill `records`, or that stand
// before a footer which is met.
Result<XorbIndex> WalkHeaders(BytesView records) {
  XorbIndex index;
  uint64_t raw = 0;
  size_t at = 0;
  while (at < records.size()) {
    const BytesView rest = records.subspan(at);
    const auto within = fmt::format("chunk {}", index.size());
    if (IsXorbFooter(rest))
      return Corrupt("xorb footer has a length that is not its own");
    if (rest.size() < kChunkHeaderSize) {
      return Corrupt("xorb ends within a header").Within(within);
    }
    DOLIUM_TRY(const ChunkHeader header, ParseChunkHeader(rest).Within(within));
    if (header.record_size() > rest.size()) {
      return Corrupt(fmt::format("record has {} bytes, {} remain", header.record_size(),
                                 rest.size()))
          .Within(within);
    }
    if (index.size() == kMaxXorbChunks) {
      return Corrupt(fmt::format("xorb has more than {} chunks", kMaxXorbChunks));
    }
    at += static_cast<size_t>(header.record_size());
    raw += header.raw;
    index.record_ends.push_back(static_cast<uint32_t>(at));
    index.raw_ends.push_back(static_cast<uint32_t>(raw));
  }
  if (index.size() == 0) return Corrupt("xorb has no chunks");
  return index;
}

Result<XorbIndex> OpenByFooter(BytesView records, BytesView footer, const Hash* name) {
  DOLIUM_TRY(XorbIndex index, ParseXorbFooter(footer, records.size()));
  if (index.raw_ends.empty()) {
    DOLIUM_TRY(XorbIndex walked, WalkHeaders(records));
    if (walked.record_ends != index.record_ends) {
      return Corrupt("xorb footer says that records end elsewhere than they do");
    }
    index.raw_ends = std::move(walked.raw_ends);
  }
  if (name != nullptr) DOLIUM_TRY_VOID(CheckXorbHash(index, *name));
  return index;
}

}  // namespace

Result<XorbIndex> OpenXorb(BytesView object, const Hash* name) {
  const auto footer = FooterOf(object);
  if (!footer) return WalkHeaders(object);
  auto index = OpenByFooter(object.first(object.size() - footer->size()), *footer, name);
  if (index) return index;
  // Perhaps there is no footer, but a last chunk that ends like one.
  auto walked = WalkHeaders(object);
  return walked ? std::move(walked) : std::move(index);
}

Result<void> ReadChunks(const XorbIndex& index, size_t first, size_t end,
                        BytesView records, ChunkDecompressor& decompressor,
                        MutableBytes into) {
  const uint64_t stored = index.records(first, end).length;
  const uint64_t raw = index.raw_offset(end) - index.raw_offset(first);
  if (records.size() != stored || into.size() != raw) {
    return InvalidArgument(
        fmt::format("chunks {} to {} have {} stored bytes and {} raw ones, not {} and {}",
                    first, end, stored, raw, records.size(), into.size()));
  }
  for (size_t i = first; i < end; ++i) {
    const auto record = static_cast<size_t>(index.records(i, i + 1).length);
    const auto size = static_cast<size_t>(index.raw_size(i));
    const Hash* expected = index.chunks.empty() ? nullptr : &index.chunks[i];
    DOLIUM_TRY_VOID(
        ReadRecord(records.first(record), decompressor, expected, into.first(size))
            .Within(fmt::format("chunk {}", i)));
    records = records.subspan(record);
    into = into.subspan(size);
  }
  return {};
}

}  // namespace dolium::xet
