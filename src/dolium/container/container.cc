#include "dolium/container/container.h"

#include <fmt/format.h>

namespace dolium {

Result<void> Container::CheckValue(const Entry&, const Bytes&) const { return {}; }

// By value, as those that override it keep it.
Result<Properties> Container::Statistics(std::stop_token /*stop*/) const {  // NOLINT
  return Properties();
}

Result<bool> Container::WriteIndex(std::string_view, bool) {
  return Unsupported(fmt::format("{}: format {} keeps no index beside its objects",
                                 location().Describe(), format_name()));
}

Result<void> Container::Apply(std::span<const Change>, const ChangeOptions&) {
  return Unsupported(fmt::format("{}: entries of format {} cannot be changed",
                                 location().Describe(), format_name()));
}

Result<void> Scan(const Container& container, const ScanVisitor& visitor) {
  DOLIUM_TRY(const std::vector<std::string> objects, container.Objects());
  bool go_on = true;
  ScanVisitor watched;
  watched.entry = [&](const Entry& entry) { return go_on = visitor.entry(entry); };
  if (visitor.damage) {
    watched.damage = [&](const Finding& finding) {
      return go_on = visitor.damage(finding);
    };
  }
  for (const std::string& object : objects) {
    DOLIUM_TRY_VOID(container.ScanObject(object, watched));
    if (!go_on) break;
  }
  return {};
}

}  // namespace dolium
