// Long work: without the GIL, stopped by Ctrl-C, reporting to a Python function how it
// goes.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <stop_token>

#include <nanobind/nanobind.h>

#include "dolium/container/progress.h"

namespace dolium::python {

namespace nb = nanobind;

// What `work` gives, done without the GIL. Needs the GIL.
template <typename Work>
auto WithoutGil(const Work& work) {
  const nb::gil_scoped_release release;
  return work();
}

// Runs `work` on a thread of its own and waits for it without the GIL. A signal whose
// Python handler raises (Ctrl-C) asks `stop`, which the work must follow; its waits for
// servers do. The exception goes on once the work has ended. Needs the GIL.
void RunInterruptible(const std::stop_source& stop, const std::function<void()>& work);

// Whether signals come to this thread: Python handles them in its main thread alone.
bool IsMainThread();

// WithoutGil() for work that may wait for a server if `is_remote`: Ctrl-C ends the wait.
// Such work runs on a thread of its own, for the one that looks after signals may hold
// no lock that somebody with the GIL waits for.
template <typename Work>
auto WithoutGil(bool is_remote, const Work& work) {
  if (!is_remote || !IsMainThread()) return WithoutGil(work);
  std::optional<decltype(work())> result;
  RunInterruptible(std::stop_source(), [&] { result.emplace(work()); });
  return *std::move(result);
}

// A Python function `progress(entries, total_entries, bytes)`, or None. What it raises
// stops the work. Made and destroyed with the GIL.
class ProgressCall {
 public:
  ProgressCall(nb::object function, std::stop_source stop);

  // Calls the Python function, though not more often than people can see. Any thread,
  // with the GIL or without. Refers to *this; empty without a Python function.
  ProgressFunction function();

  // Raises what the Python function raised. Needs the GIL.
  void Check();

 private:
  void Report(const Progress& progress);

  const nb::object function_;
  std::stop_source stop_;
  std::chrono::steady_clock::time_point last_;
  std::optional<nb::python_error> raised_;  // guarded by the GIL
};

}  // namespace dolium::python
