#include "cli/context.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include <fmt/format.h>

#include "cli/terminal/hint_text.h"
#include "cli/volume/export_arguments.h"
#include "dolium/bytes/location.h"
#include "dolium/bytes/unique_fd.h"
#include "dolium/ops/job/plan.h"
#include "dolium/ops/source/source.h"
#include "dolium/ops/source/stream.h"

namespace dolium::cli {
namespace {

constexpr uint64_t kSpecLimit = uint64_t{64} << 20;
constexpr size_t kReadBytes = size_t{1} << 20;
constexpr int kPollMilliseconds = 100;  // how soon a stop is noticed

// All that comes from a descriptor until its end.
Result<Bytes> ReadToEnd(int fd, const std::string& name, uint64_t limit,
                        const std::stop_token& stop) {
  ByteVector data;
  while (true) {
    if (stop.stop_requested()) return Cancelled();
    pollfd readable{.fd = fd, .events = POLLIN, .revents = 0};
    if (poll(&readable, 1, kPollMilliseconds) <= 0) continue;
    const size_t before = data.size();
    data.resize(before + kReadBytes);
    const ssize_t count = read(fd, data.data() + before, kReadBytes);
    data.resize(before + (count > 0 ? static_cast<size_t>(count) : 0));
    if (count < 0 && errno != EINTR && errno != EAGAIN) {
      return SystemError(errno, fmt::format("read {}", name));
    }
    if (count == 0) return Bytes::FromVector(std::move(data));
    if (data.size() > limit) {
      return InvalidArgument(fmt::format("{} is more than {} bytes", name, limit));
    }
  }
}

// A pipe with a name, as in `put set 7 <(command)`; nullopt if it is none.
Result<std::optional<UniqueFd>> OpenPipe(const Location& location) {
  DOLIUM_TRY(const auto path, location.store->LocalPath(location.path));
  struct stat status{};
  if (!path || stat(path->c_str(), &status) != 0 || !S_ISFIFO(status.st_mode)) {
    return std::nullopt;
  }
  // Does not wait for a writer: the poll does, and sees a stop.
  UniqueFd fd(open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return SystemError(errno, "cannot open").Within(location.Describe());
  return fd;
}

}  // namespace

Result<Bytes> Context::ReadFile(const std::string& name, uint64_t limit) const {
  if (name == "-") return ReadToEnd(STDIN_FILENO, "standard input", limit, stop);
  DOLIUM_TRY(const Location location, ParseLocation(name));
  DOLIUM_TRY(const auto pipe, OpenPipe(location));
  if (pipe) return ReadToEnd(pipe->get(), location.Describe(), limit, stop);
  DOLIUM_TRY(WholeObject whole, location.store->ReadWhole(location.path, limit));
  return std::move(whole.bytes);
}

Result<void> Context::WriteFile(const std::string& name, BytesView bytes) const {
  return WriteFile(name, [&](const ByteSink& take) { return take(bytes); });
}

Result<void> Context::WriteFile(
    const std::string& name,
    const std::function<Result<void>(const ByteSink&)>& produce) const {
  if (name == "-") {
    return produce([&](BytesView segment) -> Result<void> {
      terminal.Raw(segment);
      return {};
    });
  }
  DOLIUM_TRY(const Location location, ParseLocation(name));
  const bool replaces = arguments.Has("force");
  DOLIUM_TRY(const auto writer, location.store->Begin(location.path));
  DOLIUM_TRY_VOID(produce([&](BytesView segment) { return writer->Append(segment); }));
  const auto written =
      writer->Commit(replaces ? Precondition::None() : Precondition::Absent());
  if (written) return {};
  if (written.error().code == ErrorCode::kExists) {
    return Exists(fmt::format("{}: is there already; --force replaces it", name));
  }
  return written.error();
}

Result<std::optional<std::string>> Context::ReadSpec(std::string_view name) const {
  const auto file = arguments.Get(name);
  if (!file) return std::nullopt;
  DOLIUM_TRY(const Bytes bytes, ReadFile(*file, kSpecLimit));
  return std::string(AsText(bytes));
}

Result<OpenOptions> Context::OptionsOfOpen(bool allow_unfinished) const {
  OpenOptions options;
  DOLIUM_TRY(options.spec, ReadSpec("spec"));
  if (auto xorbs = arguments.Get("xorbs"))
    options.parameters["xorbs"] = *std::move(xorbs);
  options.allow_unfinished = allow_unfinished;
  if (const auto word = arguments.Get("coordinates")) {
    options.parameters["coordinates"] = *word;
  }
  if (arguments.Has("skip-damaged")) options.parameters["salvage"] = "yes";
  return options;
}

Result<SourceOptions> Context::OptionsOfSource(bool allow_unfinished) const {
  SourceOptions options;
  options.format = arguments.Get("format").value_or("");
  DOLIUM_TRY(options.open, OptionsOfOpen(allow_unfinished));
  DOLIUM_TRY(options.exported, ExportOptionsOf(*this, options.open.spec));
  return options;
}

Result<std::unique_ptr<Source>> Context::OpenSource(const std::string& location) const {
  return OpenSource(location, arguments.Has("unfinished"));
}

Result<std::unique_ptr<Source>> Context::OpenSource(const std::string& location,
                                                    bool allow_unfinished) const {
  DOLIUM_TRY_VOID(RefuseStandardInput(location));
  DOLIUM_TRY(const SourceOptions options, OptionsOfSource(allow_unfinished));
  DOLIUM_TRY(const Location parsed, ParseLocation(location));
  return dolium::OpenSource(formats, parsed, options);
}

Result<std::shared_ptr<Container>> Context::Open(const std::string& location) const {
  DOLIUM_TRY(const auto source, OpenSource(location));
  return source->MutableEntries();
}

Result<void> Context::RefuseStandardInput(std::string_view location) const {
  if (location != kStandardInput) return {};
  return Unsupported(
      "-: standard input is read once, from its beginning to its end, which is enough "
      "for info, ls, stats and verify alone; put it into a file first");
}

Result<void> Context::CheckStreamOptions() const {
  for (const std::string_view name :
       {"format", "spec", "xorbs", "coordinates", "skip-damaged", "sample"}) {
    if (!arguments.Has(name)) continue;
    return InvalidArgument(
        fmt::format("--{} is for files and folders, not for standard input", name));
  }
  return {};
}

Result<CheckDepth> Context::check_depth() const {
  if (arguments.Has("quick") && arguments.Has("deep")) {
    return InvalidArgument("--quick contradicts --deep");
  }
  if (arguments.Has("quick")) return CheckDepth::kQuick;
  return arguments.Has("deep") ? CheckDepth::kDeep : CheckDepth::kDefault;
}

WriterOptions Context::writer_options() const {
  if (arguments.Has("memory")) {
    // What the allocator keeps of freed memory comes on top of the limit: large blocks go
    // back to the system, and small ones are kept for all threads, not for each.
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_ARENA_MAX, 2);
  }
  WriterOptions options;
  options.memory = arguments.Number("memory", options.memory);
  options.jobs = jobs();
  options.stop = stop;
  return options;
}

ExitStatus Context::ShowTasks(const Plan& plan) const {
  for (const std::string& task : plan.tasks()) terminal.Line(task);
  return ExitStatus::kGood;
}

ExitStatus Context::Fail(const Error& error, Missing missing) const {
  terminal.EndProgress();
  terminal.Report(error);
  return ExitStatusOf(error.code, missing);
}

Json Context::FindingMembers(const Finding& finding) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? Json() : Json(text);
  };
  return {{"kind", finding.kind},
          {"object", text_or_null(finding.object)},
          {"key", text_or_null(finding.key)},
          {"offset", finding.range ? Json(finding.range->offset) : Json()},
          {"length", finding.range ? Json(finding.range->length) : Json()},
          {"message", WithHintText(finding.message, finding.hint)}};
}

std::string FindingLine(const Finding& finding, std::string_view label) {
  std::string line;
  const auto add = [&](std::string_view text) {
    if (!text.empty()) line += fmt::format("{}: ", text);
  };
  add(finding.object);
  add(finding.key);
  if (finding.range) {
    const std::string range = ToString(*finding.range);
    if (finding.message.find(range) == std::string::npos) add("bytes " + range);
  }
  line += label;
  line += WithHintText(finding.message, finding.hint);
  return line;
}

}  // namespace dolium::cli
