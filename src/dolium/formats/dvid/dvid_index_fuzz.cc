// The index of a shard: CSV by the first byte, JSON, or a footer. What parses is written
// and parsed again.
#include <cstddef>
#include <cstdint>

#include "dolium/formats/dvid/shard_index.h"

using namespace dolium;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const BytesView input = std::as_bytes(std::span(data + 1, size - 1));
  if (data[0] == 'f') {
    const auto footer = dvid::FindFooter(input, input.size());
    if (!footer || !*footer) return 0;
    if ((*footer)->end() > input.size()) __builtin_trap();
    static_cast<void>(dvid::ParseJsonIndex(
                          AsText(input.subspan(static_cast<size_t>((*footer)->offset),
                                               static_cast<size_t>((*footer)->length))))
                          .has_value());
    return 0;
  }
  const bool is_json = data[0] == 'j';
  const auto index =
      is_json ? dvid::ParseJsonIndex(AsText(input)) : dvid::ParseCsvIndex(AsText(input));
  if (!index) return 0;
  if (is_json) {
    const auto again = dvid::ParseJsonIndex(dvid::JsonText(index->rows));
    if (!again || again->rows.size() != index->rows.size()) __builtin_trap();
  } else if (index->has_ranges) {
    const auto again =
        dvid::ParseCsvIndex(dvid::CsvText(index->rows, 688, dvid::CsvForm::kDocumented));
    if (!again || again->rows.size() != index->rows.size()) __builtin_trap();
  }
  return 0;
}
