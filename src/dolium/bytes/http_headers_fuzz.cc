// Feeds bytes, split into lines, to the parser of response headers.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dolium/base/testing/require.h"
#include "dolium/bytes/http_headers.h"

using dolium::Require;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  dolium::ResponseHeader header;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    header.AddLine(line);
    dolium::ParseContentRange(line);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  Require(header.status() == 0 || (header.status() >= 100 && header.status() <= 599));
  if (const auto range = header.content_range()) {
    Require(range->range || range->total);
    if (range->range) {
      Require(range->range->length > 0);
      Require(range->range->end() > range->range->offset);
      Require(!range->total || range->range->end() <= *range->total);
    }
  }
  Require(!header.content_encoding().empty());
  (void)header.content_length();
  (void)header.MakeGeneration(size);
  return 0;
}
