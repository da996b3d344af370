// How the chunks of a xorb are compressed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium::xet {

// Numbers are those of chunk headers.
enum class Scheme : uint8_t {
  kNone = 0,
  kLz4 = 1,     // one LZ4 frame
  kBg4Lz4 = 2,  // bg4.h, then one LZ4 frame
};

// "none", "lz4", "bg4-lz4".
std::string_view SchemeName(Scheme scheme);
// nullopt for a number that is no scheme.
std::optional<Scheme> SchemeOf(uint8_t number);

// How far the bits set in the bytes of each position modulo four are spread from those
// of all bytes; NaN if a position lacks bytes with some number of bits.
std::array<double, 4> BitSpread(BytesView chunk);

// kLz4 or kBg4Lz4, as the stock client chooses: by the largest of BitSpread(), of which
// NaNs are passed over. Numbers whose upper bytes are all alike therefore get plain LZ4,
// and so do zeros. The stock client asks for the first of each 32 chunks.
Scheme ChooseScheme(BytesView chunk);

// Chooses for runs of chunks, as the stock client does: the first of each 32 decides for
// the others. One thread at a time.
class SchemeChooser {
 public:
  Scheme Next(BytesView chunk);
  // The next chunk begins a run: it is the first of another file.
  void Restart() { left_ = 0; }

 private:
  Scheme scheme_ = Scheme::kLz4;
  unsigned left_ = 0;
};

// A chunk as it is stored. `bytes` lies in the chunk or in the compressor.
struct EncodedChunk {
  Scheme scheme = Scheme::kNone;
  BytesView bytes;
};

// Keeps its memory between chunks. One thread at a time.
class ChunkCompressor {
 public:
  // Compresses by `scheme`, or stores if that is not smaller. The frame is as small as
  // frames are: no checksums, no sizes, one block. Precondition: at most 131072 bytes.
  EncodedChunk Encode(BytesView chunk, Scheme scheme);

 private:
  ByteVector grouped_;
  ByteVector frame_;
};

// Takes any LZ4 frame but those that need a dictionary. Keeps its memory between chunks.
// One thread at a time.
class ChunkDecompressor {
 public:
  ChunkDecompressor() = default;
  ~ChunkDecompressor();
  ChunkDecompressor(const ChunkDecompressor&) = delete;
  ChunkDecompressor& operator=(const ChunkDecompressor&) = delete;

  // Fills `into` exactly, or `stored` is kCorrupt.
  Result<void> Decode(Scheme scheme, BytesView stored, MutableBytes into);

 private:
  Result<void> DecodeFrame(BytesView frame, MutableBytes into);
  Result<void> DecodeAnyFrame(BytesView frame, MutableBytes into);

  void* context_ = nullptr;  // an LZ4F_dctx
  ByteVector grouped_;
};

}  // namespace dolium::xet
