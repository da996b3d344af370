#include "dolium/ops/volume/volume_worker.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/chunk_source.h"
#include "dolium/domain/volume/fill.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/volume/volume_folders.h"
#include "dolium/ops/volume/volume_occupied.h"
#include "dolium/ops/volume/volume_rebuild.h"
#include "dolium/ops/volume/volume_source.h"
#include "dolium/ops/volume/volume_target.h"

namespace dolium::volume {

namespace {

// Adds the scales that the job made to an info, unless they are there.
Result<VolumeInfo> WithScales(VolumeInfo info, const VolumeJob& job) {
  for (const Stage& stage : job.stages) {
    const ScaleInfo& scale = job.info.scales[stage.scale];
    const auto found = std::ranges::find(info.scales, scale.key, &ScaleInfo::key);
    if (found == info.scales.end()) {
      info.scales.push_back(scale);
    } else if (*found != scale) {
      return Exists(fmt::format("{}: the volume has got another scale \"{}\" meanwhile",
                                job.volume, scale.key));
    }
  }
  return info;
}

}  // namespace

Result<std::unique_ptr<Job>> OpenVolumeJob(Formats /*formats*/, const Location& folder,
                                           const JobRecord& record) {
  DOLIUM_TRY(VolumeJob job, ParseVolumeJob(record.parameters).Within(folder.Describe()));
  // A new volume is where its marker is, also if somebody has moved it since.
  Location volume = folder;
  if (job.adds) {
    DOLIUM_TRY(volume, ParseLocation(job.volume));
    DOLIUM_TRY(const Location expected, JobFolderOf(job));
    DOLIUM_TRY(const std::string there, PortableText(expected, expected.Describe()));
    DOLIUM_TRY(const std::string here, PortableText(folder, folder.Describe()));
    if (there != here) {
      return Conflict(
          fmt::format("{}: the plan was made for {}; remove this scale's "
                      "folder and begin again",
                      here, there));
    }
  }
  return std::make_unique<VolumeWorker>(std::move(job), folder, std::move(volume));
}

Result<std::optional<std::string>> VolumeWorker::FindSourceState(
    const WriterOptions& options) const {
  DOLIUM_TRY(std::string state, volume::FindSourceState(job_, options));
  return state;
}

Result<bool> VolumeWorker::IsComplete() const {
  if (job_.rebuilds()) return false;
  const auto volume = Volume::Open(volume_, /*allow_unfinished=*/true);
  if (!volume) return false;
  const std::vector<ScaleInfo>& there = volume->info().scales;
  return std::ranges::all_of(job_.stages, [&](const Stage& stage) {
    return std::ranges::find(there, job_.info.scales[stage.scale]) != there.end();
  });
}

Result<void> VolumeWorker::Plan(const PartSink& sink) {
  for (size_t i = 0; i < job_.stages.size(); ++i) {
    DOLIUM_TRY(const std::vector<Part>* const parts, PlannedParts(i));
    DOLIUM_TRY(const uint64_t first, FirstPart(i));
    for (const Part& part : *parts) {
      const Vec3 size = part.cells.size();
      JobPart planned;
      planned.number = first + part.number;
      planned.stage = i;
      planned.entries = static_cast<uint64_t>(size[0]) * static_cast<uint64_t>(size[1]) *
                        static_cast<uint64_t>(size[2]);
      planned.detail = CellsText(part.cells);
      sink(std::move(planned));
    }
  }
  if (job_.copies.empty()) return {};
  DOLIUM_TRY(const uint64_t first, FirstPart(job_.stages.size()));
  for (uint64_t i = 0; i < job_.copies.size() * kFolderParts; ++i) {
    JobPart planned;
    planned.number = first + i;
    planned.stage = job_.stages.size() - 1;
    sink(std::move(planned));
  }
  return {};
}

Result<const std::vector<Part>*> VolumeWorker::PlannedParts(size_t stage) {
  const auto* const input = std::get_if<FinerInput>(&job_.stages[stage].input);
  const auto maker = input == nullptr
                         ? job_.stages.end()
                         : std::ranges::find(job_.stages, input->scale, &Stage::scale);
  const auto made_by = static_cast<size_t>(maker - job_.stages.begin());
  const std::vector<Part>* finer = nullptr;
  if (maker != job_.stages.end() && made_by < stage) {
    DOLIUM_TRY(finer, PlannedParts(made_by));
  }
  const std::lock_guard lock(plan_mutex_);
  if (const auto known = plan_.find(stage); known != plan_.end()) return &known->second;
  DOLIUM_TRY(const auto target, ScaleOf(job_.stages[stage].scale));
  const PartLayout layout = job_.stages[stage].layout;
  // They must be boxes, whether there are any or not.
  if (layout == PartLayout::kShards) DOLIUM_TRY_VOID(PartSize(*target));
  std::vector<Part> parts;
  if (finer != nullptr) {
    DOLIUM_TRY(const auto source, ScaleOf(input->scale));
    DOLIUM_TRY(parts, PartsFrom(*finer, {*source, *target, input->spec.factor}, layout));
  } else {
    DOLIUM_TRY(parts, FindParts(job_.stages[stage], *target));
  }
  return &plan_.emplace(stage, std::move(parts)).first->second;
}

ChunkStorage::DamagedIndexVisitor VolumeWorker::IndexVisitor(SkippedChunks& skipped,
                                                             const Scale& scale) const {
  if (!job_.skip_damaged) return {};
  return skipped.index_visitor(scale);
}

Result<std::vector<Part>> VolumeWorker::FindParts(const Stage& stage,
                                                  const Scale& target) {
  std::optional<std::vector<Part>> parts;
  if (const auto* const finer = std::get_if<FinerInput>(&stage.input)) {
    DOLIUM_TRY(const auto source, ScaleOf(finer->scale));
    DOLIUM_TRY(parts,
               FindOccupiedParts({*source, target, finer->spec.factor}, stage.layout,
                                 IndexVisitor(plan_skipped_, *source)));
  } else if (const auto* const other = std::get_if<VolumeInput>(&stage.input)) {
    DOLIUM_TRY(const auto source, SourceOf(*other));
    DOLIUM_TRY(parts, FindOccupiedParts({*source, target}, stage.layout,
                                        IndexVisitor(plan_skipped_, *source)));
  }
  if (parts) return *std::move(parts);
  return PartsOf(target, stage.layout);
}

Result<std::optional<uint64_t>> VolumeWorker::CopyPart(uint64_t part) const {
  if (job_.copies.empty()) return std::nullopt;
  DOLIUM_TRY(const uint64_t first, FirstPart(job_.stages.size()));
  if (part < first) return std::nullopt;
  if (part - first >= job_.copies.size() * kFolderParts) {
    return InvalidArgument(
        fmt::format("{}: the plan has no part {}", job_folder_.Describe(), part));
  }
  return part - first;
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
    return Conflict(fmt::format("{}: it has changed since the plan was made; begin again",
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
  DOLIUM_TRY(
      const Volume volume,
      OpenVolume(location, {.exported = input.exported.value_or(DvidReadOptions{})}));
  if (ToJson(volume.info()) != input.info) {
    return Conflict(
        fmt::format("{}: its info has changed since the plan was made; begin again",
                    location.Describe()));
  }
  DOLIUM_TRY(slot, volume.OpenCopy(input.scale));
  return slot;
}

Result<WriteSummary> VolumeWorker::Fill(const Scale& target, const Stage& stage,
                                        const Box& cells, const PartContext& context,
                                        SkippedChunks& skipped) {
  const FillOptions fill{context.writer, stage.wrapper, context.progress};
  const DamageVisitor skip_damaged =
      job_.skip_damaged ? skipped.visitor() : DamageVisitor();
  std::unique_ptr<ChunkSource> source;
  std::vector<Vec3> occupied;
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
    DOLIUM_TRY(occupied, FindOccupiedCells({*scale, target, finer->spec.factor}, cells,
                                           IndexVisitor(skipped, *scale)));
    source = FromFinerScale(std::move(scale), finer->spec, skip_damaged);
  } else {
    const auto& other = std::get<VolumeInput>(stage.input);
    DOLIUM_TRY(auto scale, SourceOf(other));
    DOLIUM_TRY(occupied,
               FindOccupiedCells({*scale, target}, cells, IndexVisitor(skipped, *scale)));
    source = FromSameVoxels(std::move(scale), other.may_copy, skip_damaged);
  }
  // The part was planned with all its cells.
  const Vec3 size = cells.size();
  const auto all = static_cast<uint64_t>(size[0]) * static_cast<uint64_t>(size[1]) *
                   static_cast<uint64_t>(size[2]);
  if (context.progress) context.progress(all - occupied.size(), 0);
  return FillCells(target, occupied, *source, fill);
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
                                     job_folder_.Describe(), ToString(task.cells),
                                     task.part, task.stage));
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
  DOLIUM_TRY(const std::vector<Part>* const planned, PlannedParts(stage));
  for (const Part& part : parts) {
    // Others have nothing.
    if (!std::ranges::binary_search(*planned, part.number, {}, &Part::number)) continue;
    {
      const std::lock_guard lock(mutex_);
      if (done_.contains(first + part.number)) continue;
    }
    DOLIUM_TRY(const auto report, folder_.ReadReport(first + part.number));
    if (!report) {
      return Unavailable(fmt::format(
          "{}: part {} of stage {} needs part {} of stage {}, which is not done yet",
          job_folder_.Describe(), task.part, task.stage, first + part.number, stage));
    }
    const std::lock_guard lock(mutex_);
    done_.insert(first + part.number);
  }
  return {};
}

