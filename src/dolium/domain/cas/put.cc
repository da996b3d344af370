#include "dolium/domain/cas/put.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/base/worker_pool.h"
#include "dolium/domain/cas/chunk_pipeline.h"
#include "dolium/domain/cas/put_session.h"
#include "dolium/domain/cas/stat_cache.h"
#include "dolium/domain/cas/tree_walk.h"

namespace dolium::cas {
namespace {

constexpr size_t kManifestBuffer = size_t{1} << 20;
// Entries that may wait for one file that is being read.
constexpr size_t kMostWaiting = 4096;
constexpr uint32_t kStreamMode = 0644;
// How often a file is read that changes meanwhile.
constexpr int kMostReads = 3;

// What one put has at hand. Members end in the reverse order: first the session and the
// pipeline, then the threads that work for them.
class Work {
 public:
  static Result<std::unique_ptr<Work>> Begin(const CasStore& store, Lease& lease,
                                             const PutOptions& options) {
    DOLIUM_TRY_VOID(CheckName(options.name));
    for (const std::string& tag : options.tags) DOLIUM_TRY_VOID(CheckLabel("tag", tag));
    if (options.host) DOLIUM_TRY_VOID(CheckLabel("name of a host", *options.host));
    DOLIUM_TRY_VOID(lease.CheckNoted());
    DOLIUM_TRY_VOID(store.catalog()->Refresh(lease.id()));
    return std::unique_ptr<Work>(new Work(store, options, lease));
  }

  Result<Version> PutStream(ChunkInput input, Version version);
  Result<Version> PutFile(const std::string& path, TreeWalk::Found found,
                          Version version);
  Result<Version> PutManifest(ChunkInput input, Version version);
  Result<Version> PutTree(TreeWalk walk, Version version);

 private:
  Work(const CasStore& store, const PutOptions& options, Lease& lease)
      : store_(store),
        options_(options),
        lease_(lease),
        budget_(options.memory),
        threads_(ThreadCount(options.jobs, SIZE_MAX)),
        pool_(threads_),
        session_(store.catalog(), store.xorbs(), lease, pool_, budget_),
        pipeline_(pool_, threads_, budget_, options.stop) {
    session_.set_advanced([this] { ReportProgress(); });
  }

  using Next = ChunkPipeline::Next;

  Result<xet::Hash> PutOne(ChunkInput input);
  Result<ChunkInput> InputOf(const std::string& path, const struct stat& status) const;
  Result<Version> Conclude(Version version, const PutTotals& totals);
  struct Waiting;
  Waiting& WaitingOf(uint64_t number) { return waiting_[number - written_]; }
  bool CoverTree(const xet::Hash& tree);
  Result<void> TakeEnd(const ChunkInput& input, const Result<StoredName>& name,
                       StatCache& seen);
  void Skip(Waiting& waiting, const Error& reason);
  bool Read(uint64_t number, ChunkInput& input);
  Result<bool> TakeSeen(Waiting& waiting, StatCache& seen, bool is_covered);
  Result<Next> NextFile(TreeWalk& walk, StatCache& seen, bool is_covered,
                        ChunkInput& input);
  Result<void> WriteManifest(bool all);
  void ReportProgress();

  const CasStore& store_;
  const PutOptions& options_;
  Lease& lease_;
  MemoryBudget budget_;
  const size_t threads_;
  WorkerPool pool_;
  PutSession session_;
  ChunkPipeline pipeline_;
  Progress progress_;

