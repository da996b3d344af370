#include "dolium/ops/volume/volume_worker.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/chunk_source.h"
#include "dolium/domain/volume/fill.h"
#include "dolium/domain/volume/volume.h"

namespace dolium::volume {

Result<std::unique_ptr<VolumeWorker>> VolumeWorker::Open(const Location& home) {
  DOLIUM_TRY(const auto marker, ReadMarker(home));
  if (!marker) {
    return NotFound(fmt::format("{}: no plan is under way here", home.Describe()));
  }
  auto job = ParseVolumeJob(*marker);
  if (!job) return std::move(job).error().Within(home.Child(kMarkerName).Describe());
  // A new volume is where its marker is, also if somebody has moved it since.
  Location volume = home;
  if (job->adds) {
    DOLIUM_TRY(volume, ParseLocation(job->volume));
    DOLIUM_TRY(const Location expected, HomeOf(*job));
    DOLIUM_TRY(const std::string there, PortableText(expected, expected.Describe()));
    DOLIUM_TRY(const std::string here, PortableText(home, home.Describe()));
    if (there != here) {
      return Conflict(
          fmt::format("{}: the plan was made for {}; remove this scale's "
                      "folder and begin anew",
                      here, there));
    }
  }
  return std::make_unique<VolumeWorker>(*std::move(job), home, std::move(volume));
}

Result<bool> VolumeWorker::IsComplete() const {
  const auto volume = Volume::Open(volume_, /*allow_unfinished=*/true);
  if (!volume) return false;
  const std::vector<ScaleInfo>& there = volume->info().scales;
  return std::ranges::all_of(job_.stages, [&](const Stage& stage) {
    return std::ranges::find(there, job_.info.scales[stage.scale]) != there.end();
  });
}

Result<std::vector<VolumeTask>> VolumeWorker::Tasks() const {
  std::vector<VolumeTask> tasks;
  DOLIUM_TRY(const std::string home, PortableText(home_, home_.Describe()));
  DOLIUM_TRY(const std::string id, IdOf(job_));
  for (size_t i = 0; i < job_.stages.size(); ++i) {
    const Stage& stage = job_.stages[i];
    DOLIUM_TRY(const auto scale, Scale::Open(volume_, job_.info, stage.scale));
    DOLIUM_TRY(const std::vector<Part> parts, PartsOf(*scale, stage.layout));
    DOLIUM_TRY(const uint64_t first, FirstPart(i));
    tasks.reserve(tasks.size() + parts.size());
    for (const Part& part : parts) {
      tasks.push_back({home, id, first + part.number, i, part.cells});
    }
  }
  return tasks;
}

Result<uint64_t> VolumeWorker::FirstPart(size_t stage) const {
  uint64_t first = 0;
  for (size_t i = 0; i < stage; ++i) {
    DOLIUM_TRY(const auto scale, Scale::Open(volume_, job_.info, job_.stages[i].scale));
    DOLIUM_TRY(const uint64_t limit, PartLimit(*scale, job_.stages[i].layout));
    const auto sum = CheckedAdd(first, limit);
    if (!sum) return Unsupported("a plan of more parts than there are numbers");
    first = *sum;
  }
  return first;
}

Result<std::shared_ptr<Scale>> VolumeWorker::ScaleOf(size_t scale) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Scale>& slot = scales_[scale];
  if (slot == nullptr) {
    DOLIUM_TRY(slot, Scale::Open(volume_, job_.info, scale));
  }
  return slot;
}

Result<std::shared_ptr<const ArraySource>> VolumeWorker::ArrayOf(
    const ArrayInput& input) {
  const std::lock_guard lock(mutex_);
  if (array_ != nullptr) return array_;
  DOLIUM_TRY(std::shared_ptr<const ArraySource> array, OpenArraySource(input.request));
  if (array->Fingerprint() != input.fingerprint) {
    return Conflict(fmt::format("{}: it has changed since the plan was made; begin anew",
                                input.request.path));
  }
  array_ = std::move(array);
  return array_;
}

Result<std::shared_ptr<Scale>> VolumeWorker::SourceOf(const VolumeInput& input) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<Scale>& slot = sources_[input.scale];
  if (slot != nullptr) return slot;
  DOLIUM_TRY(const Location location, ParseLocation(input.location));
  DOLIUM_TRY(const Volume volume,
             Volume::Open(location, /*allow_unfinished=*/false,
                          input.exported.value_or(DvidReadOptions{})));
  if (ToJson(volume.info()) != input.info) {
    return Conflict(
        fmt::format("{}: its info has changed since the plan was made; begin anew",
                    location.Describe()));
  }
  DOLIUM_TRY(slot, volume.OpenScale(input.scale));
  return slot;
}

