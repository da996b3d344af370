#include "cli/context.h"
#include "cli/terminal/table.h"
#include "cli/verbs.h"

namespace dolium::cli {

ExitStatus RunFormats(Context& context) {
  if (context.terminal.json()) {
    for (const Format& format : context.formats) {
      context.terminal.JsonLine("format",
                                {{"name", format.name}, {"summary", format.summary}});
    }
    return ExitStatus::kGood;
  }
  Table table({{"format"}, {"what it is"}},
              [&](std::string_view line) { context.terminal.Line(line); });
  for (const Format& format : context.formats) {
    table.Add({std::string(format.name), std::string(format.summary)});
  }
  table.Finish();
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
