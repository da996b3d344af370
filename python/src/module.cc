#include <nanobind/nanobind.h>

#include "python/src/bindings.h"

NB_MODULE(_core, module) {
  using namespace dolium::python;
  module.doc() = "The engine of the package dolium: use it by way of that.";
  module.attr("__version__") = DOLIUM_VERSION;
  BindErrors(module);
  BindShardingSpec(module);
  BindContainer(module);
  BindShardedWriter(module);
  BindSources(module);
  BindConvert(module);
  BindVolume(module);
  BindVolumePlans(module);
  BindMeshMake(module);
  BindSkeletonMake(module);
  BindVoxelFunctions(module);
  BindDvid(module);
  BindAnnotations(module);
  BindSegmentProperties(module);
  BindImages(module);
  BindPackErrors(module);
  BindPackRecord(module);
  BindPackSet(module);
  BindPackTuples(module);
  BindPackWriter(module);
  BindPackOrders(module);
  BindPackJobs(module);
  BindXet(module);
  BindCasStore(module);
  BindMeshes(module);
  BindSkeletons(module);
  BindCommand(module);
}
