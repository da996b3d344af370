// cas export: a shard that lists files of a store, and the xorbs they need.
//
// A job: each xorb that is copied is a part, which any process can make; the shard comes
// last. Xorbs appear in their folder at once, each under its hash.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/progress.h"
#include "dolium/domain/cas/exchange.h"
#include "dolium/domain/cas/store.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/plan.h"

namespace dolium {

inline constexpr std::string_view kCasExportKind = "cas-export";

struct CasExportRequest {
  std::string store;                         // its path, for other processes
  std::string target;                        // the shard
  std::vector<std::string> references = {};  // none: all versions
  std::string xorbs = {};                    // a folder to copy xorbs to; empty: none
  // As clients upload it: no footer, no tables, and a SHA-256 of every file.
  bool upload = false;
  bool force = false;  // replace the shard, and what is no xorb
  size_t jobs = 0;
  std::stop_token stop = {};
  // For tests, as RunOptions has it.
  std::function<void(JobStep)> at_step = {};
};

// Writes the shard with the files that `references` name (and the manifests of folders).
// Xorbs that are copied are checked, chunk by chunk; those that lie there already, too,
// unless this job had put them there.
Result<cas::ExchangeReport> ExportFromCas(const cas::CasStore& store,
                                          const CasExportRequest& request);

// Only plans it.
Result<Plan> PlanCasExport(const cas::CasStore& store, const CasExportRequest& request);

// Of the row in the table of kinds.
Result<std::unique_ptr<Job>> OpenCasExportJob(Formats formats, const Location& folder,
                                              const JobRecord& record);

}  // namespace dolium
