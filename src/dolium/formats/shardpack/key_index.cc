#include "dolium/formats/shardpack/key_index.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/base/xxh64.h"
#include "dolium/formats/shardpack/kinds.h"

namespace dolium::shardpack {

namespace {

constexpr size_t kKeyIndexHeader = 16;
constexpr size_t kHashBytes = 8;
constexpr size_t kNumberBytes = 4;
constexpr uint8_t kXxh64 = 1;
// Hashes looked at around the place where one should be: 4 KiB to 128 KiB. The place of
// the middle one of n is off by half the root of n, on average; three times that is
// nearly always enough.
constexpr uint64_t kMinWindow = 512;
constexpr uint64_t kMaxWindow = 16384;

uint64_t WindowFor(uint64_t count) {
  const auto root = static_cast<uint64_t>(std::sqrt(static_cast<double>(count)));
  return std::clamp(3 * root, kMinWindow, kMaxWindow);
}

Error BadKeyIndex(std::string message) {
  return Corrupt(std::move(message)).WithKind(kind::kSection);
}

// Where among `count` evenly spread hashes from `low` to `high` this one should be.
uint64_t Guess(uint64_t hash, uint64_t low, uint64_t high, uint64_t count) {
  if (high <= low) return 0;
  const auto place = static_cast<unsigned __int128>(hash - low) * count / (high - low);
  return std::min(static_cast<uint64_t>(place), count - 1);
}

}  // namespace

uint64_t HashKey(std::string_view key) { return Xxh64(AsBytes(key)); }

ByteVector WriteKeyIndex(std::span<const KeyHash> keys) {
  ByteVector body(kKeyIndexHeader + keys.size() * (kHashBytes + kNumberBytes));
  std::byte* at = body.data();
  StoreLE(at, uint64_t{keys.size()});
  at[8] = std::byte{kXxh64};
  at += kKeyIndexHeader;
  for (const KeyHash& key : keys) {
    StoreLE(at, key.hash);
    at += kHashBytes;
  }
  for (const KeyHash& key : keys) {
    StoreLE(at, key.record);
    at += kNumberBytes;
  }
  return body;
}

Result<KeyIndex> KeyIndex::Open(uint64_t body_size, uint64_t count, Read read) {
  if (count > UINT32_MAX || body_size < kKeyIndexHeader ||
      body_size - kKeyIndexHeader != count * (kHashBytes + kNumberBytes)) {
    return BadKeyIndex(fmt::format("KEYX has {} bytes for {} records", body_size, count));
  }
  DOLIUM_TRY(const Bytes header, read({0, kKeyIndexHeader}));
  const auto n = LoadLE<uint64_t>(header.data());
  const auto kind = std::to_integer<uint8_t>(header.view()[8]);
  if (n != count)
    return BadKeyIndex(fmt::format("KEYX counts {} records of {}", n, count));
  if (kind != kXxh64) return BadKeyIndex(fmt::format("KEYX has hashes of kind {}", kind));
  return KeyIndex(count, std::move(read));
}

Result<KeyIndex> KeyIndex::FromBody(Bytes body, uint64_t count) {
  const uint64_t size = body.size();
  return Open(size, count, [body = std::move(body)](ByteRange range) -> Result<Bytes> {
    return body.Slice(static_cast<size_t>(range.offset),
                      static_cast<size_t>(range.length));
  });
}

void KeyHashSum::Add(KeyHash key) {
  std::array<std::byte, kHashBytes + kNumberBytes> bytes{};
  StoreLE(bytes.data(), key.hash);
  StoreLE(bytes.data() + kHashBytes, key.record);
  sum_ += Xxh64(bytes);  // Wraps by design.
}

Result<KeyIndexCheck> KeyIndexCheck::Make(const Bytes& body, uint64_t count) {
  const auto index = KeyIndex::FromBody(body, count);
  if (!index) return index.error();
  KeyIndexCheck check;
  check.is_sorted_ =
      std::ranges::all_of(body.view().subspan(9, kKeyIndexHeader - 9),
                          [](std::byte byte) { return byte == std::byte{0}; });
  const std::byte* const hashes = body.data() + kKeyIndexHeader;
  const std::byte* const numbers = hashes + count * kHashBytes;
  KeyHash last;
  for (uint64_t i = 0; i < count; ++i) {
    const KeyHash key{LoadLE<uint64_t>(hashes + i * kHashBytes),
                      LoadLE<uint32_t>(numbers + i * kNumberBytes)};
    check.sum_.Add(key);
    if (i > 0) {
      check.is_sorted_ &= last < key;
      check.are_hashes_unique_ &= last.hash != key.hash;
    }
    last = key;
  }
  return check;
}

Result<KeyIndex::Position> KeyIndex::FirstNotBelow(uint64_t hash) const {
  // The answer is in [begin, end]; hashes before `begin` are below, those from `end` on
  // are not.
  uint64_t begin = 0;
  uint64_t end = count_;
  uint64_t low = 0;
  uint64_t high = UINT64_MAX;
  bool halve = false;
  const uint64_t most = WindowFor(count_);
  Position place;
  while (begin < end) {
    const uint64_t size = end - begin;
    const uint64_t middle = begin + (halve ? size / 2 : Guess(hash, low, high, size));
    const uint64_t from = std::max(begin, middle - std::min(middle, most / 2));
    const uint64_t to = std::min(end, from + most);
    place.from = from;
    DOLIUM_TRY(place.window,
               read_({kKeyIndexHeader + from * kHashBytes, (to - from) * kHashBytes}));
    const auto at = [&](uint64_t i) {
      return LoadLE<uint64_t>(place.window.data() + i * kHashBytes);
    };
    uint64_t below = 0;  // how many of the window are below
    for (uint64_t left = to - from; left > 0;) {
      const uint64_t half = left / 2;
      if (at(below + half) < hash) {
        below += half + 1;
        left -= half + 1;
      } else {
        left = half;
      }
    }
    place.at = from + below;
    if (below > 0 && below < to - from) return place;
    if (below == 0) {
      if (from == begin) return place;
      end = from;
      high = at(0);
    } else {
      begin = to;
      low = at(to - from - 1);
    }
    // Hashes that are not spread evenly must not make it slow.
    halve = end - begin > size / 4;
  }
  place.at = begin;
  return place;
}

Result<std::vector<uint64_t>> KeyIndex::Candidates(uint64_t hash) const {
  std::vector<uint64_t> records;
  DOLIUM_TRY(Position place, FirstNotBelow(hash));
  while (place.at < count_) {
    const uint64_t known = place.window.size() / kHashBytes;
    if (place.at < place.from || place.at >= place.from + known) {
      place.from = place.at;
      const uint64_t size = std::min(count_ - place.at, kMinWindow);
      DOLIUM_TRY(place.window,
                 read_({kKeyIndexHeader + place.at * kHashBytes, size * kHashBytes}));
      continue;
    }
    const uint64_t begin = place.at - place.from;
    uint64_t end = begin;
    while (end < known &&
           LoadLE<uint64_t>(place.window.data() + end * kHashBytes) == hash) {
      ++end;
    }
    if (end > begin) {
      DOLIUM_TRY(const Bytes numbers,
                 read_({kKeyIndexHeader + count_ * kHashBytes + place.at * kNumberBytes,
                        (end - begin) * kNumberBytes}));
      for (uint64_t i = 0; i < end - begin; ++i) {
        const auto record = LoadLE<uint32_t>(numbers.data() + i * kNumberBytes);
        if (record >= count_) {
          return BadKeyIndex(fmt::format("KEYX names record {} of {}", record, count_));
        }
        records.push_back(record);
      }
    }
    if (end < known) break;
    place.at = place.from + known;
  }
  return records;
}

}  // namespace dolium::shardpack