  // Entries in order; files wait here until they have their hashes.
  struct Waiting {
    ManifestEntry entry;
    std::string source;
    struct stat status{};
    bool is_complete = false;
    bool is_skipped = false;
    int reads = 0;
  };
  std::deque<Waiting> waiting_;
  uint64_t written_ = 0;  // entries that were before the first of waiting_
  // Numbers of files with several names, by device and inode.
  std::map<std::pair<dev_t, ino_t>, uint64_t> inodes_;
  bool has_special_ = false;
  std::deque<uint64_t> changed_;  // numbers of entries that are to be read again
  size_t being_read_ = 0;
  std::optional<NewFile> manifest_;
  std::string lines_;
};

void Work::ReportProgress() {
  if (!options_.progress) return;
  progress_.entries = session_.totals().files;
  progress_.bytes = session_.totals().bytes;
  options_.progress(progress_);
}

Result<xet::Hash> Work::PutOne(ChunkInput input) {
  xet::Hash hash;
  std::optional<Error> failed;
  session_.set_file_ended(
      [&](const ChunkInput& ended, const Result<StoredName>& name) -> Result<void> {
        if (name) {
          hash = name->hash;
        } else {
          failed = name.error().Within(ended.label);
        }
        return {};
      });
  bool is_given = false;
  DOLIUM_TRY_VOID(pipeline_.Run(
      [&](ChunkInput& next) -> Result<Next> {
        if (std::exchange(is_given, true)) return Next::kEnd;
        next = std::move(input);
        return Next::kFile;
      },
      session_));
  if (failed) return *std::move(failed);
  return hash;
}

Result<Version> Work::Conclude(Version version, const PutTotals& totals) {
  version.totals = totals;
  // A manifest is stored, but it is no file that was put.
  version.totals.new_chunks = session_.totals().new_chunks;
  version.totals.new_bytes = session_.totals().new_bytes;
  DOLIUM_TRY_VOID(session_.Finish());
  version.totals.stored_bytes = session_.totals().stored_bytes;
  if (options_.stop.stop_requested()) return Cancelled();
  DOLIUM_TRY_VOID(AddVersion(store_.layout(), lease_, version));
  return version;
}

Result<Version> Work::PutStream(ChunkInput input, Version version) {
  progress_.total_entries = 1;
  version.kind = VersionKind::kFile;
  DOLIUM_TRY(version.hash, PutOne(std::move(input)));
  return Conclude(std::move(version), session_.totals());
}

Result<Version> Work::PutFile(const std::string& path, TreeWalk::Found found,
                              Version version) {
  progress_.total_entries = 1;
  version.kind = VersionKind::kFile;
  for (int reads = 1;; ++reads) {
    progress_.total_bytes = found.entry.size;
    DOLIUM_TRY(ChunkInput input, InputOf(path, found.status));
    const auto hash = PutOne(std::move(input));
    if (hash) {
      version.hash = *hash;
      break;
    }
    if (hash.error().code != ErrorCode::kConflict || reads == kMostReads) {
      return hash.error();
    }
    DOLIUM_TRY(TreeWalk walk, TreeWalk::Begin({path}, store_.layout().local(),
                                              {.owners = options_.owners}));
    DOLIUM_TRY(auto again, walk.Next());
    if (!again || again->entry.type != EntryType::kFile) return hash.error();
    found = *std::move(again);
  }
  version.mode = found.entry.mode;
  version.modified = found.entry.modified;
  version.attributes = found.entry.attributes;
  version.is_sparse = found.entry.is_sparse;
  return Conclude(std::move(version), session_.totals());
}

// A file as it has to be read, in this state.
Result<ChunkInput> Work::InputOf(const std::string& path,
                                 const struct stat& status) const {
  ChunkInput input{.label = path, .path = path};
  input.size = static_cast<uint64_t>(status.st_size);
  input.state = status;
  if (options_.forced_cuts) {
    DOLIUM_TRY(input.cuts, options_.forced_cuts(path));
  }
  return input;
}

Result<Version> Work::PutManifest(ChunkInput input, Version version) {
  DOLIUM_TRY(version.hash, PutOne(std::move(input)));
  const PutTotals totals = version.totals;
  return Conclude(std::move(version), totals);
}

// Writes the lines of entries that are complete.
Result<void> Work::WriteManifest(bool all) {
  while (!waiting_.empty() && waiting_.front().is_complete) {
    if (!waiting_.front().is_skipped) lines_ += FormatEntry(waiting_.front().entry);
    waiting_.pop_front();
    ++written_;
  }
  if (lines_.size() < kManifestBuffer && !all) return {};
  DOLIUM_TRY_VOID(manifest_->Append(AsBytes(lines_)));
  lines_.clear();
  return {};
}

// Notes a folder that was put before, and so, with one line, all files that were seen
// then; false if it is not there whole.
bool Work::CoverTree(const xet::Hash& tree) {
  if (tree.is_zero()) return false;
  const auto manifest = store_.OpenFile(tree, lease_, Pin::kTree);
  return manifest && (*manifest)->CheckHash() &&
         (*manifest)->ReadAll(1, options_.stop, [](BytesView) { return Result<void>(); });
}

// Whether a file has the hash that it had when it was last put.
Result<bool> Work::TakeSeen(Waiting& waiting, StatCache& seen, bool is_covered) {
  const auto hash = seen.Find(waiting.source, waiting.status);
  if (!hash) return false;
  DOLIUM_TRY(const bool is_taken,
             session_.TakeKnown({*hash, waiting.entry.size}, is_covered));
  if (!is_taken) return false;
  waiting.entry.hash = *hash;
  waiting.is_complete = true;
  seen.Add(waiting.source, waiting.status, *hash);
  ReportProgress();
  return true;
}

// Leaves an entry out.
void Work::Skip(Waiting& waiting, const Error& reason) {
  waiting.is_complete = waiting.is_skipped = true;
  if (options_.skipped) options_.skipped(waiting.source, reason);
}

// Takes what came of a file.
Result<void> Work::TakeEnd(const ChunkInput& input, const Result<StoredName>& name,
                           StatCache& seen) {
  --being_read_;
  Waiting& waiting = WaitingOf(input.number);
  if (name) {
    waiting.entry.hash = name->hash;
    waiting.entry.size = name->size;
    waiting.is_complete = true;
    seen.Add(waiting.source, waiting.status, name->hash);
  } else if (name.error().code == ErrorCode::kConflict && waiting.reads < kMostReads) {
    changed_.push_back(input.number);
  } else {
    Skip(waiting, name.error());
  }
  return WriteManifest(false);
}

// Gives an entry to be read; false if it is left out. One that changed is looked at
// again.
bool Work::Read(uint64_t number, ChunkInput& input) {
  Waiting& waiting = WaitingOf(number);
  if (waiting.reads++ > 0) {
    if (lstat(waiting.source.c_str(), &waiting.status) != 0 ||
        !S_ISREG(waiting.status.st_mode)) {
      Skip(waiting, Conflict("is no longer a file that can be read"));
      return false;
    }
    DescribeFile(waiting.status, waiting.entry);
    if (options_.owners) waiting.entry.attributes.owner = OwnerOf(waiting.status);
  }
  auto found = InputOf(waiting.source, waiting.status);
  if (!found) {
    Skip(waiting, found.error());
    return false;
  }
  input = *std::move(found);
  input.number = number;
  ++being_read_;
  return true;
}

// Goes on to the next file that has to be read.
Result<ChunkPipeline::Next> Work::NextFile(TreeWalk& walk, StatCache& seen,
                                           bool is_covered, ChunkInput& input) {
  while (true) {
    if (options_.stop.stop_requested()) return Cancelled();
    DOLIUM_TRY_VOID(WriteManifest(false));
    if (!changed_.empty()) {
      const uint64_t number = changed_.front();
      changed_.pop_front();
      if (Read(number, input)) return Next::kFile;
      continue;
    }
    if (waiting_.size() >= kMostWaiting) return Next::kLater;
    DOLIUM_TRY(auto found, walk.Next());
    if (!found) return being_read_ > 0 ? Next::kLater : Next::kEnd;
    const bool is_file = found->entry.type == EntryType::kFile;
    has_special_ |= IsSpecial(found->entry.type);
    if (is_file && found->status.st_nlink > 1) {
      const auto key = std::pair(found->status.st_dev, found->status.st_ino);
      found->entry.inode = inodes_.try_emplace(key, inodes_.size() + 1).first->second;
    }
    waiting_.push_back({std::move(found->entry), found->source, found->status, !is_file});
    if (!is_file) continue;
    if (!options_.reread) {
      DOLIUM_TRY(const bool is_seen, TakeSeen(waiting_.back(), seen, is_covered));
      if (is_seen) continue;
    }
    if (Read(written_ + waiting_.size() - 1, input)) return Next::kFile;
  }
}

Result<Version> Work::PutTree(TreeWalk walk, Version version) {
  DOLIUM_TRY(NewFile file, NewFile::Create(store_.layout(), lease_.id()));
  manifest_.emplace(std::move(file));
  version.kind = walk.is_folder() ? VersionKind::kFolder : VersionKind::kPaths;
  StatCache seen =
      StatCache::Load(store_.layout(), lease_.id(), version.name, version.is_aligned);
  const bool is_covered = !options_.reread && CoverTree(seen.tree());
  session_.set_file_ended([&](const ChunkInput& input, const Result<StoredName>& name) {
    return TakeEnd(input, name, seen);
  });
  DOLIUM_TRY_VOID(pipeline_.Run(
      [&](ChunkInput& input) { return NextFile(walk, seen, is_covered, input); },
      session_));
  DOLIUM_TRY_VOID(WriteManifest(true));
  if (options_.unmatched) {
    std::ranges::for_each(walk.exclude().Unmatched(), options_.unmatched);
  }
  const PutTotals totals = session_.totals();
  ChunkInput input{.label = "manifest", .path = ""};
  input.fd = UniqueFd(dup(manifest_->fd()));
  if (!input.fd || lseek(input.fd.get(), 0, SEEK_SET) != 0) {
    return SystemError(errno, "cannot read").Within(manifest_->path());
  }
  DOLIUM_TRY(version.hash, PutOne(std::move(input)));
  version.has_special = has_special_;
  [[maybe_unused]] const auto saved = seen.Save(version.hash);
  return Conclude(std::move(version), totals);
}

Version NewVersion(const PutOptions& options) {
  Version version;
  version.name = options.name;
  version.host = options.host ? *options.host : HostName();
  const std::set<std::string> tags(options.tags.begin(), options.tags.end());
  version.tags.assign(tags.begin(), tags.end());
  version.is_aligned = static_cast<bool>(options.forced_cuts);
  return version;
}

}  // namespace

std::string HostName() {
  std::array<char, 256> name{};
  if (gethostname(name.data(), name.size() - 1) != 0) return "";
  return CheckLabel("name of a host", name.data()) ? name.data() : "";
}

Result<Version> Put(const CasStore& store, const std::vector<std::string>& paths,
                    const PutOptions& options) {
  if (paths.empty()) return InvalidArgument("nothing to put");
  WalkOptions walking{.one_file_system = options.one_file_system,
                      .owners = options.owners,
                      .skipped = options.skipped};
  DOLIUM_TRY(walking.exclude, ExcludePatterns::Parse(options.exclude));
  DOLIUM_TRY(TreeWalk walk,
             TreeWalk::Begin(paths, store.layout().local(), std::move(walking)));
  DOLIUM_TRY(const auto lease, store.TakeLease(options.stop));
  DOLIUM_TRY(const auto work, Work::Begin(store, *lease, options));
  if (walk.is_folder() || paths.size() > 1) {
    return work->PutTree(std::move(walk), NewVersion(options));
  }
  DOLIUM_TRY(const auto found, walk.Next());
  if (!found || found->entry.type != EntryType::kFile) {
    return Unsupported(fmt::format("{}: neither a file nor a folder", paths[0]));
  }
  if (options.unmatched) std::ranges::for_each(options.exclude, options.unmatched);
  return work->PutFile(paths[0], *found, NewVersion(options));
}

Result<Version> PutStream(const CasStore& store, int fd, const PutOptions& options) {
  DOLIUM_TRY(const auto lease, store.TakeLease(options.stop));
  DOLIUM_TRY(const auto work, Work::Begin(store, *lease, options));
  if (options.unmatched) std::ranges::for_each(options.exclude, options.unmatched);
  ChunkInput input{.label = "standard input", .path = ""};
  input.fd = UniqueFd(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!input.fd) return SystemError(errno, "cannot read standard input");
  Version version = NewVersion(options);
  version.mode = kStreamMode;
  version.modified = NowNanoseconds();
  return work->PutStream(std::move(input), std::move(version));
}

Result<Version> PutManifest(const CasStore& store, Lease& lease, const std::string& path,
                            Version version, const PutOptions& options) {
  DOLIUM_TRY(const auto work, Work::Begin(store, lease, options));
  DOLIUM_TRY(const auto status, StatusOf(path));
  if (!status) return NotFound(fmt::format("{}: is gone", path));
  ChunkInput input{.label = path, .path = path};
  input.size = static_cast<uint64_t>(status->st_size);
  return work->PutManifest(std::move(input), std::move(version));
}

}  // namespace dolium::cas
