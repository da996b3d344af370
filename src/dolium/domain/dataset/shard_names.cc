#include "dolium/domain/dataset/shard_names.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace dolium::dataset {
namespace {

constexpr int kMaxDepth = 32;
constexpr size_t kMaxTextBytes = size_t{64} << 10;
constexpr size_t kMaxDigits = 18;  // What surely fits 64 bits.
constexpr std::string_view kSuffix = ".shardpack";
constexpr std::string_view kFirstNumber = "-000000";

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// More than any limit: counts and lengths stop growing there.
constexpr uint64_t kTooMany = uint64_t{1} << 31;
uint64_t Times(uint64_t a, uint64_t b) { return std::min(kTooMany, a * b); }
uint64_t Plus(uint64_t a, uint64_t b) { return std::min(kTooMany, a + b); }

// How many texts something stands for, and how long they are together.
struct Extent {
  uint64_t count = 1;
  uint64_t bytes = 0;
};

struct Range {
  int64_t first = 0;
  int64_t step = 1;
  uint64_t count = 1;
  size_t width = 0;  // padded to it, the sign included
  bool letters = false;

  Extent extent() const {
    const int64_t last = first + step * static_cast<int64_t>(count - 1);
    const size_t longest = std::max(
        {width, fmt::formatted_size("{}", first), fmt::formatted_size("{}", last)});
    const uint64_t bounded = std::min(count, kTooMany);
    return {bounded, Times(bounded, letters ? 1 : longest)};
  }

  void Append(uint64_t index, std::string& text) const {
    const int64_t value = first + step * static_cast<int64_t>(index);
    if (letters) {
      text += static_cast<char>(value);
    } else {
      fmt::format_to(std::back_inserter(text), "{:0{}}", value, width);
    }
  }
};

struct Sequence;

struct Alternatives {
  std::vector<Sequence> choices;
  std::vector<uint64_t> ends;  // running sums of their counts

  Extent extent() const;
  void Append(uint64_t index, std::string& text) const;
};

// Parts that follow each other: the texts are all combinations of theirs. Any one of them
// can be made by its number, so that nothing but the result is ever held.
struct Sequence {
  using Part = std::variant<std::string, Range, Alternatives>;
  std::vector<Part> parts;
  std::vector<uint64_t> counts;
  Extent extent;

  void Add(Part part) {
    Extent own;
    if (const auto* text = std::get_if<std::string>(&part)) own = {1, text->size()};
    if (const auto* range = std::get_if<Range>(&part)) own = range->extent();
    if (const auto* group = std::get_if<Alternatives>(&part)) own = group->extent();
    extent.bytes = Plus(Times(extent.bytes, own.count), Times(own.bytes, extent.count));
    extent.count = Times(extent.count, own.count);
    parts.push_back(std::move(part));
    counts.push_back(own.count);
  }

