#include "dolium/ops/source/capabilities.h"

#include <utility>

#include "dolium/container/unfinished.h"
#include "dolium/formats/dvid/export.h"
#include "dolium/ops/source/object_folder.h"

namespace dolium {

using volume::Volume;

Result<Volume> OpenVolume(const Location& location, const VolumeOptions& options) {
  const Location folder = dvid::ExportFolder(location);
  auto opened = Volume::Open(folder, options.allow_unfinished);
  if (opened) return opened;
  auto exported = Volume::OpenExport(folder, options.allow_unfinished, options.exported);
  if (exported && *exported) return **std::move(exported);
  // An info that is there is the one to know of.
  if (!exported && opened.error().code == ErrorCode::kNotFound) return exported.error();
  return opened;
}

Result<std::shared_ptr<const dataset::SampleSet>> OpenSamples(
    std::span<const std::string> references, const dataset::SetOptions& options) {
  return dataset::OpenSampleSet(references, options);
}

Result<std::shared_ptr<cas::CasStore>> OpenVersions(const std::string& folder) {
  return cas::CasStore::Open(folder);
}

Result<std::shared_ptr<const mesh::MeshSource>> OpenMeshes(const Location& location) {
  DOLIUM_TRY(Location folder, FindObjectFolder(location, ObjectKind::kMeshes));
  DOLIUM_TRY(auto meshes, mesh::MeshSource::Open(std::move(folder)));
  return std::make_shared<const mesh::MeshSource>(std::move(meshes));
}

Result<std::shared_ptr<const skeleton::SkeletonSource>> OpenSkeletons(
    const Location& location) {
  DOLIUM_TRY(Location folder, FindObjectFolder(location, ObjectKind::kSkeletons));
  DOLIUM_TRY(auto skeletons, skeleton::SkeletonSource::Open(std::move(folder)));
  return std::make_shared<const skeleton::SkeletonSource>(std::move(skeletons));
}

Result<std::shared_ptr<const annotation::AnnotationSource>> OpenAnnotations(
    const Location& location) {
  DOLIUM_TRY_VOID(CheckFinished(location));
  DOLIUM_TRY(auto annotations, annotation::AnnotationSource::Open(location));
  return std::make_shared<const annotation::AnnotationSource>(std::move(annotations));
}

}  // namespace dolium
