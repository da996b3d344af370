#include "cli/cas/cas_arguments.h"

#include <cstdlib>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "cli/terminal/size.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::cli {

Result<std::string> StorePath(const Context& context) {
  if (const auto option = context.arguments.Get("store")) return *option;
  const char* const variable = std::getenv("DOLIUM_STORE");
  if (variable != nullptr && *variable != '\0') return std::string(variable);
  return InvalidArgument("which store? give --store <folder>, or set DOLIUM_STORE");
}

Result<std::shared_ptr<cas::CasStore>> OpenStore(const Context& context) {
  DOLIUM_TRY(const std::string path, StorePath(context));
  return OpenVersions(path);
}

Result<cas::Version> FindVersionOf(const cas::CasStore& store, const std::string& text) {
  DOLIUM_TRY(const auto reference, cas::ParseReference(text));
  return store.Find(reference);
}

Result<VersionPart> FindPartOf(const cas::CasStore& store, const std::string& text) {
  auto whole = FindVersionOf(store, text);
  if (whole) return VersionPart{*std::move(whole), ""};
  // Names may have slashes, too: the shortest that is one.
  for (size_t slash = text.find('/'); slash != std::string::npos;
       slash = text.find('/', slash + 1)) {
    auto version = FindVersionOf(store, text.substr(0, slash));
    if (!version) continue;
    std::string path = text.substr(slash + 1);
    while (path.ends_with('/')) path.pop_back();
    return VersionPart{*std::move(version), std::move(path)};
  }
  return std::move(whole).error();
}

Result<std::chrono::seconds> ParseDuration(std::string_view text) {
  const std::string_view whole = text;
  uint64_t unit = 1;
  if (!text.empty()) {
    switch (text.back()) {
      case 's':
        unit = 1;
        break;
      case 'm':
        unit = 60;
        break;
      case 'h':
        unit = 3600;
        break;
      case 'd':
        unit = 86400;
        break;
      default:
        unit = 0;
    }
    if (unit == 0) {
      unit = 1;
    } else {
      text.remove_suffix(1);
    }
  }
  const auto number = ParseNumber(text);
  constexpr uint64_t kMost = uint64_t{100} * 365 * 86400;
  if (!number || *number > kMost / unit) {
    return InvalidArgument(fmt::format("\"{}\" is no time; as in 90m, 24h or 7d", whole));
  }
  return std::chrono::seconds(*number * unit);
}

std::string FormatTime(int64_t nanoseconds) {
  const auto seconds = static_cast<time_t>(nanoseconds / 1'000'000'000);
  tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:%Y-%m-%d %H:%M:%S}", parts);
}

Json VersionMembers(const cas::Version& version) {
  Json json;
  cas::AddText(json, "name", version.name);
  if (version.sequence != 0) {
    json["sequence"] = version.sequence;
    json["created"] = JsonTime(version.created);
  }
  json["kind"] = VersionKindName(version.kind);
  json["hash"] = ToString(version.hash);
  json["files"] = version.totals.files;
  json["bytes"] = version.totals.bytes;
  json["chunks"] = version.totals.chunks;
  json["new_chunks"] = version.totals.new_chunks;
  json["new_bytes"] = version.totals.new_bytes;
  json["stored_bytes"] = version.totals.stored_bytes;
  json["aligned"] = version.is_aligned;
  if (version.sequence != 0) {
    json["host"] = version.host;
    json["tags"] = version.tags;
  }
  return json;
}

Result<cas::VersionFilter> FilterOf(const Context& context) {
  cas::VersionFilter filter;
  DOLIUM_TRY(filter.tags,
             cas::ParseTagLists(context.arguments.GetAll("tag")).Within("--tag"));
  filter.host = context.arguments.Get("host").value_or("");
  return filter;
}

std::string CountOf(uint64_t number, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", FormatCount(number), number == 1 ? one : many);
}

}  // namespace dolium::cli
