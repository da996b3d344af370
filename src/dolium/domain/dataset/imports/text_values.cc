#include "dolium/domain/dataset/imports/text_values.h"

#include <array>
#include <cstdint>

#include <fmt/format.h>

namespace dolium::dataset {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr uint8_t kNoDigit = 0xff;

constexpr std::array<uint8_t, 256> kValues = [] {
  std::array<uint8_t, 256> values{};
  values.fill(kNoDigit);
  for (size_t i = 0; i < kAlphabet.size(); ++i) {
    values[static_cast<uint8_t>(kAlphabet[i])] = static_cast<uint8_t>(i);
  }
  return values;
}();

constexpr std::string_view kHexDigits = "0123456789abcdef";

}  // namespace

std::string ToBase64(BytesView bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    uint32_t group = 0;
    for (size_t j = 0; j < 3; ++j) {
      group = group << 8 | (j < count ? std::to_integer<uint32_t>(bytes[i + j]) : 0);
    }
    for (size_t j = 0; j < 4; ++j) {
      out += j <= count ? kAlphabet[group >> (18 - 6 * j) & 63] : '=';
    }
  }
  return out;
}

Result<ByteVector> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) {
    return Corrupt(
        fmt::format("base64 of {} characters, not a multiple of 4", text.size()));
  }
  ByteVector out;
  out.reserve(text.size() / 4 * 3);
  for (size_t i = 0; i < text.size(); i += 4) {
    const bool last = i + 4 == text.size();
    size_t digits = 4;
    while (last && digits > 2 && text[i + digits - 1] == '=') --digits;
    uint32_t group = 0;
    for (size_t j = 0; j < 4; ++j) {
      const uint8_t value = j < digits ? kValues[static_cast<uint8_t>(text[i + j])] : 0;
      if (value == kNoDigit) {
        return Corrupt(fmt::format("character {} is no digit of base64", i + j));
      }
      group = group << 6 | value;
    }
    for (size_t j = 0; j + 1 < digits; ++j) {
      out.push_back(static_cast<std::byte>(group >> (16 - 8 * j) & 0xff));
    }
    // Bits that no byte takes must be zero: each value has one spelling.
    if (digits < 4 && (group & ((uint32_t{1} << (8 * (4 - digits))) - 1)) != 0) {
      return Corrupt("base64 whose last digit has bits that belong to no byte");
    }
  }
  return out;
}

bool IsUtf8(BytesView bytes) {
  const auto byte = [&](size_t i) { return std::to_integer<uint32_t>(bytes[i]); };
  for (size_t i = 0; i < bytes.size();) {
    const uint32_t first = byte(i);
    if (first < 0x80) {
      ++i;
      continue;
    }
    const size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || length > bytes.size() - i) return false;
    uint32_t code = first & (0x7fu >> length);
    for (size_t j = 1; j < length; ++j) {
      if ((byte(i + j) & 0xc0) != 0x80) return false;
      code = code << 6 | (byte(i + j) & 0x3f);
    }
    constexpr std::array<uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
    if (code < kLeast[length] || code > 0x10ffff) return false;
    if (code >= 0xd800 && code < 0xe000) return false;
    i += length;
  }
  return true;
}

std::string ToHex(BytesView bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::byte b : bytes) {
    out += kHexDigits[std::to_integer<size_t>(b) >> 4];
    out += kHexDigits[std::to_integer<size_t>(b) & 15];
  }
  return out;
}

}  // namespace dolium::dataset
