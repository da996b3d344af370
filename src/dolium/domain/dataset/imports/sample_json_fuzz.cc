// Lines of a manifest and of a jsonl file, of arbitrary bytes.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "dolium/container/json.h"
#include "dolium/domain/dataset/imports/input_stream.h"
#include "dolium/domain/dataset/imports/jsonl.h"
#include "dolium/domain/dataset/imports/sample_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace dolium;
  using namespace dolium::dataset;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto line = ParseManifestLine(text)) {
    if (line->paths.size() != line->sample.files.size()) std::abort();
    const auto written = ManifestJsonLine(line->sample, line->paths);
    if (!written || !ParseManifestLine(*written)) std::abort();
  }
  auto stream = InputStream::Open(Bytes::Copy(AsBytes(text)), "x");
  if (!stream) return 0;
  const auto source = ReadJsonLines(*std::move(stream), {});
  while (true) {
    const auto sample = source->Next();
    if (!sample || !*sample) return 0;
    const auto written = SampleJsonLine(**sample);
    if (!written) std::abort();  // JSON has made sure that all of it is UTF-8.
    const auto again = ParseSampleJson(*ParseJson(*written));
    if (!again || again->key != (*sample)->key) std::abort();
    for (size_t i = 0; i < again->files.size(); ++i) {
      if (!Equal(again->files[i].data, (*sample)->files[i].data)) std::abort();
    }
  }
}
