#include "dolium/domain/cas/restore.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/bytes/atomic_file.h"
#include "dolium/bytes/file_store.h"
#include "dolium/bytes/folder.h"
#include "dolium/bytes/store.h"
#include "dolium/domain/cas/files.h"

namespace dolium::cas {
namespace {

constexpr uint64_t kPart = uint64_t{4} << 20;
// Files that are restored side by side: each may have a folder open.
constexpr size_t kBatch = 256;

timespec TimeOf(int64_t nanoseconds) {
  int64_t seconds = nanoseconds / 1'000'000'000;
  int64_t rest = nanoseconds % 1'000'000'000;
  if (rest < 0) {
    rest += 1'000'000'000;
    --seconds;
  }
  return {seconds, rest};
}

// Opens the folder of `path` below `root`, without following a link on the way.
Result<UniqueFd> OpenParent(int root, std::string_view path) {
  UniqueFd folder(fcntl(root, F_DUPFD_CLOEXEC, 0));
  if (!folder) return SystemError(errno, "cannot open the folder");
  while (true) {
    const size_t slash = path.find('/');
    if (slash == std::string_view::npos) return folder;
    const std::string part(path.substr(0, slash));
    UniqueFd next(openat(folder.get(), part.c_str(),
                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return SystemError(errno, fmt::format("cannot open folder {}", part));
    folder = std::move(next);
    path.remove_prefix(slash + 1);
  }
}

std::string LastPart(std::string_view path) {
  const size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

// What keeps a file or link from its name, if anything does. Files and links are replaced
// on request, all else never.
Result<void> CheckFree(int folder, const std::string& name, bool force) {
  struct stat status{};
  if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (S_ISDIR(status.st_mode)) {
    return Exists("is a folder, which a file or link does not replace");
  }
  if (!S_ISREG(status.st_mode) && !S_ISLNK(status.st_mode)) {
    return Exists("is neither a file nor a link, and is not replaced");
  }
  if (force) return {};
  return Exists("is there already").WithHint(Hint::kReplace);
}

// Removes what killed processes left in a folder.
void RemoveTemporaries(int folder) {
  // By its descriptor: its path may lead elsewhere by now.
  const auto store = FileStore::Open(fmt::format("/proc/self/fd/{}", folder));
  if (store) [[maybe_unused]]
    const auto removed = (*store)->RemoveStaleTemporaries("");
}

// A file that is being restored: a temporary beside its place.
struct Target {
  ManifestEntry entry;
  std::string label;  // for messages
  std::shared_ptr<const StoredFile> file;
  std::shared_ptr<const UniqueFd> folder;
  std::optional<AtomicFile> to;  // in `folder`, so it goes first
  std::string name;
  std::atomic<uint64_t> parts_left{0};
  std::atomic<bool> is_damaged{false};
};

class Restorer {
 public:
  // `total`: bytes of all that will be added, for the progress.
  Restorer(const CasStore& store, const GetOptions& options, uint64_t total)
      : store_(store), options_(options), total_(total) {}

  // Adds a file; reads what was added if that is much.
  Result<void> Add(int root, const ManifestEntry& entry, std::string label) {
    auto target = std::make_unique<Target>();
    target->entry = entry;
    target->label = std::move(label);
    target->name = LastPart(entry.path);
    const std::string parent =
        entry.path.substr(0, entry.path.size() - target->name.size());
    if (!folder_ || folder_path_ != parent) {
      DOLIUM_TRY(UniqueFd opened, OpenParent(root, entry.path).Within(target->label));
      folder_ = std::make_shared<const UniqueFd>(std::move(opened));
      RemoveTemporaries(folder_->get());
      folder_path_ = parent;
    }
    target->folder = folder_;
    auto opened = OpenEntry(entry);
    if (!opened) return Damaged(*target, opened.error()).Within(target->label);
    target->file = *std::move(opened);
    targets_.push_back(std::move(target));
    if (targets_.size() >= kBatch) return Flush();
    return {};
  }

  Result<void> Flush() {
    struct Part {
      Target* target;
      uint64_t offset;
      uint64_t size;
    };
    std::vector<Part> parts;
    for (const auto& target : targets_) {
      uint64_t offset = 0;
      do {
        const uint64_t size = std::min(kPart, target->entry.size - offset);
        parts.push_back({target.get(), offset, size});
        offset += size;
      } while (offset < target->entry.size);
    }
    for (const Part& part : parts) part.target->parts_left.fetch_add(1);
    DOLIUM_TRY_VOID(ParallelFor(
        parts.size(), options_.jobs,
        [&](size_t i) {
          return ReadPart(*parts[i].target, parts[i].offset, parts[i].size)
              .Within(parts[i].target->label);
        },
        options_.stop));
    targets_.clear();
    return {};
  }

  const GetReport& report() const { return report_; }

 private:
  Result<std::shared_ptr<const StoredFile>> OpenEntry(const ManifestEntry& entry) const {
    DOLIUM_TRY(auto file, store_.OpenCovered(entry.hash));
    if (file->size() == entry.size) return file;
    return Corrupt(fmt::format("file {}: {} bytes, expected {}", ToString(entry.hash),
                               file->size(), entry.size));
  }

  // Leaves a file out, if that is wanted.
  Result<void> Damaged(Target& target, const Error& error) {
    if (!options_.damaged || !IsDamage(error)) return error;
    const std::lock_guard hold(report_mutex_);
    if (!target.is_damaged.exchange(true)) options_.damaged(target.label, error);
    return {};
  }

  Result<void> Prepare(Target& target) {
    DOLIUM_TRY(target.to, AtomicFile::Create(target.folder->get(), target.name, 0600));
    return {};
  }

  Result<void> Publish(Target& target) {
    if (fchmod(target.to->fd(), target.entry.mode) != 0) {
      return SystemError(errno, "cannot set the mode");
    }
    const timespec times[2] = {{0, UTIME_OMIT}, TimeOf(target.entry.modified)};
    if (futimens(target.to->fd(), times) != 0) {
      return SystemError(errno, "cannot set the time");
    }
    DOLIUM_TRY_VOID(CheckFree(target.folder->get(), target.name, options_.force));
    return target.to->Rename(target.name, options_.force ? AtomicFile::IfThere::kReplace
                                                         : AtomicFile::IfThere::kRefuse);
  }

  // Reads what it can of a part; whether it could.
  Result<bool> TakePart(Target& target, uint64_t offset, uint64_t size) {
    if (target.is_damaged.load()) return false;
    thread_local ByteVector buffer;
    buffer.resize(size);
    auto read = offset == 0 ? target.file->CheckHash() : Result<void>();
    if (read) read = target.file->Read(offset, buffer);
    if (!read) {
      DOLIUM_TRY_VOID(Damaged(target, read.error()));
      return false;
    }
    {
      const std::lock_guard hold(prepare_[std::hash<Target*>()(&target) % kStripes]);
      if (!target.to) DOLIUM_TRY_VOID(Prepare(target));
    }
    DOLIUM_TRY_VOID(target.to->WriteAt(offset, buffer));
    return true;
  }

  Result<void> ReadPart(Target& target, uint64_t offset, uint64_t size) {
    DOLIUM_TRY(const bool is_taken, TakePart(target, offset, size));
    if (target.parts_left.fetch_sub(1) == 1) {
      if (target.is_damaged.load()) {
        target.to.reset();
        return {};
      }
      DOLIUM_TRY_VOID(Publish(target));
      target.to.reset();
      target.folder.reset();
      target.file.reset();
      const std::lock_guard hold(report_mutex_);
      ++report_.files;
    }
    const std::lock_guard hold(report_mutex_);
    if (is_taken) report_.bytes += size;
    if (options_.progress) {
      options_.progress(
          {.entries = report_.files, .bytes = report_.bytes, .total_bytes = total_});
    }
    return {};
  }

  static constexpr size_t kStripes = 61;

  const CasStore& store_;
  const GetOptions& options_;
  const uint64_t total_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::shared_ptr<const UniqueFd> folder_;  // of the last file
  std::string folder_path_;
  std::mutex prepare_[kStripes];
  std::mutex report_mutex_;
  GetReport report_;
};

Result<void> MakeFolderBelow(int root, const ManifestEntry& entry) {
  DOLIUM_TRY(const UniqueFd parent, OpenParent(root, entry.path));
  // Writable for us while it is filled.
  const std::string name = LastPart(entry.path);
  if (mkdirat(parent.get(), name.c_str(), 0700) == 0) return {};
  if (errno != EEXIST) return SystemError(errno, "cannot make the folder");
  const UniqueFd there(openat(parent.get(), name.c_str(),
                              O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!there) return SystemError(errno, "is in the way of a folder");
  return {};
}

Result<void> MakeLink(int root, const ManifestEntry& entry, bool force) {
  DOLIUM_TRY(const UniqueFd parent, OpenParent(root, entry.path));
  const std::string name = LastPart(entry.path);
  DOLIUM_TRY_VOID(CheckFree(parent.get(), name, force));
  if (force) unlinkat(parent.get(), name.c_str(), 0);
  if (symlinkat(entry.target.c_str(), parent.get(), name.c_str()) != 0) {
    return SystemError(errno, "cannot make the link");
  }
  const timespec times[2] = {{0, UTIME_OMIT}, TimeOf(entry.modified)};
  if (utimensat(parent.get(), name.c_str(), times, AT_SYMLINK_NOFOLLOW) != 0) {
    return SystemError(errno, "cannot set the time");
  }
  return {};
}

Result<void> SetFolder(int root, const ManifestEntry& entry) {
  UniqueFd folder;
  if (entry.path == ".") {
    folder = UniqueFd(fcntl(root, F_DUPFD_CLOEXEC, 0));
  } else {
    DOLIUM_TRY(const UniqueFd parent, OpenParent(root, entry.path));
    folder = UniqueFd(openat(parent.get(), LastPart(entry.path).c_str(),
                             O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  }
  if (!folder) return SystemError(errno, "cannot open the folder");
  const timespec times[2] = {{0, UTIME_OMIT}, TimeOf(entry.modified)};
  if (futimens(folder.get(), times) != 0 || fchmod(folder.get(), entry.mode) != 0) {
    return SystemError(errno, "cannot set mode and time");
  }
  return {};
}

Result<GetReport> RestoreFolder(const CasStore& store, const Version& version,
                                const std::string& out, Lease& lease,
                                const GetOptions& options) {
  DOLIUM_TRY(const UniqueFd root, MakeFolder(AT_FDCWD, out, false).Within(out));
  RemoveTemporaries(root.get());
  if (!options.force) {
    bool is_empty = true;
    DOLIUM_TRY_VOID(ListFolder(out, [&](std::string_view) { is_empty = false; }));
    if (!is_empty) {
      return Exists(fmt::format("{}: is not empty", out)).WithHint(Hint::kReplace);
    }
  }
  Restorer restorer(store, options, version.totals.bytes);
  std::vector<ManifestEntry> folders;
  std::vector<ManifestEntry> links;
  DOLIUM_TRY_VOID(
      store.VisitManifest(version, lease, [&](ManifestEntry entry) -> Result<void> {
        if (!MoveBelow(options.path, entry.path)) return {};
        const std::string label = fmt::format("{}/{}", out, entry.path);
        if (entry.type == EntryType::kFile) return restorer.Add(root.get(), entry, label);
        if (entry.type == EntryType::kLink) {
          links.push_back(std::move(entry));
          return {};
        }
        if (entry.path != ".") {
          DOLIUM_TRY_VOID(MakeFolderBelow(root.get(), entry).Within(label));
        }
        folders.push_back(std::move(entry));
        return {};
      }));
  DOLIUM_TRY_VOID(restorer.Flush());
  // Links last: nothing is ever written through one. Then folders, innermost first, whose
  // times the rest would change.
  for (const ManifestEntry& link : links) {
    DOLIUM_TRY_VOID(MakeLink(root.get(), link, options.force)
                        .Within(fmt::format("{}/{}", out, link.path)));
  }
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    DOLIUM_TRY_VOID(
        SetFolder(root.get(), *folder).Within(fmt::format("{}/{}", out, folder->path)));
  }
  return restorer.report();
}

Result<GetReport> RestoreFile(const CasStore& store, const Version& version,
                              const std::string& out, Lease& lease,
                              const GetOptions& options) {
  DOLIUM_TRY(const auto file, store.OpenFile(version.hash, lease));
  if (struct stat there{}; stat(out.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) {
    return Exists(fmt::format("{}: is a folder; name the file to make, as in {}/{}", out,
                              out, BaseName(version.name)));
  }
  const std::string parent = ParentPath(out);
  DOLIUM_TRY(const UniqueFd folder, OpenFolder(AT_FDCWD, parent).Within(parent));
  ManifestEntry entry;
  entry.path = BaseName(out);
  entry.mode = version.mode;
  entry.modified = version.modified != 0 ? version.modified : NowNanoseconds();
  entry.size = file->size();
  entry.hash = version.hash;
  Restorer restorer(store, options, entry.size);
  DOLIUM_TRY_VOID(restorer.Add(folder.get(), entry, out));
  DOLIUM_TRY_VOID(restorer.Flush());
  return restorer.report();
}

}  // namespace

Result<GetReport> Restore(const CasStore& store, const Version& version,
                          const std::string& out, const GetOptions& options) {
  DOLIUM_TRY(const auto lease, store.TakeLease(options.stop));
  DOLIUM_TRY(const Version part, store.FindPart(version, options.path, *lease));
  if (part.kind == VersionKind::kFile) {
    return RestoreFile(store, part, out, *lease, options);
  }
  return RestoreFolder(store, version, out, *lease, options);
}

Result<GetReport> WriteTo(const CasStore& store, const xet::Hash& hash, int fd,
                          const GetOptions& options) {
  DOLIUM_TRY(const auto lease, store.TakeLease(options.stop));
  DOLIUM_TRY(const auto file, store.OpenFile(hash, *lease));
  DOLIUM_TRY_VOID(file->CheckHash());
  DOLIUM_TRY_VOID(file->ReadAll(options.jobs, options.stop, [&](BytesView segment) {
    return WriteAll(fd, segment);
  }));
  return GetReport{1, file->size()};
}

}  // namespace dolium::cas
