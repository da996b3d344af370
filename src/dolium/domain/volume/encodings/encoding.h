// Voxel encodings: how the dense array of one chunk becomes bytes, and back.
//
// The encoding is that of the volume's `info`; what the storage adds around it (gzip in
// shards or files) is a codec and not seen here. Decoders take hostile input: they
// allocate no more than the chunk's own size plus what the encoded bytes could hold. All
// functions may be called from many threads. Errors do not name the chunk; callers do.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/voxels.h"

namespace dolium::volume {

enum class Encoding : uint8_t {
  kRaw,
  kJpeg,
  kPng,
  kJxl,
  kCompressedSegmentation,
  kCompresso,
};

std::string_view ToString(Encoding encoding);
// Ignores case; nullopt if there is no such encoding.
std::optional<Encoding> ParseEncoding(std::string_view name);

// An encoding with all that its encoder may be given. Decoders use block_size only.
struct EncodingSpec {
  Encoding encoding = Encoding::kRaw;
  Vec3 block_size = {8, 8, 8};  // compressed_segmentation
  int jpeg_quality = 75;        // 0 ... 100
  int png_level = 6;            // 0 ... 9
  int jxl_quality = 85;         // 0 ... 100; 100 is lossless
  int jxl_effort = 5;           // 1 ... 9
  int jxl_decoding_speed = 0;   // 0 ... 4

  friend bool operator==(const EncodingSpec&, const EncodingSpec&) = default;
};

// kInvalidArgument if a setting is out of its range, whether or not it is one of this
// encoding: `jpeg_quality: found 101, expected an integer from 0 to 100`.
Result<void> CheckSettings(const EncodingSpec& spec);

// kUnsupported, with the reason, if no chunk of this type and number of channels can have
// this encoding; kInvalidArgument as CheckSettings().
Result<void> CheckEncodable(const EncodingSpec& spec, DataType type, int64_t channels);

// Whether decoding gives exactly the voxels that were encoded.
bool IsLossless(const EncodingSpec& spec);

// Whether encoded chunks are compressed already, so that gzip around them is wasted.
bool IsCompressed(Encoding encoding);

// Fills `voxels`. kCorrupt if `stored` is not a chunk of this shape.
// Precondition: CheckEncodable holds, voxels.size() == shape.bytes().
Result<void> DecodeVoxels(const EncodingSpec& spec, const ArrayShape& shape,
                          BytesView stored, MutableBytes voxels);

// kUnsupported if this very chunk cannot be encoded (too large for the encoding, say).
// Precondition: as for DecodeVoxels.
Result<ByteVector> EncodeVoxels(const EncodingSpec& spec, const ArrayShape& shape,
                                BytesView voxels);

}  // namespace dolium::volume
