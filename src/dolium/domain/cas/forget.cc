#include "dolium/domain/cas/forget.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace dolium::cas {
namespace {

tm LocalTime(int64_t nanoseconds) {
  auto seconds = static_cast<time_t>(nanoseconds / 1'000'000'000);
  if (nanoseconds % 1'000'000'000 < 0) --seconds;
  tm parts{};
  localtime_r(&seconds, &parts);
  return parts;
}

// A number that versions of the same day, week, month or year share.
int64_t Day(const tm& time) { return int64_t{time.tm_year} * 366 + time.tm_yday; }
int64_t Month(const tm& time) { return int64_t{time.tm_year} * 12 + time.tm_mon; }
int64_t Year(const tm& time) { return time.tm_year; }
int64_t Week(const tm& time) {
  // The year and the number of the week by ISO 8601: a week belongs to the year of its
  // Thursday.
  char text[32];
  if (std::strftime(text, sizeof text, "%G%V", &time) == 0) return Day(time);
  return std::strtoll(text, nullptr, 10);
}

struct Rule {
  std::string_view name;
  uint64_t left;
  int64_t (*period)(const tm&);  // nullptr: each version has its own
  std::optional<int64_t> last = {};
};

bool HasAll(const Version& version, const std::vector<std::string>& tags) {
  return std::ranges::all_of(tags, [&](const std::string& tag) {
    return std::ranges::binary_search(version.tags, tag);
  });
}

}  // namespace

bool VersionFilter::Match(const Version& version) const {
  if (!host.empty() && version.host != host) return false;
  return tags.empty() || std::ranges::any_of(tags, [&](const auto& list) {
           return HasAll(version, list);
         });
}

Result<std::vector<std::vector<std::string>>> ParseTagLists(
    const std::vector<std::string>& texts) {
  std::vector<std::vector<std::string>> lists;
  for (const std::string& text : texts) {
    std::vector<std::string>& list = lists.emplace_back();
    for (size_t begin = 0; begin <= text.size();) {
      const size_t end = std::min(text.find(',', begin), text.size());
      list.push_back(text.substr(begin, end - begin));
      DOLIUM_TRY_VOID(CheckLabel("tag", list.back()));
      begin = end + 1;
    }
  }
  return lists;
}

std::vector<KeepChoice> ChooseVersions(std::vector<Version> versions,
                                       const KeepPolicy& policy) {
  std::ranges::stable_sort(versions, [](const Version& a, const Version& b) {
    return std::pair(a.created, a.sequence) > std::pair(b.created, b.sequence);
  });
  Rule rules[] = {{"last", policy.last, nullptr},
                  {"daily", policy.daily, Day},
                  {"weekly", policy.weekly, Week},
                  {"monthly", policy.monthly, Month},
                  {"yearly", policy.yearly, Year}};
  std::vector<KeepChoice> choices;
  for (size_t i = 0; i < versions.size(); ++i) {
    KeepChoice& choice = choices.emplace_back();
    const tm time = LocalTime(versions[i].created);
    const bool is_oldest = i + 1 == versions.size();
    for (Rule& rule : rules) {
      if (rule.left == 0) continue;
      const int64_t period =
          rule.period != nullptr ? rule.period(time) : static_cast<int64_t>(i);
      const bool is_new = rule.last != period;
      if (!is_new && !is_oldest) continue;
      rule.last = period;
      --rule.left;
      choice.reasons.push_back(is_new ? std::string(rule.name)
                                      : fmt::format("oldest {}", rule.name));
    }
    choice.version = std::move(versions[i]);
  }
  return choices;
}

Result<ForgetReport> ForgetVersions(const CasStore& store, const ForgetOptions& options) {
  if (!options.policy.keeps_any()) {
    return InvalidArgument("which versions to keep? a rule that keeps none is none");
  }
  std::vector<std::string> names = options.names;
  if (names.empty()) {
    DOLIUM_TRY(names, ListNames(store.layout()));
  }
  ForgetReport report;
  for (const std::string& name : names) {
    DOLIUM_TRY(std::vector<Version> versions, ListVersions(store.layout(), name));
    if (versions.empty() && !options.names.empty()) {
      return NotFound(fmt::format("{}: no version of that name", name));
    }
    std::erase_if(versions,
                  [&](const Version& version) { return !options.filter.Match(version); });
    for (const KeepChoice& choice : ChooseVersions(std::move(versions), options.policy)) {
      if (choice.is_kept()) {
        ++report.kept;
      } else {
        if (!options.dry_run) {
          const Reference gone{name, choice.version.sequence, {}};
          const auto removed = RemoveVersions(store.layout(), gone);
          // Somebody else removed it.
          if (!removed && removed.error().code != ErrorCode::kNotFound) {
            return removed.error();
          }
        }
        ++report.removed;
      }
      if (options.visit) options.visit(choice);
    }
  }
  return report;
}

}  // namespace dolium::cas
