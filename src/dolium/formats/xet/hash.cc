#include "dolium/formats/xet/hash.h"

#include <blake3.h>

#include <fmt/format.h>

namespace dolium::xet {

namespace {

constexpr size_t kTextSize = 2 * Hash::kSize;
constexpr size_t kWordText = 16;

// Digits of every byte, two by two.
constexpr std::array<char, 512> MakeDigits() {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<char, 512> out{};
  for (size_t i = 0; i < 256; ++i) {
    out[2 * i] = kDigits[i >> 4];
    out[2 * i + 1] = kDigits[i & 15];
  }
  return out;
}
constexpr std::array<char, 512> kDigitPairs = MakeDigits();

constexpr int DigitValue(char digit) {
  if (digit >= '0' && digit <= '9') return digit - '0';
  if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
  if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
  return -1;
}

constexpr Hash FromWords(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  Hash hash;
  const std::array<uint64_t, 4> words = {a, b, c, d};
  for (size_t i = 0; i < Hash::kSize; ++i) {
    hash.bytes[i] = static_cast<std::byte>(words[i / 8] >> (8 * (i % 8)));
  }
  return hash;
}

// Where byte `i` of a hash stands in its text.
constexpr size_t TextPosition(size_t i) { return i / 8 * kWordText + 2 * (7 - i % 8); }

const uint8_t* AsOctets(const std::byte* bytes) {
  return reinterpret_cast<const uint8_t*>(bytes);
}

static_assert(sizeof(blake3_hasher) <= 2048 && alignof(blake3_hasher) <= 16);

blake3_hasher* State(std::byte* bytes) { return reinterpret_cast<blake3_hasher*>(bytes); }

}  // namespace

constexpr Hash kDataKey = FromWords(0xde50955b77f59766, 0x1c1897a5accb3531,
                                    0x582beb9b1021e49d, 0x29f2ad934bb0d0b4);
constexpr Hash kInternalKey = FromWords(0x962947a5c7c57e01, 0xe6028ab4666694fd,
                                        0xd26dc7376f53dd5d, 0x3f71534ae65263f8);
constexpr Hash kVerificationKey = FromWords(0x66ed56ced657187f, 0xf3c3a5e713f97f12,
                                            0xe649dbb5d526cda4, 0xc394fb287f982441);

void WriteText(const Hash& hash, char* to) {
  for (size_t i = 0; i < Hash::kSize; ++i) {
    std::memcpy(to + TextPosition(i),
                &kDigitPairs[2 * std::to_integer<size_t>(hash.bytes[i])], 2);
  }
}

std::string ToString(const Hash& hash) {
  std::string text(kTextSize, '\0');
  WriteText(hash, text.data());
  return text;
}

Result<Hash> ParseHash(std::string_view text) {
  if (text.size() != kTextSize) {
    return InvalidArgument(
        fmt::format("a hash has {} hexadecimal digits, not {}", kTextSize, text.size()));
  }
  Hash hash;
  for (size_t i = 0; i < Hash::kSize; ++i) {
    const size_t at = TextPosition(i);
    const int high = DigitValue(text[at]);
    const int low = DigitValue(text[at + 1]);
    if (high < 0 || low < 0) {
      return InvalidArgument(fmt::format("\"{}\" is not a hash: not hexadecimal", text));
    }
    hash.bytes[i] = static_cast<std::byte>(high << 4 | low);
  }
  return hash;
}

KeyedHasher::KeyedHasher(const Hash& key) {
  blake3_hasher_init_keyed(new (state_.data()) blake3_hasher, AsOctets(key.bytes.data()));
}

void KeyedHasher::Update(BytesView bytes) {
  blake3_hasher_update(State(state_.data()), bytes.data(), bytes.size());
}

Hash KeyedHasher::Finish() const {
  Hash hash;
  blake3_hasher_finalize(reinterpret_cast<const blake3_hasher*>(state_.data()),
                         reinterpret_cast<uint8_t*>(hash.bytes.data()), Hash::kSize);
  return hash;
}

Hash KeyedHash(const Hash& key, BytesView bytes) {
  KeyedHasher hasher(key);
  hasher.Update(bytes);
  return hasher.Finish();
}

Hash ChunkHash(BytesView chunk) { return KeyedHash(kDataKey, chunk); }

Hash TermHash(std::span<const Hash> chunks) {
  return KeyedHash(kVerificationKey, std::as_bytes(chunks));
}

Hash KeyedChunkHash(const Hash& key, const Hash& chunk) {
  return key.is_zero() ? chunk : KeyedHash(key, chunk.view());
}

Hash FileHashOfRoot(const Hash& root, const Hash& salt) {
  return KeyedHash(salt, root.view());
}

Hash Sha256Field(std::span<const std::byte, Hash::kSize> digest) {
  Hash field;
  for (size_t i = 0; i < Hash::kSize; ++i) field.bytes[i] = digest[i ^ 7];
  return field;
}

std::array<std::byte, Hash::kSize> Sha256Digest(const Hash& field) {
  return Sha256Field(field.bytes).bytes;
}

}  // namespace dolium::xet
