// What drawing a picture and choosing where one looks from share.
#pragma once

#include <algorithm>
#include <cmath>

#include "dolium/domain/mesh/picture.h"

namespace dolium::mesh {

inline double Dot(const Vector& a, const Vector& b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
inline Vector Cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2],
          a[0] * b[1] - a[1] * b[0]};
}
inline Vector Unit(const Vector& a) {
  const double length = std::sqrt(Dot(a, a));
  if (!(length > 0)) return {0, 0, 1};
  return {a[0] / length, a[1] / length, a[2] / length};
}

template <typename Visit>
void ForEachPoint(const PictureRequest& request, const Visit& visit) {
  for (const PictureMesh& one : request.meshes)
    std::ranges::for_each(one.mesh.vertices, visit);
  for (const PictureLines& one : request.lines)
    std::ranges::for_each(one.vertices, visit);
}

// The longest way across to the right, the second upwards; then turned a little, so that
// depth shows.
View WidestSide(const PictureRequest& request);

}  // namespace dolium::mesh
