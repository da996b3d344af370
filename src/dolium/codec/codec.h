// Codec: bytes to bytes, undoing or doing one encoding, within limits.
//
// Decoders take hostile input: they never allocate more than `limit`, nor more than the
// input could truly hold. All functions may be called from many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium {

class ZstdDictionary;

// Numbers are those of work lists (ops/work_record.h).
enum class CodecId : uint8_t { kGzip, kLz4Block, kZstd, kLz4Frame, kSlice, kXetChunks };

// Undoes an encoding that only its format knows. May be called from many threads.
class StepDecoder {
 public:
  virtual ~StepDecoder() = default;

  // Fills `into` exactly, or `stored` is kCorrupt.
  virtual Result<void> DecodeInto(BytesView stored, MutableBytes into) const = 0;
};

// One step of a chain. Codecs with parameters add them here.
struct CodecStep {
  CodecId codec = CodecId::kGzip;
  // All but kGzip: what a step that is undone gives, exactly.
  uint64_t decoded_size = 0;
  // kZstd: what the frame cannot be read without; mostly none.
  std::shared_ptr<const ZstdDictionary> dictionary = {};
  // kSlice: where in the bytes it is given those begin that it gives. It is no encoding,
  // but where several entries were encoded together.
  uint64_t slice_offset = 0;
  // kXetChunks: what undoes it. It cannot be done here.
  std::shared_ptr<const StepDecoder> decoder = {};

  friend bool operator==(const CodecStep&, const CodecStep&) = default;
};

// Applied left to right when reading; empty means raw bytes.
using CodecChain = std::vector<CodecStep>;

std::string_view CodecName(CodecId codec);
// "raw", "gzip", "lz4", "zstd", "lz4-frame", "slice", "xet", "a+b".
std::string ToString(const CodecChain& chain);

// The most that one decoded value may take unless the caller says otherwise: 2 GiB.
inline constexpr uint64_t kDefaultDecodeLimit = uint64_t{2} << 30;

// Undoes the chain. Without steps, the result shares `stored`. kCorrupt if the bytes do
// not decode, or decode to more than `limit`.
Result<Bytes> Decode(const CodecChain& chain, const Bytes& stored, uint64_t limit);

// The size of the value, as far as the stored bytes claim it; nullopt if they do not, or
// if they are not to be believed. For a caller who has a place of that size for
// DecodeInto().
std::optional<uint64_t> ClaimedSize(const CodecChain& chain, BytesView stored);

// Undoes the chain into memory that the caller has. False if the value has another size
// than `into`, whose bytes mean nothing then.
Result<bool> DecodeInto(const CodecChain& chain, BytesView stored, MutableBytes into);

// Does the chain, right to left. kInvalidArgument for a step whose decoded size is
// another than that of what it is given, which would need a dictionary or its format, or
// for a slice.
Result<ByteVector> Encode(const CodecChain& chain, BytesView value);

}  // namespace dolium
