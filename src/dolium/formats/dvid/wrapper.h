// What lies around a label block: nothing, zstd, gzip, or lz4.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/codec/codec.h"

namespace dolium::dvid {

// The most that a block may take. One of 64 voxels along each axis takes 3.4 MB if no two
// voxels are alike.
inline constexpr uint64_t kMaxBlockBytes = uint64_t{256} << 20;

// The steps that give the block. Recognised by its first bytes, which for a plain block
// are none of the magic numbers; `codec`, the word of the schema, only shows lz4 without
// a frame from a plain block. `size` is what the column says of the block; frames without
// a size of their own need it. kCorrupt if the size is not to be believed.
Result<CodecChain> WrapperOf(BytesView stored, std::optional<uint32_t> size,
                             std::string_view codec);

}  // namespace dolium::dvid
