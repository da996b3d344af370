#include "dolium/container/entry_error.h"

#include <utility>

#include <fmt/format.h>

namespace dolium {
namespace {

std::string_view DropContext(std::string_view message, std::string_view context) {
  constexpr std::string_view kSeparator = ": ";
  if (context.empty() || !message.starts_with(context)) return message;
  const std::string_view rest = message.substr(context.size());
  return rest.starts_with(kSeparator) ? rest.substr(kSeparator.size()) : message;
}

}  // namespace

Error EntryError(std::string_view object, std::string_view key, const Error& error) {
  const std::string_view what = DropContext(DropContext(error.message, object), key);
  return {error.code, fmt::format("{}: {}: {}", object, key, what), {}, error.hint};
}

Finding ErrorFinding(std::string kind, std::string object, std::string key,
                     std::optional<ByteRange> range, const Error& error) {
  std::string message(DropContext(DropContext(error.message, object), key));
  return {Severity::kError,   std::move(kind), std::move(object), std::move(key), range,
          std::move(message), error.hint};
}

}  // namespace dolium
