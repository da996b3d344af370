#include <array>
#include <cmath>
#include <numbers>
#include <string>

#include <fmt/format.h>

#include "dolium/domain/mesh/files/mesh_files_internal.h"
#include "dolium/domain/mesh/picture.h"

namespace dolium::mesh {
namespace {

struct NamedView {
  std::string_view name;
  View view;
};

constexpr NamedView kViews[] = {
    {"z", {{1, 0, 0}, {0, -1, 0}}}, {"-z", {{-1, 0, 0}, {0, -1, 0}}},
    {"y", {{1, 0, 0}, {0, 0, -1}}}, {"-y", {{-1, 0, 0}, {0, 0, -1}}},
    {"x", {{0, 0, 1}, {0, -1, 0}}}, {"-x", {{0, 0, -1}, {0, -1, 0}}},
};

}  // namespace

Result<View> ParseView(std::string_view text) {
  for (const NamedView& named : kViews) {
    if (named.name == text) return named.view;
  }
  const size_t comma = text.find(',');
  const auto around = NumberOf<double>(text.substr(0, comma));
  const auto above = comma == std::string_view::npos
                         ? std::optional<double>(0)
                         : NumberOf<double>(text.substr(comma + 1));
  if (!around || !above || !std::isfinite(*around) || !std::isfinite(*above)) {
    return InvalidArgument(fmt::format(
        "view \"{}\", expected x, y, z, -x, -y, -z or two angles in degrees", text));
  }
  constexpr double kDegree = std::numbers::pi / 180;
  const double a = *around * kDegree;
  const double e = *above * kDegree;
  // Turned about y, then tilted about what is to the right.
  const Vector right = {std::cos(a), 0, std::sin(a)};
  const Vector away = {-std::sin(a), 0, std::cos(a)};
  return View{right, {std::sin(e) * away[0], -std::cos(e), std::sin(e) * away[2]}};
}

}  // namespace dolium::mesh
