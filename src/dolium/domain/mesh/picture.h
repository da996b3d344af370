// Pictures of meshes, drawn without graphics hardware: a z-buffer, two lights, and
// several samples for each pixel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/mesh/mesh.h"

namespace dolium::mesh {

using Vector = std::array<double, 3>;

// Where one looks from: what is to the right in the picture, and what is up; both of
// length 1, and at right angles.
struct View {
  Vector right = {1, 0, 0};
  Vector up = {0, -1, 0};
};

// "z" looks along z, with y downwards, "-z" from behind; "x" and "y" are alike, with z to
// the right or downwards. "30,20" looks along z, turned about the vertical axis and from
// above, by so many degrees. kInvalidArgument for others.
Result<View> ParseView(std::string_view text);

struct PictureMesh {
  Mesh mesh;
  uint64_t id = 0;  // which decides the colour
};

// Lines within the meshes, such as skeletons.
struct PictureLines {
  std::vector<Point> vertices;
  std::vector<std::array<uint32_t, 2>> edges;
};

struct PictureRequest {
  std::span<const PictureMesh> meshes = {};
  std::span<const PictureLines> lines = {};  // where there are some, meshes are glass
  uint32_t width = 1024;                     // 16 to 8192, as is the height
  uint32_t height = 768;
  std::optional<View> view = {};  // nullopt: on the widest side, a little from above
  size_t jobs = 0;
};

// A PNG of RGB. kInvalidArgument for sizes out of range, if there is nothing to draw, and
// for meshes that Validate() refuses. The same request gives the same bytes.
Result<ByteVector> DrawPicture(const PictureRequest& request);

}  // namespace dolium::mesh
