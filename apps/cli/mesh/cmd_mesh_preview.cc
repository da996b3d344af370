#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/mesh/mesh_arguments.h"
#include "cli/objects/object_arguments.h"
#include "cli/verbs.h"
#include "dolium/domain/mesh/picture.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::cli {
namespace {

// "800" or "800,600".
Result<std::pair<uint32_t, uint32_t>> SizeOption(const Context& context) {
  const auto word = context.arguments.Get("size");
  if (!word) return std::pair(1024U, 768U);
  const auto numbers = ParseIds(*word);
  const bool fits = numbers && (numbers->size() == 1 || numbers->size() == 2) &&
                    numbers->front() <= UINT32_MAX && numbers->back() <= UINT32_MAX;
  if (!fits) {
    return InvalidArgument(
        fmt::format("--size is \"{}\", expected pixels as 800 or 800,600", *word));
  }
  return std::pair(static_cast<uint32_t>(numbers->front()),
                   static_cast<uint32_t>(numbers->back()));
}

// The skeletons of those meshes, where the location is a volume that names some.
std::vector<mesh::PictureLines> SkeletonsOf(const Location& location,
                                            const std::vector<uint64_t>& ids) {
  std::vector<mesh::PictureLines> lines;
  const auto skeletons = OpenSkeletons(location);
  if (!skeletons) return lines;
  for (const uint64_t id : ids) {
    // A picture of the meshes is worth more than none.
    auto skeleton = (*skeletons)->Get(id);
    if (!skeleton || !*skeleton || (*skeleton)->edges.empty()) continue;
    lines.push_back({std::move((*skeleton)->vertices), std::move((*skeleton)->edges)});
  }
  return lines;
}

Result<std::vector<mesh::PictureMesh>> ReadMeshes(const mesh::MeshSource& source,
                                                  const std::vector<uint64_t>& ids,
                                                  int level) {
  DOLIUM_TRY(auto found, source.GetMany(ids, {.level = level}));
  std::vector<mesh::PictureMesh> meshes;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (!found[i]) return NotFound(fmt::format("no mesh of segment {}", ids[i]));
    meshes.push_back({*std::move(found[i]), ids[i]});
  }
  return meshes;
}

}  // namespace

ExitStatus RunMeshPreview(Context& context) {
  const Arguments& arguments = context.arguments;
  const auto size = SizeOption(context);
  if (!size) return context.Fail(size.error());
  const auto level = LevelOption(context);
  if (!level) return context.Fail(level.error());
  mesh::PictureRequest request;
  std::tie(request.width, request.height) = *size;
  request.jobs = context.jobs();
  if (const auto word = arguments.Get("view")) {
    const auto view = mesh::ParseView(*word);
    if (!view) return context.Fail(view.error());
    request.view = *view;
  }
  const auto ids = IdsOf(context, 1, arguments.positionals().size());
  if (!ids) return context.Fail(ids.error());
  const auto location = ParseLocation(arguments[0]);
  if (!location) return context.FailLocation(location.error());
  const auto source = OpenMeshes(*location);
  if (!source) return context.FailLocation(source.error());
  const auto meshes = ReadMeshes(**source, **ids, *level);
  if (!meshes) return context.Fail(meshes.error());
  request.meshes = *meshes;
  std::vector<mesh::PictureLines> lines;
  if (!arguments.Has("no-skeleton")) lines = SkeletonsOf(*location, **ids);
  request.lines = lines;
  const auto png = mesh::DrawPicture(request);
  if (!png) return context.Fail(png.error());
  const std::string file = arguments.Get("output").value_or("-");
  const auto written = context.WriteFile(file, *png);
  if (!written) return context.FailLocation(written.error());
  if (file == "-") return ExitStatus::kGood;
  uint64_t triangles = 0;
  for (const auto& one : *meshes) triangles += one.mesh.triangles.size();
  if (context.terminal.json()) {
    context.terminal.JsonLine("written", {{"file", file},
                                          {"size", png->size()},
                                          {"triangles", triangles},
                                          {"skeletons", lines.size()}});
  } else {
    context.terminal.Line(fmt::format("{}: {} triangles, {} x {} pixels", file, triangles,
                                      request.width, request.height));
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
