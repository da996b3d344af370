#include "dolium/domain/dataset/glob.h"

#include <cstddef>

namespace dolium::dataset {
namespace {

constexpr size_t kNone = std::string_view::npos;

// Bytes of the UTF-8 character at the start of `text`; 1 for an invalid byte.
size_t CharacterLength(std::string_view text) {
  size_t length = 1;
  while (length < text.size() && length < 4 &&
         (static_cast<unsigned char>(text[length]) & 0xc0) == 0x80) {
    ++length;
  }
  return static_cast<unsigned char>(text.front()) < 0xc0 ? 1 : length;
}

// One past the `]` that ends the set at pattern[at] == '['; kNone if nothing does, and
// the bracket stands for itself. A `]` right after the start belongs to the set.
size_t SetEnd(std::string_view pattern, size_t at) {
  size_t i = at + 1;
  if (i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^')) ++i;
  const size_t end = pattern.find(']', i + 1);
  return end == kNone ? kNone : end + 1;
}

// Whether `c` is in the set pattern[at, end).
bool InSet(std::string_view pattern, size_t at, size_t end, char c) {
  size_t i = at + 1;
  const bool inverted = pattern[i] == '!' || pattern[i] == '^';
  if (inverted) ++i;
  const auto byte = static_cast<unsigned char>(c);
  bool found = false;
  for (; i < end - 1; ++i) {
    const auto low = static_cast<unsigned char>(pattern[i]);
    auto high = low;
    if (i + 2 < end - 1 && pattern[i + 1] == '-') {
      high = static_cast<unsigned char>(pattern[i + 2]);
      i += 2;
    }
    found = found || (low <= byte && byte <= high);
  }
  return found != inverted;
}

struct Step {
  size_t pattern = 0;  // characters used up; 0: does not match
  size_t name = 0;
};

// Matches what is at pattern[p], not a star, against the start of `name`, not empty.
Step MatchOne(std::string_view pattern, size_t p, std::string_view name) {
  const char c = pattern[p];
  if (c == '?') return {1, CharacterLength(name)};
  if (c == '[') {
    if (const size_t end = SetEnd(pattern, p); end != kNone) {
      if (!InSet(pattern, p, end, name.front())) return {};
      return {end - p, 1};
    }
  }
  if (c == '\\' && p + 1 < pattern.size()) {
    return pattern[p + 1] == name.front() ? Step{2, 1} : Step{};
  }
  return c == name.front() ? Step{1, 1} : Step{};
}

}  // namespace

bool IsGlob(std::string_view text) { return text.find_first_of("*?[") != kNone; }

// On a mismatch it is enough to let the last star take one character more: what an
// earlier star could take beyond that, the last one can take as well.
bool GlobMatches(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  size_t p = 0;
  size_t n = 0;
  size_t star = kNone;
  size_t star_name = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
      continue;
    }
    if (p < pattern.size()) {
      if (const Step step = MatchOne(pattern, p, name.substr(n)); step.pattern > 0) {
        p += step.pattern;
        n += step.name;
        continue;
      }
    }
    if (star == kNone) return false;
    p = star + 1;
    n = ++star_name;
  }
  return pattern.find_first_not_of('*', p) == kNone;
}

}  // namespace dolium::dataset
