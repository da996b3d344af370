// Whatever the bytes, they are strands or an error; and strands are written as they were
// read.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dolium/base/testing/require.h"
#include "dolium/domain/skeleton/making/strand_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using dolium::BytesView;
  using dolium::Require;
  using dolium::skeleton::SkeletonStrand;
  const BytesView bytes = std::as_bytes(std::span(data, size));
  if (const auto range = dolium::skeleton::ParseStrandEntry(bytes, size)) {
    Require(range->end() <= size);
  }
  std::vector<SkeletonStrand> strands;
  if (!dolium::skeleton::ParseStrands(bytes, strands)) return 0;
  const dolium::ByteVector file =
      dolium::skeleton::WriteStrandFile(strands, 1, [](uint64_t) { return 0; });
  const dolium::ByteRange entry = dolium::skeleton::StrandEntryRange(0);
  const auto range = dolium::skeleton::ParseStrandEntry(
      BytesView(file).subspan(entry.offset, entry.length), file.size());
  Require(range.has_value());
  std::vector<SkeletonStrand> again;
  const auto read = dolium::skeleton::ParseStrands(
      BytesView(file).subspan(range->offset, range->length), again);
  Require(read.has_value() && again.size() == strands.size());
  return 0;
}
