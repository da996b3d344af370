#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/domain/dataset/imports/output_shards.h"
#include "dolium/domain/dataset/imports/put_checks.h"
#include "dolium/domain/dataset/imports/tar_header.h"
#include "dolium/domain/dataset/imports/webdataset.h"
#include "dolium/domain/dataset/imports/webdataset_name.h"

namespace dolium::dataset {
namespace {

using shardpack::File;
using shardpack::Sample;

constexpr uint32_t kFileMode = 0444;
constexpr std::array<std::byte, 2 * kTarBlock>
    kZeros{};  // as a tail: the mark of the end

class WebDatasetSink final : public SampleSink {
 public:
  WebDatasetSink(std::unique_ptr<OutputShards> shards, const SampleExportOptions& options)
      : shards_(std::move(shards)), options_(options) {}

  Keeps keeps() const override { return {.metadata = true, .content_types = false}; }

  Result<void> Put(const Sample& sample) override {
    DOLIUM_TRY_VOID(CheckHasFiles(sample));
    DOLIUM_TRY_VOID(CheckNames(sample));
    std::vector<const File*> files;
    for (const File& file : sample.files) {
      if (MetadataOfFileName(file.name)) {
        return InvalidArgument(fmt::format(
            "sample \"{}\", file \"{}\": would become the metadata of the sample when "
            "it is imported from WebDataset",
            sample.key, file.name));
      }
      files.push_back(&file);
    }
    const File metadata{.name = std::string(MetadataFileName(sample.metadata.format)),
                        .data = sample.metadata.bytes};
    if (!metadata.name.empty()) files.push_back(&metadata);
    std::vector<ByteVector> headers(files.size());
    uint64_t bytes = 0;
    for (size_t i = 0; i < headers.size(); ++i) {
      const File& file = *files[i];
      DOLIUM_TRY(std::string path,
                 WebDatasetPath(sample.key, file.name, options_.dot_replacement));
      if (i == 0) {
        const size_t stem = path.size() - file.name.size() - 1;
        DOLIUM_TRY_VOID(CheckKey(sample, std::string_view(path).substr(0, stem)));
      }
      AppendTarHeader({.name = std::move(path),
                       .size = file.data.size(),
                       .modified = file.modified.value_or(0),
                       .mode = file.mode.value_or(kFileMode)},
                      headers[i]);
      bytes += headers[i].size() + file.data.size() + TarPadding(file.data.size());
    }
    DOLIUM_TRY_VOID(shards_->BeginSample(bytes, kZeros));
    for (size_t i = 0; i < headers.size(); ++i) {
      const BytesView data = files[i]->data;
      DOLIUM_TRY_VOID(shards_->Append(headers[i]));
      DOLIUM_TRY_VOID(shards_->Append(data));
      const auto padding = static_cast<size_t>(TarPadding(data.size()));
      DOLIUM_TRY_VOID(shards_->Append(BytesView(kZeros).first(padding)));
    }
    return {};
  }

  Result<void> Finish() override { return shards_->Finish(kZeros); }

 private:
  // Readers join neighbours of one key. `stem` is the key as an archive has it.
  Result<void> CheckKey(const Sample& sample, std::string_view stem) {
    if (last_stem_ == stem) {
      return InvalidArgument(
          fmt::format("sample \"{}\": readers of WebDataset would join it with the one "
                      "before, whose key is the same",
                      sample.key));
    }
    last_stem_ = stem;
    return {};
  }

  // Readers make names lower case.
  static Result<void> CheckNames(const Sample& sample) {
    std::set<std::string> names;
    for (const File& file : sample.files) {
      if (names.insert(LowerCase(file.name)).second) continue;
      return InvalidArgument(
          fmt::format("sample \"{}\", file \"{}\": readers of WebDataset, who make names "
                      "lower case, would find another file of that name",
                      sample.key, file.name));
    }
    return {};
  }

  const std::unique_ptr<OutputShards> shards_;
  const SampleExportOptions options_;
  std::optional<std::string> last_stem_;
};

}  // namespace

Result<std::unique_ptr<SampleSink>> CreateWebDataset(const std::string& path,
                                                     const SampleExportOptions& options) {
  DOLIUM_TRY(auto shards, OutputShards::Create(path, options));
  return std::make_unique<WebDatasetSink>(std::move(shards), options);
}

}  // namespace dolium::dataset
