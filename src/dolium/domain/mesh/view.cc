#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "dolium/domain/mesh/files/mesh_files_internal.h"
#include "dolium/domain/mesh/picture_internal.h"

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

// The axes of a symmetric matrix, by turns about one pair after another; those of the
// largest values first.
std::array<Vector, 3> AxesOf(std::array<Vector, 3> m) {
  std::array<Vector, 3> axes = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (int sweep = 0; sweep < 32; ++sweep) {
    for (const auto& [p, q] : {std::pair<size_t, size_t>{0, 1}, {0, 2}, {1, 2}}) {
      if (std::abs(m[p][q]) < 1e-300) continue;
      const double theta = (m[q][q] - m[p][p]) / (2 * m[p][q]);
      const double t = (theta >= 0 ? 1 : -1) / (std::abs(theta) + std::hypot(theta, 1));
      const double c = 1 / std::hypot(t, 1);
      const double s = t * c;
      for (size_t k = 0; k < 3; ++k) {
        const double mkp = m[k][p];
        m[k][p] = c * mkp - s * m[k][q];
        m[k][q] = s * mkp + c * m[k][q];
      }
      for (size_t k = 0; k < 3; ++k) {
        const double mpk = m[p][k];
        m[p][k] = c * mpk - s * m[q][k];
        m[q][k] = s * mpk + c * m[q][k];
        const double ap = axes[p][k];
        axes[p][k] = c * ap - s * axes[q][k];
        axes[q][k] = s * ap + c * axes[q][k];
      }
    }
  }
  std::array<size_t, 3> order = {0, 1, 2};
  std::ranges::stable_sort(order, std::greater(), [&](size_t i) { return m[i][i]; });
  return {axes[order[0]], axes[order[1]], axes[order[2]]};
}

// The same axis, so that its largest coordinate has that sign.
Vector Signed(const Vector& axis, double sign) {
  const auto largest =
      std::ranges::max_element(axis, {}, [](double number) { return std::abs(number); });
  const double factor = *largest * sign < 0 ? -1 : 1;
  return {axis[0] * factor, axis[1] * factor, axis[2] * factor};
}

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

View WidestSide(const PictureRequest& request) {
  Vector mean = {0, 0, 0};
  double count = 0;
  ForEachPoint(request, [&](const Point& point) {
    for (size_t d = 0; d < 3; ++d) mean[d] += point[d];
    ++count;
  });
  for (double& number : mean) number /= std::max(count, 1.0);
  std::array<Vector, 3> spread{};
  ForEachPoint(request, [&](const Point& point) {
    for (size_t i = 0; i < 3; ++i) {
      for (size_t j = 0; j < 3; ++j) {
        spread[i][j] +=
            (point[i] - mean[i]) * (point[j] - mean[j]) / std::max(count, 1.0);
      }
    }
  });
  const auto axes = AxesOf(spread);
  const Vector right = Signed(axes[0], 1);
  const Vector up = Signed(axes[1], -1);
  const Vector away = Unit(Cross(up, right));
  constexpr double kTurn = 0.30;
  constexpr double kTilt = 0.30;
  View view;
  Vector deep;
  for (size_t d = 0; d < 3; ++d) {
    view.right[d] = std::cos(kTurn) * right[d] + std::sin(kTurn) * away[d];
    deep[d] = std::cos(kTurn) * away[d] - std::sin(kTurn) * right[d];
  }
  for (size_t d = 0; d < 3; ++d) {
    view.up[d] = std::cos(kTilt) * up[d] + std::sin(kTilt) * deep[d];
  }
  return view;
}

}  // namespace dolium::mesh
