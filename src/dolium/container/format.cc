#include "dolium/container/format.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/container/unfinished.h"

namespace dolium {
namespace {

std::string Names(Formats formats) {
  std::string names;
  for (const Format& format : formats) {
    if (!names.empty()) names += ", ";
    names += format.name;
  }
  return names;
}

// Whether there is an object or a folder. Of a store that cannot list, folders are not
// known.
Result<bool> IsThere(const Location& location) {
  const auto info = location.store->Stat(location.path);
  if (info && *info) return true;
  const auto listed =
      location.store->List(location.path, [](auto, bool) { return false; });
  if (listed) return true;
  if (listed.error().code == ErrorCode::kNotFound) return false;
  if (listed.error().code == ErrorCode::kUnsupported) {
    if (!info && info.error().code != ErrorCode::kNotFound) return info.error();
    return false;
  }
  return listed.error();
}

}  // namespace

Result<const Format*> FindFormat(Formats formats, std::string_view name) {
  for (const Format& format : formats) {
    if (format.name == name) return &format;
  }
  return InvalidArgument(
      fmt::format("no format \"{}\"; there are: {}", name, Names(formats)));
}

const Format* FindByEnding(Formats formats, const Location& location) {
  for (const Format& format : formats) {
    const bool is_own = std::ranges::any_of(format.endings, [&](std::string_view ending) {
      return location.path.ends_with(ending);
    });
    if (!is_own) continue;
    const auto score = format.probe(location);
    if (score && *score >= kUnmistakable) return &format;
  }
  return nullptr;
}

Result<std::unique_ptr<Container>> OpenContainer(Formats formats,
                                                 const Location& location,
                                                 std::string_view name,
                                                 const OpenOptions& options) {
  if (!name.empty()) {
    DOLIUM_TRY(const Format* format, FindFormat(formats, name));
    return format->open(location, options);
  }
  if (options.spec) {
    for (const Format& format : formats) {
      if (format.takes_spec) return format.open(location, options);
    }
  }
  if (const Format* const own = FindByEnding(formats, location)) {
    return own->open(location, options);
  }
  const Format* best = nullptr;
  int highest = 0;
  std::optional<Error> first_error;
  for (const Format& format : formats) {
    const auto score = format.probe(location);
    if (!score) {
      // Absence is reported below, in the same words whichever format met it.
      if (score.error().code == ErrorCode::kNotFound) continue;
      if (!first_error) first_error = score.error();
    } else if (*score > highest) {
      best = &format;
      highest = *score;
    }
  }
  if (best != nullptr) return best->open(location, options);
  if (first_error) return *std::move(first_error);
  DOLIUM_TRY(const bool is_there, IsThere(location));
  if (!is_there) {
    return NotFound(fmt::format("{}: no such file or folder", location.Describe()));
  }
  // A set whose writing has just begun has nothing that a format could recognise.
  DOLIUM_TRY_VOID(CheckFinished(location));
  return InvalidArgument(fmt::format("{}: no format recognises it; formats: {}",
                                     location.Describe(), Names(formats)))
      .WithHint(Hint::kNameFormat);
}

}  // namespace dolium
