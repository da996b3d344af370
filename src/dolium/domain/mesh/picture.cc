#include "dolium/domain/mesh/picture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/domain/mesh/picture_internal.h"
#include "dolium/domain/volume/encodings/png.h"

namespace dolium::mesh {
namespace {

constexpr uint32_t kMinSide = 16;
constexpr uint32_t kMaxSide = 8192;
constexpr double kMargin = 0.06;  // of each side
constexpr int kPictureLevel = 6;
constexpr uint32_t kSamples = 3;  // of a pixel, along each side
constexpr uint64_t kMaxSamples = uint64_t{1} << 25;
constexpr size_t kBands = 64;
constexpr float kFar = std::numeric_limits<float>::infinity();
constexpr float kLinePixels = 1.6F;  // half the width of a line, in a picture of 768 rows

using Colour = std::array<float, 3>;  // of light, linear

constexpr Colour kTop = {0.98F, 0.985F, 1.0F};
constexpr Colour kBottom = {0.78F, 0.81F, 0.86F};
constexpr Colour kLineColour = {0.62F, 0.03F, 0.05F};

Colour Mix(const Colour& a, const Colour& b, float of_b) {
  Colour mixed;
  for (size_t i = 0; i < 3; ++i) mixed[i] = a[i] * (1 - of_b) + b[i] * of_b;
  return mixed;
}

// Soft colours that differ from id to id.
Colour ColourOf(uint64_t id) {
  const double hue =
      std::fmod(static_cast<double>(id % 1000003) * 0.61803398875 + 0.06, 1);
  Colour colour;
  for (size_t i = 0; i < 3; ++i) {
    const double at = std::fmod(hue + 1 - static_cast<double>(i) / 3, 1);
    const double wave = 0.5 + 0.5 * std::cos(2 * std::numbers::pi * at);
    colour[i] = static_cast<float>(0.16 + 0.55 * wave);
  }
  return colour;
}

// A point of the picture, in samples: to the right, down, and away.
struct Projected {
  float x = 0;
  float y = 0;
  float z = 0;
};

class Camera {
 public:
  Camera(const View& view, const PictureRequest& request, uint32_t samples)
      : right_(view.right), up_(view.up), away_(Unit(Cross(view.up, view.right))) {
    Vector low = {1e300, 1e300, 1e300};
    Vector high = {-1e300, -1e300, -1e300};
    ForEachPoint(request, [&](const Point& point) {
      const Vector at = Turned(point);
      for (size_t d = 0; d < 3; ++d) {
        low[d] = std::min(low[d], at[d]);
        high[d] = std::max(high[d], at[d]);
      }
    });
    const double width = request.width * samples;
    const double height = request.height * samples;
    const double of_width = (high[0] - low[0]) / (width * (1 - 2 * kMargin));
    const double of_height = (high[1] - low[1]) / (height * (1 - 2 * kMargin));
    const double unit = std::max({of_width, of_height, 1e-30});
    scale_ = 1 / unit;
    offset_ = {width / 2 - (low[0] + high[0]) / 2 * scale_,
               height / 2 - (low[1] + high[1]) / 2 * scale_, -low[2] * scale_};
  }

  Projected Project(const Point& point) const {
    const Vector at = Turned(point);
    return {static_cast<float>(at[0] * scale_ + offset_[0]),
            static_cast<float>(at[1] * scale_ + offset_[1]),
            static_cast<float>(at[2] * scale_ + offset_[2])};
  }

 private:
  Vector Turned(const Point& point) const {
    const Vector at = {point[0], point[1], point[2]};
    return {Dot(at, right_), -Dot(at, up_), Dot(at, away_)};
  }

