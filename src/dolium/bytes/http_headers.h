// The header of an HTTP response: the few of its fields that reading objects needs.
//
// Headers come from anyone. Whatever does not follow the grammar of RFC 9110 exactly is
// treated as absent or refused; nothing is guessed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/bytes/store.h"

namespace dolium {

// `bytes 0-99/1000`, `bytes 0-99/*`, or `bytes */1000` of a 416 answer.
struct ContentRange {
  std::optional<ByteRange> range;  // nullopt: none of the ranges asked for can be had
  std::optional<uint64_t> total;   // nullopt: the server does not say

  friend bool operator==(const ContentRange&, const ContentRange&) = default;
};

// nullopt unless the text is well formed, in bytes, and its range lies within its total.
std::optional<ContentRange> ParseContentRange(std::string_view text);

// Digits only, and a value that fits.
std::optional<uint64_t> ParseDecimal(std::string_view text);

// The status of `HTTP/1.1 206 Partial Content` or `HTTP/2 206`; nullopt if it is neither.
std::optional<int> ParseStatusLine(std::string_view line);

// Gathers the lines of a header as they come. A status line starts afresh, so after
// redirects and interim answers the last header remains. Lines after the empty one, which
// are trailers, are ignored. A field that comes twice has its values joined by ", ".
class ResponseHeader {
 public:
  // One line, with or without its line end.
  void AddLine(std::string_view line);

  int status() const { return status_; }  // 0: no header yet
  bool complete() const { return complete_; }

  const std::optional<std::string>& content_range_text() const { return content_range_; }
  std::optional<ContentRange> content_range() const;
  std::optional<uint64_t> content_length() const;
  // In lower case; "identity" if absent or empty.
  std::string content_encoding() const;
  bool is_encoded() const { return content_encoding() != "identity"; }

  // The ETag if there is one, else Last-Modified and the total size, else the total size;
  // empty if none of them is known.
  Generation MakeGeneration(std::optional<uint64_t> total) const;

 private:
  std::optional<std::string>* Field(std::string_view name);

  int status_ = 0;
  bool complete_ = false;
  std::optional<std::string> content_range_;
  std::optional<std::string> content_length_;
  std::optional<std::string> content_encoding_;
  std::optional<std::string> etag_;
  std::optional<std::string> last_modified_;
};

}  // namespace dolium
