// A catalog of arbitrary bytes: what is understood is written and understood again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dolium/domain/dataset/catalog.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace dolium::dataset;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto catalog = ParseCatalog(text);
  if (!catalog) return 0;
  const auto written = CatalogText(*catalog);
  if (!written) std::abort();
  const auto again = ParseCatalog(*written);
  if (!again || !(*again == *catalog)) std::abort();
  return 0;
}
