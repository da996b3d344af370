#include "dolium/formats/xet/xorb_footer.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/formats/xet/merkle.h"
#include "dolium/formats/xet/xorb_record.h"

namespace dolium::xet {

namespace {

constexpr std::string_view kMagic = "XETBLOB";
constexpr std::string_view kHashesMagic = "XBLBHSH";
constexpr std::string_view kBoundsMagic = "XBLBBND";
constexpr uint64_t kBufferSize = 16;

Result<uint8_t> ReadSection(ByteReader& reader, std::string_view magic) {
  DOLIUM_TRY(const BytesView found, reader.ReadBytes(magic.size(), magic));
  if (AsText(found) != magic) {
    return Corrupt(fmt::format("xorb footer has no {} at {}", magic,
                               reader.position() - magic.size()));
  }
  return reader.Read<uint8_t>("version");
}

Result<void> CheckVersion(std::string_view what, uint8_t found, uint8_t expected) {
  if (found == expected) return {};
  return Corrupt(fmt::format("{} of a xorb footer has version {}, {} expected", what,
                             found, expected));
}

Result<uint32_t> ReadCount(ByteReader& reader) {
  DOLIUM_TRY(const auto count, reader.Read<uint32_t>("number of chunks"));
  if (count == 0 || count > kMaxXorbChunks) {
    return Corrupt(fmt::format("xorb footer has {} chunks, 1 to {} expected", count,
                               kMaxXorbChunks));
  }
  return count;
}

Result<void> ReadEqual(ByteReader& reader, std::string_view what, uint64_t expected) {
  DOLIUM_TRY(const auto found, reader.Read<uint32_t>(what));
  if (found == expected) return {};
  return Corrupt(
      fmt::format("{} of a xorb footer is {}, {} expected", what, found, expected));
}

Result<std::vector<Hash>> ReadHashes(ByteReader& reader, uint32_t count) {
  DOLIUM_TRY(const BytesView bytes,
             reader.ReadBytes(uint64_t{count} * Hash::kSize, "chunk hashes"));
  std::vector<Hash> hashes(count);
  std::memcpy(hashes.data(), bytes.data(), bytes.size());
  return hashes;
}

// Offsets that ascend by `least` to `most` each.
Result<std::vector<uint32_t>> ReadEnds(ByteReader& reader, uint32_t count,
                                       std::string_view what, uint64_t least,
                                       uint64_t most) {
  DOLIUM_TRY(const BytesView bytes, reader.ReadBytes(uint64_t{count} * 4, what));
  std::vector<uint32_t> ends(count);
  uint64_t before = 0;
  for (size_t i = 0; i < count; ++i) {
    ends[i] = LoadLE<uint32_t>(bytes.data() + 4 * i);
    if (ends[i] < before + least || ends[i] > before + most) {
      return Corrupt(fmt::format("{}: chunk {} ends at {}, {} to {} expected", what, i,
                                 ends[i], before + least, before + most));
    }
    before = ends[i];
  }
  return ends;
}

Result<std::vector<uint32_t>> ReadRecordEnds(ByteReader& reader, uint32_t count,
                                             uint64_t begin) {
  DOLIUM_TRY(auto ends, ReadEnds(reader, count, "ends of records", kChunkHeaderSize + 1,
                                 kMaxRecord));
  if (ends.back() != begin) {
    return Corrupt(fmt::format(
        "last record of a xorb ends at {}, its footer begins at {}", ends.back(), begin));
  }
  return ends;
}

Result<void> ReadVersion0(ByteReader& reader, uint64_t begin, XorbIndex& index) {
  DOLIUM_TRY(const uint32_t count, ReadCount(reader));
  DOLIUM_TRY(index.record_ends, ReadRecordEnds(reader, count, begin));
  DOLIUM_TRY(index.chunks, ReadHashes(reader, count));
  DOLIUM_TRY_VOID(reader.ReadBytes(kBufferSize, "reserved bytes"));
  return {};
}

Result<void> ReadVersion1(ByteReader& reader, uint64_t begin, XorbIndex& index) {
  DOLIUM_TRY(const uint8_t hashes_version, ReadSection(reader, kHashesMagic));
  DOLIUM_TRY_VOID(CheckVersion(kHashesMagic, hashes_version, 0));
  DOLIUM_TRY(const uint32_t count, ReadCount(reader));
  DOLIUM_TRY(index.chunks, ReadHashes(reader, count));
  DOLIUM_TRY(const uint8_t bounds_version, ReadSection(reader, kBoundsMagic));
  DOLIUM_TRY_VOID(CheckVersion(kBoundsMagic, bounds_version, 1));
  DOLIUM_TRY_VOID(ReadEqual(reader, "second number of chunks", count));
  DOLIUM_TRY(index.record_ends, ReadRecordEnds(reader, count, begin));
  DOLIUM_TRY(index.raw_ends, ReadEnds(reader, count, "ends of chunks", 1, kMaxRawChunk));
  DOLIUM_TRY_VOID(ReadEqual(reader, "third number of chunks", count));
  DOLIUM_TRY_VOID(
      ReadEqual(reader, "distance from the hashes", 52 + 40 * uint64_t{count}));
  DOLIUM_TRY_VOID(
      ReadEqual(reader, "distance from the boundaries", 40 + 8 * uint64_t{count}));
  // A nonce of four bytes, which may be anything, and twelve zeros.
  DOLIUM_TRY_VOID(reader.ReadBytes(kBufferSize, "reserved bytes"));
  return {};
}

void AppendNumber(ByteVector& out, uint64_t number) {
  out.resize(out.size() + 4);
  StoreLE(out.data() + out.size() - 4, static_cast<uint32_t>(number));
}

void AppendSection(ByteVector& out, std::string_view magic, uint8_t version) {
  Append(out, AsBytes(magic));
  out.push_back(static_cast<std::byte>(version));
}

}  // namespace

ByteRange XorbIndex::records(size_t first, size_t end) const {
  const uint64_t from = first == 0 ? 0 : record_ends[first - 1];
  const uint64_t to = end == 0 ? 0 : record_ends[end - 1];
  return {from, to - from};
}

size_t XorbIndex::ChunkAt(uint64_t raw_position) const {
  return static_cast<size_t>(
      std::upper_bound(raw_ends.begin(), raw_ends.end(), raw_position) -
      raw_ends.begin());
}

bool IsXorbFooter(BytesView bytes) { return AsText(bytes).starts_with(kMagic); }

Result<uint64_t> FooterBytesOf(BytesView last, uint64_t object_size) {
  if (last.size() < kXorbFooterLengthSize) {
    return Corrupt(fmt::format("{} bytes are no xorb", last.size()));
  }
  const uint64_t length =
      LoadLE<uint32_t>(last.data() + last.size() - kXorbFooterLengthSize);
  if (length + kXorbFooterLengthSize > object_size) {
    return Corrupt(
        fmt::format("xorb footer of {} bytes in an object of {}", length, object_size));
  }
  return length + kXorbFooterLengthSize;
}

Result<XorbIndex> ParseXorbFooter(BytesView bytes, uint64_t begin) {
  ByteReader reader(bytes);
  XorbIndex index;
  DOLIUM_TRY(const uint8_t version, ReadSection(reader, kMagic));
  DOLIUM_TRY(const BytesView hash, reader.ReadBytes(Hash::kSize, "xorb hash"));
  index.hash = Hash::Load(hash.data());
  if (version > 1) {
    return Unsupported(
        fmt::format("xorb footer has version {}, 0 or 1 expected", version));
  }
  DOLIUM_TRY_VOID(version == 0 ? ReadVersion0(reader, begin, index)
                               : ReadVersion1(reader, begin, index));
  const size_t length = reader.position();
  DOLIUM_TRY_VOID(ReadEqual(reader, "length", length));
  if (reader.remaining() != 0) {
    return Corrupt(fmt::format("{} bytes follow the xorb footer", reader.remaining()));
  }
  return index;
}

void AppendXorbFooter(const XorbIndex& index, ByteVector& out) {
  const size_t begin = out.size();
  const uint64_t count = index.size();
  AppendSection(out, kMagic, 1);
  Append(out, index.hash.view());
  AppendSection(out, kHashesMagic, 0);
  AppendNumber(out, count);
  Append(out, std::as_bytes(std::span(index.chunks)));
  AppendSection(out, kBoundsMagic, 1);
  AppendNumber(out, count);
  for (const uint32_t end : index.record_ends) AppendNumber(out, end);
  for (const uint32_t end : index.raw_ends) AppendNumber(out, end);
  AppendNumber(out, count);
  AppendNumber(out, 52 + 40 * count);
  AppendNumber(out, 40 + 8 * count);
  out.resize(out.size() + kBufferSize);
  AppendNumber(out, out.size() - begin);
}

Result<void> CheckXorbHash(const XorbIndex& index, const Hash& expected) {
  MerkleBuilder tree;
  for (size_t i = 0; i < index.size(); ++i) tree.Add(index.chunks[i], index.raw_size(i));
  if (const Hash found = tree.Root(); found != expected) {
    return Corrupt(fmt::format("chunks give a xorb the hash {}, {} expected",
                               ToString(found), ToString(expected)));
  }
  return {};
}

}  // namespace dolium::xet