Result<TaskReport> VolumeWorker::RunPart(const JobPart& part,
                                         const PartContext& context) {
  if (part.stage >= job_.stages.size()) {
    return InvalidArgument(
        fmt::format("{}: the plan has no stage {}", job_folder_.Describe(), part.stage));
  }
  TaskReport report;
  DOLIUM_TRY(const auto copied, CopyPart(part.number));
  if (copied) {
    DOLIUM_TRY(report.written, CopyFolderPart(job_.copies[*copied / kFolderParts],
                                              volume_, *copied % kFolderParts, context));
    return report;
  }
  VolumeTask task{part.number, part.stage, {}};
  DOLIUM_TRY(task.cells, ParseCells(part.detail));
  const Stage& stage = job_.stages[task.stage];
  DOLIUM_TRY(const auto target, Scale::Open(volume_, job_.info, stage.scale));
  DOLIUM_TRY_VOID(CheckTask(task, *target));
  DOLIUM_TRY_VOID(CheckReady(task, *target));
  SkippedChunks skipped;
  DOLIUM_TRY(report.written, Fill(*target, stage, task.cells, context, skipped));
  report.skipped = skipped.findings();
  // In this process, parts of the next stage begin after all reports are written.
  const std::lock_guard lock(mutex_);
  done_.insert(task.part);
  return report;
}

