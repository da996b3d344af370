// Signals turned into a stop request.
#pragma once

#include <optional>
#include <stop_token>
#include <thread>

namespace dolium::cli {

// While it lives, the first SIGINT or SIGTERM asks for a stop; a second one kills the
// process as usual. SIGPIPE is ignored: writes report it. One at a time.
class SignalStop {
 public:
  SignalStop();
  ~SignalStop();
  SignalStop(const SignalStop&) = delete;
  SignalStop& operator=(const SignalStop&) = delete;

  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::optional<std::jthread> listener_;
};

}  // namespace dolium::cli
