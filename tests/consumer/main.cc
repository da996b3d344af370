// A program outside the project, built against the installed copy: resolves a location,
// takes a value through gzip and back, and lists the formats.
#include <algorithm>
#include <cstdio>
#include <span>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/bytes/location.h"
#include "dolium/codec/gzip.h"
#include "dolium/formats/builtin.h"

int main() {
  const auto location = dolium::ParseLocation("gs://bucket/seg");
  if (!location) return std::fprintf(stderr, "%s\n", location.error().message.c_str()), 1;
  std::printf("%s\n", location->Describe().c_str());

  const std::string_view text = "the same bytes, again and again and again";
  const auto value = std::as_bytes(std::span(text));
  const auto decoded = dolium::GzipDecode(dolium::GzipEncode(value), /*limit=*/1000);
  if (!decoded || !std::ranges::equal(*decoded, value)) return 1;

  for (const auto& format : dolium::BuiltinFormats()) {
    std::printf("%.*s\n", static_cast<int>(format.name.size()), format.name.data());
  }
  return dolium::BuiltinFormats().empty() ? 1 : 0;
}
