#include <signal.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "cli/run.h"
#include "cli/signals.h"
#include "cli/terminal/terminal.h"
#include "dolium/formats/builtin.h"

int main(int argc, char** argv) {
  using namespace dolium;
  cli::ExitStatus status;
  bool reader_gone = false;
  {
    const cli::SignalStop signals;
    cli::Terminal terminal(STDOUT_FILENO, STDERR_FILENO);
    status = cli::Run(std::vector<std::string>(argv + 1, argv + argc), BuiltinFormats(),
                      terminal, signals.token());
    reader_gone = terminal.reader_gone();
  }
  if (reader_gone) {  // End as other programs in a pipe do: quietly, by the signal.
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  return static_cast<int>(status);
}