  void Append(uint64_t index, std::string& text) const {
    uint64_t combinations = extent.count;
    for (size_t i = 0; i < parts.size(); ++i) {
      combinations /= counts[i];
      const uint64_t own = index / combinations;
      index %= combinations;
      if (const auto* literal = std::get_if<std::string>(&parts[i])) text += *literal;
      if (const auto* range = std::get_if<Range>(&parts[i])) range->Append(own, text);
      if (const auto* group = std::get_if<Alternatives>(&parts[i])) {
        group->Append(own, text);
      }
    }
  }
};

Extent Alternatives::extent() const {
  Extent sum{0, 0};
  for (const Sequence& choice : choices) {
    sum.count = Plus(sum.count, choice.extent.count);
    sum.bytes = Plus(sum.bytes, choice.extent.bytes);
  }
  return sum;
}

void Alternatives::Append(uint64_t index, std::string& text) const {
  const auto end = std::upper_bound(ends.begin(), ends.end(), index);
  const Sequence& choice = choices[static_cast<size_t>(end - ends.begin())];
  choice.Append(index - (*end - choice.extent.count), text);
}

// A whole number of at most kMaxDigits digits.
std::optional<int64_t> ParseNumber(std::string_view text) {
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || digits.size() > kMaxDigits) return std::nullopt;
  if (!std::all_of(digits.begin(), digits.end(), IsDigit)) return std::nullopt;
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

std::optional<int64_t> ParseLetter(std::string_view text) {
  if (text.size() != 1) return std::nullopt;
  const char c = text.front();
  if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z')) return std::nullopt;
  return c;
}

bool IsPadded(std::string_view number) {
  if (number.starts_with('-')) number.remove_prefix(1);
  return number.size() > 1 && number.front() == '0';
}

// `body` is what stands between the braces.
Result<Range> ParseRange(std::string_view body) {
  const auto wrong = [&](std::string_view why) {
    return InvalidArgument(fmt::format("\"{{{}}}\" {}", body.substr(0, 100), why));
  };
  constexpr std::string_view kNotOne = "is neither a list {a,b} nor a range {0..9}";
  const size_t dots = body.find("..");
  if (dots == std::string_view::npos) return wrong(kNotOne);
  const std::string_view from = body.substr(0, dots);
  std::string_view to = body.substr(dots + 2);
  uint64_t step = 1;
  if (const size_t more = to.find(".."); more != std::string_view::npos) {
    const auto given = ParseNumber(to.substr(more + 2));
    if (!given) return wrong(kNotOne);
    if (*given == 0) return wrong("has a step of 0");
    step = static_cast<uint64_t>(*given < 0 ? -*given : *given);
    to = to.substr(0, more);
  }
  Range range;
  auto first = ParseNumber(from);
  auto last = ParseNumber(to);
  if (first && last) {
    if (IsPadded(from) || IsPadded(to)) range.width = std::max(from.size(), to.size());
  } else {
    first = ParseLetter(from);
    last = ParseLetter(to);
    range.letters = true;
  }
  if (!first || !last) return wrong(kNotOne);
  range.first = *first;
  const bool down = *last < *first;
  const auto distance = static_cast<uint64_t>(down ? *first - *last : *last - *first);
  range.count = distance / step + 1;
  range.step = down ? -static_cast<int64_t>(step) : static_cast<int64_t>(step);
  return range;
}

// Recursive descent; every character is looked at a bounded number of times.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<Sequence> Parse() {
    DOLIUM_TRY(Sequence sequence, ParseSequence(/*depth=*/0));
    if (at_ < text_.size()) {
      return InvalidArgument(fmt::format(
          "the }} at character {} has no {{; write \\}} for a plain one", at_ + 1));
    }
    return sequence;
  }

 private:
  // Up to the end or a brace that closes; inside of braces, also up to a comma.
  Result<Sequence> ParseSequence(int depth) {
    Sequence sequence;
    std::string literal;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '}' || (c == ',' && depth > 0)) break;
      if (c == '{') {
        if (!literal.empty()) sequence.Add(std::exchange(literal, {}));
        DOLIUM_TRY_VOID(ParseGroup(depth + 1, sequence));
      } else if (c == '\\' && at_ + 1 < text_.size()) {
        const char next = text_[++at_];
        if (next != '{' && next != '}' && next != ',') literal += c;
        literal += next;
      } else {
        literal += c;
      }
    }
    if (!literal.empty()) sequence.Add(std::move(literal));
    return sequence;
  }

  // From a brace that opens to the one that closes it, where it leaves at_.
  Result<void> ParseGroup(int depth, Sequence& into) {
    if (depth > kMaxDepth) {
      return InvalidArgument(
          fmt::format("braces nested more than {} levels deep", kMaxDepth));
    }
    const size_t open = at_;
    Alternatives group;
    uint64_t end = 0;
    do {
      ++at_;
      DOLIUM_TRY(Sequence choice, ParseSequence(depth));
      group.ends.push_back(end = Plus(end, choice.extent.count));
      group.choices.push_back(std::move(choice));
    } while (at_ < text_.size() && text_[at_] == ',');
    if (at_ == text_.size()) {
      return InvalidArgument(fmt::format(
          "the {{ at character {} has no }}; write \\{{ for a plain one", open + 1));
    }
    if (group.choices.size() > 1) {
      into.Add(std::move(group));
      return {};
    }
    DOLIUM_TRY(Range range, ParseRange(text_.substr(open + 1, at_ - open - 1)));
    into.Add(range);
    return {};
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

Result<std::vector<std::string>> ExpandBraces(std::string_view text) {
  if (text.size() > kMaxTextBytes) {
    return InvalidArgument(
        fmt::format("a name of {} characters, more than the limit of {}", text.size(),
                    kMaxTextBytes));
  }
  DOLIUM_TRY(const Sequence sequence, Parser(text).Parse().Within(text.substr(0, 200)));
  const Extent extent = sequence.extent;
  if (extent.count > kMaxExpandedNames || extent.bytes > kMaxExpandedBytes) {
    return InvalidArgument(fmt::format(
        "{}: stands for too many names; the limits are {} names and {} characters in all",
        text.substr(0, 200), kMaxExpandedNames, kMaxExpandedBytes));
  }
  std::vector<std::string> names(extent.count);
  for (size_t i = 0; i < names.size(); ++i) sequence.Append(i, names[i]);
  return names;
}

Result<ShardNamer> ShardNamer::Make(std::string_view output) {
  const std::string_view given = output;
  if (output.ends_with(kSuffix)) output.remove_suffix(kSuffix.size());
  if (output.empty() || output.ends_with('/') || output == "." || output == ".." ||
      output.ends_with("/.") || output.ends_with("/..")) {
    return InvalidArgument(fmt::format(
        "\"{}\": has no file name; expected one like train-000000{}", given, kSuffix));
  }
  size_t digits = 0;
  while (digits < output.size() && digits < kMaxDigits &&
         IsDigit(output[output.size() - 1 - digits])) {
    ++digits;
  }
  std::string prefix(output);
  if (digits == 0) {
    prefix += kFirstNumber;
    digits = kFirstNumber.size() - 1;
  }
  const std::string number = prefix.substr(prefix.size() - digits);
  prefix.resize(prefix.size() - digits);
  uint64_t start = 0;
  std::from_chars(number.data(), number.data() + number.size(), start);
  return ShardNamer(std::move(prefix), start, digits);
}

std::string ShardNamer::Name(uint64_t index) const {
  return fmt::format("{}{:0{}}{}", prefix_, start_ + index, width_, kSuffix);
}

}  // namespace dolium::dataset
