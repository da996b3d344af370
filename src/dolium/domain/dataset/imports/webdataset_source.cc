#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dolium/domain/dataset/content_types.h"
#include "dolium/domain/dataset/imports/source_files.h"
#include "dolium/domain/dataset/imports/tar_reader.h"
#include "dolium/domain/dataset/imports/webdataset.h"
#include "dolium/domain/dataset/imports/webdataset_name.h"

namespace dolium::dataset {
namespace {

using shardpack::File;
using shardpack::Sample;

class WebDatasetSource final : public SampleSource {
 public:
  WebDatasetSource(SourceFiles files, const ImportOptions& options)
      : files_(std::move(files)), options_(options) {}

  Result<std::string> Bind() override { return files_.Bind(); }

  Result<std::optional<Sample>> Next() override {
    while (true) {
      if (!archive_) {
        DOLIUM_TRY(auto stream, files_.Next());
        if (!stream) return std::nullopt;
        archive_.emplace(std::move(stream), options_.max_file_bytes);
        DOLIUM_TRY_VOID(Advance());
      }
      if (!header_) {
        bytes_before_ += archive_->stream().consumed();
        archive_.reset();
        continue;
      }
      return ReadSample();
    }
  }

  Progress progress() const override {
    return {.entries = samples_,
            .bytes = bytes_before_ + (archive_ ? archive_->stream().consumed() : 0),
            .total_bytes = files_.total_bytes()};
  }

 private:
  // Goes to the next file that is part of a sample.
  Result<void> Advance() {
    while (true) {
      DOLIUM_TRY(header_, archive_->Next());
      if (!header_) return {};
      if (!IsWebDatasetMeta(header_->name) && SplitAtFirstDot(header_->name)) return {};
    }
  }

  Result<std::optional<Sample>> ReadSample() {
    Sample sample;
    sample.key = SplitAtFirstDot(header_->name)->stem;
    while (header_) {
      const auto [key, rest] = *SplitAtFirstDot(header_->name);
      if (key != sample.key) break;
      DOLIUM_TRY_VOID(AddFile(rest, sample));
      DOLIUM_TRY_VOID(Advance());
    }
    ++samples_;
    return sample;
  }

  Result<void> AddFile(std::string_view name, Sample& sample) {
    File file{.name = std::string(name)};
    if (!options_.keep_case) {
      for (char& c : file.name) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      }
    }
    const bool again = std::ranges::any_of(
        sample.files, [&](const File& other) { return other.name == file.name; });
    if (again || name.empty()) {
      return Corrupt(fmt::format("{}: {}: {}", archive_->stream().name(), header_->name,
                                 again ? "the sample has a file of that name already"
                                       : "nothing after the dot to name the file by"));
    }
    DOLIUM_TRY(file.data, archive_->ReadContent());
    if (const auto format = MetadataOfFileName(file.name)) {
      if (sample.metadata.format != shardpack::MetadataFormat::kNone) {
        return Corrupt(fmt::format("{}: {}: the sample has metadata already",
                                   archive_->stream().name(), header_->name));
      }
      sample.metadata = {*format, std::move(file.data)};
      return {};
    }
    file.content_type = ContentTypeOfName(file.name);
    if (file.content_type.empty()) file.content_type = ContentTypeOfBytes(file.data);
    if (options_.keep_attributes) {
      file.modified = header_->modified;
      file.mode = header_->mode;
    }
    sample.files.push_back(std::move(file));
    return {};
  }

  SourceFiles files_;
  const ImportOptions options_;
  std::optional<TarReader> archive_;
  std::optional<TarHeader> header_;  // of the file to come
  uint64_t samples_ = 0;
  uint64_t bytes_before_ = 0;  // of the archives done
};

}  // namespace

Result<std::unique_ptr<SampleSource>> OpenWebDataset(std::vector<Location> files,
                                                     const ImportOptions& options) {
  DOLIUM_TRY(SourceFiles opened, SourceFiles::Open(std::move(files)));
  return std::make_unique<WebDatasetSource>(std::move(opened), options);
}

std::unique_ptr<SampleSource> ReadWebDataset(std::unique_ptr<InputStream> stream,
                                             const ImportOptions& options) {
  return std::make_unique<WebDatasetSource>(SourceFiles(std::move(stream)), options);
}

}  // namespace dolium::dataset
