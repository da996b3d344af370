// The one list of kinds of jobs.
#include "dolium/ops/cas/cas_export.h"
#include "dolium/ops/convert_job.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/mesh/mesh_make_job.h"
#include "dolium/ops/pack/pack_job.h"
#include "dolium/ops/skeleton/skeleton_make_job.h"
#include "dolium/ops/volume/dvid_job.h"
#include "dolium/ops/volume/volume_worker.h"

namespace dolium {
namespace {

constexpr JobKind kJobKinds[] = {
    {kConvertKind, OpenConvertJob, CheckConvertReplaceable},
    {volume::kVolumeKind, volume::OpenVolumeJob, volume::CheckVolumeJobReplaceable},
    {volume::kDvidKind, volume::OpenDvidJob, volume::CheckDvidJobReplaceable},
    {dataset::kPackCopyKind, dataset::OpenPackCopyJob, nullptr, /*makes_files=*/true},
    {dataset::kPackCreateKind, dataset::OpenPackCreateJob, nullptr, /*makes_files=*/true},
    {dataset::kPackExportKind, dataset::OpenPackExportJob, nullptr, /*makes_files=*/true},
    {dataset::kPackExtractKind, dataset::OpenPackExtractJob, nullptr,
     /*makes_files=*/true},
    {mesh::kMeshMakeKind, mesh::OpenMeshMakeJob, mesh::CheckMeshMakeReplaceable},
    {skeleton::kSkeletonMakeKind, skeleton::OpenSkeletonMakeJob,
     skeleton::CheckSkeletonMakeReplaceable},
    {kCasExportKind, OpenCasExportJob, nullptr, /*makes_files=*/true},
};

}  // namespace

std::span<const JobKind> JobKinds() { return kJobKinds; }

}  // namespace dolium