  Vector right_;
  Vector up_;
  Vector away_;
  double scale_ = 1;
  Vector offset_ = {0, 0, 0};
};

// What is nearest at a sample. Normals point to whoever looks.
struct Sample {
  float z = kFar;
  int16_t nx = 0;
  int16_t ny = 0;
  uint32_t object = 0;
};

constexpr float kNormalSteps = 32767;

struct ProjectedMesh {
  std::vector<Projected> vertices;
  std::vector<std::array<float, 3>> normals;  // of vertices, by area
};

using Normal = std::array<float, 3>;

Normal FacetNormal(const Projected& a, const Projected& b, const Projected& c) {
  const float ux = b.x - a.x;
  const float uy = b.y - a.y;
  const float uz = b.z - a.z;
  const float vx = c.x - a.x;
  const float vy = c.y - a.y;
  const float vz = c.z - a.z;
  return {uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx};
}

Normal UnitOf(const Normal& normal) {
  const float length =
      std::sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
  if (!(length > 0)) return {0, 0, 0};
  return {normal[0] / length, normal[1] / length, normal[2] / length};
}

// Smooth ones, but for corners where the surface has an edge.
std::array<Normal, 3> CornerNormals(const ProjectedMesh& mesh, const Triangle& t) {
  constexpr float kSmooth = 0.5F;  // the cosine of 60 degrees
  const Normal face =
      UnitOf(FacetNormal(mesh.vertices[t[0]], mesh.vertices[t[1]], mesh.vertices[t[2]]));
  std::array<Normal, 3> corners;
  for (size_t i = 0; i < 3; ++i) {
    const Normal smooth = UnitOf(mesh.normals[t[i]]);
    const float along = smooth[0] * face[0] + smooth[1] * face[1] + smooth[2] * face[2];
    corners[i] = along > kSmooth ? smooth : face;
  }
  return corners;
}

ProjectedMesh ProjectMesh(const Mesh& mesh, const Camera& camera) {
  ProjectedMesh out;
  out.vertices.reserve(mesh.vertices.size());
  for (const Point& vertex : mesh.vertices)
    out.vertices.push_back(camera.Project(vertex));
  out.normals.resize(mesh.vertices.size());
  for (const Triangle& t : mesh.triangles) {
    const Normal normal =
        FacetNormal(out.vertices[t[0]], out.vertices[t[1]], out.vertices[t[2]]);
    for (const uint32_t corner : t) {
      for (size_t d = 0; d < 3; ++d) out.normals[corner][d] += normal[d];
    }
  }
  return out;
}

class Canvas {
 public:
  Canvas(const PictureRequest& request, uint32_t samples)
      : request_(request),
        samples_(samples),
        width_(request.width * samples),
        height_(request.height * samples),
        surface_(uint64_t{width_} * height_) {
    if (!request.lines.empty()) over_.resize(surface_.size());
  }

  void DrawTriangles(const Mesh& mesh, const ProjectedMesh& projected, uint32_t object,
                     int64_t first_row, int64_t end_row) {
    for (const Triangle& t : mesh.triangles) {
      DrawTriangle(projected, t, object, first_row, end_row);
    }
  }

  void DrawLine(const Projected& a, const Projected& b) {
    const float radius = std::max(kLinePixels * static_cast<float>(height_) / 768.0F,
                                  static_cast<float>(samples_));
    const auto begin = [&](float at, uint32_t size) {
      return static_cast<int64_t>(
          std::clamp(at - radius, 0.0F, static_cast<float>(size)));
    };
    const auto end = [&](float at, uint32_t size) {
      return static_cast<int64_t>(
          std::clamp(at + radius + 1, 0.0F, static_cast<float>(size)));
    };
    const float dx = b.x - a.x;
    const float dy = b.y - a.y;
    const float length = dx * dx + dy * dy;
    for (int64_t y = begin(std::min(a.y, b.y), height_);
         y < end(std::max(a.y, b.y), height_); ++y) {
      for (int64_t x = begin(std::min(a.x, b.x), width_);
           x < end(std::max(a.x, b.x), width_); ++x) {
        const float px = static_cast<float>(x) + 0.5F;
        const float py = static_cast<float>(y) + 0.5F;
        const float along =
            length > 0
                ? std::clamp(((px - a.x) * dx + (py - a.y) * dy) / length, 0.0F, 1.0F)
                : 0.0F;
        const float ox = (px - a.x - along * dx) / radius;
        const float oy = (py - a.y - along * dy) / radius;
        const float away = ox * ox + oy * oy;
        if (away > 1) continue;
        const float z = a.z + along * (b.z - a.z) - radius * std::sqrt(1 - away);
        Sample& sample = over_[static_cast<size_t>(y) * width_ + static_cast<size_t>(x)];
        if (z >= sample.z) continue;
        sample = {z, static_cast<int16_t>(ox * kNormalSteps),
                  static_cast<int16_t>(oy * kNormalSteps), 0};
      }
    }
  }

  // A row of pixels, with three bytes each.
  void Resolve(uint32_t row, std::span<std::byte> out) const {
    for (uint32_t column = 0; column < request_.width; ++column) {
      Colour sum = {0, 0, 0};
      for (uint32_t j = 0; j < samples_; ++j) {
        for (uint32_t i = 0; i < samples_; ++i) {
          const Colour one = ColourAt(column * samples_ + i, row * samples_ + j);
          for (size_t d = 0; d < 3; ++d) sum[d] += one[d];
        }
      }
      for (size_t d = 0; d < 3; ++d) {
        const float light =
            std::clamp(sum[d] / static_cast<float>(samples_ * samples_), 0.0F, 1.0F);
        out[size_t{3} * column + d] =
            static_cast<std::byte>(std::lround(255 * std::pow(light, 1 / 2.2F)));
      }
    }
  }

