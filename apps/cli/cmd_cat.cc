#include <cstdint>
#include <optional>
#include <string>

#include "cli/context.h"
#include "cli/verbs.h"
#include "dolium/ops/list.h"

namespace dolium::cli {

ExitStatus RunCat(Context& context) {
  const std::string& key = context.arguments[1];
  const auto container = context.Open(context.arguments[0]);
  if (!container) return context.FailLocation(container.error());
  const bool raw = context.arguments.Has("raw");
  const bool preceding = context.arguments.Has("preceding");

  const std::string file = context.arguments.Get("output").value_or("-");
  uint64_t size = 0;
  std::optional<Error> unread;  // of the entry, not of the output
  const auto written =
      context.WriteFile(file, [&](const Context::PieceSink& take) -> Result<void> {
        std::optional<Error> untaken;
        const auto hand_on = [&](const Bytes& piece) -> Result<void> {
          size += piece.size();
          auto taken = take(piece);
          if (!taken) untaken = taken.error();
          return taken;
        };
        const auto read = [&]() -> Result<void> {
          if (!raw && !preceding) {
            DOLIUM_TRY_VOID(CatInPieces(**container, key, hand_on));
            return {};
          }
          DOLIUM_TRY(const EntryData data, Cat(**container, key, raw));
          return hand_on(preceding ? data.preceding : data.value);
        }();
        if (!read && !untaken) unread = read.error();
        return read;
      });
  if (unread) return context.Fail(*unread);
  if (!written) return context.FailLocation(written.error());
  if (context.terminal.json() && file != "-") {
    context.terminal.JsonLine(
        {{"type", "written"}, {"key", key}, {"file", file}, {"size", size}});
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
