// mesh ls, get, export and import.
#include <charconv>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/mesh/mesh_arguments.h"
#include "cli/objects/object_arguments.h"
#include "cli/terminal/table.h"
#include "cli/verbs.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::cli {
namespace {

using mesh::MeshFile;

// A table or lines with what manifests say.
ExitStatus ListManifests(Context& context, const mesh::MeshSource& meshes,
                         const std::vector<uint64_t>& ids) {
  using enum Table::Align;
  Terminal& terminal = context.terminal;
  Table table(
      {{"id", kLeft}, {"levels", kRight}, {"fragments", kRight}, {"bytes", kRight}},
      [&](std::string_view line) { terminal.Line(line); });
  ExitStatus status = ExitStatus::kGood;
  for (const uint64_t id : ids) {
    if (!terminal.ok() || context.stop.stop_requested()) break;
    std::optional<mesh::Manifest> manifest;
    if (meshes.info() != nullptr) {
      auto read = meshes.GetManifest(id);
      if (!read) {
        terminal.Report(read.error());
        status = ExitStatus::kBad;
        continue;
      }
      manifest = *std::move(read);
    }
    uint64_t fragments = 0;
    if (manifest) {
      for (const auto& level : manifest->levels) fragments += level.fragments.size();
    }
    if (terminal.json()) {
      Json line = {{"id", id}};
      if (manifest) {
        line["levels"] = manifest->levels.size();
        line["fragments"] = fragments;
        line["bytes"] = manifest->fragment_bytes();
      }
      terminal.JsonLine("object", line);
    } else if (manifest) {
      table.Add({std::to_string(id), std::to_string(manifest->levels.size()),
                 std::to_string(fragments), std::to_string(manifest->fragment_bytes())});
    } else {
      table.Add({std::to_string(id), "1", "-", "-"});
    }
  }
  if (!terminal.json()) table.Finish();
  return status;
}

Result<std::shared_ptr<const mesh::MeshSource>> OpenMeshesAt(const Context& context) {
  DOLIUM_TRY(const Location location, ParseLocation(context.arguments[0]));
  return OpenMeshes(location);
}

Result<MeshFile> MeshFileOption(const Context& context, std::string_view option) {
  const auto word = context.arguments.Get(option);
  if (!word) {
    return InvalidArgument(
        fmt::format("--{} says of which kind the files are: it is needed", option));
  }
  return *mesh::ParseMeshFileKind(*word);
}

}  // namespace

Result<int> LevelOption(const Context& context) {
  const auto word = context.arguments.Get("lod");
  if (!word) return 0;
  int level = 0;
  const char* const end = word->data() + word->size();
  const auto [at, error] = std::from_chars(word->data(), end, level);
  if (word->empty() || at != end || error != std::errc()) {
    return InvalidArgument(
        fmt::format("--lod is \"{}\", expected a level: 0 for the finest, -1 for the "
                    "coarsest",
                    *word));
  }
  return level;
}

ExitStatus RunMeshLs(Context& context) {
  const auto meshes = OpenMeshesAt(context);
  if (!meshes) return context.FailLocation(meshes.error());
  const auto ids = (*meshes)->ListIds(context.stop);
  if (!ids) return context.FailLocation(ids.error());
  if (!context.arguments.Has("long")) return ListIdsOf(context, *ids);
  return ListManifests(context, **meshes, *ids);
}

ExitStatus RunMeshGet(Context& context) {
  const auto& words = context.arguments.positionals();
  const std::string file = words.size() > 2 ? words[2] : "-";
  MeshFile kind = MeshFile::kPly;
  if (file != "-") {
    const auto named = mesh::ParseMeshFileKind(file.substr(file.rfind('.') + 1));
    if (!named) {
      return context.Fail(InvalidArgument(
          fmt::format("{}: expected an ending of .ply, .obj, .stl or .glb", file)));
    }
    kind = *named;
  }
  const auto level = LevelOption(context);
  if (!level) return context.Fail(level.error());
  const auto ids = IdsOf(context, 1, 2);
  if (!ids) return context.Fail(ids.error());
  const auto meshes = OpenMeshesAt(context);
  if (!meshes) return context.FailLocation(meshes.error());
  const uint64_t id = (*ids)->front();
  return WriteObject(context, id, file, ExportMesh(**meshes, id, kind, *level));
}

ExitStatus RunMeshExport(Context& context) {
  const auto kind = MeshFileOption(context, "to");
  if (!kind) return context.Fail(kind.error());
  const auto level = LevelOption(context);
  if (!level) return context.Fail(level.error());
  const auto meshes = OpenMeshesAt(context);
  if (!meshes) return context.FailLocation(meshes.error());
  const mesh::MeshSource& source = **meshes;
  return RunObjectExport(
      context,
      {.ending = mesh::ToString(*kind),
       .list = [&] { return source.ListIds(context.stop); },
       .make = [&](uint64_t id) { return ExportMesh(source, id, *kind, *level); },
       .to_folder =
           [&](const std::vector<uint64_t>& ids, const Location& folder,
               const ExportObjectsOptions& options, const FindingVisitor& visitor) {
             return ExportMeshes(source, ids, folder, *kind, *level, options, visitor);
           }});
}

ExitStatus RunMeshImport(Context& context) {
  const auto kind = MeshFileOption(context, "from");
  if (!kind) return context.Fail(kind.error());
  auto options = NewObjectsOf(context);
  if (!options) return context.Fail(options.error());
  const auto& words = context.arguments.positionals();
  const auto target = ParseLocation(words.back());
  if (!target) return context.FailLocation(target.error());
  const auto files =
      FindObjectFiles({words.begin(), words.end() - 1}, mesh::ToString(*kind));
  if (!files) return context.FailLocation(files.error());
  options->progress = context.terminal.StartProgress("import");
  return FinishImport(context, ImportMeshes(*files, *kind, *target, *options), "mesh");
}

}  // namespace dolium::cli
