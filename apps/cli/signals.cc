#include "cli/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "dolium/base/start_thread.h"

namespace dolium::cli {
namespace {

// Requesting a stop runs other people's callbacks, which a signal handler must not; so
// the handler only writes a byte to a pipe that a thread reads.
constexpr char kStop = 's';
constexpr char kQuit = 'q';
int pipe_read = -1;
int pipe_write = -1;
volatile sig_atomic_t signals_seen = 0;

extern "C" void HandleSignal(int number) {
  const int saved_errno = errno;
  if (signals_seen != 0) {
    signal(number, SIG_DFL);
    raise(number);
  }
  signals_seen = 1;
  [[maybe_unused]] const ssize_t written = write(pipe_write, &kStop, 1);
  errno = saved_errno;
}

void Install(int number, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace

SignalStop::SignalStop() {
  Install(SIGPIPE, SIG_IGN);
  int ends[2];
  // Without a pipe or a thread, signals kill, as they would without us.
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  pipe_read = ends[0];
  pipe_write = ends[1];
  signals_seen = 0;
  listener_ = StartThread([this] {
    char byte = 0;
    while (true) {
      const ssize_t count = read(pipe_read, &byte, 1);
      if (count < 0 && errno == EINTR) continue;
      if (count != 1 || byte == kQuit) return;
      source_.request_stop();
    }
  });
  if (!listener_) return;
  for (const int number : {SIGINT, SIGTERM}) {
    struct sigaction before = {};
    sigaction(number, nullptr, &before);
    // Whoever started us with a signal ignored (nohup, a shell's background) meant it.
    if (before.sa_handler != SIG_IGN) Install(number, HandleSignal);
  }
}

SignalStop::~SignalStop() {
  if (!listener_) return;
  Install(SIGINT, SIG_DFL);
  Install(SIGTERM, SIG_DFL);
  [[maybe_unused]] const ssize_t written = write(pipe_write, &kQuit, 1);
  listener_->join();
  close(pipe_read);
  close(pipe_write);
  pipe_read = -1;
  pipe_write = -1;
}

}  // namespace dolium::cli
