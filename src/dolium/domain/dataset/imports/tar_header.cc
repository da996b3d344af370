#include "dolium/domain/dataset/imports/tar_header.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"

namespace dolium::dataset {
namespace {

struct Field {
  size_t offset;
  size_t length;
};
constexpr Field kNameField{0, 100};
constexpr Field kModeField{100, 8};
constexpr Field kUserId{108, 8};
constexpr Field kGroupId{116, 8};
constexpr Field kSize{124, 12};
constexpr Field kTime{136, 12};
constexpr Field kChecksum{148, 8};
constexpr size_t kTypeField = 156;
constexpr Field kMagic{257, 6};
constexpr Field kVersionField{263, 2};
constexpr Field kPrefix{345, 155};

constexpr uint64_t kLargestOctal = (uint64_t{1} << 33) - 1;  // 11 digits
constexpr int64_t kSecond = 1'000'000'000;
constexpr uint32_t kModeBits = 07777;

std::string_view FieldText(BytesView block, Field field) {
  const std::string_view text = AsText(block.subspan(field.offset, field.length));
  return text.substr(0, text.find('\0'));
}

// Octal digits among spaces and NULs; or, with the first bit set, a binary number, the
// most significant byte first (GNU).
Result<int64_t> NumberOf(BytesView block, Field field, std::string_view what) {
  const BytesView raw = block.subspan(field.offset, field.length);
  if ((raw[0] & std::byte{0x80}) != std::byte{0}) {
    const bool negative = raw[0] == std::byte{0xff};
    if (!negative && raw[0] != std::byte{0x80}) {
      return Corrupt(fmt::format("its {} is more than 64 bits", what));
    }
    uint64_t value = negative ? ~uint64_t{0} : 0;
    for (const std::byte byte : raw.subspan(1)) {
      const std::byte lost{static_cast<uint8_t>(value >> 56)};
      if (lost != (negative ? std::byte{0xff} : std::byte{0})) {
        return Corrupt(fmt::format("its {} is more than 64 bits", what));
      }
      value = value << 8 | std::to_integer<uint64_t>(byte);
    }
    const auto number = static_cast<int64_t>(value);
    if ((number < 0) != negative) {
      return Corrupt(fmt::format("its {} is more than 64 bits", what));
    }
    return number;
  }
  std::string_view text = FieldText(block, field);
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '7') {
      return Corrupt(fmt::format("its {} is not an octal number", what));
    }
    value = value * 8 + (c - '0');  // At most 12 digits.
  }
  return value;
}

// The sum of all bytes, those of the checksum itself taken as spaces. Some old writers
// took bytes as signed.
Result<void> CheckSum(BytesView block) {
  int64_t plain = 0;
  int64_t with_signs = 0;
  for (size_t i = 0; i < kTarBlock; ++i) {
    const bool own = i >= kChecksum.offset && i < kChecksum.offset + kChecksum.length;
    const auto byte = own ? uint8_t{' '} : std::to_integer<uint8_t>(block[i]);
    plain += byte;
    with_signs += static_cast<int8_t>(byte);
  }
  DOLIUM_TRY(const int64_t claimed, NumberOf(block, kChecksum, "checksum"));
  if (claimed == plain || claimed == with_signs) return {};
  return Corrupt(fmt::format("its checksum is {}, not {}", plain, claimed));
}

// Times that 64 bits cannot hold become the nearest that they can. `fraction`, in
// nanoseconds, has the sign of the time.
int64_t Nanoseconds(int64_t seconds, int64_t fraction) {
  int64_t sum = 0;
  if (__builtin_mul_overflow(seconds, kSecond, &sum) ||
      __builtin_add_overflow(sum, fraction, &sum)) {
    return seconds < 0 ? INT64_MIN : INT64_MAX;
  }
  return sum;
}

