#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dolium/container/unfinished.h"
#include "dolium/ops/volume/volume_drop.h"
#include "dolium/ops/volume/volume_plan.h"
#include "dolium/ops/volume/volume_scales.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/bulk_work.h"
#include "python/src/errors.h"
#include "python/src/export_options.h"
#include "python/src/interrupt.h"
#include "python/src/reports.h"
#include "python/src/volume_requests.h"

namespace dolium::python {
namespace {

using volume::Resolution;
using volume::Vec3;
using volume::VolumeInfo;

using PlanText = std::optional<std::string>;

constexpr Vec3 kDefaultChunkSize = {64, 64, 64};

// --- new volumes ----------------------------------------------------------------------

void Create(nb::handle location, const std::string& data_type, int64_t num_channels,
            const Vec3& size, const Vec3& offset, const Resolution& resolution,
            const PlanText& type, const PlanText& key, const nb::dict& storage,
            bool force, bool unfinished) {
  VolumeInfo info;
  info.data_type = DataTypeNamed(data_type);
  info.num_channels = num_channels;
  info.type =
      VolumeTypeNamed(type).value_or(volume::DefaultType(info.data_type, num_channels));
  const volume::StorageRequest request = StorageOf(storage);
  volume::ScaleInfo scale;
  scale.key = key.value_or(volume::DefaultScaleKey(resolution));
  scale.size = size;
  scale.voxel_offset = offset;
  scale.resolution = resolution;
  scale.chunk_sizes = {request.chunk_size.value_or(kDefaultChunkSize)};
  scale.encoding = DefaultEncoding(info);
  info.scales = {scale};
  const std::string folder = LocationText(location);
  Must(WithoutGil([&]() -> Result<void> {
    DOLIUM_TRY_VOID(Validate(info));
    DOLIUM_TRY_VOID(CheckCreatable(info));
    DOLIUM_TRY_VOID(ChooseStorage(info, request, info.scales.front()));
    DOLIUM_TRY(const Location target, ParseLocation(folder));
    if (unfinished) return volume::CreateUnfinishedVolume(target, info, force);
    return volume::CreateVolume(target, info, force);
  }));
}

// --- plans ----------------------------------------------------------------------------

nb::object PlanIngestion(const nb::dict& source, nb::handle target, const PlanText& type,
                         const Resolution& resolution, const Vec3& offset,
                         const nb::dict& storage, const nb::dict& pyramid, bool force) {
  volume::IngestRequest request;
  request.source = ArrayOf(source);
  request.target = LocationText(target);
  request.type = VolumeTypeNamed(type);
  request.resolution = resolution;
  request.offset = offset;
  request.storage = StorageOf(storage);
  request.pyramid = PyramidOf(pyramid);
  request.force = force;
  return ToPython(Must(WithoutGil(true, [&] { return PlanIngest(request); })));
}

nb::object PlanDownsampling(nb::handle volume, std::optional<size_t> from,
                            const nb::dict& storage, const nb::dict& pyramid,
                            bool rebuild, bool skip_damaged, bool force) {
  volume::DownsampleRequest request;
  request.volume = LocationText(volume);
  request.from = from;
  request.storage = StorageOf(storage);
  request.sharded = ShardedOf(storage);
  request.pyramid = PyramidOf(pyramid);
  std::swap(request.total_scales, request.pyramid.scales);
  request.rebuild = rebuild;
  request.skip_damaged = skip_damaged;
  request.force = force;
  return ToPython(Must(WithoutGil(true, [&] { return PlanDownsample(request); })));
}

nb::object PlanTranscoding(nb::handle source, nb::handle target,
                           const std::vector<size_t>& scales, const nb::dict& storage,
                           bool force, const nb::dict& exported) {
  volume::TranscodeRequest request;
  request.exported = ExportOptionsFrom(exported);
  request.skip_damaged = request.exported.salvage;
  request.source = LocationText(source);
  request.target = LocationText(target);
  request.scales = scales;
  request.storage = StorageOf(storage);
  request.sharded = ShardedOf(storage);
  request.force = force;
  std::vector<Finding> found;
  const Plan plan = DoBulkWork<Plan>(
      WriterOptions().memory, 0, nb::none(), [&](const RunOptions& options) {
        return PlanTranscode(request, options,
                             [&](const Finding& finding) { found.push_back(finding); });
      });
  WarnOf(found);
  return ToPython(plan);
}

nb::list DropScalesOf(nb::handle volume, const std::vector<size_t>& numbers,
                      const std::vector<Resolution>& resolutions, bool force) {
  volume::DropScalesRequest request;
  request.volume = LocationText(volume);
  request.scales.assign(numbers.begin(), numbers.end());
  request.scales.insert(request.scales.end(), resolutions.begin(), resolutions.end());
  request.force = force;
  const auto report = Must(WithoutGil(true, [&] { return DropScales(request); }));
  nb::list keys;
  for (const std::string& key : report.keys) keys.append(NameText(key));
  return keys;
}

}  // namespace

void BindVolumePlans(nb::module_& module) {
  module.def("create_volume", Create, nb::arg("location"), nb::arg("data_type"),
             nb::arg("num_channels"), nb::arg("size"), nb::arg("offset"),
             nb::arg("resolution"), nb::arg("type").none(), nb::arg("key").none(),
             nb::arg("storage"), nb::arg("force"), nb::arg("unfinished"));
  module.def("plan_volume_ingest", PlanIngestion, nb::arg("source"), nb::arg("target"),
             nb::arg("type").none(), nb::arg("resolution"), nb::arg("offset"),
             nb::arg("storage"), nb::arg("pyramid"), nb::arg("force"));
  module.def("plan_volume_downsample", PlanDownsampling, nb::arg("volume"),
             nb::arg("from_scale").none(), nb::arg("storage"), nb::arg("pyramid"),
             nb::arg("rebuild"), nb::arg("skip_damaged"), nb::arg("force"));
  module.def("drop_volume_scales", DropScalesOf, nb::arg("volume"), nb::arg("numbers"),
             nb::arg("resolutions"), nb::arg("force"),
             "Drops scales by number and by resolution; their keys.");
  module.def(
      "finish_volume",
      [](nb::handle location) {
        const std::string text = LocationText(location);
        Must(WithoutGil([&]() -> Result<void> {
          DOLIUM_TRY(const Location folder, ParseLocation(text));
          return RemoveMarker(folder);
        }));
      },
      nb::arg("location"),
      "Takes the marker away that readers refuse an unfinished volume for.");
  module.def("plan_volume_transcode", PlanTranscoding, nb::arg("source"),
             nb::arg("target"), nb::arg("scales"), nb::arg("storage"), nb::arg("force"),
             nb::arg("exported"));
}

}  // namespace dolium::python
