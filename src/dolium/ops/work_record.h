// The records of work lists: entries as a few bytes each. Parsed as untrusted input.
//
//   key, flags (1: size, 2: preceding, 4: preceding_from), what the flags say is there,
//   number of extents, extents: object, offset, length, number of codecs, codecs
//
// Numbers are LEB128, texts a length and bytes. How an object is written is up to the
// place: by number in memory, by ObjectSpeller in a share.
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

// Key length, flags, number of extents: no record is shorter.
inline constexpr uint64_t kMinRecordBytes = 3;

using ObjectPointer = std::shared_ptr<const ObjectVersion>;

void PutVarint(ByteVector& to, uint64_t value);
// `what` names the number in the error.
Result<uint64_t> GetVarint(ByteReader& from, std::string_view what);

void PutEntry(ByteVector& to, const Entry& entry,
              const std::function<void(const ObjectPointer&)>& put_object);
Result<Entry> GetEntry(ByteReader& from,
                       const std::function<Result<ObjectPointer>()>& get_object);

// Writes the objects of one share: the number 0 and its spelling for a new one, as the
// difference to the one spelled before; for a known one, its number from 1.
class ObjectSpeller {
 public:
  // The object must outlive the speller.
  void Put(ByteVector& to, const ObjectVersion& object);

 private:
  std::unordered_map<const ObjectVersion*, uint64_t> numbers_;
  const ObjectVersion* previous_ = nullptr;
};

class ObjectReader {
 public:
  Result<ObjectPointer> Get(ByteReader& from);

 private:
  std::vector<ObjectPointer> objects_;
  uint64_t spelled_ = 0;  // bytes of all names and generations
};

}  // namespace dolium
