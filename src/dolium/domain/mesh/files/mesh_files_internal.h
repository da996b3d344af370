// The readers and writers of each kind of file, and what they share.
#pragma once

#include <charconv>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/mesh/mesh.h"

namespace dolium::mesh {

// They need not check positions and indices, which ParseMeshFile() does.
Result<Mesh> ParsePly(BytesView bytes);
Result<Mesh> ParseObj(std::string_view text);
Result<Mesh> ParseStl(BytesView bytes);

// Precondition: Validate() holds.
Result<ByteVector> WritePly(const Mesh& mesh);
ByteVector WriteObj(const Mesh& mesh);
Result<ByteVector> WriteStl(const Mesh& mesh);
Result<ByteVector> WriteGlb(const Mesh& mesh);

inline constexpr std::string_view kBlanks = " \t\r\v\f";

// Takes the next line off a text, without its end.
inline std::string_view TakeLine(std::string_view& text) {
  const size_t end = text.find('\n');
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

// Takes the next word off a line; empty at its end.
inline std::string_view TakeWord(std::string_view& text,
                                 std::string_view blanks = kBlanks) {
  const size_t begin = text.find_first_not_of(blanks);
  if (begin == std::string_view::npos) {
    text = {};
    return {};
  }
  text.remove_prefix(begin);
  const std::string_view word = text.substr(0, text.find_first_of(blanks));
  text.remove_prefix(word.size());
  return word;
}

// All of a word as a number; nullopt if it is none, or out of range.
template <typename T>
std::optional<T> NumberOf(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  T value{};
  const char* const end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data(), end, value);
  if (word.empty() || at != end || error != std::errc()) return std::nullopt;
  return value;
}

// Adds a face of any number of corners as a fan.
class FaceFan {
 public:
  explicit FaceFan(Mesh& mesh) : mesh_(mesh) {}

  void Add(uint32_t corner) {
    if (corners_ >= 2) mesh_.triangles.push_back({first_, last_, corner});
    if (corners_ == 0) first_ = corner;
    last_ = corner;
    ++corners_;
  }

 private:
  Mesh& mesh_;
  uint32_t first_ = 0;
  uint32_t last_ = 0;
  uint64_t corners_ = 0;
};

}  // namespace dolium::mesh