template <typename T>
std::optional<T> WholeNumber(std::string_view text) {
  T value{};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "-12.345" to nanoseconds.
std::optional<int64_t> PaxTime(std::string_view text) {
  const size_t dot = std::min(text.find('.'), text.size());
  const auto seconds = WholeNumber<int64_t>(text.substr(0, dot));
  if (!seconds) return std::nullopt;
  int64_t fraction = 0;
  int64_t unit = kSecond / 10;
  for (const char c : text.substr(std::min(dot + 1, text.size()))) {
    if (c < '0' || c > '9') return std::nullopt;
    fraction += (c - '0') * unit;
    unit /= 10;
  }
  return Nanoseconds(*seconds, text.starts_with('-') ? -fraction : fraction);
}

void PutText(MutableBytes block, Field field, std::string_view text) {
  std::memcpy(block.data() + field.offset, text.data(), text.size());
}

// Fits by precondition.
void PutOctal(MutableBytes block, Field field, uint64_t value) {
  PutText(block, field, fmt::format("{:0{}o}", value, field.length - 1));
}

// Where to cut a name into prefix and name; 0: not at all; nullopt: it does not fit.
std::optional<size_t> PrefixLength(std::string_view name) {
  if (name.size() <= kNameField.length) return 0;
  const size_t first = name.size() - kNameField.length - 1;
  const size_t slash = name.find('/', first);
  if (slash == 0 || slash > kPrefix.length || slash + 1 >= name.size()) {
    return std::nullopt;
  }
  return slash;
}

void AppendBlock(const TarHeader& header, ByteVector& out) {
  std::array<std::byte, kTarBlock> block{};
  const size_t prefix = PrefixLength(header.name).value_or(0);
  const std::string_view name = header.name;
  if (prefix > 0) {
    PutText(block, kPrefix, name.substr(0, prefix));
    PutText(block, kNameField, name.substr(prefix + 1));
  } else {
    PutText(block, kNameField, name.substr(0, kNameField.length));
  }
  PutOctal(block, kModeField, header.mode & kModeBits);
  PutOctal(block, kUserId, 0);
  PutOctal(block, kGroupId, 0);
  PutOctal(block, kSize, std::min(header.size, kLargestOctal));
  PutOctal(
      block, kTime,
      std::min(static_cast<uint64_t>(std::max<int64_t>(header.modified, 0) / kSecond),
               kLargestOctal));
  block[kTypeField] = static_cast<std::byte>(header.type);
  PutText(block, kMagic, "ustar");
  PutText(block, kVersionField, "00");
  uint64_t sum = uint64_t{' '} * kChecksum.length;
  for (const std::byte byte : block) sum += std::to_integer<uint64_t>(byte);
  PutText(block, kChecksum, fmt::format("{:06o}", sum));
  block[kChecksum.offset + 7] = std::byte{' '};
  Append(out, block);
}

// "<length> <key>=<value>\n", where the length counts its own digits too.
std::string PaxRecord(std::string_view key, std::string_view value) {
  const size_t rest = key.size() + value.size() + 3;
  size_t length = rest + 1;
  while (length != rest + fmt::formatted_size("{}", length)) {
    length = rest + fmt::formatted_size("{}", length);
  }
  return fmt::format("{} {}={}\n", length, key, value);
}

std::string PaxTimeText(int64_t nanoseconds) {
  const bool negative = nanoseconds < 0;
  const uint64_t magnitude = negative ? uint64_t{0} - static_cast<uint64_t>(nanoseconds)
                                      : static_cast<uint64_t>(nanoseconds);
  std::string text =
      fmt::format("{}{}", negative ? "-" : "", magnitude / uint64_t{kSecond});
  if (magnitude % kSecond != 0) text += fmt::format(".{:09}", magnitude % kSecond);
  return text;
}

}  // namespace

Result<TarHeader> ParseTarHeader(BytesView block) {
  DOLIUM_TRY_VOID(CheckSum(block));
  TarHeader header;
  header.type = static_cast<char>(block[kTypeField]);
  header.name = FieldText(block, kNameField);
  // GNU archives have times where ustar has the prefix.
  const bool is_ustar = AsText(block.subspan(kMagic.offset, kMagic.length)) ==
                        std::string_view("ustar\0", 6);
  const std::string_view prefix =
      is_ustar ? FieldText(block, kPrefix) : std::string_view();
  if (!prefix.empty()) header.name = fmt::format("{}/{}", prefix, header.name);
  DOLIUM_TRY(const int64_t size, NumberOf(block, kSize, "size"));
  if (size < 0) return Corrupt("its size is negative");
  header.size = static_cast<uint64_t>(size);
  DOLIUM_TRY(const int64_t seconds, NumberOf(block, kTime, "time"));
  header.modified = Nanoseconds(seconds, 0);
  DOLIUM_TRY(const int64_t mode, NumberOf(block, kModeField, "mode"));
  header.mode = static_cast<uint32_t>(mode) & kModeBits;
  return header;
}

Result<PaxRecords> ParsePaxRecords(BytesView content) {
  PaxRecords out;
  std::string_view text = AsText(content);
  while (!text.empty() && text.front() != '\0') {
    const size_t space = text.find(' ');
    const auto length = space == std::string_view::npos
                            ? std::nullopt
                            : WholeNumber<uint64_t>(text.substr(0, space));
    if (!length || *length > text.size() || *length < space + 3 ||
        text[static_cast<size_t>(*length) - 1] != '\n') {
      return Corrupt("a PAX record is not \"<length> <key>=<value>\\n\"");
    }
    const std::string_view record =
        text.substr(space + 1, static_cast<size_t>(*length) - space - 2);
    text.remove_prefix(static_cast<size_t>(*length));
    const size_t equals = record.find('=');
    if (equals == std::string_view::npos) return Corrupt("a PAX record has no \"=\"");
    const std::string_view key = record.substr(0, equals);
    const std::string_view value = record.substr(equals + 1);
    if (key == "path") {
      out.path = value;
    } else if (key == "size") {
      out.size = WholeNumber<uint64_t>(value);
      if (!out.size)
        return Corrupt(fmt::format("the PAX size \"{}\" is no number", value));
    } else if (key == "mtime") {
      out.modified = PaxTime(value);
      if (!out.modified) {
        return Corrupt(fmt::format("the PAX time \"{}\" is no number", value));
      }
    } else if (key.starts_with("GNU.sparse.")) {
      out.sparse = true;
    }
  }
  return out;
}

void AppendTarHeader(const TarHeader& header, ByteVector& out) {
  std::string pax;
  if (!PrefixLength(header.name)) pax += PaxRecord("path", header.name);
  if (header.size > kLargestOctal) pax += PaxRecord("size", std::to_string(header.size));
  if (header.modified < 0 || header.modified % kSecond != 0) {
    pax += PaxRecord("mtime", PaxTimeText(header.modified));
  }
  if (!pax.empty()) {
    AppendBlock({"pax_header", 'x', pax.size(), 0, 0644}, out);
    Append(out, AsBytes(pax));
    out.resize(out.size() + static_cast<size_t>(TarPadding(pax.size())));
  }
  AppendBlock(header, out);
}

}  // namespace dolium::dataset
