#include "dolium/ops/source/stream.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/stream_reader.h"
#include "dolium/formats/shardpack/verify.h"
#include "dolium/formats/xet/mdb_check.h"
#include "dolium/formats/xet/mdb_stream.h"

namespace dolium {
namespace {

constexpr size_t kStreamReadBytes = size_t{1} << 20;
constexpr int kStreamPollMilliseconds = 100;  // how soon a stop is noticed
// Enough to recognise what comes.
constexpr size_t kStreamFirstBytes = 64;

// The input: what was read to recognise it, then the rest.
class PipeInput final : public shardpack::ByteInput {
 public:
  PipeInput(int fd, std::stop_token stop) : fd_(fd), stop_(std::move(stop)) {}

  // The first bytes, fewer if the input ends; they are read again afterwards.
  Result<BytesView> Peek() {
    while (first_.size() < kStreamFirstBytes) {
      ByteVector more(kStreamFirstBytes - first_.size());
      DOLIUM_TRY(const size_t got, ReadRest(more));
      if (got == 0) break;
      first_.insert(first_.end(), more.begin(),
                    more.begin() + static_cast<ptrdiff_t>(got));
    }
    return BytesView(first_);
  }

  Result<size_t> Read(MutableBytes into) override {
    if (taken_ == first_.size()) return ReadRest(into);
    const size_t size = std::min(into.size(), first_.size() - taken_);
    std::memcpy(into.data(), first_.data() + taken_, size);
    taken_ += size;
    return size;
  }

 private:
  Result<size_t> ReadRest(MutableBytes into) const {
    while (true) {
      if (stop_.stop_requested()) return Cancelled();
      pollfd readable{.fd = fd_, .events = POLLIN, .revents = 0};
      if (poll(&readable, 1, kStreamPollMilliseconds) <= 0) continue;
      const ssize_t got = read(fd_, into.data(), into.size());
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
      if (got < 0) return SystemError(errno, "cannot read standard input");
      return static_cast<size_t>(got);
    }
  }

  const int fd_;
  const std::stop_token stop_;
  ByteVector first_;
  size_t taken_ = 0;
};

// Hands findings on and counts the errors.
class StreamFindings {
 public:
  StreamFindings(const StreamRequest& request, StreamReport& report)
      : request_(request), report_(report) {}

  void Report(std::string kind, const Error& error) {
    ++report_.errors;
    if (!request_.finding) return;
    request_.finding({.severity = Severity::kError,
                      .kind = std::move(kind),
                      .object = std::string(kStandardInput),
                      .key = {},
                      .range = std::nullopt,
                      .message = error.message});
  }

