#include "dolium/ops/pack/pack_verify.h"

#include "dolium/formats/shardpack/stream_reader.h"
#include "dolium/formats/shardpack/verify.h"

namespace dolium::dataset {
namespace {

shardpack::VerifyOptions ShardOptionsOf(const VerifyOptions& options) {
  return {.contents = options.depth != CheckDepth::kQuick,
          .jobs = options.jobs,
          .progress = options.progress,
          .stop = options.stop};
}

PackVerifyReport ReportOf(const shardpack::VerifySummary& summary, bool contents) {
  PackVerifyReport checked;
  checked.report.objects = 1;
  checked.report.entries = summary.entries;
  checked.report.entries_read = contents ? summary.entries : 0;
  checked.report.bytes_read = summary.bytes;
  checked.report.errors = summary.errors;
  checked.report.warnings = summary.warnings;
  checked.records = summary.records;
  return checked;
}

}  // namespace

Result<PackVerifyReport> VerifyPackShard(const Location& shard,
                                         const VerifyOptions& options,
                                         const FindingVisitor& visitor) {
  const shardpack::VerifyOptions own = ShardOptionsOf(options);
  DOLIUM_TRY(const auto summary, shardpack::VerifyShard(shard, own, visitor));
  return ReportOf(summary, own.contents);
}

Result<PackVerifyReport> VerifyPackStream(int fd, const std::string& name,
                                          const VerifyOptions& options,
                                          const FindingVisitor& visitor) {
  const shardpack::VerifyOptions own = ShardOptionsOf(options);
  DOLIUM_TRY(const auto summary,
             shardpack::VerifyStream(shardpack::FileInput(fd), name, own, visitor));
  return ReportOf(summary, own.contents);
}

}  // namespace dolium::dataset
