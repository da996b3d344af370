// Shards that come into a store; export.h has those that go out of one.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>

#include "dolium/base/result.h"
#include "dolium/domain/cas/store.h"

namespace dolium::cas {

struct ExchangeReport {
  uint64_t files = 0;
  uint64_t xorbs = 0;
  uint64_t copied_xorbs = 0;
  uint64_t bytes = 0;  // of files
};

struct ImportOptions {
  std::string name = {};   // of the version that holds the files
  std::string xorbs = {};  // a folder with xorbs that the store lacks; empty: none
  std::stop_token stop = {};
};
// Takes the files of a shard. Everything is checked: xorbs against their names, chunks
// against their hashes, files against theirs, and against the SHA-256 where one is given.
// A xorb of the store that is damaged is replaced. kNotFound if a xorb is in neither
// place. The version is a folder in which each file is called by its hash.
Result<Version> ImportShard(const CasStore& store, const std::string& path,
                            const ImportOptions& options, ExchangeReport& report);

}  // namespace dolium::cas
