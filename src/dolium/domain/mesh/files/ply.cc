// PLY: a header that lists elements and their properties, then numbers as text or bytes.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/byte_reader.h"
#include "dolium/base/endian.h"
#include "dolium/domain/mesh/files/mesh_files_internal.h"

namespace dolium::mesh {
namespace {

enum class Encoding : uint8_t { kText, kLittle, kBig };
enum class Scalar : uint8_t {
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kFloat,
  kDouble
};

constexpr size_t kMaxHeaderLines = 10000;

size_t SizeOf(Scalar type) {
  switch (type) {
    case Scalar::kInt8:
    case Scalar::kUint8:
      return 1;
    case Scalar::kInt16:
    case Scalar::kUint16:
      return 2;
    case Scalar::kInt32:
    case Scalar::kUint32:
    case Scalar::kFloat:
      return 4;
    case Scalar::kDouble:
      return 8;
  }
  return 8;
}

std::optional<Scalar> ParseScalar(std::string_view word) {
  struct Name {
    std::string_view text;
    Scalar type;
  };
  static constexpr Name kNames[] = {
      {"char", Scalar::kInt8},     {"int8", Scalar::kInt8},
      {"uchar", Scalar::kUint8},   {"uint8", Scalar::kUint8},
      {"short", Scalar::kInt16},   {"int16", Scalar::kInt16},
      {"ushort", Scalar::kUint16}, {"uint16", Scalar::kUint16},
      {"int", Scalar::kInt32},     {"int32", Scalar::kInt32},
      {"uint", Scalar::kUint32},   {"uint32", Scalar::kUint32},
      {"float", Scalar::kFloat},   {"float32", Scalar::kFloat},
      {"double", Scalar::kDouble}, {"float64", Scalar::kDouble}};
  for (const Name& name : kNames) {
    if (name.text == word) return name.type;
  }
  return std::nullopt;
}

struct Property {
  std::string name;
  Scalar type = Scalar::kFloat;
  std::optional<Scalar> count = {};  // of a list
};

struct Element {
  std::string name;
  uint64_t count = 0;
  std::vector<Property> properties;
};

struct Header {
  Encoding encoding = Encoding::kText;
  std::vector<Element> elements;
};

// Takes the header off the text.
Result<Header> ParseHeader(std::string_view& text) {
  std::string_view first = TakeLine(text);
  if (TakeWord(first) != "ply") return Corrupt("line 1: expected \"ply\"");
  Header header;
  bool has_format = false;
  for (size_t number = 2; number < kMaxHeaderLines && !text.empty(); ++number) {
    std::string_view line = TakeLine(text);
    const std::string_view keyword = TakeWord(line);
    const auto bad = [&](std::string_view expected) {
      return Corrupt(fmt::format("line {}: expected {}", number, expected));
    };
    if (keyword.empty() || keyword == "comment" || keyword == "obj_info") continue;
    if (keyword == "end_header") {
      if (!has_format) return Corrupt("the header names no format");
      return header;
    }
    if (keyword == "format") {
      const std::string_view name = TakeWord(line);
      if (name == "ascii") {
        header.encoding = Encoding::kText;
      } else if (name == "binary_little_endian") {
        header.encoding = Encoding::kLittle;
      } else if (name == "binary_big_endian") {
        header.encoding = Encoding::kBig;
      } else {
        return bad("ascii, binary_little_endian or binary_big_endian");
      }
      has_format = true;
    } else if (keyword == "element") {
      Element& element = header.elements.emplace_back();
      element.name = TakeWord(line);
      const auto count = NumberOf<uint64_t>(TakeWord(line));
      if (!count) return bad("an element's name and count");
      element.count = *count;
    } else if (keyword == "property") {
      if (header.elements.empty()) return bad("an element before its properties");
      Property property;
      std::string_view word = TakeWord(line);
      if (word == "list") {
        property.count = ParseScalar(TakeWord(line));
        if (!property.count) return bad("the type of a list's count");
        word = TakeWord(line);
      }
      const auto type = ParseScalar(word);
      if (!type) return bad("a property's type");
      property.type = *type;
      property.name = TakeWord(line);
      header.elements.back().properties.push_back(std::move(property));
    } else {
      return bad("format, element, property, comment or end_header");
    }
  }
  return Corrupt("the header has no end_header");
}

// The numbers after the header, one after another.
class Numbers {
 public:
  Numbers(Encoding encoding, std::string_view rest) : encoding_(encoding), rest_(rest) {}

  size_t remaining() const { return rest_.size(); }
  // The least that a number takes.
  size_t LeastOf(Scalar type) const {
    return encoding_ == Encoding::kText ? 1 : SizeOf(type);
  }

  Result<double> Next(Scalar type) {
    if (encoding_ == Encoding::kText) {
      const std::string_view word = TakeWord(rest_, " \t\r\n\v\f");
      const auto value = NumberOf<double>(word);
      if (value) return *value;
      if (word.empty()) return Corrupt("ends before all elements were read");
      return Corrupt(fmt::format("found \"{}\", expected a number", word.substr(0, 40)));
    }
    const size_t size = SizeOf(type);
    if (rest_.size() < size) return Corrupt("ends before all elements were read");
    std::array<std::byte, 8> raw{};
    std::ranges::copy(AsBytes(rest_.substr(0, size)), raw.begin());
    if (encoding_ == Encoding::kBig)
      std::reverse(raw.begin(), raw.begin() + static_cast<ptrdiff_t>(size));
    rest_.remove_prefix(size);
    switch (type) {
      case Scalar::kInt8:
        return static_cast<int8_t>(raw[0]);
      case Scalar::kUint8:
        return static_cast<uint8_t>(raw[0]);
      case Scalar::kInt16:
        return static_cast<int16_t>(LoadLE<uint16_t>(raw.data()));
      case Scalar::kUint16:
        return LoadLE<uint16_t>(raw.data());
      case Scalar::kInt32:
        return static_cast<int32_t>(LoadLE<uint32_t>(raw.data()));
      case Scalar::kUint32:
        return LoadLE<uint32_t>(raw.data());
      case Scalar::kFloat:
        return std::bit_cast<float>(LoadLE<uint32_t>(raw.data()));
      case Scalar::kDouble:
        return std::bit_cast<double>(LoadLE<uint64_t>(raw.data()));
    }
    return Corrupt("no type");
  }

