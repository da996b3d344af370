#include "dolium/bytes/http_headers.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace dolium {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool EqualIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

std::optional<uint64_t> ParseDecimal(std::string_view text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

std::optional<ContentRange> ParseContentRange(std::string_view text) {
  constexpr std::string_view kUnit = "bytes";
  text = Trim(text);
  if (!EqualIgnoringCase(text.substr(0, kUnit.size()), kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  if (text.empty() || text.front() != ' ') return std::nullopt;
  text = Trim(text);

  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::string_view range = text.substr(0, slash);
  const std::string_view total = text.substr(slash + 1);

  ContentRange result;
  if (total != "*") {
    result.total = ParseDecimal(total);
    if (!result.total) return std::nullopt;
  }
  if (range == "*") {
    if (!result.total) return std::nullopt;
    return result;
  }
  const size_t dash = range.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto first = ParseDecimal(range.substr(0, dash));
  const auto last = ParseDecimal(range.substr(dash + 1));
  if (!first || !last || *first > *last) return std::nullopt;
  const auto length = CheckedAdd(*last - *first, 1);
  if (!length) return std::nullopt;
  result.range = ByteRange::Make(*first, *length);
  if (!result.range) return std::nullopt;
  if (result.total && result.range->end() > *result.total) return std::nullopt;
  return result;
}

std::optional<int> ParseStatusLine(std::string_view line) {
  if (!line.starts_with("HTTP/")) return std::nullopt;
  const size_t space = line.find(' ');
  if (space == std::string_view::npos) return std::nullopt;
  const std::string_view code = line.substr(space + 1, 3);
  const std::string_view rest = line.substr(std::min(line.size(), space + 4));
  const auto status = ParseDecimal(code);
  if (code.size() != 3 || !status || *status < 100 || *status > 599) return std::nullopt;
  if (!rest.empty() && !Trim(rest.substr(0, 1)).empty()) return std::nullopt;
  return static_cast<int>(*status);
}

std::optional<std::string>* ResponseHeader::Field(std::string_view name) {
  if (EqualIgnoringCase(name, "content-range")) return &content_range_;
  if (EqualIgnoringCase(name, "content-length")) return &content_length_;
  if (EqualIgnoringCase(name, "content-encoding")) return &content_encoding_;
  if (EqualIgnoringCase(name, "etag")) return &etag_;
  if (EqualIgnoringCase(name, "last-modified")) return &last_modified_;
  return nullptr;
}

void ResponseHeader::AddLine(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    *this = ResponseHeader();
    status_ = ParseStatusLine(line).value_or(0);
    return;
  }
  if (complete_) return;
  if (Trim(line).empty()) {
    complete_ = true;
    return;
  }
  const size_t colon = line.find(':');
  if (colon == std::string_view::npos) return;
  std::optional<std::string>* field = Field(line.substr(0, colon));
  if (field == nullptr) return;
  const std::string_view value = Trim(line.substr(colon + 1));
  if (field->has_value()) {
    field->value().append(", ").append(value);
  } else {
    field->emplace(value);
  }
}

std::optional<ContentRange> ResponseHeader::content_range() const {
  return content_range_ ? ParseContentRange(*content_range_) : std::nullopt;
}

std::optional<uint64_t> ResponseHeader::content_length() const {
  return content_length_ ? ParseDecimal(*content_length_) : std::nullopt;
}

std::string ResponseHeader::content_encoding() const {
  if (!content_encoding_ || content_encoding_->empty()) return "identity";
  std::string encoding = *content_encoding_;
  std::transform(encoding.begin(), encoding.end(), encoding.begin(), Lower);
  return encoding;
}

Generation ResponseHeader::MakeGeneration(std::optional<uint64_t> total) const {
  if (etag_ && !etag_->empty()) return {fmt::format("etag {}", *etag_)};
  // A size alone proves nothing: what has the same size may be something else.
  if (!last_modified_ || last_modified_->empty()) return {};
  return {total ? fmt::format("modified {}, size {}", *last_modified_, *total)
                : fmt::format("modified {}", *last_modified_)};
}

}  // namespace dolium
