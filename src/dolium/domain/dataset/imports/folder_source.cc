#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dolium/bytes/folder.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/content_types.h"
#include "dolium/domain/dataset/imports/file_loader.h"
#include "dolium/domain/dataset/imports/folder.h"
#include "dolium/domain/dataset/imports/folder_listing.h"
#include "dolium/domain/dataset/imports/input_stream.h"
#include "dolium/domain/dataset/imports/left_out.h"
#include "dolium/domain/dataset/imports/sample_json.h"

namespace dolium::dataset {
namespace {

using shardpack::File;
using shardpack::Sample;

constexpr uint64_t kMaxLine = uint64_t{64} << 20;

class ListedSource final : public SampleSource {
 public:
  ListedSource(FileLoader loader, FolderListing listing, std::string_view folder)
      : loader_(std::move(loader)), listing_(std::move(listing)) {
    const auto note = [&](const PassedOver& passed, std::string_view one,
                          std::string_view many) {
      if (passed.count > 0) left_out_.Note(0, FindingOf(passed, folder, one, many));
    };
    note(listing_.specials(), "is no file", "things that are no files");
    note(listing_.links(), "is a link that is not followed",
         "links that are not followed");
    note(listing_.hidden(), "is hidden", "hidden files");
  }

  Result<std::string> Bind() override {
    for (size_t number = 0; number < listing_.size(); ++number) {
      loader_.Bind(listing_.Path(number), listing_.is_link(number));
    }
    return loader_.bound().text();
  }

  Result<std::optional<Sample>> Next() override {
    if (done_ == listing_.groups().size()) return std::nullopt;
    const FolderListing::Group& group = listing_.groups()[done_++];
    Sample sample{.key = listing_.Key(group)};
    sample.files.resize(group.count);
    for (size_t i = 0; i < group.count; ++i) {
      const size_t number = group.first + i;
      File& file = sample.files[i];
      file.name = listing_.EntryName(number);
      file.content_type = ContentTypeOfName(file.name);
      DOLIUM_TRY_VOID(
          loader_.Load(listing_.Path(number), listing_.is_link(number), number, file));
      if (file.content_type.empty()) file.content_type = ContentTypeOfBytes(file.data);
      bytes_ += file.data.size();
    }
    return sample;
  }
  bool can_go_on() const override { return true; }

  Result<void> Skip(uint64_t count) override {
    done_ +=
        static_cast<size_t>(std::min<uint64_t>(count, listing_.groups().size() - done_));
    return {};
  }

  std::optional<GroupingChoice> grouping_choice() const override {
    return listing_.choice();
  }

  std::vector<Finding> TakeLeftOut(uint64_t before) override {
    return left_out_.Take(before);
  }

  Progress progress() const override {
    return {.entries = done_, .total_entries = listing_.groups().size(), .bytes = bytes_};
  }

 private:
  FileLoader loader_;
  const FolderListing listing_;
  LeftOut left_out_;
  size_t done_ = 0;
  uint64_t bytes_ = 0;
};

class ManifestSource final : public SampleSource {
 public:
  ManifestSource(FileLoader loader, Location location,
                 std::unique_ptr<InputStream> manifest)
      : loader_(std::move(loader)),
        location_(std::move(location)),
        manifest_(std::move(manifest)) {}

  Result<std::string> Bind() override {
    DOLIUM_TRY(const auto manifest, InputStream::Open(location_));
    for (uint64_t line = 0;;) {
      bool is_read = false;
      const auto read = NextLine(*manifest, line, is_read);
      if (!read && is_read) continue;  // Next() reports it.
      DOLIUM_TRY(const auto& next, read);
      if (!next) break;
      for (const std::string& path : next->paths) loader_.Bind(path, /*follow=*/true);
    }
    loader_.bound().Add(manifest_->name(), manifest_->generation().token);
    return loader_.bound().text();
  }

  Result<std::optional<Sample>> Next() override {
    DOLIUM_TRY(auto line, NextLine(*manifest_, line_, can_go_on_));
    if (!line) return std::nullopt;
    DOLIUM_TRY_VOID(
        LoadFiles(*line).Within(fmt::format("{}: line {}", manifest_->name(), line_)));
    ++samples_;
    return std::move(line->sample);
  }

  bool can_go_on() const override { return can_go_on_; }

  Progress progress() const override { return {.entries = samples_, .bytes = bytes_}; }

 private:
  // `is_read`: there is a line, whatever is wrong with it.
  static Result<std::optional<ManifestLine>> NextLine(InputStream& manifest,
                                                      uint64_t& number, bool& is_read) {
    is_read = false;
    while (true) {
      DOLIUM_TRY(const auto line, manifest.ReadLine(kMaxLine));
      if (!line) return std::nullopt;
      is_read = true;
      ++number;
      const std::string_view text = AsText(*line);
      if (text.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      DOLIUM_TRY(ManifestLine parsed, ParseManifestLine(text).Within(fmt::format(
                                          "{}: line {}", manifest.name(), number)));
      return parsed;
    }
  }

  Result<void> LoadFiles(ManifestLine& line) {
    for (size_t i = 0; i < line.paths.size(); ++i) {
      // What the manifest says of a file counts more than what the file system does.
      File& file = line.sample.files[i];
      const auto modified = file.modified;
      const auto mode = file.mode;
      DOLIUM_TRY_VOID(loader_.Load(line.paths[i], /*follow=*/true, files_++, file));
      if (modified) file.modified = modified;
      if (mode) file.mode = mode;
      bytes_ += file.data.size();
    }
    return {};
  }

  FileLoader loader_;
  const Location location_;
  const std::unique_ptr<InputStream> manifest_;
  size_t files_ = 0;
  bool can_go_on_ = false;
  uint64_t line_ = 0;
  uint64_t samples_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<SampleSource>> OpenFolderSource(const std::string& path,
                                                       const ImportOptions& options) {
  DOLIUM_TRY(const Location location, ParseLocation(path));
  const std::string described = location.Describe();
  DOLIUM_TRY(const auto local, location.store->LocalPath(location.path));
  if (!local) return Unsupported(described + ": not a local folder");
  std::string folder = *local;
  std::string manifest = options.manifest;
  struct stat status{};
  if (stat(local->c_str(), &status) != 0) {
    return SystemError(errno, "cannot look up").Within(described);
  }
  bool by_manifest = options.grouping == Grouping::kManifest;
  if (S_ISREG(status.st_mode)) {
    if (options.grouping != Grouping::kAuto && !by_manifest) {
      return InvalidArgument(described + ": not a folder");
    }
    by_manifest = true;
    manifest = *local;
    folder = ParentPath(*local);
  }
  auto root = OpenFolder(AT_FDCWD, folder);
  if (!root) return std::move(root).error().Within(described);
  FileLoader loader(*std::move(root), S_ISREG(status.st_mode) ? folder : described,
                    {.keep_attributes = options.keep_attributes,
                     .max_file_bytes = options.max_file_bytes});
  if (by_manifest) {
    if (manifest.empty()) manifest = JoinPath(folder, kFolderManifest);
    DOLIUM_TRY(Location at, ParseLocation(manifest));
    DOLIUM_TRY(auto stream, InputStream::Open(at));
    return std::make_unique<ManifestSource>(std::move(loader), std::move(at),
                                            std::move(stream));
  }
  DOLIUM_TRY(FolderListing listing,
             FolderListing::List(
                 loader.root(), described,
                 {.grouping = options.grouping, .skip_links = options.skip_links}));
  return std::make_unique<ListedSource>(std::move(loader), std::move(listing), described);
}

}  // namespace dolium::dataset
