#include "dolium/formats/xet/xorb_stream.h"

#include <algorithm>

#include <fmt/format.h>

namespace dolium::xet {

namespace {

constexpr uint64_t kMaxFooter = XorbFooterBytes(kMaxXorbChunks);

}  // namespace

Result<void> XorbStream::TakeRecord(const ChunkHeader& header, BytesView stored) {
  if (index_.size() == kMaxXorbChunks) {
    return Corrupt(fmt::format("xorb has more than {} chunks", kMaxXorbChunks));
  }
  if (tree_.size() + header.raw > kMaxXorbRaw) {
    return Corrupt(fmt::format("xorb has more than {} raw bytes", kMaxXorbRaw));
  }
  BytesView raw = stored;
  if (header.scheme != Scheme::kNone || header.raw != stored.size()) {
    raw_.resize(header.raw);
    DOLIUM_TRY_VOID(decompressor_.Decode(header.scheme, stored, raw_));
    raw = raw_;
  }
  const Hash hash = ChunkHash(raw);
  position_ += header.record_size();
  tree_.Add(hash, header.raw);
  index_.chunks.push_back(hash);
  // 8192 records of the largest size stay below 2^32.
  index_.record_ends.push_back(static_cast<uint32_t>(position_));
  index_.raw_ends.push_back(static_cast<uint32_t>(tree_.size()));
  if (!visit_) return {};
  return visit_({.index = index_.size() - 1, .header = header, .hash = hash, .raw = raw});
}

Result<bool> XorbStream::TakeOne(BytesView& from) {
  if (from.size() < kChunkHeaderSize) return false;
  if (IsXorbFooter(from)) {
    in_footer_ = true;
    return false;
  }
  DOLIUM_TRY(const ChunkHeader header, ParseChunkHeader(from));
  if (from.size() < header.record_size()) return false;
  const auto size = static_cast<size_t>(header.record_size());
  DOLIUM_TRY_VOID(TakeRecord(header, from.subspan(kChunkHeaderSize, header.stored)));
  from = from.subspan(size);
  return true;
}

Result<void> XorbStream::Write(BytesView segment) {
  const auto in_chunk = [this](Error error) {
    return std::move(error).Within(fmt::format("chunk {}", index_.size()));
  };
  // Completes the record that was begun, as far as the next bytes go.
  while (!in_footer_ && !pending_.empty() && !segment.empty()) {
    uint64_t wanted = kChunkHeaderSize;
    if (pending_.size() >= kChunkHeaderSize) {
      auto header = ParseChunkHeader(pending_);
      if (!header) return in_chunk(std::move(header).error());
      wanted = header->record_size();
    }
    const auto more =
        static_cast<size_t>(std::min<uint64_t>(wanted - pending_.size(), segment.size()));
    Append(pending_, segment.first(more));
    segment = segment.subspan(more);
    BytesView from = pending_;
    auto taken = TakeOne(from);
    if (!taken) return in_chunk(std::move(taken).error());
    if (*taken) pending_.clear();
  }
  while (!in_footer_ && !segment.empty()) {
    auto taken = TakeOne(segment);
    if (!taken) return in_chunk(std::move(taken).error());
    if (!*taken) break;
  }
  if (in_footer_ && pending_.size() + segment.size() > kMaxFooter) {
    return Corrupt(fmt::format("xorb footer has more than {} bytes", kMaxFooter));
  }
  Append(pending_, segment);
  return {};
}

Result<void> XorbStream::CheckFooter() const {
  DOLIUM_TRY(const XorbIndex said, ParseXorbFooter(pending_, position_));
  if (said.hash != index_.hash) {
    return Corrupt(fmt::format("xorb has the hash {}, its footer says {}",
                               ToString(index_.hash), ToString(said.hash)));
  }
  if (said.size() != index_.size()) {
    return Corrupt(fmt::format("xorb has {} chunks, its footer says {}", index_.size(),
                               said.size()));
  }
  for (size_t i = 0; i < index_.size(); ++i) {
    if (said.chunks[i] != index_.chunks[i]) {
      return Corrupt(fmt::format("chunk {} has the hash {}, the footer says {}", i,
                                 ToString(index_.chunks[i]), ToString(said.chunks[i])));
    }
    if (said.record_ends[i] != index_.record_ends[i]) {
      return Corrupt(fmt::format("record of chunk {} ends at {}, the footer says {}", i,
                                 index_.record_ends[i], said.record_ends[i]));
    }
    if (!said.raw_ends.empty() && said.raw_ends[i] != index_.raw_ends[i]) {
      return Corrupt(fmt::format("raw bytes of chunk {} end at {}, the footer says {}", i,
                                 index_.raw_ends[i], said.raw_ends[i]));
    }
  }
  return {};
}

Result<XorbIndex> XorbStream::Finish() {
  if (!in_footer_ && !pending_.empty()) {
    return Corrupt(fmt::format("xorb ends within chunk {}", index_.size()));
  }
  if (index_.size() == 0) return Corrupt("xorb has no chunks");
  index_.hash = tree_.Root();
  if (in_footer_) DOLIUM_TRY_VOID(CheckFooter());
  return std::move(index_);
}

Result<XorbIndex> VerifyXorb(BytesView object, const Hash* name) {
  XorbStream stream;
  DOLIUM_TRY_VOID(stream.Write(object));
  DOLIUM_TRY(XorbIndex index, stream.Finish());
  if (name != nullptr && index.hash != *name) {
    return Corrupt(fmt::format("xorb has the hash {}, {} expected", ToString(index.hash),
                               ToString(*name)));
  }
  return index;
}

}  // namespace dolium::xet
