// The records of work lists: entries as a few bytes each. Parsed as untrusted input.
//
//   key, flags (1: size, 2: preceding, 4: preceding_from), what the flags say is there,
//   number of extents, extents: object, offset, length, twice the number of codecs and 1
//   more if a CRC-32C follows, that, codecs: number, decoded size (but for gzip), offset
//   (of a slice)
//
// Numbers are LEB128, texts a length and bytes. How an object is written is up to the
// place: by number in memory, by ObjectSpeller in a share. In a share, each record stands
// behind its length.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "dolium/base/byte_reader.h"
#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/container/entry.h"

namespace dolium {

// Length, key length, flags, number of extents: none takes less of a share.
inline constexpr uint64_t kMinRecordBytes = 4;

using ObjectPointer = std::shared_ptr<const ObjectVersion>;

void PutVarint(ByteVector& to, uint64_t value);
// `what` names the number in the error.
Result<uint64_t> GetVarint(ByteReader& from, std::string_view what);

// Whether it can be written; kUnsupported if it needs what a record cannot hold: a
// dictionary, or a decoder of its format.
Result<void> CheckEntry(const Entry& entry);

// Precondition: CheckEntry().
void PutEntry(ByteVector& to, const Entry& entry,
              const std::function<void(const ObjectPointer&)>& put_object);
Result<Entry> GetEntry(ByteReader& from,
                       const std::function<Result<ObjectPointer>()>& get_object);

// How many objects a reader of a share has to remember.
inline constexpr uint64_t kObjectWindow = 1024;

// Writes the objects of one share: the number 0 and its spelling, as the difference to
// the one spelled before; or, for one of the last kObjectWindow that were spelled, how
// many of them ago, from 1.
class ObjectSpeller {
 public:
  // The object must outlive the speller.
  void Put(ByteVector& to, const ObjectVersion& object);

 private:
  std::unordered_map<const ObjectVersion*, uint64_t> numbers_;  // when last spelled
  const ObjectVersion* previous_ = nullptr;
  uint64_t spelled_ = 0;  // objects
};

class ObjectReader {
 public:
  // `share_bytes` is how much of the share has been read.
  Result<ObjectPointer> Get(ByteReader& from, uint64_t share_bytes);

 private:
  std::vector<ObjectPointer> window_;  // the one spelled as number n is at n % its size
  uint64_t spelled_ = 0;               // objects
  uint64_t spelled_bytes_ = 0;         // of all names and generations
};

}  // namespace dolium
