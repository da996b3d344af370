// What is around the encoded voxels of a chunk that is a file of its own, and by which
// endings of names it is known.
//
// cloud-volume adds an ending on local disks (`.gz`, `.br`, `.zstd`); other programs
// write
// `.zst`. Where a chunk is there under several names, the first of kChunkForms counts, as
// it does for cloud-volume; the plain name comes last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium::volume {

enum class Wrapper : uint8_t { kNone, kGzip, kBrotli, kZstd };

struct ChunkForm {
  std::string_view suffix;  // of the file's name
  Wrapper wrapper = Wrapper::kNone;

  friend bool operator==(const ChunkForm&, const ChunkForm&) = default;
};

inline constexpr std::array<ChunkForm, 5> kChunkForms = {{{".gz", Wrapper::kGzip},
                                                          {".br", Wrapper::kBrotli},
                                                          {".zstd", Wrapper::kZstd},
                                                          {".zst", Wrapper::kZstd},
                                                          {"", Wrapper::kNone}}};

// Endings that cloud-volume writes as well, and that we cannot undo.
inline constexpr std::array<std::string_view, 2> kForeignSuffixes = {".xz", ".bz2"};

// The form of chunks that are new: the first that has this around it.
const ChunkForm& NewChunkForm(Wrapper wrapper);

// As jobs record it: "none", "gzip", "brotli", "zstd".
std::string_view ToString(Wrapper wrapper);
std::optional<Wrapper> ParseWrapper(std::string_view text);

// The form that a file's name shows. Its plain name may still be around a wrapper.
const ChunkForm& FormOf(std::string_view name);

// The wrapper of bytes that begin like this; kNone if they begin like none. Brotli cannot
// be recognised by its first bytes.
inline constexpr size_t kWrapperHeadBytes = 4;
Wrapper WrapperOf(BytesView head);

// kCorrupt if the bytes do not decode, or to more than `limit`.
Result<Bytes> Unwrap(Wrapper wrapper, const Bytes& stored, uint64_t limit);

ByteVector Wrap(Wrapper wrapper, BytesView encoded);

}  // namespace dolium::volume
