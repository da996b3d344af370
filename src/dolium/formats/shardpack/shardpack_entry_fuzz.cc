// A content of arbitrary bytes under an arbitrary codec, whole and in chunks.
#include <cstddef>
#include <cstdint>

#include "dolium/base/endian.h"
#include "dolium/formats/shardpack/content.h"
#include "dolium/formats/shardpack/layout.h"

using namespace dolium;
using namespace dolium::shardpack;

// Codec, flags, raw size (4 bytes), then the content.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHeader = 6;
  if (size < kHeader) return 0;
  const Bytes stored =
      Bytes::Copy(std::as_bytes(std::span(data + kHeader, size - kHeader)));
  const EntryHeader header{
      .stored_size = stored.size(),
      .raw_size = LoadLE<uint32_t>(reinterpret_cast<const std::byte*>(data + 2)),
      .codec = data[0],
      .flags = data[1]};
  const ContentOptions options{
      .check = Check::kNone, .raw_limit = 1 << 22, .ratio_limit = 1000};
  const auto whole = DecodeContent(header, stored, options);
  const auto needed = DictionariesNeeded(header, stored);
  static_cast<void>(needed.has_value());
  static_cast<void>(CheckStored(header, stored).has_value());
  if (!whole) return 0;
  const bool is_as_it_is = header.codec == 0 && !header.is_chunked();
  if (!is_as_it_is && whole->size() != header.raw_size) __builtin_trap();
  if (whole->size() != header.raw_size) return 0;
  // Any part is that part of the whole.
  const ByteRange range{header.raw_size / 3, header.raw_size / 2};
  const auto part = DecodeContentRange(header, stored, range, options);
  if (part && !Equal(*part, whole->view().subspan(range.offset, range.length))) {
    __builtin_trap();
  }
  return 0;
}