 private:
  void DrawTriangle(const ProjectedMesh& mesh, const Triangle& t, uint32_t object,
                    int64_t first_row, int64_t end_row) {
    const Projected& a = mesh.vertices[t[0]];
    const Projected& b = mesh.vertices[t[1]];
    const Projected& c = mesh.vertices[t[2]];
    const auto top = std::max(
        first_row, static_cast<int64_t>(std::ceil(std::min({a.y, b.y, c.y}) - 0.5F)));
    const auto bottom = std::min(
        end_row, static_cast<int64_t>(std::ceil(std::max({a.y, b.y, c.y}) - 0.5F)));
    if (top >= bottom) return;
    const float area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    if (area == 0) return;
    const auto left = std::max<int64_t>(
        0, static_cast<int64_t>(std::ceil(std::min({a.x, b.x, c.x}) - 0.5F)));
    const auto right = std::min<int64_t>(
        width_, static_cast<int64_t>(std::ceil(std::max({a.x, b.x, c.x}) - 0.5F)));
    const auto corners = CornerNormals(mesh, t);
    for (int64_t y = top; y < bottom; ++y) {
      const float py = static_cast<float>(y) + 0.5F;
      for (int64_t x = left; x < right; ++x) {
        const float px = static_cast<float>(x) + 0.5F;
        const float of_a = ((b.x - px) * (c.y - py) - (b.y - py) * (c.x - px)) / area;
        const float of_b = ((c.x - px) * (a.y - py) - (c.y - py) * (a.x - px)) / area;
        const float of_c = 1 - of_a - of_b;
        if (of_a < 0 || of_b < 0 || of_c < 0) continue;
        const float z = of_a * a.z + of_b * b.z + of_c * c.z;
        Sample& sample =
            surface_[static_cast<size_t>(y) * width_ + static_cast<size_t>(x)];
        if (z >= sample.z) continue;
        std::array<float, 3> normal;
        for (size_t d = 0; d < 3; ++d) {
          normal[d] = of_a * corners[0][d] + of_b * corners[1][d] + of_c * corners[2][d];
        }
        const float length = std::sqrt(normal[0] * normal[0] + normal[1] * normal[1] +
                                       normal[2] * normal[2]);
        // Towards whoever looks, from both sides of the surface.
        const float unit = length > 0 ? (normal[2] > 0 ? -1 : 1) / length : 0;
        sample = {z, static_cast<int16_t>(normal[0] * unit * kNormalSteps),
                  static_cast<int16_t>(normal[1] * unit * kNormalSteps), object};
      }
    }
  }

  Colour ColourAt(uint32_t x, uint32_t y) const {
    const float down = static_cast<float>(y) / static_cast<float>(height_);
    Colour colour = Mix(kTop, kBottom, down);
    const size_t at = size_t{y} * width_ + x;
    const Sample& surface = surface_[at];
    if (surface.z != kFar) {
      const Colour lit = Mix(Lit(surface, ColourOf(request_.meshes[surface.object].id)),
                             {0, 0, 0}, Shadow(x, y));
      if (over_.empty()) return lit;
      // Glass: what is seen at a slant is thicker.
      colour = Mix(colour, lit, 0.30F + 0.55F * (1 - FacingOf(surface)));
    }
    if (over_.empty() || over_[at].z == kFar) return colour;
    return Lit(over_[at], kLineColour);
  }

  static float FacingOf(const Sample& sample) {
    const float nx = static_cast<float>(sample.nx) / kNormalSteps;
    const float ny = static_cast<float>(sample.ny) / kNormalSteps;
    return std::sqrt(std::max(0.0F, 1 - nx * nx - ny * ny));
  }

  // Two lights, one from above on the left and one from the right, and what is all
  // around.
  static Colour Lit(const Sample& sample, const Colour& colour) {
    const float nx = static_cast<float>(sample.nx) / kNormalSteps;
    const float ny = -static_cast<float>(sample.ny) / kNormalSteps;
    const float nz = FacingOf(sample);
    const auto facing = [&](float lx, float ly, float lz) {
      return std::max(0.0F, nx * lx + ny * ly + nz * lz);
    };
    const float key = facing(-0.42F, 0.62F, 0.66F);
    const float fill = facing(0.79F, -0.10F, 0.60F);
    const float around = 0.20F + 0.10F * ny;
    const float shine = std::pow(facing(-0.23F, 0.34F, 0.91F), 40.0F);
    Colour lit;
    constexpr Colour kWarm = {1.0F, 0.97F, 0.92F};
    constexpr Colour kCool = {0.80F, 0.90F, 1.0F};
    for (size_t d = 0; d < 3; ++d) {
      lit[d] = colour[d] * (around + 0.85F * key * kWarm[d] + 0.30F * fill * kCool[d]) +
               0.16F * shine;
    }
    return lit;
  }

