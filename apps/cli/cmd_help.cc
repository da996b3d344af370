#include <string>

#include <fmt/format.h>

#include "cli/completion.h"
#include "cli/context.h"
#include "cli/help.h"
#include "cli/man_page.h"
#include "cli/verbs.h"

namespace dolium::cli {

ExitStatus RunHelp(Context& context) {
  const std::string name =
      fmt::format("{}", fmt::join(context.arguments.positionals(), " "));
  const bool is_group = !name.empty() && !WordsAfter(name).empty();
  const bool is_page = context.arguments.Has("man") || context.arguments.Has("markdown");
  const Verb* const verb = FindVerb(name);
  const bool is_program = name == kPackGroup;
  if (!name.empty() && verb == nullptr && (!is_group || (is_page && !is_program))) {
    return context.Fail(InvalidArgument(
        fmt::format("help: no verb \"{}\"; `dolium help` lists them", name)));
  }
  std::string text;
  if (is_page) {
    const ManFormat format =
        context.arguments.Has("man") ? ManFormat::kRoff : ManFormat::kMarkdown;
    text = is_program        ? PackManPage(format)
           : verb == nullptr ? OverviewManPage(format)
                             : VerbManPage(*verb, format);
  } else if (is_group) {
    text = context.terminal.AsCalled(GroupHelp(name));
  } else {
    text = verb == nullptr ? OverviewHelp() : context.terminal.AsCalled(VerbHelp(*verb));
  }
  context.terminal.Raw(AsBytes(text));
  return ExitStatus::kGood;
}

ExitStatus RunCompletion(Context& context) {
  const std::string& shell = context.arguments[0];
  std::string script;
  if (shell == "bash") script = BashCompletion(context.formats);
  if (shell == "zsh") script = ZshCompletion(context.formats);
  if (shell == "fish") script = FishCompletion(context.formats);
  if (script.empty()) {
    return context.Fail(InvalidArgument(fmt::format(
        "completion: no script for \"{}\"; there is one for: bash, zsh, fish", shell)));
  }
  context.terminal.Raw(AsBytes(script));
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
