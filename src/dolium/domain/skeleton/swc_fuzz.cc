// A skeleton as SWC, of arbitrary bytes.
#include <cstddef>
#include <cstdint>

#include "dolium/base/testing/require.h"
#include "dolium/domain/skeleton/swc.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using dolium::Require;
  const dolium::BytesView bytes = std::as_bytes(std::span(data, size));
  const auto info = dolium::skeleton::SwcInfo();
  const auto skeleton = dolium::skeleton::ParseSwc(dolium::AsText(bytes));
  if (!skeleton) return 0;
  Require(dolium::skeleton::WriteSkeleton(*skeleton, info).has_value());
  const auto written = dolium::skeleton::WriteSwc(*skeleton, info, "a\nb");
  const auto again = dolium::skeleton::ParseSwc(written.text);
  Require(again.has_value() && again->vertices.size() == skeleton->vertices.size());
  Require(again->edges.size() + written.dropped_edges == skeleton->edges.size());
  Require(again->vertices.size() == again->edges.size() + written.trees);
  return 0;
}
