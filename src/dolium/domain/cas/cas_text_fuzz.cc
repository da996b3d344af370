// Versions, entries of manifests and references, as text from elsewhere.
#include <cstdint>
#include <cstdlib>

#include "dolium/domain/cas/manifest.h"
#include "dolium/domain/cas/version.h"

using namespace dolium;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto version = cas::ParseVersion(text)) {
    const auto again = cas::ParseVersion(cas::FormatVersion(*version));
    if (!again || *again != *version) std::abort();
  }
  if (const auto entry = cas::ParseEntry(text)) {
    const auto again = cas::ParseEntry(cas::FormatEntry(*entry));
    if (!again || *again != *entry) std::abort();
    if (entry->path.starts_with('/') || entry->path.starts_with("../")) std::abort();
  }
  if (const auto name = cas::UnescapeName(text)) {
    if (cas::EscapeName(*name) != text) std::abort();
  }
  const auto reference = cas::ParseReference(text);
  if (reference && !reference->name.empty() && !cas::CheckName(reference->name)) {
    std::abort();
  }
  size_t entries = 0;
  cas::ManifestReader reader([&](const cas::ManifestEntry&) -> Result<void> {
    ++entries;
    return {};
  });
  for (size_t i = 0; i < size; i += 7) {
    if (!reader.Write(AsBytes(text.substr(i, 7)))) return 0;
  }
  return reader.Finish() && entries > size ? 1 : 0;
}
