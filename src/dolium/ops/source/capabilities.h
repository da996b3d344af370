// The capabilities of a location, for those who know which one they need: what
// Source::volume(), samples(), versions() and the like give, without asking first what
// else it may be. Faces open these here; the openers of the classes are for the library.
#pragma once

#include <memory>
#include <span>
#include <string>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/annotation/annotation_source.h"
#include "dolium/domain/cas/store.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/domain/mesh/mesh_source.h"
#include "dolium/domain/skeleton/skeleton_source.h"
#include "dolium/domain/volume/volume.h"

namespace dolium {

struct VolumeOptions {
  bool allow_unfinished = false;
  volume::DvidReadOptions exported = {};  // if it is a DVID export
};

// A volume by the folder of its info, or else a DVID export, which may be named by its
// spec. This is the one place that chooses between the two. Errors are those of
// Volume::Open(), where there is an info, or no export.
Result<volume::Volume> OpenVolume(const Location& location,
                                  const VolumeOptions& options = {});

// One set of samples, of all that the references name.
Result<std::shared_ptr<const dataset::SampleSet>> OpenSamples(
    std::span<const std::string> references, const dataset::SetOptions& options = {});

// A cas store, to be read or changed. kNotFound if there is none.
Result<std::shared_ptr<cas::CasStore>> OpenVersions(const std::string& folder);

// The meshes or skeletons of a folder, or those that the info of a volume names.
// kNotFound, saying what is there instead, if there are none.
Result<std::shared_ptr<const mesh::MeshSource>> OpenMeshes(const Location& location);
Result<std::shared_ptr<const skeleton::SkeletonSource>> OpenSkeletons(
    const Location& location);

// The annotations of a folder. An error, too, if its writing has not ended.
Result<std::shared_ptr<const annotation::AnnotationSource>> OpenAnnotations(
    const Location& location);

}  // namespace dolium
