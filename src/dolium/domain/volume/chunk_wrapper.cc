#include "dolium/domain/volume/chunk_wrapper.h"

#include <algorithm>

#include "dolium/codec/brotli.h"
#include "dolium/codec/codec.h"
#include "dolium/codec/gzip.h"
#include "dolium/codec/zstd.h"

namespace dolium::volume {

namespace {

struct WrapperName {
  Wrapper wrapper;
  std::string_view name;
};

constexpr std::array<WrapperName, 4> kWrapperNames = {{{Wrapper::kNone, "none"},
                                                       {Wrapper::kGzip, "gzip"},
                                                       {Wrapper::kBrotli, "brotli"},
                                                       {Wrapper::kZstd, "zstd"}}};

}  // namespace

const ChunkForm& NewChunkForm(Wrapper wrapper) {
  return *std::ranges::find(kChunkForms, wrapper, &ChunkForm::wrapper);
}

std::string_view ToString(Wrapper wrapper) {
  return std::ranges::find(kWrapperNames, wrapper, &WrapperName::wrapper)->name;
}

std::optional<Wrapper> ParseWrapper(std::string_view text) {
  const auto found = std::ranges::find(kWrapperNames, text, &WrapperName::name);
  if (found == kWrapperNames.end()) return std::nullopt;
  return found->wrapper;
}

const ChunkForm& FormOf(std::string_view name) {
  // The last one has no suffix.
  return *std::ranges::find_if(
      kChunkForms, [&](const ChunkForm& form) { return name.ends_with(form.suffix); });
}

Wrapper WrapperOf(BytesView head) {
  constexpr std::byte kGzipMagic[] = {std::byte{0x1f}, std::byte{0x8b}, std::byte{8}};
  constexpr std::byte kZstdMagic[] = {std::byte{0x28}, std::byte{0xb5}, std::byte{0x2f},
                                      std::byte{0xfd}};
  const auto begins = [&](BytesView magic) {
    return head.size() >= magic.size() && Equal(head.first(magic.size()), magic);
  };
  if (begins(kGzipMagic)) return Wrapper::kGzip;
  return begins(kZstdMagic) ? Wrapper::kZstd : Wrapper::kNone;
}

Result<Bytes> Unwrap(Wrapper wrapper, const Bytes& stored, uint64_t limit) {
  switch (wrapper) {
    case Wrapper::kNone:
      break;
    case Wrapper::kGzip:
      return Decode({{CodecId::kGzip}}, stored, limit);
    case Wrapper::kBrotli: {
      DOLIUM_TRY(ByteVector encoded, BrotliDecode(stored, limit));
      return Bytes::FromVector(std::move(encoded));
    }
    case Wrapper::kZstd: {
      DOLIUM_TRY(ByteVector encoded, ZstdDecode(stored, limit));
      return Bytes::FromVector(std::move(encoded));
    }
  }
  return stored;
}

ByteVector Wrap(Wrapper wrapper, BytesView encoded) {
  switch (wrapper) {
    case Wrapper::kNone:
      break;
    case Wrapper::kGzip:
      return GzipEncode(encoded);
    case Wrapper::kBrotli:
      return BrotliEncode(encoded);
    case Wrapper::kZstd:
      return ZstdEncode(encoded);
  }
  return {encoded.begin(), encoded.end()};
}

}  // namespace dolium::volume
