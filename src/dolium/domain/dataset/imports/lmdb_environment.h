// LmdbEnvironment: the library's handle, its errors as ours.
#pragma once

#include <lmdb.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/result.h"

namespace dolium::dataset {

// Owns the environment and at most one transaction, which is aborted with it.
class LmdbEnvironment {
 public:
  ~LmdbEnvironment();
  LmdbEnvironment(const LmdbEnvironment&) = delete;
  LmdbEnvironment& operator=(const LmdbEnvironment&) = delete;

  // `flags` as for mdb_env_open; the file `path` itself is the database.
  static Result<std::unique_ptr<LmdbEnvironment>> Open(const std::string& path,
                                                       unsigned flags, size_t map_size);

  MDB_env* get() const { return environment_; }
  MDB_txn* transaction() const { return transaction_; }

  Result<void> Begin(unsigned flags);
  // The library's status, of which MDB_MAP_FULL means something to a caller.
  int Commit();
  void Abort();

 private:
  LmdbEnvironment() = default;

  MDB_env* environment_ = nullptr;
  MDB_txn* transaction_ = nullptr;
};

// Where a key is cut into that of a sample and the name of a file, if keys are grouped as
// files of folders are; nullopt: it is that of a sample with the file `data`.
std::optional<size_t> SlashBeforeName(std::string_view key);

// An Error for a status of the library that is not MDB_SUCCESS.
Error LmdbError(int status, std::string_view action);

}  // namespace dolium::dataset
