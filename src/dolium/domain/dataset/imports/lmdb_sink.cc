#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/folder.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/imports/lmdb.h"
#include "dolium/domain/dataset/imports/lmdb_environment.h"
#include "dolium/domain/dataset/imports/put_checks.h"

namespace dolium::dataset {
namespace {

using shardpack::File;
using shardpack::Sample;

constexpr size_t kFirstMapBytes = size_t{64} << 20;
// A transaction that does not fit the map is done again in a larger one.
constexpr size_t kBatchBytes = size_t{16} << 20;
constexpr size_t kBatchEntries = 10'000;
constexpr size_t kMostKeyBytes = 511;

class LmdbSink final : public SampleSink {
 public:
  LmdbSink(UniqueFd folder, std::string described, std::string path, bool force)
      : folder_(std::move(folder)),
        described_(std::move(described)),
        path_(std::move(path)),
        force_(force),
        temporary_(MakeTemporaryName(BaseName(path_))) {}
  ~LmdbSink() override {
    environment_.reset();
    if (!temporary_.empty()) unlinkat(folder_.get(), temporary_.c_str(), 0);
  }
  LmdbSink(const LmdbSink&) = delete;
  LmdbSink& operator=(const LmdbSink&) = delete;

  Result<void> Start() {
    // The library has no way to open relative to a folder.
    DOLIUM_TRY(environment_,
               LmdbEnvironment::Open(JoinPath(ParentPath(path_), temporary_),
                                     MDB_NOLOCK | MDB_NOSYNC, kFirstMapBytes));
    DOLIUM_TRY_VOID(environment_->Begin(0));
    const int status = mdb_dbi_open(environment_->transaction(), nullptr, 0, &database_);
    if (status != MDB_SUCCESS) return LmdbError(status, "cannot open the database");
    if (const int done = environment_->Commit(); done != MDB_SUCCESS) {
      return LmdbError(done, "cannot commit");
    }
    return {};
  }

  Result<void> Put(const Sample& sample) override {
    DOLIUM_TRY_VOID(CheckHasFiles(sample));
    for (const File& file : sample.files) {
      std::string key =
          file.name == "data" ? sample.key : fmt::format("{}/{}", sample.key, file.name);
      if (key.empty() || key.size() > kMostKeyBytes) {
        return InvalidArgument(
            fmt::format("sample \"{}\": the key \"{}\" has {} bytes, not 1 to {}",
                        sample.key, key, key.size(), kMostKeyBytes));
      }
      batch_bytes_ += file.data.size();
      batch_.push_back({std::move(key), file.data});
    }
    if (batch_bytes_ < kBatchBytes && batch_.size() < kBatchEntries) return {};
    return WriteBatch().Within(described_);
  }

  Result<void> Finish() override {
    DOLIUM_TRY_VOID(WriteBatch().Within(described_));
    return Appear().Within(described_);
  }

 private:
  struct Entry {
    std::string key;
    Bytes data;
  };

  Result<void> WriteBatch() {
    while (true) {
      DOLIUM_TRY(const int status, TryBatch());
      if (status == MDB_SUCCESS) break;
      MDB_envinfo info{};
      mdb_env_info(environment_->get(), &info);
      const int grown = mdb_env_set_mapsize(environment_->get(), info.me_mapsize * 2);
      if (grown != MDB_SUCCESS) return LmdbError(grown, "cannot make the map larger");
    }
    batch_.clear();
    batch_bytes_ = 0;
    return {};
  }

  // MDB_SUCCESS or MDB_MAP_FULL.
  Result<int> TryBatch() {
    DOLIUM_TRY_VOID(environment_->Begin(0));
    for (Entry& entry : batch_) {
      MDB_val key{entry.key.size(), entry.key.data()};
      MDB_val value{entry.data.size(), const_cast<std::byte*>(entry.data.data())};
      const int status =
          mdb_put(environment_->transaction(), database_, &key, &value, MDB_NOOVERWRITE);
      if (status == MDB_SUCCESS) continue;
      environment_->Abort();
      if (status == MDB_MAP_FULL) return status;
      return LmdbError(status, fmt::format("key \"{}\"", entry.key));
    }
    const int status = environment_->Commit();
    if (status == MDB_SUCCESS || status == MDB_MAP_FULL) return status;
    return LmdbError(status, "cannot commit");
  }

  Result<void> Appear() {
    if (const int status = mdb_env_sync(environment_->get(), 1); status != MDB_SUCCESS) {
      return LmdbError(status, "cannot write to the disk");
    }
    environment_.reset();
    const std::string name(BaseName(path_));
    const int fd = folder_.get();
    const unsigned flags = force_ ? 0 : RENAME_NOREPLACE;
    if (renameat2(fd, temporary_.c_str(), fd, name.c_str(), flags) != 0) {
      if (errno == EEXIST) return Exists("is there already");
      return SystemError(errno, "cannot rename the temporary");
    }
    temporary_.clear();
    return SyncFd(fd);
  }

  const UniqueFd folder_;
  const std::string described_;
  const std::string path_;  // of the file to come
  const bool force_;
  std::string temporary_;  // base name; empty once it is gone
  std::unique_ptr<LmdbEnvironment> environment_;
  MDB_dbi database_ = 0;
  std::vector<Entry> batch_;
  size_t batch_bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<SampleSink>> CreateLmdb(const std::string& path,
                                               const ExportOptions& options) {
  DOLIUM_TRY(const Location location, ParseLocation(path));
  const std::string described = location.Describe();
  DOLIUM_TRY(const auto local, location.store->LocalPath(location.path));
  if (!local) return Unsupported(described + ": not a local environment");
  const std::string file =
      local->ends_with(".mdb") ? *local : JoinPath(*local, "data.mdb");
  if (struct stat status{}; !options.force && stat(file.c_str(), &status) == 0) {
    return Exists(described + ": is there already");
  }
  auto folder = MakeFolder(AT_FDCWD, ParentPath(file), /*sync=*/true);
  if (!folder) return std::move(folder).error().Within(described);
  auto sink =
      std::make_unique<LmdbSink>(*std::move(folder), described, file, options.force);
  DOLIUM_TRY_VOID(sink->Start().Within(described));
  return sink;
}

}  // namespace dolium::dataset
