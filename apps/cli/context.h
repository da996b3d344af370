// Context: what every verb is given, and the steps that most of them share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "cli/arguments.h"
#include "cli/exit_status.h"
#include "cli/terminal/terminal.h"
#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/container/format.h"
#include "dolium/container/writer.h"
#include "dolium/ops/verify.h"

namespace dolium {
class Source;
struct Plan;
struct SourceOptions;
}  // namespace dolium

namespace dolium::cli {

class Context {
 public:
  Context(Formats formats, Terminal& terminal, std::stop_token stop, Arguments arguments)
      : formats(formats),
        terminal(terminal),
        stop(std::move(stop)),
        arguments(std::move(arguments)) {}

  const Formats formats;
  Terminal& terminal;
  const std::stop_token stop;
  const Arguments arguments;

  // Recognises what is at a location and opens it, as --format, --spec, --unfinished,
  // --xorbs, --coordinates and --skip-damaged say.
  Result<std::unique_ptr<Source>> OpenSource(const std::string& location) const;
  Result<std::unique_ptr<Source>> OpenSource(const std::string& location,
                                             bool allow_unfinished) const;
  // The same for those who change entries.
  Result<std::shared_ptr<Container>> Open(const std::string& location) const;
  // kUnsupported for standard input, for verbs that read a source more than once.
  Result<void> RefuseStandardInput(std::string_view location) const;
  // kInvalidArgument for those of these options that standard input does not honour.
  Result<void> CheckStreamOptions() const;

  // Text of the spec file that option `name` names, if it does.
  Result<std::optional<std::string>> ReadSpec(std::string_view name) const;

  // The bytes of a file or URL, or of standard input for "-".
  Result<Bytes> ReadFile(const std::string& name, uint64_t limit) const;

  // Makes a file, whole or not at all, or writes to standard output for "-". kExists if
  // the file is there, unless --force is given.
  Result<void> WriteFile(const std::string& name, BytesView bytes) const;
  // The same in segments: `produce` is called once and hands them on, in order.
  using ByteSink = std::function<Result<void>(BytesView)>;
  Result<void> WriteFile(
      const std::string& name,
      const std::function<Result<void>(const ByteSink&)>& produce) const;

  // --quick or --deep: both at once are an error.
  Result<CheckDepth> check_depth() const;

  // --jobs; 0: one per core.
  size_t jobs() const { return static_cast<size_t>(arguments.Number("jobs", 0)); }

  // --memory and --jobs, and the stop request.
  WriterOptions writer_options() const;

  // --plan: the tasks of a job that has begun, one on a line.
  ExitStatus ShowTasks(const Plan& plan) const;

  // Report an error, and give the exit status that goes with it.
  ExitStatus Fail(const Error& error) const { return Fail(error, Missing::kEntry); }
  // The same, where kNotFound is about a location or a file, not about an entry.
  ExitStatus FailLocation(const Error& error) const {
    return Fail(error, Missing::kLocation);
  }

  // The members of a finding in JSON, from "kind" on.
  static Json FindingMembers(const Finding& finding);

 private:
  // What those options say.
  Result<OpenOptions> OptionsOfOpen(bool allow_unfinished) const;
  Result<SourceOptions> OptionsOfSource(bool allow_unfinished) const;
  ExitStatus Fail(const Error& error, Missing missing) const;
};

// A finding as one line: `seg/1f.shard: 4021: bytes [0, 10): <label><message>`. The range
// is left out where the message has it.
std::string FindingLine(const Finding& finding, std::string_view label = "");

}  // namespace dolium::cli
