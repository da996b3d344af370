#include "dolium/domain/volume/arrays/npy_header.h"

#include <charconv>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/base/endian.h"
#include "dolium/base/npy.h"

namespace dolium::volume {
namespace {

constexpr size_t kMaxDimensions = 64;

// The beginning of a string from the file, fit for messages.
std::string Shown(std::string_view text) {
  std::string out(text.substr(0, 32));
  for (char& c : out) {
    if (c < ' ' || c > '~') c = '?';
  }
  return out;
}

// The literals of Python that NumPy writes: strings, numbers, tuples, booleans.
class LiteralReader {
 public:
  explicit LiteralReader(std::string_view text) : text_(text) {}

  bool AtEnd() {
    SkipSpace();
    return at_ == text_.size();
  }

  // Whether the next thing is `expected`; if so, goes past it.
  bool Take(std::string_view expected) {
    SkipSpace();
    if (!text_.substr(at_).starts_with(expected)) return false;
    at_ += expected.size();
    return true;
  }

  Result<void> Expect(std::string_view expected) {
    if (!Take(expected)) return Unexpected(fmt::format("'{}'", expected));
    return {};
  }

  Result<std::string_view> String() {
    SkipSpace();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') return Unexpected("a string");
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) return Unexpected("the end of a string");
    const std::string_view value = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return value;
  }

  Result<bool> Boolean() {
    if (Take("True")) return true;
    if (Take("False")) return false;
    return Unexpected("True or False");
  }

  Result<std::vector<uint64_t>> Tuple() {
    std::vector<uint64_t> values;
    DOLIUM_TRY_VOID(Expect("("));
    while (!Take(")")) {
      if (values.size() == kMaxDimensions) return Unexpected("fewer dimensions");
      DOLIUM_TRY(const uint64_t value, Number());
      values.push_back(value);
      if (Take(")")) break;
      DOLIUM_TRY_VOID(Expect(","));
    }
    return values;
  }

 private:
  void SkipSpace() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  Result<uint64_t> Number() {
    SkipSpace();
    uint64_t value = 0;
    const char* const begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) return Unexpected("a number below 2^64");
    at_ += static_cast<size_t>(end - begin);
    Take("L");  // Python 2 wrote long integers so.
    return value;
  }

  Error Unexpected(std::string_view expected) const {
    return Corrupt(
        fmt::format("NumPy header: {} expected at character {}", expected, at_));
  }

  std::string_view text_;
  size_t at_ = 0;
};

std::optional<NumberType> NpyType(std::string_view kind_and_size) {
  constexpr std::pair<std::string_view, NumberType> kTypes[] = {
      {"b1", NumberType::kUint8},   {"u1", NumberType::kUint8},
      {"i1", NumberType::kInt8},    {"u2", NumberType::kUint16},
      {"i2", NumberType::kInt16},   {"u4", NumberType::kUint32},
      {"i4", NumberType::kInt32},   {"u8", NumberType::kUint64},
      {"i8", NumberType::kInt64},   {"f4", NumberType::kFloat32},
      {"f8", NumberType::kFloat64},
  };
  for (const auto& [name, type] : kTypes) {
    if (name == kind_and_size) return type;
  }
  return std::nullopt;
}

Result<void> ReadDescr(LiteralReader& literals, NpyHeader& header) {
  if (literals.Take("[")) {
    return Unsupported("an array of records, not of numbers");
  }
  DOLIUM_TRY(const std::string_view descr, literals.String());
  const char order = descr.empty() ? '\0' : descr[0];
  const auto type = order == '<' || order == '>' || order == '|' || order == '='
                        ? NpyType(descr.substr(1))
                        : std::nullopt;
  if (!type) {
    return Unsupported(fmt::format(
        "numbers of NumPy's type '{}'; known are bool, u1, i1, u2, i2, u4, i4, u8, "
        "i8, f4, f8",
        Shown(descr)));
  }
  header.type = *type;
  header.big_endian = order == '>';
  return {};
}

Result<void> ReadDictionary(std::string_view text, NpyHeader& header) {
  LiteralReader literals(text);
  bool has_descr = false;
  bool has_order = false;
  bool has_shape = false;
  DOLIUM_TRY_VOID(literals.Expect("{"));
  while (!literals.Take("}")) {
    DOLIUM_TRY(const std::string_view key, literals.String());
    DOLIUM_TRY_VOID(literals.Expect(":"));
    if (key == "descr" && !has_descr) {
      has_descr = true;
      DOLIUM_TRY_VOID(ReadDescr(literals, header));
    } else if (key == "fortran_order" && !has_order) {
      has_order = true;
      DOLIUM_TRY(header.fortran_order, literals.Boolean());
    } else if (key == "shape" && !has_shape) {
      has_shape = true;
      DOLIUM_TRY(header.shape, literals.Tuple());
    } else {
      return Corrupt(
          fmt::format("NumPy header: '{}' is no key, or twice there", Shown(key)));
    }
    if (literals.Take("}")) break;
    DOLIUM_TRY_VOID(literals.Expect(","));
  }
  if (!literals.AtEnd()) return Corrupt("NumPy header: text after the dictionary");
  if (!has_descr || !has_order || !has_shape) {
    return Corrupt("NumPy header: 'descr', 'fortran_order' or 'shape' is missing");
  }
  return {};
}

}  // namespace

Result<NpyHeader> ParseNpyHeader(BytesView head) {
  ByteReader reader(head);
  const auto magic = reader.ReadBytes(kNpyMagic.size(), "NumPy's magic");
  if (!magic || AsText(*magic) != kNpyMagic) return Corrupt("not a NumPy file");
  DOLIUM_TRY(const uint8_t major, reader.Read<uint8_t>("version"));
  DOLIUM_TRY(const uint8_t minor, reader.Read<uint8_t>("version"));
  if (major < 1 || major > 3) {
    return Unsupported(
        fmt::format("version {}.{} of NumPy's format; known are 1 to 3", major, minor));
  }
  uint64_t length = 0;
  if (major == 1) {
    DOLIUM_TRY(length, reader.Read<uint16_t>("header length"));
  } else {
    DOLIUM_TRY(length, reader.Read<uint32_t>("header length"));
  }
  if (length > kNpyHeaderLimit - reader.position()) {
    return Unsupported(fmt::format("a NumPy header of {} bytes, more than {}", length,
                                   kNpyHeaderLimit - reader.position()));
  }
  DOLIUM_TRY(const BytesView text, reader.ReadBytes(length, "NumPy header"));
  NpyHeader header;
  DOLIUM_TRY_VOID(ReadDictionary(AsText(text), header));
  header.data_offset = reader.position();
  return header;
}

std::string MakeNpyHeader(NumberType type, std::span<const uint64_t> sizes,
                          bool fortran_order) {
  const size_t size = SizeOf(type);
  const std::string_view name = ToString(type);
  return NpyHeaderFor(fmt::format("{}{}{}", size == 1 ? '|' : '<', name[0], size), sizes,
                      fortran_order);
}

}  // namespace dolium::volume