  // How much of the light nearer surfaces around take away: edges, folds and depth.
  float Shadow(uint32_t x, uint32_t y) const {
    const float z = surface_[size_t{y} * width_ + x].z;
    float sum = 0;
    for (const uint32_t pixels : {1U, 4U, 10U}) {
      const int64_t reach = int64_t{pixels} * samples_;
      for (int64_t j = -1; j <= 1; ++j) {
        for (int64_t i = -1; i <= 1; ++i) {
          const int64_t nx = int64_t{x} + i * reach;
          const int64_t ny = int64_t{y} + j * reach;
          if (nx < 0 || ny < 0 || nx >= width_ || ny >= height_) continue;
          const float near =
              surface_[static_cast<size_t>(ny) * width_ + static_cast<size_t>(nx)].z;
          // Less than a slope of one half is the surface itself.
          const float step = (z - near) / static_cast<float>(reach) - 0.5F;
          sum += std::clamp(step, 0.0F, 2.5F);
        }
      }
    }
    return 1 - std::exp(-0.045F * sum);
  }

  const PictureRequest& request_;
  const uint32_t samples_;
  const uint32_t width_;
  const uint32_t height_;
  std::vector<Sample> surface_;
  std::vector<Sample> over_;  // of lines
};

Result<void> CheckRequest(const PictureRequest& request) {
  for (const uint32_t side : {request.width, request.height}) {
    if (side >= kMinSide && side <= kMaxSide) continue;
    return InvalidArgument(fmt::format("a picture of {} x {} pixels, expected {} to {}",
                                       request.width, request.height, kMinSide,
                                       kMaxSide));
  }
  bool has_points = false;
  for (const PictureMesh& one : request.meshes) {
    DOLIUM_TRY_VOID(Validate(one.mesh));
    has_points = has_points || !one.mesh.vertices.empty();
  }
  for (const PictureLines& one : request.lines) {
    for (const auto& edge : one.edges) {
      for (const uint32_t vertex : edge) {
        if (vertex < one.vertices.size()) continue;
        return InvalidArgument(fmt::format("a line has vertex {}, there are {}", vertex,
                                           one.vertices.size()));
      }
    }
    has_points = has_points || !one.vertices.empty();
  }
  return has_points ? Result<void>() : InvalidArgument("there is nothing to draw");
}

}  // namespace

Result<ByteVector> DrawPicture(const PictureRequest& request) {
  DOLIUM_TRY_VOID(CheckRequest(request));
  uint32_t samples = kSamples;
  while (samples > 1 &&
         uint64_t{request.width} * request.height * samples * samples > kMaxSamples) {
    --samples;
  }
  const Camera camera(request.view ? *request.view : WidestSide(request), request,
                      samples);
  Canvas canvas(request, samples);
  const int64_t rows = int64_t{request.height} * samples;
  for (size_t i = 0; i < request.meshes.size(); ++i) {
    const Mesh& mesh = request.meshes[i].mesh;
    const ProjectedMesh projected = ProjectMesh(mesh, camera);
    DOLIUM_TRY_VOID(ParallelFor(kBands, request.jobs, [&](size_t band) -> Result<void> {
      const auto row = [&](size_t number) {
        return static_cast<int64_t>(number) * rows / static_cast<int64_t>(kBands);
      };
      canvas.DrawTriangles(mesh, projected, static_cast<uint32_t>(i), row(band),
                           row(band + 1));
      return {};
    }));
  }
  for (const PictureLines& lines : request.lines) {
    for (const auto& edge : lines.edges) {
      canvas.DrawLine(camera.Project(lines.vertices[edge[0]]),
                      camera.Project(lines.vertices[edge[1]]));
    }
  }
  const size_t row_bytes = size_t{3} * request.width;
  ByteVector pixels(row_bytes * request.height);
  DOLIUM_TRY_VOID(
      ParallelFor(request.height, request.jobs, [&](size_t row) -> Result<void> {
        canvas.Resolve(static_cast<uint32_t>(row),
                       std::span(pixels).subspan(row * row_bytes, row_bytes));
        return {};
      }));
  // Channels are planes for the encoder.
  const size_t count = size_t{request.width} * request.height;
  ByteVector planes(pixels.size());
  for (size_t i = 0; i < count; ++i) {
    for (size_t d = 0; d < 3; ++d) planes[d * count + i] = pixels[3 * i + d];
  }
  return volume::EncodePng({.size = {request.width, request.height, 1}, .channels = 3},
                           kPictureLevel, planes);
}

}  // namespace dolium::mesh