 private:
  const StreamRequest& request_;
  StreamReport& report_;
};

// An MDB shard of Xet.

bool IsMdbShard(BytesView first) {
  return first.size() >= xet::kRecordSize &&
         xet::HasShardTag(first.first(xet::kRecordSize));
}

Result<StreamReport> ReadMdbShard(std::unique_ptr<PipeInput> input,
                                  const StreamRequest& request) {
  StreamReport report;
  StreamFindings findings(request, report);
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  uint64_t xorbs = 0;
  uint64_t chunks = 0;
  uint64_t xorb_bytes = 0;
  // Whether the shard is keyed is known at its end.
  std::optional<Error> wrong_name;
  xet::ShardVisitor visitor;
  visitor.file = [&](const xet::FileBlock& file) -> Result<void> {
    ++files;
    file_bytes += file.raw_bytes();
    if (request.check) {
      if (const auto good = CheckFileBlock(file); !good) {
        findings.Report("file", good.error());
      }
    }
    if (request.entry && !request.entry(ToString(file.hash()), file.raw_bytes())) {
      return Cancelled();
    }
    return {};
  };
  visitor.xorb = [&](const xet::XorbBlock& xorb) -> Result<void> {
    ++xorbs;
    chunks += xorb.size();
    xorb_bytes += xorb.raw_bytes();
    if (!request.check) return {};
    if (const auto good = CheckXorbBlock(xorb); !good) {
      findings.Report("xorb", good.error());
    } else if (const auto named = CheckXorbName(xorb); !named && !wrong_name) {
      wrong_name = named.error();
    }
    return {};
  };
  xet::ShardStream stream(std::move(visitor));
  ByteVector segment(kStreamReadBytes);
  while (true) {
    DOLIUM_TRY(const size_t got, input->Read(segment));
    if (got == 0) break;
    DOLIUM_TRY_VOID(stream.Write(BytesView(segment).first(got)).Within(kStandardInput));
  }
  DOLIUM_TRY(const auto footer, stream.Finish().Within(kStandardInput));
  const bool is_keyed = footer && !footer->key.is_zero();
  if (wrong_name && !is_keyed) findings.Report("xorb", *wrong_name);
  report.properties = {{"kind", "shard"},
                       {"files", files},
                       {"file_bytes", file_bytes},
                       {"xorbs", xorbs},
                       {"chunks", chunks},
                       {"xorb_bytes", xorb_bytes},
                       {"footer", footer ? "version 1" : "none"},
                       {"keyed", is_keyed}};
  report.counts = {{"file", "files", files}, {"xorb", "xorbs", xorbs}};
  return report;
}

// A ShardPack shard.

bool IsShardPack(BytesView first) {
  return AsText(first)
      .substr(std::min(shardpack::kRecordMagicAt, first.size()))
      .starts_with(shardpack::kRecordMagic);
}

Result<StreamReport> CheckShardPack(std::unique_ptr<PipeInput> input,
                                    const StreamRequest& request) {
  StreamReport report;
  shardpack::VerifyOptions options;
  options.contents = request.contents;
  options.stop = request.stop;
  DOLIUM_TRY(const auto summary,
             shardpack::VerifyStream(std::move(input), std::string(kStandardInput),
                                     options, [&](const Finding& finding) {
                                       if (request.finding) request.finding(finding);
                                     }));
  report.counts = {{"record", "records", summary.records},
                   {"entry", "entries", summary.entries}};
  report.errors = summary.errors;
  return report;
}

Result<StreamReport> ReadShardPack(std::unique_ptr<PipeInput> input,
                                   const StreamRequest& request) {
  if (request.check) return CheckShardPack(std::move(input), request);
  StreamReport report;
  shardpack::StreamReader reader(std::move(input), {.check = shardpack::Check::kHeaders});
  uint64_t files = 0;
  uint64_t raw_bytes = 0;
  while (true) {
    DOLIUM_TRY(const auto record, reader.Next().Within(kStandardInput));
    if (!record) break;
    if (record->damage()) return record->damage()->Within(kStandardInput);
    for (const shardpack::EntryHeader& entry : record->entries()) {
      if (record->is_tombstone() || entry.is_aux()) continue;
      raw_bytes += entry.raw_size;
      // A file that is cut is listed once, with all its bytes.
      if (entry.segment && entry.segment->offset > 0) continue;
      ++files;
      if (!request.entry) continue;
      if (!request.entry(fmt::format("{}/{}", record->key(), entry.name),
                         entry.segment ? entry.segment->whole_size : entry.raw_size)) {
        return Cancelled();
      }
    }
  }
  report.properties = {{"kind", "shard"},
                       {"records", reader.records()},
                       {"files", files},
                       {"raw_bytes", raw_bytes},
                       {"record_bytes", reader.bytes()}};
  return report;
}

// The one table of what may come from a pipe.
struct StreamKind {
  std::string_view format;
  bool (*recognises)(BytesView first);
  Result<StreamReport> (*read)(std::unique_ptr<PipeInput> input,
                               const StreamRequest& request);
};

constexpr StreamKind kStreamKinds[] = {
    {"xet", IsMdbShard, ReadMdbShard},
    {"shardpack", IsShardPack, ReadShardPack},
};

}  // namespace

Result<StreamReport> ReadStream(int fd, const StreamRequest& request) {
  auto input = std::make_unique<PipeInput>(fd, request.stop);
  DOLIUM_TRY(const BytesView first, input->Peek());
  for (const StreamKind& kind : kStreamKinds) {
    if (!kind.recognises(first)) continue;
    DOLIUM_TRY(StreamReport report, kind.read(std::move(input), request));
    report.format = kind.format;
    return report;
  }
  return InvalidArgument(fmt::format(
      "-: standard input begins like neither an MDB shard of Xet nor a ShardPack shard "
      "({} of its first bytes were read)",
      first.size()));
}

}  // namespace dolium