Result<WriteSummary> VolumeWorker::Fill(const Scale& target, const Stage& stage,
                                        const Box& cells, const WriterOptions& options,
                                        const Tell& progress) {
  const FillOptions fill{options, job_.gzip_files, progress};
  std::unique_ptr<ChunkSource> source;
  if (const auto* array_input = std::get_if<ArrayInput>(&stage.input)) {
    DOLIUM_TRY(const auto array, ArrayOf(*array_input));
    if (array->shape() != target.ShapeOf(target.bounds())) {
      return Conflict(fmt::format("{}: its shape is not that of the volume",
                                  array_input->request.path));
    }
    if (stage.layout == PartLayout::kLayers) {
      return FillLayers(target, cells, *array, fill);
    }
    return FillCells(target, CellsOf(cells), *FromArray(*array), fill);
  }
  if (const auto* finer = std::get_if<FinerInput>(&stage.input)) {
    DOLIUM_TRY(auto scale, ScaleOf(finer->scale));
    source = FromFinerScale(std::move(scale), finer->spec);
  } else {
    const auto& other = std::get<VolumeInput>(stage.input);
    DOLIUM_TRY(auto scale, SourceOf(other));
    source = FromSameVoxels(std::move(scale), other.may_copy);
  }
  return FillCells(target, CellsOf(cells), *source, fill);
}

Result<void> VolumeWorker::CheckTask(const VolumeTask& task, const Scale& target) const {
  if (!task.cells.empty() && target.grid().cells().Contains(task.cells)) {
    const Box first = {
        task.cells.begin,
        {task.cells.begin[0] + 1, task.cells.begin[1] + 1, task.cells.begin[2] + 1}};
    DOLIUM_TRY(const std::vector<Part> parts,
               PartsTouching(target, job_.stages[task.stage].layout, first));
    DOLIUM_TRY(const uint64_t before, FirstPart(task.stage));
    const Part& part = parts.front();
    if (part.cells == task.cells && before + part.number == task.part) return {};
  }
  return InvalidArgument(fmt::format("{}: cells {} are not part {} of stage {}",
                                     home_.Describe(), ToString(task.cells), task.part,
                                     task.stage));
}

Result<void> VolumeWorker::CheckJob(const VolumeTask& task) const {
  DOLIUM_TRY(const auto marker, ReadMarker(home_));
  if (marker) {
    DOLIUM_TRY(const VolumeJob there, ParseVolumeJob(*marker));
    DOLIUM_TRY(const std::string id, IdOf(there));
    if (id == task.job) return {};
  }
  return Conflict(
      fmt::format("{}: the task belongs to another job than the one under "
                  "way here",
                  home_.Describe()));
}

Result<void> VolumeWorker::CheckReady(const VolumeTask& task, const Scale& target) {
  const auto* const input = std::get_if<FinerInput>(&job_.stages[task.stage].input);
  if (input == nullptr) return {};
  const auto maker = std::ranges::find(job_.stages, input->scale, &Stage::scale);
  if (maker == job_.stages.end()) return {};  // It was there before.
  const auto stage = static_cast<size_t>(maker - job_.stages.begin());
  DOLIUM_TRY(const auto finer, ScaleOf(input->scale));
  const Box voxels = FinerVoxels(target.grid().VoxelsOf(task.cells), input->spec.factor);
  DOLIUM_TRY(const std::vector<Part> parts,
             PartsTouching(*finer, maker->layout, finer->grid().CellsTouching(voxels)));
  DOLIUM_TRY(const uint64_t first, FirstPart(stage));
  for (const Part& part : parts) {
    {
      const std::lock_guard lock(mutex_);
      if (done_.contains(first + part.number)) continue;
    }
    DOLIUM_TRY(const auto report, folder_.ReadReport(first + part.number));
    if (!report) {
      return Unavailable(fmt::format(
          "{}: part {} of stage {} needs part {} of stage {}, which is not done yet",
          home_.Describe(), task.part, task.stage, first + part.number, stage));
    }
    const std::lock_guard lock(mutex_);
    done_.insert(first + part.number);
  }
  return {};
}

Result<WriteSummary> VolumeWorker::Run(const VolumeTask& task,
                                       const WriterOptions& options,
                                       const Tell& progress) {
  if (task.stage >= job_.stages.size()) {
    return InvalidArgument(
        fmt::format("{}: the plan has no stage {}", home_.Describe(), task.stage));
  }
  DOLIUM_TRY_VOID(CheckJob(task));
  const Stage& stage = job_.stages[task.stage];
  DOLIUM_TRY(const auto target, Scale::Open(volume_, job_.info, stage.scale));
  DOLIUM_TRY_VOID(CheckTask(task, *target));
  DOLIUM_TRY_VOID(CheckReady(task, *target));
  DOLIUM_TRY(const WriteSummary written,
             Fill(*target, stage, task.cells, options, progress));
  DOLIUM_TRY_VOID(CheckJob(task));
  DOLIUM_TRY_VOID(
      folder_.WriteReport({.part = task.part, .written = written, .skipped = {}}));
  const std::lock_guard lock(mutex_);
  done_.insert(task.part);
  return written;
}

}  // namespace dolium::volume
