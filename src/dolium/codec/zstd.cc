#include "dolium/codec/zstd.h"

#include <zdict.h>
#include <zstd.h>

#include <new>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/bytes/zstd_stream.h"

namespace dolium {

namespace {

struct FreeZstd {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
  void operator()(ZSTD_CDict* dictionary) const { ZSTD_freeCDict(dictionary); }
  void operator()(ZSTD_DDict* dictionary) const { ZSTD_freeDDict(dictionary); }
};

ZSTD_CCtx* ThreadZstdCompressor() {
  thread_local std::unique_ptr<ZSTD_CCtx, FreeZstd> context(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  return context.get();
}

ZSTD_DCtx* ThreadZstdDecompressor() {
  thread_local std::unique_ptr<ZSTD_DCtx, FreeZstd> context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  return context.get();
}

}  // namespace

struct ZstdDictionary::Prepared {
  std::unique_ptr<ZSTD_CDict, FreeZstd> to_encode;
  std::unique_ptr<ZSTD_DDict, FreeZstd> to_decode;
};

ZstdDictionary::ZstdDictionary(Bytes bytes, uint32_t id,
                               std::unique_ptr<Prepared> prepared)
    : bytes_(std::move(bytes)), id_(id), prepared_(std::move(prepared)) {}

ZstdDictionary::~ZstdDictionary() = default;

Result<std::shared_ptr<const ZstdDictionary>> ZstdDictionary::Load(Bytes bytes,
                                                                   int level) {
  const uint32_t id = ZstdIdOfDictionary(bytes);
  if (id == 0) {
    return Corrupt(fmt::format("{} bytes that are no zstd dictionary", bytes.size()));
  }
  auto prepared = std::make_unique<Prepared>();
  prepared->to_encode.reset(ZSTD_createCDict(bytes.data(), bytes.size(), level));
  prepared->to_decode.reset(ZSTD_createDDict(bytes.data(), bytes.size()));
  if (!prepared->to_encode || !prepared->to_decode) {
    return Corrupt(fmt::format("zstd dictionary {} is damaged", id));
  }
  return std::shared_ptr<const ZstdDictionary>(
      new ZstdDictionary(std::move(bytes), id, std::move(prepared)));
}

std::optional<ByteVector> ZstdDictionary::Train(std::span<const Bytes> samples,
                                                size_t capacity) {
  ByteVector joined;
  std::vector<size_t> sizes;
  for (const Bytes& sample : samples) {
    Append(joined, sample);
    sizes.push_back(sample.size());
  }
  ByteVector out(capacity);
  const size_t size =
      ZDICT_trainFromBuffer(out.data(), out.size(), joined.data(), sizes.data(),
                            static_cast<unsigned>(sizes.size()));
  if (ZDICT_isError(size) != 0) return std::nullopt;
  out.resize(size);
  return out;
}

uint32_t ZstdIdOfDictionary(BytesView dictionary) {
  return ZDICT_getDictID(dictionary.data(), dictionary.size());
}

uint32_t ZstdDictionaryId(BytesView stored) {
  return ZSTD_getDictID_fromFrame(stored.data(), stored.size());
}

std::optional<uint64_t> ZstdClaimedSize(BytesView stored) {
  const unsigned long long size = ZSTD_getFrameContentSize(stored.data(), stored.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR) {
    return std::nullopt;
  }
  return size;
}

Result<void> ZstdDecodeInto(BytesView stored, MutableBytes into,
                            const ZstdDictionary* dictionary) {
  // The library would take several frames, and skip some.
  const size_t frame = ZSTD_findFrameCompressedSize(stored.data(), stored.size());
  if (ZSTD_isError(frame) != 0) {
    return Corrupt(fmt::format("zstd: {}", ZSTD_getErrorName(frame)));
  }
  if (frame != stored.size() || LoadLE<uint32_t>(stored.data()) != ZSTD_MAGICNUMBER) {
    return Corrupt(
        fmt::format("{} bytes that are not one zstd frame: the first ends at {}",
                    stored.size(), frame));
  }
  ZSTD_DCtx* context = ThreadZstdDecompressor();
  const size_t got = dictionary != nullptr
                         ? ZSTD_decompress_usingDDict(
                               context, into.data(), into.size(), stored.data(),
                               stored.size(), dictionary->prepared_->to_decode.get())
                         : ZSTD_decompressDCtx(context, into.data(), into.size(),
                                               stored.data(), stored.size());
  if (ZSTD_isError(got) != 0) {
    return Corrupt(fmt::format("zstd: {}", ZSTD_getErrorName(got)));
  }
  if (got != into.size()) {
    return Corrupt(
        fmt::format("zstd frame decodes to {} bytes, {} expected", got, into.size()));
  }
  return {};
}

Result<ByteVector> ZstdDecode(BytesView stored, uint64_t limit) {
  ZstdStream stream;
  ByteVector out;
  DOLIUM_TRY_VOID(stream.Write(stored, out, limit));
  if (!stream.finished()) {
    return Corrupt(fmt::format("zstd stream is cut short: {} bytes decode to {} so far",
                               stored.size(), out.size()));
  }
  return out;
}

ByteVector ZstdEncode(BytesView value, int level, const ZstdDictionary* dictionary) {
  ZSTD_CCtx* context = ThreadZstdCompressor();
  ByteVector out(ZSTD_compressBound(value.size()));
  const size_t size =
      dictionary != nullptr
          ? ZSTD_compress_usingCDict(context, out.data(), out.size(), value.data(),
                                     value.size(), dictionary->prepared_->to_encode.get())
          : ZSTD_compressCCtx(context, out.data(), out.size(), value.data(), value.size(),
                              level);
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // The only way it can fail here.
  out.resize(size);
  return out;
}

ByteVector ZstdEncodeChecked(BytesView value, int level) {
  // Not the one that others use: parameters stay.
  thread_local std::unique_ptr<ZSTD_CCtx, FreeZstd> context(ZSTD_createCCtx());
  if (!context) throw std::bad_alloc();
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_compressionLevel, level);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  ByteVector out(ZSTD_compressBound(value.size()));
  const size_t size =
      ZSTD_compress2(context.get(), out.data(), out.size(), value.data(), value.size());
  if (ZSTD_isError(size) != 0) throw std::bad_alloc();  // The only way it can fail here.
  out.resize(size);
  return out;
}

}  // namespace dolium
