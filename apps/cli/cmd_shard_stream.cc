// info, ls and verify of `-`: an MDB shard from standard input, read front to back in
// memory that does not grow.
#include "cli/cmd_shard_stream.h"

#include <poll.h>
#include <unistd.h>

#include <string>

#include <fmt/format.h>

#include "cli/cas/cas_arguments.h"
#include "cli/terminal/size.h"
#include "cli/terminal/table.h"
#include "dolium/formats/xet/mdb_check.h"
#include "dolium/formats/xet/mdb_stream.h"

namespace dolium::cli {
namespace {

constexpr size_t kPiece = size_t{1} << 20;
constexpr int kInputPollMilliseconds = 100;  // how soon a stop is noticed

using ShardEnd = std::optional<xet::ShardFooter>;

Result<ShardEnd> ReadShard(const Context& context, xet::ShardVisitor visitor) {
  xet::ShardStream stream(std::move(visitor));
  ByteVector piece(kPiece);
  while (true) {
    if (context.stop.stop_requested()) return Cancelled();
    pollfd readable{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, kInputPollMilliseconds) <= 0) continue;
    const ssize_t got = read(STDIN_FILENO, piece.data(), piece.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got < 0) return SystemError(errno, "cannot read standard input");
    if (got == 0) break;
    DOLIUM_TRY_VOID(
        stream.Write(BytesView(piece).first(static_cast<size_t>(got))).Within("-"));
  }
  return stream.Finish().Within("-");
}

// What is in a shard, by its blocks.
struct Counts {
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  uint64_t xorbs = 0;
  uint64_t chunks = 0;
  uint64_t xorb_bytes = 0;

  void Add(const xet::FileBlock& file) {
    ++files;
    file_bytes += file.raw_bytes();
  }
  void Add(const xet::XorbBlock& xorb) {
    ++xorbs;
    chunks += xorb.size();
    xorb_bytes += xorb.raw_bytes();
  }
};

xet::ShardVisitor CountInto(Counts& counts) {
  return {.file = [&counts](const xet::FileBlock& file) -> Result<void> {
            counts.Add(file);
            return {};
          },
          .xorb = [&counts](const xet::XorbBlock& xorb) -> Result<void> {
            counts.Add(xorb);
            return {};
          }};
}

}  // namespace

ExitStatus ShardStreamInfo(Context& context) {
  Counts counts;
  const auto footer = ReadShard(context, CountInto(counts));
  if (!footer) return context.Fail(footer.error());
  const Properties properties = {
      {"kind", "shard"},
      {"files", std::to_string(counts.files)},
      {"file_bytes", std::to_string(counts.file_bytes)},
      {"xorbs", std::to_string(counts.xorbs)},
      {"chunks", std::to_string(counts.chunks)},
      {"xorb_bytes", std::to_string(counts.xorb_bytes)},
      {"footer", *footer ? "version 1" : "none"},
      {"keyed", *footer && !(*footer)->key.is_zero() ? "yes" : "no"}};
  if (context.terminal.json()) {
    Json json = {{"type", "info"}, {"format", "xet"}, {"location", "-"}};
    for (const auto& [name, value] : properties) json["properties"][name] = value;
    context.terminal.JsonLine(json);
    return ExitStatus::kGood;
  }
  Table table({{}, {}}, [&](std::string_view line) { context.terminal.Line(line); });
  table.Add({"format", "xet"});
  table.Add({"location", "-"});
  for (const auto& [name, value] : properties) table.Add({name, value});
  table.Finish();
  return ExitStatus::kGood;
}

ExitStatus ShardStreamLs(Context& context) {
  Terminal& terminal = context.terminal;
  const bool is_long = context.arguments.Has("long");
  const auto footer = ReadShard(
      context, {.file = [&](const xet::FileBlock& file) -> Result<void> {
        const std::string key = ToString(file.hash());
        if (terminal.json()) {
          terminal.JsonLine({{"key", key}, {"size", file.raw_bytes()}});
        } else {
          terminal.Line(is_long ? fmt::format("{}  {}", key, file.raw_bytes()) : key);
        }
        if (!terminal.ok()) return Cancelled();
        return {};
      }});
  return footer ? ExitStatus::kGood : context.Fail(footer.error());
}

ExitStatus ShardStreamVerify(Context& context) {
  uint64_t errors = 0;
  const auto tell = [&](const Error& error) {
    ++errors;
    if (context.terminal.json()) {
      context.terminal.JsonLine(
          {{"type", "bad"}, {"object", "-"}, {"message", error.message}});
    } else {
      context.terminal.Line(fmt::format("-: {}", error.message));
    }
  };
  Counts counts;
  // Whether the shard is keyed is known at its end.
  std::optional<Error> wrong_name;
  const auto footer =
      ReadShard(context, {.file = [&](const xet::FileBlock& file) -> Result<void> {
                            counts.Add(file);
                            if (const auto good = CheckFileBlock(file); !good)
                              tell(good.error());
                            return {};
                          },
                          .xorb = [&](const xet::XorbBlock& xorb) -> Result<void> {
                            counts.Add(xorb);
                            const auto good = CheckXorbBlock(xorb);
                            if (!good) {
                              tell(good.error());
                            } else if (const auto named = CheckXorbName(xorb);
                                       !named && !wrong_name) {
                              wrong_name = named.error();
                            }
                            return {};
                          }});
  if (!footer) return context.Fail(footer.error());
  const bool is_keyed = *footer && !(*footer)->key.is_zero();
  if (wrong_name && !is_keyed) tell(*wrong_name);
  if (!context.arguments.Has("no-summary")) {
    if (context.terminal.json()) {
      context.terminal.JsonLine({{"type", "summary"},
                                 {"location", "-"},
                                 {"files", counts.files},
                                 {"xorbs", counts.xorbs},
                                 {"errors", errors}});
    } else {
      context.terminal.Line(fmt::format("-: {}: {}, {}, {}", errors > 0 ? "bad" : "good",
                                        CountOf(counts.files, "file", "files"),
                                        CountOf(counts.xorbs, "xorb", "xorbs"),
                                        CountOf(errors, "error", "errors")));
    }
  }
  return errors > 0 ? ExitStatus::kBad : ExitStatus::kGood;
}

}  // namespace dolium::cli
