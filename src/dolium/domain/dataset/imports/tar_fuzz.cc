// A WebDataset archive of arbitrary bytes, plain or gzip.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "dolium/domain/dataset/imports/input_stream.h"
#include "dolium/domain/dataset/imports/webdataset.h"
#include "dolium/domain/dataset/imports/webdataset_name.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace dolium;
  using namespace dolium::dataset;
  auto stream = InputStream::Open(Bytes::Copy(std::as_bytes(std::span(data, size))), "x");
  if (!stream) return 0;
  const auto source = ReadWebDataset(*std::move(stream), {.max_file_bytes = 1 << 20});
  while (true) {
    const auto sample = source->Next();
    if (!sample || !*sample) return 0;
    if ((*sample)->files.empty()) std::abort();
    // What was split is split again in the same way.
    for (const auto& file : (*sample)->files) {
      const std::string path = (*sample)->key + "." + file.name;
      const auto split = SplitAtFirstDot(path);
      if (!split || split->stem != (*sample)->key) std::abort();
    }
  }
}
