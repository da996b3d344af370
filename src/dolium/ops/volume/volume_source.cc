#include "dolium/ops/volume/volume_source.h"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "dolium/domain/volume/chunk_source.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/job/source_state.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/volume/volume_folders.h"

namespace dolium::volume {
namespace {

// Of a store that cannot list: every object that can hold a chunk, layer by layer.
Result<void> AddCells(const Scale& scale, SourceState& state) {
  std::vector<std::string> objects;
  const auto add = [&]() -> Result<void> {
    std::ranges::sort(objects);
    const auto repeated = std::ranges::unique(objects);
    objects.erase(repeated.begin(), repeated.end());
    DOLIUM_TRY_VOID(state.AddObjects(*scale.folder().store, objects));
    objects.clear();
    return {};
  };
  Box layer = scale.grid().cells();
  const int64_t end = layer.end[2];
  for (int64_t z = layer.begin[2]; z < end; ++z) {
    layer.begin[2] = z;
    layer.end[2] = z + 1;
    for (const Vec3& cell : CellsOf(layer)) {
      for (std::string& object : scale.storage().ObjectsOf(cell)) {
        objects.push_back(std::move(object));
      }
      if (objects.size() >= SourceState::kBatch) DOLIUM_TRY_VOID(add());
    }
  }
  return add();
}

Result<void> AddScale(const Volume& volume, size_t index, SourceState& state) {
  if (const DvidExport* const exported = volume.dvid_export()) {
    const dvid::ExportScale& scale = *exported->scale(index);
    const bool is_shard = scale.objects().front() == scale.location().path;
    if (is_shard) return state.AddObjects(*scale.location().store, scale.objects());
    auto added = state.AddFolder(scale.location());
    const bool is_listed = added || added.error().code != ErrorCode::kUnsupported;
    if (is_listed) return added;
    return state.AddObjects(*scale.location().store, scale.objects());
  }
  DOLIUM_TRY(const auto scale, volume.OpenCopy(index));
  auto added = state.AddFolder(scale->folder());
  if (added || added.error().code != ErrorCode::kUnsupported) return added;
  for (size_t i = 0; i < scale->info().chunk_sizes.size(); ++i) {
    DOLIUM_TRY(const auto chunks, volume.OpenCopy(index, i));
    DOLIUM_TRY_VOID(AddCells(*chunks, state));
  }
  return {};
}

// Of another volume than the one that is written.
Result<void> AddVolume(const Location& location, const DvidReadOptions& options,
                       std::span<const size_t> scales, SourceState& state) {
  DOLIUM_TRY(const Volume volume, OpenVolume(location, {.exported = options}));
  state.AddText(ToJson(volume.info()));
  const std::array<std::string, 2> described = {volume.folder().Child(kInfoName).path,
                                                volume.folder().Child(kSpecName).path};
  DOLIUM_TRY_VOID(state.AddObjects(*volume.folder().store, described));
  for (const size_t scale : scales) DOLIUM_TRY_VOID(AddScale(volume, scale, state));
  return {};
}

}  // namespace

Result<std::string> FindVolumeState(const Location& location,
                                    const DvidReadOptions& exported,
                                    std::span<const size_t> scales,
                                    const WriterOptions& options) {
  SourceState state(options);
  DOLIUM_TRY_VOID(AddVolume(location, exported, scales, state));
  return state.text();
}

Result<std::string> FindScaleState(const Location& location,
                                   const DvidReadOptions& exported, size_t scale,
                                   const WriterOptions& options) {
  DOLIUM_TRY(const Volume volume, OpenVolume(location, {.exported = exported}));
  if (scale >= volume.info().scales.size()) {
    return InvalidArgument(fmt::format("{}: no scale {}; the volume has {}",
                                       volume.folder().Describe(), scale,
                                       volume.info().scales.size()));
  }
  VolumeInfo read;
  read.type = volume.info().type;
  read.data_type = volume.info().data_type;
  read.num_channels = volume.info().num_channels;
  read.scales = {volume.info().scales[scale]};
  SourceState state(options);
  state.AddText(ToJson(read));
  DOLIUM_TRY_VOID(AddScale(volume, scale, state));
  return state.text();
}

Result<std::string> FindSourceState(const VolumeJob& job, const WriterOptions& options) {
  SourceState state(options);
  if (job.stages.empty()) return state.text();
  const StageInput& first = job.stages.front().input;
  if (const auto* const array = std::get_if<ArrayInput>(&first)) {
    DOLIUM_TRY(const auto opened, OpenArraySource(array->request));
    state.AddText(opened->Fingerprint());
  } else if (const auto* const finer = std::get_if<FinerInput>(&first)) {
    // Others may add scales meanwhile, so that the info may change.
    DOLIUM_TRY(const Location folder, ParseLocation(job.volume));
    DOLIUM_TRY(const Volume volume, Volume::Open(folder));
    const auto& scales = volume.info().scales;
    if (finer->scale >= scales.size() ||
        scales[finer->scale] != job.info.scales[finer->scale]) {
      state.AddText(ToJson(volume.info()));
    }
    DOLIUM_TRY_VOID(AddScale(volume, finer->scale, state));
  } else {
    const auto& other = std::get<VolumeInput>(first);
    std::vector<size_t> scales;
    for (const Stage& stage : job.stages) {
      const auto* const input = std::get_if<VolumeInput>(&stage.input);
      if (input != nullptr) scales.push_back(input->scale);
    }
    DOLIUM_TRY(const Location location, ParseLocation(other.location));
    DOLIUM_TRY_VOID(
        AddVolume(location, other.exported.value_or(DvidReadOptions{}), scales, state));
  }
  for (const FolderCopy& copy : job.copies) DOLIUM_TRY_VOID(AddToState(copy, state));
  return state.text();
}

}  // namespace dolium::volume
