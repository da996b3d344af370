// Terminal: the one place that prints.
//
// Results go to standard output: text or JSON lines. All else goes to standard error:
// errors, and a progress bar that only a terminal sees and that gives way to other
// output. All methods may be called from many threads.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "cli/terminal/json_line.h"
#include "cli/terminal/progress.h"
#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/container/progress.h"

namespace dolium::cli {

class Terminal {
 public:
  enum class ProgressWhen : uint8_t { kAuto, kAlways, kNever };

  // Does not own the descriptors.
  Terminal(int out, int error);
  ~Terminal();
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  void set_json(bool json) { json_ = json; }
  bool json() const { return json_; }
  void set_progress(ProgressWhen when) { progress_when_ = when; }
  // For verbs whose result is a file on standard output: lines go to standard error.
  void set_lines_to_error(bool to_error) { lines_to_error_ = to_error; }
  // The name that the program goes by, which errors begin with. `is_for` is the command
  // that it stands for: texts that name that, name it instead.
  void set_program(std::string name, std::string is_for) {
    program_ = std::move(name);
    is_for_ = std::move(is_for);
  }
  const std::string& program() const { return program_; }
  // `text` with the program's own name in it.
  std::string AsCalled(std::string text) const;

  // To standard output. On a terminal, control characters that names may have are shown
  // as \x1b, so that they control nothing.
  void Line(std::string_view text);
  // {"type": type, "schema": 1, ...}; see json_line.h.
  void JsonLine(std::string_view type, const Json& members);
  void Raw(BytesView bytes);

  // To standard error: `dolium: <message>`, or {"type": "error", ...} with `details`
  // added.
  void Report(const Error& error, const Json& details = Json::object());

  // A progress function for work called `label`; empty where none is to be shown. Must
  // not outlive the Terminal. The next call, or EndProgress(), clears the bar.
  ProgressFunction StartProgress(std::string label);
  void EndProgress();

  // False once standard output has failed, say because its reader is gone: no use going
  // on.
  bool ok() const;
  // Whether it failed because its reader is gone.
  bool reader_gone() const;

  // Writes out what is buffered; the error is of any write so far.
  Result<void> Flush();

 private:
  void AppendOut(std::string_view text);  // these need mutex_
  void FlushOut();
  void WriteError(std::string_view text);
  void ClearBar();
  void ShowProgress(const Progress& progress);

  const int out_;
  const int error_;
  const bool out_is_terminal_;
  const bool error_is_terminal_;
  bool json_ = false;
  bool lines_to_error_ = false;
  std::string program_ = "dolium";
  std::string is_for_;  // empty: nothing but itself
  ProgressWhen progress_when_ = ProgressWhen::kAuto;

  mutable std::mutex mutex_;
  std::string buffer_;
  int write_errno_ = 0;
  std::optional<ProgressMeter> meter_;
  bool bar_shown_ = false;
};

}  // namespace dolium::cli
