// ReadEntry: payloads, the same way for every format.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/store.h"
#include "dolium/container/entry.h"

namespace dolium {

struct ReadLimits {
  uint64_t decoded = kDefaultDecodeLimit;  // bytes of one decoded value
  uint64_t stored =
      2 * kDefaultDecodeLimit;  // of one entry as stored, with what precedes it
};

// What one entry holds.
struct EntryData {
  Bytes value;      // decoded, or as stored
  Bytes preceding;  // never encoded
};

// The decoded value, and the bytes that precede it. Errors name object, key and range.
// Checksums of extents are checked here and below; kCorrupt if they do not agree.
Result<EntryData> ReadEntry(const Store& store, const Entry& entry,
                            const ReadLimits& limits = {});

// The same value in segments, one after another, of at most some MiB unless an extent is
// larger: for entries of many extents that memory need not hold whole. The limits are
// those of a segment. An error of `take` ends the reading, and is returned as it is.
Result<void> ReadInSegments(const Store& store, const Entry& entry,
                            const std::function<Result<void>(const Bytes& segment)>& take,
                            const ReadLimits& limits = {});

// The same, as stored: nothing is decoded.
Result<EntryData> ReadStored(const Store& store, const Entry& entry,
                             const ReadLimits& limits = {});

// Reads many entries with as few requests as the store can make of them, as stored, for
// DecodeStored(): of those that are known already, nothing. Each entry has its own
// result: one that is damaged does not spoil the others.
std::vector<Result<EntryData>> ReadManyStored(const Store& store,
                                              std::span<const Entry> entries,
                                              const ReadLimits& limits = {});

// Undoes the encoding of what ReadStored or ReadManyStored gave for `entry`.
Result<EntryData> DecodeStored(const Store& store, const Entry& entry, EntryData stored,
                               const ReadLimits& limits = {});

}  // namespace dolium
