// zstd frames over whole buffers, with or without a dictionary.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium {

inline constexpr int kZstdLevel = 3;

// A trained dictionary, prepared for use. May be used from many threads.
class ZstdDictionary {
 public:
  // kCorrupt if the bytes are not a dictionary with an id. Levels matter to encoders.
  static Result<std::shared_ptr<const ZstdDictionary>> Load(Bytes bytes,
                                                            int level = kZstdLevel);

  // From small values that are like those to come. nullopt if nothing useful can be had
  // from them (too few).
  static std::optional<ByteVector> Train(std::span<const Bytes> samples, size_t capacity);

  ~ZstdDictionary();

  uint32_t id() const { return id_; }
  const Bytes& bytes() const { return bytes_; }

 private:
  struct Prepared;
  friend Result<void> ZstdDecodeInto(BytesView, MutableBytes, const ZstdDictionary*);
  friend ByteVector ZstdEncode(BytesView, int, const ZstdDictionary*);

  ZstdDictionary(Bytes bytes, uint32_t id, std::unique_ptr<Prepared> prepared);

  Bytes bytes_;
  uint32_t id_;
  std::unique_ptr<Prepared> prepared_;
};

// The id of a dictionary by its bytes; 0 if they are none.
uint32_t ZstdIdOfDictionary(BytesView dictionary);

// The dictionary that the frame asks for; 0: none, or not a frame.
uint32_t ZstdDictionaryId(BytesView stored);

// The decoded size that the frame claims; nullopt if it does not, or is not a frame.
std::optional<uint64_t> ZstdClaimedSize(BytesView stored);

// Fills `into` exactly from one frame and nothing else, or it is damaged.
Result<void> ZstdDecodeInto(BytesView stored, MutableBytes into,
                            const ZstdDictionary* dictionary = nullptr);

// Decodes frames that fill `stored`, whether or not they say how large they are.
Result<ByteVector> ZstdDecode(BytesView stored, uint64_t limit);

// One frame with the size of its content and no checksum. With a dictionary, its level
// counts.
ByteVector ZstdEncode(BytesView value, int level = kZstdLevel,
                      const ZstdDictionary* dictionary = nullptr);

// One frame with the size of its content and a checksum.
ByteVector ZstdEncodeChecked(BytesView value, int level = kZstdLevel);

}  // namespace dolium
