#include "dolium/formats/shardpack/names.h"

#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace dolium::shardpack {

namespace {

constexpr size_t kMaxLength = UINT16_MAX;

// How many bytes a character takes that begins with `first`; 0 if none does.
size_t Utf8Length(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return 2;
  if (first >= 0xE0 && first < 0xF0) return 3;
  if (first >= 0xF0 && first < 0xF5) return 4;
  return 0;
}

// Whether the 8 bytes at `text` are ASCII without NUL.
bool IsAsciiWord(const char* text) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighBits = 0x8080808080808080;
  uint64_t word = 0;
  std::memcpy(&word, text, sizeof word);
  // The high bit of a byte comes up if the byte has it, or if it is 0.
  return ((word | (word - kOnes)) & kHighBits) == 0;
}

// Whether all of it is ASCII without NUL, as nearly every name is.
bool IsAscii(std::string_view text) {
  if (text.size() < sizeof(uint64_t)) {
    for (const char letter : text) {
      if (static_cast<int8_t>(letter) <= 0) return false;
    }
    return true;
  }
  const char* const last = text.data() + text.size() - sizeof(uint64_t);
  for (const char* at = text.data(); at < last; at += sizeof(uint64_t)) {
    if (!IsAsciiWord(at)) return false;
  }
  return IsAsciiWord(last);
}

bool IsUtf8(std::string_view text) {
  for (size_t at = 0; at < text.size();) {
    const auto first = static_cast<uint8_t>(text[at]);
    const size_t length = Utf8Length(first);
    if (length == 0 || length > text.size() - at) return false;
    for (size_t i = 1; i < length; ++i) {
      if ((static_cast<uint8_t>(text[at + i]) & 0xC0) != 0x80) return false;
    }
    if (length > 2) {
      const auto second = static_cast<uint8_t>(text[at + 1]);
      const bool is_overlong =
          (first == 0xE0 && second < 0xA0) || (first == 0xF0 && second < 0x90);
      const bool is_outside =
          (first == 0xED && second > 0x9F) || (first == 0xF4 && second > 0x8F);
      if (is_overlong || is_outside) return false;
    }
    at += length;
  }
  return true;
}

Result<void> CheckText(std::string_view text, std::string_view what) {
  if (text.empty() || text.size() > kMaxLength) {
    return InvalidArgument(fmt::format("{} of {} bytes, 1 to {} are possible", what,
                                       text.size(), kMaxLength));
  }
  if (text.find('\0') != std::string_view::npos) {
    return InvalidArgument(fmt::format("{} with a zero byte", what));
  }
  if (!IsUtf8(text)) return InvalidArgument(fmt::format("{} that is not UTF-8", what));
  return {};
}

}  // namespace

bool IsPlainText(std::string_view text) {
  if (IsAscii(text)) return true;
  return text.find('\0') == std::string_view::npos && IsUtf8(text);
}

Result<void> CheckContentType(std::string_view type) {
  if (type.empty()) return {};
  return CheckText(type, "a content type");
}

Result<void> CheckKey(std::string_view key) { return CheckText(key, "a key"); }

Result<void> CheckEntryName(std::string_view name) {
  DOLIUM_TRY_VOID(CheckText(name, "the name of an entry"));
  if (name.front() == '/') {
    return InvalidArgument(fmt::format("entry \"{}\": the name is absolute", name));
  }
  for (std::string_view rest = name;;) {
    const size_t slash = rest.find('/');
    if (rest.substr(0, slash) == "..") {
      return InvalidArgument(fmt::format("entry \"{}\": the name leads upwards", name));
    }
    if (slash == std::string_view::npos) return {};
    rest.remove_prefix(slash + 1);
  }
}

}  // namespace dolium::shardpack
