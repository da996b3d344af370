// An info of arbitrary bytes.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "dolium/bytes/memory_store.h"
#include "dolium/formats/neuroglancer/info.h"
#include "dolium/formats/neuroglancer/mesh_manifest.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto folders = dolium::neuroglancer::ParseInfo(text);
  if (folders) {
    for (const auto& folder : *folders) {
      const auto rewritten = dolium::neuroglancer::InfoText(text, folder.spec);
      // What was understood is understood again, with the same spec for the whole folder.
      const auto again = dolium::neuroglancer::ParseInfo(rewritten);
      if (!again || again->empty()) __builtin_trap();
    }
  }
  auto store = std::make_shared<dolium::MemoryStore>("fuzz");
  const auto given = dolium::neuroglancer::ShardingFromText(text, {store, "a/b"});
  static_cast<void>(given.has_value());
  const auto fragments = dolium::neuroglancer::FragmentBytes(dolium::AsBytes(text));
  static_cast<void>(fragments.has_value());
  return 0;
}
