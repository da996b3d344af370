// Content-defined chunking: where a stream of bytes is cut, exactly as Xet cuts it.
//
// From a cut c, the next is the first mark (gear_scan.h) in [c + 8192, c + 131072], else
// c + 131072, else the end. Neither the split of the input over calls nor the number of
// threads changes the cuts. A position is the number of bytes before it.
//
// Forced cuts are ours: at each of these positions a chunk ends, however short. Files cut
// so have other names than Xet gives them, and share more chunks with their next version
// where the positions are boundaries of what changes as a whole.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/xet/gear_scan.h"
#include "dolium/formats/xet/merkle.h"

namespace dolium::xet {

inline constexpr uint64_t kMinChunk = 8192;
inline constexpr uint64_t kMaxChunk = 131072;

// Makes cuts from marks: the second, cheap pass. One thread at a time.
class CutSelector {
 public:
  // Precondition: `forced` ascends. It is looked at as long as this lives.
  explicit CutSelector(std::span<const uint64_t> forced = {}) : forced_(forced) {}

  // Takes all marks in (known before, known_to], less than 2^32 behind `base`, and
  // appends the cuts they settle.
  void Advance(uint64_t base, std::span<const uint32_t> marks, uint64_t known_to,
               std::vector<uint64_t>& cuts);
  // The same for the rest: the stream ends where the marks are known to.
  void Finish(std::vector<uint64_t>& cuts);

  // Marks before this position no longer matter.
  uint64_t first_possible() const { return start_ + kMinChunk; }

 private:
  // Makes all cuts that lie in front of `mark` by force or by size, and at `mark`.
  void Offer(uint64_t mark, std::vector<uint64_t>& cuts);
  void CutUpTo(uint64_t position, std::vector<uint64_t>& cuts);

  std::span<const uint64_t> forced_;
  size_t next_forced_ = 0;
  uint64_t start_ = 0;  // of the chunk that is not cut yet
  uint64_t known_to_ = 0;
};

// Cuts a stream segment by segment, in memory that does not grow. One thread at a time.
class Chunker {
 public:
  // Precondition: `forced` ascends. It is looked at as long as this lives.
  explicit Chunker(std::span<const uint64_t> forced = {},
                   GearVariant variant = BestGearVariant())
      : scanner_(variant), selector_(forced) {}

  // Takes the next bytes and appends the ends of the chunks that are settled by them,
  // counted from the beginning of the stream.
  void Write(BytesView segment, std::vector<uint64_t>& cuts);
  // The stream ends here; what is left is the last chunk.
  void Finish(std::vector<uint64_t>& cuts) { selector_.Finish(cuts); }

 private:
  GearScanner scanner_;
  CutSelector selector_;
  std::vector<uint32_t> marks_;
  uint64_t position_ = 0;
};

struct ChunkOptions {
  std::span<const uint64_t> forced = {};  // ascending
  size_t jobs = 0;                        // threads; 0: one per core
  GearVariant variant = BestGearVariant();
  std::stop_token stop = {};
};

// The ends of all chunks of `data`. Fails only with kCancelled.
Result<std::vector<uint64_t>> CutPoints(BytesView data, const ChunkOptions& options = {});

// All chunks of `data` with their hashes; sizes instead of ends. Chunks are hashed soon
// after they are cut, while the cache has them. Fails only with kCancelled.
Result<std::vector<MerkleNode>> ChunkAndHash(BytesView data,
                                             const ChunkOptions& options = {});

}  // namespace dolium::xet