  // How many numbers a list has.
  Result<uint64_t> NextCount(const Property& property) {
    DOLIUM_TRY(const double count, Next(*property.count));
    const uint64_t fitting = remaining() / LeastOf(property.type);
    const auto most = static_cast<double>(fitting);
    if (!(count >= 0) || count != std::floor(count) || count > most) {
      return Corrupt(
          fmt::format("a list of {} numbers, {} bytes remain", count, remaining()));
    }
    return static_cast<uint64_t>(count);
  }

 private:
  const Encoding encoding_;
  std::string_view rest_;
};

class PlyReader {
 public:
  PlyReader(Header header, std::string_view rest)
      : header_(std::move(header)), numbers_(header_.encoding, rest) {}

  Result<Mesh> Read() {
    for (const Element& element : header_.elements) {
      const auto context = fmt::format("element {}", element.name);
      DOLIUM_TRY_VOID(CheckCount(element).Within(context));
      if (element.properties.empty()) continue;
      for (uint64_t i = 0; i < element.count; ++i) {
        auto read = ReadOne(element);
        if (!read) {
          return std::move(read).error().Within(
              fmt::format("element {} {}", element.name, i));
        }
      }
    }
    return std::move(mesh_);
  }

 private:
  Result<void> CheckCount(const Element& element) {
    uint64_t least = 0;
    for (const Property& property : element.properties) {
      least += numbers_.LeastOf(property.count.value_or(property.type));
    }
    if (least == 0 || element.count <= numbers_.remaining() / least) return {};
    return Corrupt(
        fmt::format("{} of them, {} bytes remain", element.count, numbers_.remaining()));
  }

  Result<void> ReadOne(const Element& element) {
    const bool is_vertex = element.name == "vertex";
    const bool is_face = element.name == "face";
    std::array<std::optional<double>, 3> position;
    for (const Property& property : element.properties) {
      if (property.count) {
        const bool is_corners = is_face && (property.name == "vertex_indices" ||
                                            property.name == "vertex_index");
        DOLIUM_TRY_VOID(ReadList(property, is_corners));
        continue;
      }
      DOLIUM_TRY(const double value, numbers_.Next(property.type));
      if (is_vertex && property.name.size() == 1 && property.name[0] >= 'x' &&
          property.name[0] <= 'z') {
        position.at(static_cast<size_t>(property.name[0] - 'x')) = value;
      }
    }
    if (!is_vertex) return {};
    Point vertex;
    for (size_t d = 0; d < 3; ++d) {
      if (!position[d]) return Corrupt("has no x, y and z");
      vertex[d] = static_cast<float>(*position[d]);
    }
    mesh_.vertices.push_back(vertex);
    return {};
  }

  Result<void> ReadList(const Property& property, bool is_corners) {
    DOLIUM_TRY(const uint64_t count, numbers_.NextCount(property));
    FaceFan fan(mesh_);
    for (uint64_t i = 0; i < count; ++i) {
      DOLIUM_TRY(const double value, numbers_.Next(property.type));
      if (!is_corners) continue;
      if (!(value >= 0) || value > std::numeric_limits<uint32_t>::max() ||
          value != std::floor(value)) {
        return Corrupt(fmt::format("found {}, expected the index of a vertex", value));
      }
      fan.Add(static_cast<uint32_t>(value));
    }
    return {};
  }

  const Header header_;
  Numbers numbers_;
  Mesh mesh_;
};

}  // namespace

Result<Mesh> ParsePly(BytesView bytes) {
  std::string_view text = AsText(bytes);
  DOLIUM_TRY(Header header, ParseHeader(text));
  return PlyReader(std::move(header), text).Read();
}

Result<ByteVector> WritePly(const Mesh& mesh) {
  if (mesh.vertices.size() > std::numeric_limits<int32_t>::max()) {
    return Unsupported("a PLY file of more than 2^31 vertices");
  }
  const std::string header = fmt::format(
      "ply\nformat binary_little_endian 1.0\nelement vertex {}\nproperty float x\n"
      "property float y\nproperty float z\nelement face {}\n"
      "property list uchar int vertex_indices\nend_header\n",
      mesh.vertices.size(), mesh.triangles.size());
  constexpr size_t kVertexBytes = 12;
  constexpr size_t kFaceBytes = 13;
  ByteVector out(header.size() + kVertexBytes * mesh.vertices.size() +
                 kFaceBytes * mesh.triangles.size());
  std::ranges::copy(AsBytes(header), out.begin());
  std::byte* to = out.data() + header.size();
  const auto put = [&](uint32_t word) {
    StoreLE(to, word);
    to += sizeof(word);
  };
  for (const Point& vertex : mesh.vertices) {
    for (const float number : vertex) put(std::bit_cast<uint32_t>(number));
  }
  for (const Triangle& triangle : mesh.triangles) {
    *to++ = std::byte{3};
    for (const uint32_t index : triangle) put(index);
  }
  return out;
}

}  // namespace dolium::mesh