Result<void> VolumeWorker::WriteInfo() const {
  if (job_.adds) {
    DOLIUM_TRY_VOID(UpdateInfo(
        volume_, [&](VolumeInfo info) { return WithScales(std::move(info), job_); }));
    return {};
  }
  auto written = WriteNewInfo(volume_, job_.info);
  if (written || written.error().code != ErrorCode::kExists) return written;
  DOLIUM_TRY(const Volume there, Volume::Open(volume_, /*allow_unfinished=*/true));
  if (there.info() == job_.info) return {};  // A run that was killed wrote it.
  return written;
}

Result<void> VolumeWorker::RemoveLeftovers() const {
  DOLIUM_TRY([[maybe_unused]] const size_t beside,
             volume_.store->RemoveStaleTemporaries(volume_.path));
  for (const Stage& stage : job_.stages) {
    const Location folder = ResolveScaleKey(volume_, job_.info.scales[stage.scale].key);
    DOLIUM_TRY([[maybe_unused]] const size_t removed,
               folder.store->RemoveStaleTemporaries(folder.path));
    DOLIUM_TRY_VOID(RemoveSpills(folder));
  }
  return {};
}

Result<void> VolumeWorker::Finish() {
  if (job_.rebuilds()) {
    DOLIUM_TRY_VOID(RemoveLeftovers());
    return SwapRebuiltScales(job_, volume_);
  }
  for (const FolderCopy& copy : job_.copies) {
    DOLIUM_TRY_VOID(FinishFolderCopy(copy, volume_));
  }
  DOLIUM_TRY_VOID(WriteInfo());
  return RemoveLeftovers();
}

Result<void> CheckVolumeJobReplaceable(Formats /*formats*/, const JobRecord& record,
                                       const Location& folder) {
  DOLIUM_TRY(const VolumeJob job, ParseVolumeJob(record.parameters));
  return CheckVolumeReplaceable(folder, !job.copies.empty());
}

}  // namespace dolium::volume
