#include "dolium/domain/dataset/imports/lmdb_environment.h"

#include <utility>

#include <fmt/format.h>

namespace dolium::dataset {

std::optional<size_t> SlashBeforeName(std::string_view key) {
  const size_t slash = key.rfind('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == key.size()) {
    return std::nullopt;
  }
  return slash;
}

Error LmdbError(int status, std::string_view action) {
  if (status > 0) return SystemError(status, action);
  std::string message = fmt::format("{}: {}", action, mdb_strerror(status));
  switch (status) {
    case MDB_NOTFOUND:
      return NotFound(std::move(message));
    case MDB_KEYEXIST:
      return Exists(std::move(message));
    case MDB_CORRUPTED:
    case MDB_PAGE_NOTFOUND:
    case MDB_INVALID:
      return Corrupt(std::move(message));
    case MDB_VERSION_MISMATCH:
    case MDB_INCOMPATIBLE:
      return Unsupported(std::move(message));
    default:
      return IoError(std::move(message));
  }
}

LmdbEnvironment::~LmdbEnvironment() {
  Abort();
  if (environment_ != nullptr) mdb_env_close(environment_);
}

Result<std::unique_ptr<LmdbEnvironment>> LmdbEnvironment::Open(const std::string& path,
                                                               unsigned flags,
                                                               size_t map_size) {
  std::unique_ptr<LmdbEnvironment> out(new LmdbEnvironment);
  if (const int status = mdb_env_create(&out->environment_); status != MDB_SUCCESS) {
    return LmdbError(status, "cannot make an environment");
  }
  mdb_env_set_maxdbs(out->environment_, 1);
  if (map_size > 0) mdb_env_set_mapsize(out->environment_, map_size);
  const int status =
      mdb_env_open(out->environment_, path.c_str(), flags | MDB_NOSUBDIR, 0666);
  if (status != MDB_SUCCESS) return LmdbError(status, "cannot open");
  return out;
}

Result<void> LmdbEnvironment::Begin(unsigned flags) {
  const int status = mdb_txn_begin(environment_, nullptr, flags, &transaction_);
  if (status == MDB_SUCCESS) return {};
  transaction_ = nullptr;
  return LmdbError(status, "cannot begin a transaction");
}

int LmdbEnvironment::Commit() {
  return mdb_txn_commit(std::exchange(transaction_, nullptr));
}

void LmdbEnvironment::Abort() {
  if (transaction_ != nullptr) mdb_txn_abort(std::exchange(transaction_, nullptr));
}

}  // namespace dolium::dataset
