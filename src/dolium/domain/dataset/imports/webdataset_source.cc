#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dolium/domain/dataset/content_types.h"
#include "dolium/domain/dataset/imports/left_out.h"
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

  bool can_go_on() const override { return can_go_on_; }

  Result<std::optional<Sample>> Next() override {
    auto sample = ReadNext();
    can_go_on_ = true;
    // Behind damage of an archive, nothing of it can be found.
    if (!sample && !is_of_sample_ && archive_) EndArchive();
    return sample;
  }

  std::vector<Finding> TakeLeftOut(uint64_t before) override {
    return left_out_.Take(before);
  }

  Progress progress() const override {
    return {.entries = samples_,
            .bytes = bytes_before_ + (archive_ ? archive_->stream().consumed() : 0),
            .total_bytes = files_.total_bytes()};
  }

 private:
  Result<std::optional<Sample>> ReadNext() {
    is_of_sample_ = false;
    while (true) {
      if (!archive_) {
        DOLIUM_TRY(auto stream, files_.Next());
        if (!stream) return std::nullopt;
        archive_.emplace(std::move(stream), options_.max_file_bytes);
        DOLIUM_TRY_VOID(Advance());
      }
      if (!header_) {
        EndArchive();
        continue;
      }
      return ReadSample();
    }
  }

  // Goes to the next file that is part of a sample.
  Result<void> Advance() {
    while (true) {
      DOLIUM_TRY(header_, archive_->Next());
      if (!header_) return {};
      if (!IsWebDatasetMeta(header_->name) && SplitAtFirstDot(header_->name)) return {};
      nameless_.Add(header_->name);
    }
  }

  void EndArchive() {
    const std::string& name = archive_->stream().name();
    const auto note = [&](const PassedOver& passed, std::string_view one,
                          std::string_view many) {
      if (passed.count == 0) return;
      left_out_.Note(samples_, FindingOf(passed, name, one, many));
    };
    note(archive_->links(), "is a link, for which an archive has no content",
         "links, for which an archive has no content");
    note(archive_->specials(), "is no file", "members that are no files");
    note(nameless_, "is of no sample by its name", "files of no sample by their names");
    nameless_ = {};
    if (const auto behind = archive_->behind_end()) {
      left_out_.Note(samples_,
                     {.severity = Severity::kWarning,
                      .kind = "left-out",
                      .object = name,
                      .key = {},
                      .range = std::nullopt,
                      .message = fmt::format("goes on at {}, behind the mark of its end; "
                                             "left out (archives that were joined are "
                                             "read one by one)",
                                             *behind)});
    }
    bytes_before_ += archive_->stream().consumed();
    archive_.reset();
  }

  Result<std::optional<Sample>> ReadSample() {
    Sample sample;
    sample.key = SplitAtFirstDot(header_->name)->stem;
    std::optional<Error> bad;  // the first thing that is wrong with the sample
    while (header_) {
      const auto [key, rest] = *SplitAtFirstDot(header_->name);
      if (key != sample.key) break;
      if (auto fits = CheckFile(rest, sample); fits) {
        DOLIUM_TRY_VOID(AddFile(rest, sample));
      } else if (!bad) {
        bad = std::move(fits).error();
      }
      if (auto advanced = Advance(); !advanced) {
        Error error = std::move(advanced).error();
        error.message += fmt::format("; sample \"{}\" may lack files", sample.key);
        return error;
      }
    }
    ++samples_;
    is_of_sample_ = bad.has_value();
    if (bad) return *std::move(bad);
    return sample;
  }

  std::string NameOf(std::string_view name) const {
    return options_.keep_case ? std::string(name) : LowerCase(name);
  }

  // Whether the sample can have such a file besides those that it has.
  Result<void> CheckFile(std::string_view name, const Sample& sample) const {
    const std::string own = NameOf(name);
    const auto wrong = [&](std::string_view what) {
      return Corrupt(
          fmt::format("{}: {}: {}", archive_->stream().name(), header_->name, what));
    };
    if (own.empty()) return wrong("nothing after the dot to name the file by");
    if (std::ranges::find(sample.files, own, &File::name) != sample.files.end()) {
      return wrong("the sample has a file of that name already");
    }
    if (MetadataOfFileName(own) &&
        sample.metadata.format != shardpack::MetadataFormat::kNone) {
      return wrong("the sample has metadata already");
    }
    return {};
  }

  Result<void> AddFile(std::string_view name, Sample& sample) {
    File file{.name = NameOf(name)};
    DOLIUM_TRY(file.data, archive_->ReadContent());
    if (const auto format = MetadataOfFileName(file.name)) {
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
  PassedOver nameless_;              // of the archive
  LeftOut left_out_;
  bool can_go_on_ = false;
  bool is_of_sample_ = false;  // the last error
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
