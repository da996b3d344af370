#include "dolium/ops/pack/pack_export.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "dolium/base/parallel.h"

namespace dolium::dataset {
namespace {

constexpr size_t kExportedAtOnce = 256;

uint64_t DecodedSize(const LoadedSample& sample) {
  uint64_t bytes = 0;
  for (const LoadedSample::FileRef file : sample.files()) {
    bytes += sample.header(file).raw_size;
  }
  return bytes;
}

}  // namespace

bool IsExportedToFiles(std::string_view kind) {
  return kind == "webdataset" || kind == "tfrecord" || kind == "jsonl";
}

Result<ExportSummary> ExportSamples(const SampleSet& set,
                                    std::span<const uint64_t> numbers, SampleSink& sink,
                                    const ExportRequest& request) {
  ExportSummary summary;
  DOLIUM_TRY_VOID(PutSamples(set, numbers, numbers.size(), sink, request, summary));
  DOLIUM_TRY_VOID(sink.Finish());
  return summary;
}

Result<void> PutSamples(const SampleSet& set, std::span<const uint64_t> numbers,
                        uint64_t total, SampleSink& sink, const ExportRequest& request,
                        ExportSummary& summary) {
  uint64_t next = summary.taken;
  const auto put = [&](const shardpack::Sample& sample) -> Result<void> {
    summary.taken = next++;
    if (sample.tombstone) return {};
    DOLIUM_TRY_VOID(sink.Put(sample));
    ++summary.samples;
    summary.files += sample.files.size();
    for (const shardpack::File& file : sample.files) summary.bytes += file.data.size();
    if (request.progress) request.progress({summary.samples, total, summary.bytes, 0});
    return {};
  };
  while (!numbers.empty()) {
    const auto some = numbers.first(std::min(kExportedAtOnce, numbers.size()));
    numbers = numbers.subspan(some.size());
    const auto loaded = set.ReadMany(some);
    for (size_t begin = 0; begin < some.size();) {
      // As many as may be held at once, and at least one.
      size_t end = begin;
      for (uint64_t bytes = 0; end < some.size(); ++end) {
        if (!loaded[end]) return loaded[end].error();
        bytes += DecodedSize(*loaded[end]);
        if (bytes > request.memory && end > begin) break;
      }
      std::vector<std::optional<shardpack::Sample>> decoded(end - begin);
      DOLIUM_TRY_VOID(ParallelFor(
          decoded.size(), request.jobs,
          [&](size_t i) -> Result<void> {
            DOLIUM_TRY(decoded[i], loaded[begin + i]->Decode());
            return {};
          },
          request.stop));
      for (const auto& sample : decoded) DOLIUM_TRY_VOID(put(*sample));
      begin = end;
    }
  }
  summary.taken = next;
  return {};
}

}  // namespace dolium::dataset
