// Meshes: reading them in batches, and writing folders of them.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "dolium/domain/mesh/files/mesh_files.h"
#include "dolium/domain/mesh/mesh_source.h"
#include "dolium/domain/mesh/multires_info.h"
#include "dolium/ops/source/capabilities.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/object_values.h"

namespace dolium::python {
namespace {

using mesh::Mesh;
using mesh::MeshSource;

class MeshFolder {
 public:
  MeshFolder(nb::handle location, nb::handle cache) {
    const std::string text = LocationText(location);
    const auto options = CacheFrom(cache);
    const CacheFor scope(options);
    source_ = Must(WithoutGil(
        /*is_remote=*/true, [&]() -> Result<std::shared_ptr<const MeshSource>> {
          DOLIUM_TRY(const Location parsed, ParseLocation(text));
          return OpenMeshes(parsed);
        }));
  }

  const MeshSource& source() const { return *source_; }
  bool is_remote() const { return !IsLocal(source_->storage().folder()); }

  nb::object Ids() const {
    auto ids = Must(WithoutGil(is_remote(), [&] { return source_->ListIds(); }));
    return ArrayFrom<uint64_t>(std::move(ids), 0);
  }

  // None for what is not there.
  nb::list Get(nb::handle keys, int lod, bool stored_units, bool weld,
               size_t jobs) const {
    const std::vector<uint64_t> ids = ChunkIds(keys);
    const mesh::MeshReadOptions options{
        .level = lod, .stored_units = stored_units, .weld = weld, .read = {.jobs = jobs}};
    auto meshes =
        Must(WithoutGil(is_remote(), [&] { return source_->GetMany(ids, options); }),
             Absent::kEntry);
    nb::list out;
    for (std::optional<Mesh>& one : meshes) {
      if (!one) {
        out.append(nb::none());
        continue;
      }
      out.append(nb::make_tuple(ArrayFrom<float>(std::move(one->vertices), 3),
                                ArrayFrom<uint32_t>(std::move(one->triangles), 3)));
    }
    return out;
  }

  // How many levels a mesh has; nullopt if it is not there.
  std::optional<size_t> Levels(uint64_t id) const {
    if (source_->info() == nullptr) {
      const auto meshes =
          Must(WithoutGil(is_remote(), [&] { return source_->Get(id); }), Absent::kEntry);
      return meshes ? std::optional<size_t>(1) : std::nullopt;
    }
    const auto manifest =
        Must(WithoutGil(is_remote(), [&] { return source_->GetManifest(id); }));
    return manifest ? std::optional(manifest->levels.size()) : std::nullopt;
  }

 private:
  std::shared_ptr<const MeshSource> source_;
};

mesh::MeshFile FileKind(const std::string& name) {
  const auto kind = mesh::ParseMeshFileKind(name);
  if (!kind) throw nb::value_error("kind: expected \"ply\", \"obj\", \"stl\" or \"glb\"");
  return *kind;
}

nb::dict ExportAll(const MeshFolder& folder, nb::handle keys, nb::handle target,
                   const std::string& to, int lod, bool force, size_t jobs,
                   nb::object progress) {
  const std::vector<uint64_t> ids = ChunkIds(keys);
  const std::string text = LocationText(target);
  const mesh::MeshFile kind = FileKind(to);
  return RunExport(jobs, force, std::move(progress),
                   [&](const ExportObjectsOptions& options,
                       const FindingVisitor& visitor) -> Result<ExportObjectsReport> {
                     DOLIUM_TRY(const Location at, ParseLocation(text));
                     return ExportMeshes(folder.source(), ids, at, kind, lod, options,
                                         visitor);
                   });
}

nb::object WriteAll(nb::handle location, nb::handle meshes, const std::string& storage,
                    unsigned bits, nb::handle transform, uint64_t count, uint64_t bytes,
                    bool register_in_volume, bool force, size_t jobs, uint64_t memory,
                    nb::object progress) {
  const std::string text = LocationText(location);
  mesh::MultiresInfo info;
  info.transform = TransformFrom(transform);
  PythonSupply<Mesh> supply(meshes, [](nb::handle item) {
    Mesh mesh{RowsOf<float, 3>(item[1]), RowsOf<uint32_t, 3>(item[2])};
    return std::pair(nb::cast<uint64_t>(item[0]), std::move(mesh));
  });
  return RunWriter<Mesh>(
      supply,
      NewObjectsFrom(storage, bits, false, register_in_volume, force, jobs, memory),
      std::move(progress),
      [&](const ObjectSupply<Mesh>& from,
          const NewObjectsOptions& options) -> Result<WriteSummary> {
        DOLIUM_TRY(const Location at, ParseLocation(text));
        return WriteMeshes(at, info, {count, bytes}, from, options);
      });
}

nb::bytes FileBytes(nb::handle vertices, nb::handle faces, const std::string& to) {
  const Mesh mesh{RowsOf<float, 3>(vertices), RowsOf<uint32_t, 3>(faces)};
  const mesh::MeshFile kind = FileKind(to);
  const ByteVector file =
      Must(WithoutGil([&] { return mesh::WriteMeshFile(kind, mesh); }));
  return nb::bytes(file.data(), file.size());
}

nb::tuple ParseFile(const nb::bytes& content, const std::string& from) {
  const mesh::MeshFile kind = FileKind(from);
  const BytesView bytes = AsBytes({content.c_str(), content.size()});
  Mesh mesh = Must(WithoutGil([&] { return mesh::ParseMeshFile(kind, bytes); }));
  return nb::make_tuple(ArrayFrom<float>(std::move(mesh.vertices), 3),
                        ArrayFrom<uint32_t>(std::move(mesh.triangles), 3));
}

}  // namespace

void BindMeshes(nb::module_& module) {
  nb::class_<MeshFolder>(module, "MeshFolder")
      .def(nb::init<nb::handle, nb::handle>(), nb::arg("location"),
           nb::arg("cache") = nb::none())
      .def_prop_ro("location",
                   [](const MeshFolder& self) {
                     return NameText(self.source().storage().folder().Describe());
                   })
      .def_prop_ro(
          "is_sharded",
          [](const MeshFolder& self) { return self.source().storage().is_sharded(); })
      .def_prop_ro("info_text",
                   [](const MeshFolder& self) -> std::optional<std::string> {
                     if (self.source().info() == nullptr) return std::nullopt;
                     return mesh::ToJson(*self.source().info());
                   })
      .def("ids", &MeshFolder::Ids)
      .def("get", &MeshFolder::Get, nb::arg("ids"), nb::arg("lod"),
           nb::arg("stored_units"), nb::arg("weld"), nb::arg("jobs"))
      .def("levels", &MeshFolder::Levels, nb::arg("id"));
  module.def("export_meshes", ExportAll, nb::arg("meshes"), nb::arg("ids"),
             nb::arg("target"), nb::arg("to"), nb::arg("lod"), nb::arg("force"),
             nb::arg("jobs"), nb::arg("progress").none());
  module.def("write_meshes", WriteAll, nb::arg("location"), nb::arg("meshes"),
             nb::arg("storage"), nb::arg("bits"), nb::arg("transform").none(),
             nb::arg("count"), nb::arg("bytes"), nb::arg("register"), nb::arg("force"),
             nb::arg("jobs"), nb::arg("memory"), nb::arg("progress").none());
  module.def("mesh_file", FileBytes, nb::arg("vertices"), nb::arg("faces"),
             nb::arg("to"));
  module.def("parse_mesh_file", ParseFile, nb::arg("content"), nb::arg("from_"));
}

}  // namespace dolium::python
