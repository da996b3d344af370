#include "cli/program.h"

#include <signal.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/run.h"
#include "cli/signals.h"
#include "cli/terminal/terminal.h"
#include "cli/verbs.h"
#include "dolium/base/stop.h"
#include "dolium/bytes/store.h"
#include "dolium/formats/builtin.h"

namespace dolium::cli {

int RunProgram(int argc, char** argv) {
  ExitStatus status;
  bool reader_gone = false;
  {
    const SignalStop signals;
    SetProcessStop(signals.token());
    Terminal terminal(STDOUT_FILENO, STDERR_FILENO);
    std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
    if (argc > 0 && BaseName(argv[0]) == kPackProgram) {
      arguments = AsPackVerbs(std::move(arguments));
      terminal.set_program(std::string(kPackProgram), "dolium pack");
    }
    status = Run(arguments, BuiltinFormats(), terminal, signals.token());
    reader_gone = terminal.reader_gone();
  }
  if (reader_gone) {  // End as other programs in a pipe do: quietly, by the signal.
    signal(SIGPIPE, SIG_DFL);
    raise(SIGPIPE);
  }
  return static_cast<int>(status);
}

}  // namespace dolium::cli
