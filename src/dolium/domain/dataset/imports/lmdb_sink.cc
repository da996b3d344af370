#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/atomic_file.h"
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
  LmdbSink(UniqueFd folder, AtomicFile file, std::string described, std::string path,
           const SampleExportOptions& options)
      : folder_(std::move(folder)),
        file_(std::move(file)),
        described_(std::move(described)),
        path_(std::move(path)),
        options_(options) {}

  Result<void> Start() {
    // The library has no way to open relative to a folder.
    DOLIUM_TRY(environment_,
               LmdbEnvironment::Open(JoinPath(ParentPath(path_), file_.temporary()),
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
    const bool is_value = sample.files.size() == 1 && sample.files[0].name == "data";
    DOLIUM_TRY_VOID(CheckReturns(sample, is_value));
    ++samples_;
    for (const File& file : sample.files) {
      std::string key =
          is_value ? sample.key : fmt::format("{}/{}", sample.key, file.name);
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
    if (!grouped_.empty()) DOLIUM_TRY_VOID(CheckGroups());
    DOLIUM_TRY_VOID(Appear().Within(described_));
    return options_.file_done ? options_.file_done(/*is_last=*/true) : Result<void>();
  }

 private:
  struct Entry {
    std::string key;
    Bytes data;
  };

  // Whether the sample by itself, and beside those before it, can be found again.
  Result<void> CheckReturns(const Sample& sample, bool is_value) {
    for (const File& file : sample.files) {
      if (file.name.find('/') == std::string::npos) continue;
      return InvalidArgument(
          fmt::format("sample \"{}\", file \"{}\": would not be found again in an LMDB, "
                      "where names of files have no slash",
                      sample.key, file.name));
    }
    if (!is_value && grouped_.empty()) grouped_ = sample.key;
    if (is_value && slashed_.empty() && SlashBeforeName(sample.key)) {
      slashed_ = sample.key;
    }
    if (grouped_.empty() || slashed_.empty()) return {};
    return InvalidArgument(
        fmt::format("sample \"{}\", file \"data\": would not be found again in an LMDB, "
                    "where its key "
                    "stands for a file of another sample, as those of \"{}\" do",
                    slashed_, grouped_));
  }

  // Goes through the keys as an import does that groups them.
  Result<void> CheckGroups() {
    DOLIUM_TRY_VOID(environment_->Begin(MDB_RDONLY).Within(described_));
    auto checked = CheckGroupsIn(environment_->transaction());
    environment_->Abort();
    return checked;
  }

  Result<void> CheckGroupsIn(MDB_txn* transaction) const {
    MDB_cursor* opened = nullptr;
    int status = mdb_cursor_open(transaction, database_, &opened);
    if (status != MDB_SUCCESS) return LmdbError(status, "cannot read").Within(described_);
    const std::unique_ptr<MDB_cursor, decltype(&mdb_cursor_close)> cursor(
        opened, &mdb_cursor_close);
    // Samples that this key may still be of, each in the folder of the one before.
    std::vector<std::string> around;
    std::string last;
    uint64_t found = 0;
    MDB_val key{};
    MDB_val value{};
    while ((status = mdb_cursor_get(cursor.get(), &key, &value, MDB_NEXT)) ==
           MDB_SUCCESS) {
      const std::string_view text(static_cast<const char*>(key.mv_data), key.mv_size);
      const std::string_view sample =
          text.substr(0, SlashBeforeName(text).value_or(text.size()));
      if (found > 0 && sample == last) continue;
      while (!around.empty() && !text.starts_with(around.back() + "/")) around.pop_back();
      if (!around.empty() && around.back() == sample) {
        return InvalidArgument(fmt::format(
            "samples \"{}\" and \"{}\": would not be found again in an LMDB, where files "
            "of the one lie among those of the other",
            sample, last));
      }
      around.emplace_back(sample);
      last = sample;
      ++found;
    }
    if (status != MDB_NOTFOUND) {
      return LmdbError(status, "cannot read").Within(described_);
    }
    if (found == samples_) return {};
    return InvalidArgument(fmt::format(
        "{} samples would be found again in the LMDB as {}: some have the same key",
        samples_, found));
  }

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
    DOLIUM_TRY_VOID(file_.Rename(BaseName(path_), options_.force
                                                      ? AtomicFile::IfThere::kReplace
                                                      : AtomicFile::IfThere::kRefuse));
    return SyncFd(folder_.get());
  }

  const UniqueFd folder_;
  AtomicFile file_;  // which the library opens again, by its name
  const std::string described_;
  const std::string path_;  // of the file to come
  const SampleExportOptions options_;
  std::unique_ptr<LmdbEnvironment> environment_;
  MDB_dbi database_ = 0;
  std::vector<Entry> batch_;
  size_t batch_bytes_ = 0;
  uint64_t samples_ = 0;
  // The keys of the first sample that must be read back by groups, and of the first that
  // must not; empty: none.
  std::string grouped_;
  std::string slashed_;
};

}  // namespace

Result<std::unique_ptr<SampleSink>> CreateLmdb(const std::string& path,
                                               const SampleExportOptions& options) {
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
  DOLIUM_TRY(AtomicFile atomic,
             AtomicFile::Create(folder->get(), BaseName(file)).Within(described));
  auto sink = std::make_unique<LmdbSink>(*std::move(folder), std::move(atomic), described,
                                         file, options);
  DOLIUM_TRY_VOID(sink->Start().Within(described));
  return sink;
}

}  // namespace dolium::dataset
