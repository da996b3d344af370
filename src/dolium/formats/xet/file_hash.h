// The name of a file, made from its bytes alone: cut, hashed, and nothing kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/base/sha256.h"
#include "dolium/formats/xet/chunker.h"
#include "dolium/formats/xet/hash.h"
#include "dolium/formats/xet/merkle.h"

namespace dolium::xet {

struct HashedFile {
  Hash hash = {};  // zero for an empty file
  uint64_t size = 0;
  std::optional<Sha256Value> sha256 = {};  // if it was asked for
};

// Hashes a stream segment by segment, in memory that does not grow. One thread at a time.
class FileHasher {
 public:
  explicit FileHasher(bool with_sha256 = false);

  void Write(BytesView segment);
  // The stream ends here. Precondition: called once; nothing comes after it.
  HashedFile Finish(const Hash& salt = {});

 private:
  void EndChunk(uint64_t cut);

  Chunker chunker_;
  std::vector<uint64_t> cuts_;
  KeyedHasher chunk_;   // of the chunk that is not cut yet
  uint64_t start_ = 0;  // of that chunk
  uint64_t position_ = 0;
  MerkleBuilder chunks_;
  std::optional<Sha256> sha256_;
};

struct HashFileOptions {
  bool with_sha256 = false;  // beside, on a thread of its own if the file is large
  Hash salt = {};
  size_t jobs = 0;  // threads; 0: one per core
  std::stop_token stop = {};
};

// Hashes a file, a pipe, or what else can be read. Large files are read and hashed
// on many threads; one that becomes shorter meanwhile is kConflict. Errors name the path.
Result<HashedFile> HashFile(const std::string& path, const HashFileOptions& options = {});

// Hashes many, each with its own result: small ones side by side, large ones one after
// the other on all threads.
std::vector<Result<HashedFile>> HashFiles(std::span<const std::string> paths,
                                          const HashFileOptions& options = {});

}  // namespace dolium::xet
