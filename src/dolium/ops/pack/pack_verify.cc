#include "dolium/ops/pack/pack_verify.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "dolium/bytes/folder.h"
#include "dolium/bytes/folder_swap.h"
#include "dolium/bytes/unique_fd.h"
#include "dolium/formats/shardpack/kinds.h"
#include "dolium/formats/shardpack/names.h"

namespace dolium::dataset {
namespace {

using shardpack::Check;
using shardpack::EntryHeader;
using shardpack::Record;
using shardpack::StreamReader;
using shardpack::VerifySummary;

// Temporaries carry at most so much of the name of their object.
constexpr size_t kTemporaryStem = 200;

// The newest temporary of a file `name` in a folder, unless its writer is at work.
Result<std::optional<Location>> FindAbandonedIn(const Location& folder,
                                                std::string_view name) {
  DOLIUM_TRY(const auto path, folder.store->LocalPath(folder.path));
  if (!path) return std::nullopt;
  const std::string begin =
      fmt::format(".{}.dolium-tmp-", name.substr(0, kTemporaryStem));
  std::optional<std::filesystem::directory_entry> newest;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(*path, failed)) {
    const std::string file = entry.path().filename().string();
    if (!file.starts_with(begin) || !IsTemporaryName(file)) continue;
    std::error_code ignored;
    if (!newest || entry.last_write_time(ignored) > newest->last_write_time(ignored)) {
      newest = entry;
    }
  }
  if (!newest) return std::nullopt;
  Location found = folder.Child(newest->path().filename().string());
  const UniqueFd fd(
      open(newest->path().c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return SystemError(errno, "cannot open").Within(found.Describe());
  // Writers hold a lock as long as they live.
  if (flock(fd.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    return Unavailable(fmt::format("{}: its writer is still at work", found.Describe()));
  }
  return found;
}

}  // namespace

Result<VerifySummary> VerifyStream(std::unique_ptr<shardpack::ByteInput> input,
                                   const std::string& name,
                                   const shardpack::VerifyOptions& options,
                                   const FindingVisitor& visitor) {
  VerifySummary summary;
  const auto report = [&](const Error& error, std::string_view key, ByteRange range) {
    ++summary.errors;
    visitor({Severity::kError, std::string(error.kind), name, std::string(key), range,
             error.message});
  };
  StreamReader reader(std::move(input), {.check = Check::kHeaders,
                                         .raw_limit = options.raw_limit,
                                         .ratio_limit = options.ratio_limit});
  while (true) {
    if (options.stop.stop_requested()) return Cancelled();
    const uint64_t offset = reader.bytes();
    const auto next = reader.Next();
    if (!next) {
      if (next.error().code != ErrorCode::kCorrupt &&
          next.error().code != ErrorCode::kUnsupported) {
        return next.error().Within(name);
      }
      ++summary.errors;
      visitor({Severity::kError,
               std::string(next.error().kind),
               name,
               {},
               std::nullopt,
               next.error().message});
      break;
    }
    if (!*next) break;
    const Record& record = **next;
    const uint64_t number = reader.records() - 1;
    const auto in_record = [&](const Error& error) {
      return error.Within(fmt::format("record {}", number));
    };
    if (record.damage()) {
      report(in_record(*record.damage()), record.key(), {offset, record.block().size()});
    }
    if (const auto valid = shardpack::CheckKey(record.key()); !valid) {
      report(in_record(valid.error()), record.key(), {offset, record.block().size()});
    }
    shardpack::ContentOptions contents = reader.content_options();
    contents.check = Check::kFull;
    for (const EntryHeader& entry : record.entries()) {
      if (!options.contents) break;
      const auto content = record.Content(entry, contents);
      if (!content) {
        report(in_record(content.error()), record.key(),
               {offset + entry.content_at, entry.stored_size});
      }
    }
    summary.entries += record.entries().size();
    ++summary.records;
    if (options.progress) options.progress({summary.records, 0, reader.bytes(), 0});
  }
  summary.bytes = reader.bytes();
  return summary;
}

Result<std::optional<Location>> FindAbandoned(const Location& shard) {
  const Location job{shard.store, shard.path + std::string(kFreshSuffix)};
  for (const Location& folder : {shard.Parent(), job}) {
    DOLIUM_TRY(auto found, FindAbandonedIn(folder, BaseName(shard.path)));
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace dolium::dataset
