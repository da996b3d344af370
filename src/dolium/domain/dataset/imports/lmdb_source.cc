#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dolium/bytes/file_identity.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/content_types.h"
#include "dolium/domain/dataset/imports/bound_files.h"
#include "dolium/domain/dataset/imports/lmdb.h"
#include "dolium/domain/dataset/imports/lmdb_environment.h"
#include "dolium/domain/dataset/imports/text_values.h"

namespace dolium::dataset {
namespace {

using shardpack::Sample;

BytesView ViewOf(const MDB_val& value) {
  return {static_cast<const std::byte*>(value.mv_data), value.mv_size};
}

class LmdbSource final : public SampleSource {
 public:
  // `file` is what is read, in the state `opened`.
  LmdbSource(std::shared_ptr<LmdbEnvironment> environment, std::string path,
             std::string file, const FileIdentity& opened, const ImportOptions& options)
      : environment_(std::move(environment)),
        path_(std::move(path)),
        file_(std::move(file)),
        opened_(opened),
        options_(options) {}
  ~LmdbSource() override {
    if (cursor_ != nullptr) mdb_cursor_close(cursor_);
  }
  LmdbSource(const LmdbSource&) = delete;
  LmdbSource& operator=(const LmdbSource&) = delete;

  Result<void> Start() {
    const char* const name =
        options_.database.empty() ? nullptr : options_.database.c_str();
    MDB_dbi database = 0;
    MDB_txn* const transaction = environment_->transaction();
    if (const int status = mdb_dbi_open(transaction, name, 0, &database);
        status != MDB_SUCCESS) {
      return LmdbError(status,
                       fmt::format("cannot open database \"{}\"", options_.database));
    }
    unsigned flags = 0;
    MDB_stat stat{};
    mdb_dbi_flags(transaction, database, &flags);
    mdb_stat(transaction, database, &stat);
    integer_keys_ = (flags & MDB_INTEGERKEY) != 0;
    total_ = stat.ms_entries;
    const int status = mdb_cursor_open(transaction, database, &cursor_);
    if (status != MDB_SUCCESS) return LmdbError(status, "cannot read");
    return {};
  }

  Result<std::string> Bind() override {
    bound_.Add(file_, opened_.ToGeneration().token);
    return bound_.text();
  }

  // A sample of several values would lack one.
  bool can_go_on() const override { return options_.grouping != Grouping::kDirectory; }

  // Each value is a sample; or each run of keys with the same text before the last slash,
  // if they are grouped as the files of a folder.
  Result<std::optional<Sample>> Next() override {
    std::optional<Sample> sample;
    while (true) {
      if (!ahead_) {
        DOLIUM_TRY(ahead_, ReadValue());
      }
      if (!ahead_ || (sample && sample->key != ahead_->key)) break;
      if (!sample) sample = Sample{.key = ahead_->key};
      sample->files.push_back(std::move(ahead_->file));
      ahead_.reset();
      if (options_.grouping != Grouping::kDirectory) break;
    }
    return sample;
  }

  Progress progress() const override {
    return {.entries = values_, .total_entries = total_, .bytes = bytes_};
  }

 private:
  // A value as a file, and the sample that it belongs to.
  struct Value {
    std::string key;
    shardpack::File file;
  };

  Result<std::optional<Value>> ReadValue() {
    MDB_val key{};
    MDB_val value{};
    const int status = mdb_cursor_get(cursor_, &key, &value, MDB_NEXT);
    if (status == MDB_NOTFOUND) {
      DOLIUM_TRY_VOID(CheckUnchanged().Within(path_));
      return std::nullopt;
    }
    if (status != MDB_SUCCESS) return LmdbError(status, "cannot read").Within(path_);
    Value found{.key = KeyText(ViewOf(key)), .file = {.name = "data"}};
    if (value.mv_size > options_.max_file_bytes) {
      return InvalidArgument(
          fmt::format("{}: key {}: {} bytes, more than the limit of {}", path_, found.key,
                      value.mv_size, options_.max_file_bytes));
    }
    std::string_view named;
    const auto slash = SlashBeforeName(found.key);
    if (options_.grouping == Grouping::kDirectory && slash) {
      found.file.name = found.key.substr(*slash + 1);
      found.key.resize(*slash);
      named = found.file.name;
    }
    found.file.data = Bytes(environment_, ViewOf(value));
    found.file.content_type = GuessContentType(named, found.file.data);
    ++values_;
    bytes_ += found.file.data.size();
    return found;
  }

  // The map shows what others write meanwhile.
  Result<void> CheckUnchanged() const {
    struct stat status{};
    const bool is_there = stat(file_.c_str(), &status) == 0;
    return bound_.Check(0, is_there ? FileIdentity(status).ToGeneration().token : "");
  }

  std::string KeyText(BytesView key) const {
    if (integer_keys_ && key.size() == sizeof(uint32_t)) return Decimal<uint32_t>(key);
    if (integer_keys_ && key.size() == sizeof(uint64_t)) return Decimal<uint64_t>(key);
    const std::string_view text = AsText(key);
    if (IsUtf8(key) && text.find('\0') == std::string_view::npos) {
      return std::string(text);
    }
    return "0x" + ToHex(key);
  }

  // Integer keys have the byte order of the machine that wrote them.
  template <typename T>
  static std::string Decimal(BytesView key) {
    T number{};
    std::memcpy(&number, key.data(), sizeof number);
    return std::to_string(number);
  }

  const std::shared_ptr<LmdbEnvironment> environment_;
  const std::string path_;
  const std::string file_;
  const FileIdentity opened_;
  BoundFiles bound_;
  const ImportOptions options_;
  MDB_cursor* cursor_ = nullptr;
  bool integer_keys_ = false;
  std::optional<Value> ahead_;  // read, and not yet part of a sample
  uint64_t values_ = 0;
  uint64_t total_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<SampleSource>> OpenLmdb(const std::string& path,
                                               const ImportOptions& options) {
  DOLIUM_TRY(const Location location, ParseLocation(path));
  const std::string described = location.Describe();
  DOLIUM_TRY(const auto local, location.store->LocalPath(location.path));
  if (!local) return Unsupported(described + ": not a local environment");
  std::string file = *local;
  struct stat status{};
  if (stat(file.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) file += "/data.mdb";
  if (stat(file.c_str(), &status) != 0) {
    return SystemError(errno, "cannot look up").Within(described);
  }
  auto opened = LmdbEnvironment::Open(file, MDB_RDONLY | MDB_NOLOCK, /*map_size=*/0);
  if (!opened) return std::move(opened).error().Within(described);
  DOLIUM_TRY_VOID((*opened)->Begin(MDB_RDONLY).Within(described));
  auto source = std::make_unique<LmdbSource>(*std::move(opened), described, file,
                                             FileIdentity(status), options);
  DOLIUM_TRY_VOID(source->Start().Within(described));
  return source;
}

}  // namespace dolium::dataset
