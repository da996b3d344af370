// The parts of the module, each in a file of its own; module.cc calls them in this order.
#pragma once

#include <nanobind/nanobind.h>

namespace dolium::python {

void BindErrors(nanobind::module_& module);
void BindShardingSpec(nanobind::module_& module);
void BindContainer(nanobind::module_& module);
void BindShardedWriter(nanobind::module_& module);
void BindSources(nanobind::module_& module);
void BindConvert(nanobind::module_& module);
void BindVolume(nanobind::module_& module);
void BindVolumePlans(nanobind::module_& module);
void BindMeshMake(nanobind::module_& module);
void BindSkeletonMake(nanobind::module_& module);
void BindVoxelFunctions(nanobind::module_& module);
void BindDvid(nanobind::module_& module);
void BindAnnotations(nanobind::module_& module);
void BindSegmentProperties(nanobind::module_& module);
void BindImages(nanobind::module_& module);
void BindPackErrors(nanobind::module_& module);
void BindPackRecord(nanobind::module_& module);
void BindPackSet(nanobind::module_& module);
void BindPackTuples(nanobind::module_& module);
void BindPackWriter(nanobind::module_& module);
void BindPackOrders(nanobind::module_& module);
void BindPackJobs(nanobind::module_& module);
void BindXet(nanobind::module_& module);
void BindCasStore(nanobind::module_& module);
void BindMeshes(nanobind::module_& module);
void BindSkeletons(nanobind::module_& module);
void BindCommand(nanobind::module_& module);

}  // namespace dolium::python
