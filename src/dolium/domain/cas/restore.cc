#include "dolium/domain/cas/restore.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/bytes/atomic_file.h"
#include "dolium/bytes/file_store.h"
#include "dolium/bytes/folder.h"
#include "dolium/bytes/store.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/restore_entry.h"

namespace dolium::cas {
namespace {

constexpr uint64_t kPart = uint64_t{4} << 20;
// Files that are restored side by side: each may have a folder open.
constexpr size_t kBatch = 256;

// Removes what killed processes left in a folder.
void RemoveTemporaries(int folder) {
  // By its descriptor: its path may lead elsewhere by now.
  const auto store = FileStore::Open(fmt::format("/proc/self/fd/{}", folder));
  if (store) [[maybe_unused]]
    const auto removed = (*store)->RemoveStaleTemporaries("");
}

// Writes what is not zero, so that holes stay: blocks of a file that is all zero so far.
Result<void> WriteData(AtomicFile& to, uint64_t offset, BytesView bytes) {
  constexpr size_t kBlock = 4096;
  const auto is_zero = [](BytesView block) {
    return std::ranges::all_of(block, [](std::byte byte) { return byte == std::byte{}; });
  };
  for (size_t begin = 0; begin < bytes.size();) {
    size_t end = begin;
    while (end < bytes.size() &&
           !is_zero(bytes.subspan(end, std::min(kBlock, bytes.size() - end)))) {
      end = std::min(end + kBlock, bytes.size());
    }
    if (end > begin) {
      DOLIUM_TRY_VOID(to.WriteAt(offset + begin, bytes.subspan(begin, end - begin)));
    }
    begin = std::max(end, std::min(begin + kBlock, bytes.size()));
  }
  return {};
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
      : store_(store), options_(options), total_(total) {
    if (!options.lost) return;
    options_.lost = [this, lost = options.lost](Lost what, const std::string& path,
                                                const Error& reason) {
      const std::lock_guard hold(report_mutex_);
      lost(what, path, reason);
    };
  }

  // Adds a file; reads what was added if that is much. One that had several names waits
  // for the first of them, if it is the same file still.
  Result<void> Add(int root, const ManifestEntry& entry, const std::string& label) {
    if (entry.inode != 0) {
      const auto [first, is_new] =
          named_.try_emplace(entry.inode, entry.path, entry.hash);
      if (!is_new && first->second.hash == entry.hash) {
        links_.push_back(entry);
        return {};
      }
    }
    return AddFile(root, entry, label);
  }

  // Makes all that was added and is not there yet. `out` is for messages.
  Result<void> Finish(int root, const std::string& out) {
    DOLIUM_TRY_VOID(Flush());
    for (ManifestEntry& link : links_) {
      const std::string label = fmt::format("{}/{}", out, link.path);
      Result<void> made = Unsupported("its first name is damaged");
      if (!damaged_.contains(link.inode)) {
        made = MakeHardLink(root, named_.at(link.inode).path, link, options_.force);
      }
      if (made) {
        report_.bytes += link.size;
        ++report_.files;
      } else if (made.error().code == ErrorCode::kUnsupported) {
        DOLIUM_TRY_VOID(AddFile(root, link, label));
      } else {
        return made.error().Within(label);
      }
    }
    return Flush();
  }

  const GetReport& report() const { return report_; }

 private:
  Result<void> AddFile(int root, const ManifestEntry& entry, std::string label) {
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
    if (target.entry.inode != 0) damaged_.insert(target.entry.inode);
    return {};
  }

  Result<void> Prepare(Target& target) {
    DOLIUM_TRY(target.to, AtomicFile::Create(target.folder->get(), target.name, 0600));
    if (target.entry.is_sparse &&
        ftruncate(target.to->fd(), static_cast<off_t>(target.entry.size)) != 0) {
      return SystemError(errno, "cannot set the size");
    }
    return {};
  }

  Result<void> Publish(Target& target) {
    DOLIUM_TRY_VOID(SetAttributes(target.to->fd(), target.entry, target.label, options_));
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
    if (target.entry.is_sparse) {
      DOLIUM_TRY_VOID(WriteData(*target.to, offset, buffer));
    } else {
      DOLIUM_TRY_VOID(target.to->WriteAt(offset, buffer));
    }
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
  GetOptions options_;
  const uint64_t total_;
  std::vector<std::unique_ptr<Target>> targets_;
  std::shared_ptr<const UniqueFd> folder_;  // of the last file
  std::string folder_path_;
  std::mutex prepare_[kStripes];
  std::mutex report_mutex_;
  GetReport report_;

  // Files with several names: the first that was added, by the numbers of entries.
  struct Named {
    Named(std::string path_of, const xet::Hash& hash_of)
        : path(std::move(path_of)), hash(hash_of) {}
    std::string path;
    xet::Hash hash;
  };
  std::map<uint64_t, Named> named_;
  std::set<uint64_t> damaged_;
  std::vector<ManifestEntry> links_;
};

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
  std::vector<ManifestEntry> special;
  DOLIUM_TRY_VOID(
      store.VisitManifest(version, lease, [&](ManifestEntry entry) -> Result<void> {
        if (!MoveBelow(options.path, entry.path)) return {};
        const std::string label = fmt::format("{}/{}", out, entry.path);
        if (entry.type == EntryType::kFile) return restorer.Add(root.get(), entry, label);
        if (entry.type == EntryType::kLink) {
          links.push_back(std::move(entry));
          return {};
        }
        if (IsSpecial(entry.type)) {
          special.push_back(std::move(entry));
          return {};
        }
        if (entry.path != ".") {
          DOLIUM_TRY_VOID(
              MakeFolderBelow(root.get(), entry, options.force).Within(label));
        }
        folders.push_back(std::move(entry));
        return {};
      }));
  DOLIUM_TRY_VOID(restorer.Finish(root.get(), out));
  // Links last: nothing is ever written through one. Then folders, innermost first, whose
  // times the rest would change.
  const auto each = [&](const std::vector<ManifestEntry>& entries,
                        const auto& make) -> Result<void> {
    for (const ManifestEntry& entry : entries) {
      const std::string label = fmt::format("{}/{}", out, entry.path);
      DOLIUM_TRY_VOID(make(root.get(), entry, label, options).Within(label));
    }
    return {};
  };
  DOLIUM_TRY_VOID(each(special, MakeSpecial));
  DOLIUM_TRY_VOID(each(links, MakeLink));
  std::ranges::reverse(folders);
  DOLIUM_TRY_VOID(each(folders, SetFolder));
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
  ManifestEntry entry = FileEntryOf(version);
  entry.path = BaseName(out);
  if (entry.modified == 0) entry.modified = NowNanoseconds();
  entry.size = file->size();
  Restorer restorer(store, options, entry.size);
  DOLIUM_TRY_VOID(restorer.Add(folder.get(), entry, out));
  DOLIUM_TRY_VOID(restorer.Finish(folder.get(), parent));
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
