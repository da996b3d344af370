#include "dolium/domain/dataset/imports/left_out.h"

#include <utility>

#include <fmt/format.h>

namespace dolium::dataset {

void LeftOut::Note(uint64_t position, Finding finding) {
  const std::scoped_lock lock(mutex_);
  all_.push_back({position, std::move(finding)});
}

std::vector<Finding> LeftOut::Take(uint64_t before) {
  const std::scoped_lock lock(mutex_);
  std::vector<Finding> taken;
  while (!all_.empty() && all_.front().position < before) {
    taken.push_back(std::move(all_.front().finding));
    all_.pop_front();
  }
  return taken;
}

Finding FindingOf(const PassedOver& passed, std::string_view object, std::string_view one,
                  std::string_view many) {
  return {.severity = Severity::kWarning,
          .kind = "left-out",
          .object = std::string(object),
          .key = {},
          .range = std::nullopt,
          .message = passed.count == 1
                         ? fmt::format("{}: {}; left out", passed.first, one)
                         : fmt::format("{} {}, {} the first of them; left out",
                                       passed.count, many, passed.first)};
}

}  // namespace dolium::dataset
