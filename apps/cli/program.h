// The program as a function, for main() and for the module of Python.
#pragma once

namespace dolium::cli {

// What main() does. It takes over signals and the process's stop request, and ends the
// process by SIGPIPE where the reader of its output is gone: for a process that does
// nothing else. Called `shardpack` (argv[0]), it does what `dolium pack` does.
int RunProgram(int argc, char** argv);

}  // namespace dolium::cli
