// Entry: one named thing and where its bytes lie: a key, byte ranges, codecs.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dolium/base/byte_range.h"
#include "dolium/base/sha256.h"
#include "dolium/bytes/store.h"
#include "dolium/codec/codec.h"

namespace dolium {

// An object at one generation. Entries of one object share it.
struct ObjectVersion {
  std::string name;  // path in the container's store
  Generation generation;
};

// Where one part of an entry lies, and how to undo its encoding.
struct Extent {
  std::shared_ptr<const ObjectVersion> object;
  ByteRange range;                      // absolute within the object
  CodecChain codecs;                    // applied left to right when reading
  std::optional<uint32_t> crc32c = {};  // of the bytes as stored, where the index knows
  // What the first `predecoded_steps` codecs give, where the container has it at hand, as
  // of entries that were encoded together: then their values are made of that, and the
  // range is not read. Work lists do not carry it.
  size_t predecoded_steps = 0;
  Bytes known = {};
};

// One named thing: a chunk, a block, a sample, a file.
struct Entry {
  std::string key;                         // as `ls` prints it and `cat` takes it
  std::vector<Extent> extents;             // joined in this order
  std::optional<uint64_t> size;            // decoded bytes, where the index knows
  std::optional<Sha256Value> sha256 = {};  // of the decoded bytes, where the index has
                                           // it; verify compares
  uint64_t preceding = 0;  // unindexed bytes right before the first extent that belong
                           // to it, never encoded (mesh fragments)
  std::optional<Extent> preceding_from;  // where they lie when not right before
                                         // (`preceding` is 0 then); without codecs

  uint64_t stored_size() const {
    uint64_t sum = 0;
    for (const Extent& extent : extents) sum += extent.range.length;
    return sum;
  }
  uint64_t preceding_size() const {
    return preceding_from ? preceding_from->range.length : preceding;
  }
  // Whether its value needs no reading.
  bool is_predecoded() const {
    bool known = !extents.empty() && preceding_size() == 0;
    for (const Extent& extent : extents) known = known && extent.predecoded_steps > 0;
    return known;
  }
};

// One thing that is not as it should be, or not as it usually is.
enum class Severity : uint8_t { kWarning, kError };

struct Finding {
  Severity severity = Severity::kError;
  std::string kind;    // a word for programs: "overlap", "bounds", "gzip", ...
  std::string object;  // as a person would type it
  std::string key;     // empty: not about one entry
  std::optional<ByteRange> range;  // absolute within the object
  std::string message;             // without object and key in front
  Hint hint = Hint::kNone;
};

}  // namespace dolium
