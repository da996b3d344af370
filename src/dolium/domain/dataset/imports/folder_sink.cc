#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/atomic_file.h"
#include "dolium/bytes/folder.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/imports/folder.h"
#include "dolium/domain/dataset/imports/output_shards.h"
#include "dolium/domain/dataset/imports/put_checks.h"
#include "dolium/domain/dataset/imports/sample_json.h"

namespace dolium::dataset {
namespace {

using shardpack::File;
using shardpack::Sample;

constexpr int64_t kNanoseconds = 1'000'000'000;

// The path without its "." parts. kInvalidArgument if it would lead elsewhere.
Result<std::string> SafePath(std::string_view path) {
  const auto refuse = [&](std::string_view why) {
    return InvalidArgument(fmt::format("\"{}\" is no path in a folder: {}", path, why));
  };
  if (path.starts_with('/')) return refuse("it is absolute");
  if (path.find('\0') != std::string_view::npos) return refuse("it has a NUL in it");
  std::string out;
  for (std::string_view rest = path;;) {
    const size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash);
    if (part == "..") return refuse("it has \"..\" in it");
    if (part.empty()) return refuse("a part of it is empty");
    if (IsInternalName(part)) return refuse("it is the name of a temporary");
    if (part != ".") out = JoinPath(out, part);
    if (slash == std::string_view::npos) break;
    rest.remove_prefix(slash + 1);
  }
  if (out.empty() || path.ends_with("/.") || path == ".") return refuse("no file name");
  return out;
}

class FolderSink final : public SampleSink {
 public:
  FolderSink(UniqueFd root, std::string path, std::unique_ptr<OutputShards> manifest,
             const SampleExportOptions& options)
      : root_(std::move(root)),
        path_(std::move(path)),
        manifest_(std::move(manifest)),
        options_(options) {}

  Keeps keeps() const override {
    const bool has_manifest = manifest_ != nullptr;
    return {has_manifest, has_manifest, has_manifest};
  }

  Result<void> Put(const Sample& sample) override {
    DOLIUM_TRY_VOID(CheckHasFiles(sample));
    const char joint = options_.layout == FolderLayout::kStem ? '.' : '/';
    std::vector<std::string> paths;
    for (const File& file : sample.files) {
      DOLIUM_TRY(std::string path,
                 SafePath(fmt::format("{}{}{}", sample.key, joint, file.name)));
      paths.push_back(std::move(path));
    }
    for (const std::string& path : paths) DOLIUM_TRY_VOID(CheckDestination(path));
    for (size_t i = 0; i < paths.size(); ++i) {
      auto written = Write(paths[i], sample.files[i]);
      if (written) continue;
      // In a folder of our own there is nothing else.
      if (written.error().code == ErrorCode::kExists && !options_.destination.empty()) {
        return Exists(
            fmt::format("sample \"{}\", file \"{}\": a sample before has a file with the "
                        "same path, {}",
                        sample.key, sample.files[i].name, paths[i]));
      }
      return std::move(written).error().Within(JoinPath(path_, paths[i]));
    }
    if (!manifest_) return {};
    DOLIUM_TRY(std::string line, ManifestJsonLine(sample, paths));
    line += '\n';
    return manifest_->Append(AsBytes(line));
  }

  Result<void> Finish() override {
    if (syncfs(root_.get()) != 0) {
      return SystemError(errno, "cannot write to the disk").Within(path_);
    }
    return manifest_ ? manifest_->Finish() : Result<void>();
  }

 private:
  Result<void> CheckDestination(const std::string& path) const {
    if (options_.destination.empty()) return {};
    const std::string at = JoinPath(options_.destination, path);
    struct stat status{};
    if (lstat(at.c_str(), &status) != 0) return {};
    return Exists(at + ": is there already");
  }

  Result<void> Write(const std::string& path, const File& file) {
    const std::string folder = ParentPath(path);
    if (!folder_ || folder != folder_path_) {
      DOLIUM_TRY(folder_, MakeFolder(root_.get(), folder, /*sync=*/false));
      folder_path_ = folder;
    }
    const std::string name(BaseName(path));
    DOLIUM_TRY(AtomicFile atomic, AtomicFile::Create(folder_.get(), name));
    DOLIUM_TRY_VOID(atomic.Append(file.data));
    DOLIUM_TRY_VOID(SetAttributes(atomic.fd(), file));
    return atomic.Rename(name, options_.force ? AtomicFile::IfThere::kReplace
                                              : AtomicFile::IfThere::kRefuse);
  }

  static Result<void> SetAttributes(int fd, const File& file) {
    // Bits that give rights of the owner to others are not taken from data.
    if (file.mode && fchmod(fd, *file.mode & 0777) != 0) {
      return SystemError(errno, "cannot set its permissions");
    }
    if (!file.modified) return {};
    timespec times[2] = {{0, UTIME_NOW}, {}};
    int64_t nanoseconds = *file.modified % kNanoseconds;
    times[1].tv_sec = *file.modified / kNanoseconds - (nanoseconds < 0 ? 1 : 0);
    times[1].tv_nsec = nanoseconds < 0 ? nanoseconds + kNanoseconds : nanoseconds;
    if (futimens(fd, times) == 0) return {};
    return SystemError(errno, "cannot set its time");
  }

  const UniqueFd root_;
  const std::string path_;
  const std::unique_ptr<OutputShards> manifest_;
  const SampleExportOptions options_;
  UniqueFd folder_;  // the last one written to
  std::string folder_path_;
};

}  // namespace

Result<std::unique_ptr<SampleSink>> CreateFolderSink(const std::string& path,
                                                     const SampleExportOptions& options) {
  DOLIUM_TRY(const Location location, ParseLocation(path));
  const std::string described = location.Describe();
  DOLIUM_TRY(const auto local, location.store->LocalPath(location.path));
  if (!local) return Unsupported(described + ": not a local folder");
  auto root = MakeFolder(AT_FDCWD, *local, /*sync=*/true);
  if (!root) return std::move(root).error().Within(described);
  std::unique_ptr<OutputShards> manifest;
  if (options.manifest) {
    DOLIUM_TRY(manifest, OutputShards::Create(JoinPath(path, kFolderManifest),
                                              {.force = options.force}));
  }
  return std::make_unique<FolderSink>(*std::move(root), described, std::move(manifest),
                                      options);
}

}  // namespace dolium::dataset
