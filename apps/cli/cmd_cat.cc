#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/verbs.h"
#include "dolium/bytes/location.h"
#include "dolium/ops/list.h"

namespace dolium::cli {
namespace {

Result<void> WriteOutput(const std::string& file, BytesView bytes, bool force) {
  DOLIUM_TRY(const Location location, ParseLocation(file));
  const auto written = location.store->Put(
      location.path, bytes, force ? Precondition::None() : Precondition::Absent());
  if (written) return {};
  if (written.error().code == ErrorCode::kExists) {
    return Exists(fmt::format("{}: is there already; --force replaces it", file));
  }
  return written.error();
}

}  // namespace

ExitStatus RunCat(Context& context) {
  const std::string& key = context.arguments[1];
  const auto container = context.Open(context.arguments[0]);
  if (!container) return context.FailLocation(container.error());
  const auto data = Cat(**container, key, context.arguments.Has("raw"));
  if (!data) return context.Fail(data.error());
  const Bytes& bytes = context.arguments.Has("preceding") ? data->preceding : data->value;

  const std::string file = context.arguments.Get("output").value_or("-");
  if (file == "-") {
    context.terminal.Raw(bytes);
    return ExitStatus::kGood;
  }
  const auto written = WriteOutput(file, bytes, context.arguments.Has("force"));
  if (!written) return context.FailLocation(written.error());
  if (context.terminal.json()) {
    context.terminal.JsonLine(
        {{"type", "written"}, {"key", key}, {"file", file}, {"size", bytes.size()}});
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
