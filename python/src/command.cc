// The command line in the module: what the scripts `dolium` and `shardpack` of a wheel
// run.
#include <string>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "cli/program.h"
#include "python/src/bindings.h"

namespace dolium::python {

void BindCommand(nb::module_& module) {
  module.def(
      "run_command",
      [](std::vector<std::string> arguments) {
        std::vector<char*> pointers;
        pointers.reserve(arguments.size() + 1);
        for (std::string& argument : arguments) pointers.push_back(argument.data());
        pointers.push_back(nullptr);
        const nb::gil_scoped_release release;
        return cli::RunProgram(static_cast<int>(arguments.size()), pointers.data());
      },
      nb::arg("arguments"),
      "Runs the command, whose name is the first argument, and gives its exit status. It "
      "takes over the signals of the process.");
}

}  // namespace dolium::python
