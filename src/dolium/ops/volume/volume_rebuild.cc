#include "dolium/ops/volume/volume_rebuild.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/domain/volume/chunk_source.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/job/plan_folder.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/volume/volume_scales.h"
#include "dolium/ops/volume/volume_target.h"

namespace dolium::volume {
namespace {

// In the bookkeeping of the job: which folders are the new ones.
constexpr std::string_view kSwapName = "swap";
constexpr uint64_t kMaxSwapBytes = uint64_t{1} << 20;
constexpr double kRatioSlack = 1e-6;

// The factor by which `scale` stands for `finer`; nullopt if it does not.
std::optional<Vec3> FactorBetween(const ScaleInfo& finer, const ScaleInfo& scale) {
  Vec3 factor{};
  for (size_t d = 0; d < 3; ++d) {
    const double ratio = scale.resolution[d] / finer.resolution[d];
    if (!(ratio > 0.5) || ratio > static_cast<double>(kMaxDownsampleFactor) + 0.5) {
      return std::nullopt;
    }
    const double whole = std::round(ratio);
    if (std::abs(ratio - whole) > kRatioSlack * whole) return std::nullopt;
    factor[d] = static_cast<int64_t>(whole);
  }
  if (factor == Vec3{1, 1, 1}) return std::nullopt;
  const Box bounds = DownsampledBounds(finer.bounds(), factor);
  return bounds.Contains(scale.bounds()) ? std::optional(factor) : std::nullopt;
}

// The folder of new data and that of old ones, of each scale of the job.
struct SwappedScale {
  std::string fresh;  // key
  std::string key;
};

std::vector<SwappedScale> SwappedBy(const VolumeJob& job) {
  std::vector<SwappedScale> scales;
  for (const Stage& stage : job.stages) {
    const std::string& fresh = job.info.scales[stage.scale].key;
    // The copies in several chunk sizes are in one folder.
    if (scales.empty() || scales.back().fresh != fresh) {
      scales.push_back({fresh, stage.replaces});
    }
  }
  return scales;
}

// What distinguishes a folder from others, also under another name; nullopt if there is
// none.
Result<std::optional<uint64_t>> FolderNumber(const std::string& path) {
  struct stat found = {};
  if (lstat(path.c_str(), &found) != 0) {
    if (errno == ENOENT) return std::nullopt;
    return SystemError(errno, "cannot look at it").Within(path);
  }
  if (!S_ISDIR(found.st_mode)) return std::nullopt;
  return static_cast<uint64_t>(found.st_ino);
}

using FolderNumbers = std::map<std::string, uint64_t>;  // by the key of the new data

// Noted before the first of them is moved, once.
Result<FolderNumbers> NoteFreshFolders(const std::vector<SwappedScale>& scales,
                                       const Location& volume, const std::string& path) {
  const Location note = PlanFolder(volume.Child(kRebuildName)).folder().Child(kSwapName);
  const auto noted = note.store->ReadWhole(note.path, kMaxSwapBytes);
  if (noted) {
    return ParseJob(AsText(noted->bytes), "a note of folders",
                    [](const nlohmann::json& value) -> Result<FolderNumbers> {
                      return value.get<FolderNumbers>();
                    })
        .Within(note.Describe());
  }
  if (noted.error().code != ErrorCode::kNotFound) return noted.error();
  FolderNumbers numbers;
  for (const SwappedScale& scale : scales) {
    // Without chunks, nothing was made.
    const std::string fresh = JoinPath(path, scale.fresh);
    std::error_code error;
    std::filesystem::create_directories(fresh, error);
    if (error) return SystemError(error.value(), "cannot make it").Within(fresh);
    DOLIUM_TRY(const auto number, FolderNumber(fresh));
    if (!number) return IoError(fresh + ": is not a folder");
    numbers[scale.fresh] = *number;
  }
  DOLIUM_TRY(const std::string text, DumpJob(numbers));
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             note.store->Put(note.path, AsBytes(text), Precondition::None()));
  return numbers;
}

Result<void> CheckStillListed(const VolumeJob& job, const Location& folder) {
  DOLIUM_TRY(const Volume volume, Volume::Open(folder));
  const auto& listed = volume.info().scales;
  for (const SwappedScale& scale : SwappedBy(job)) {
    const auto planned = std::ranges::find(job.info.scales, scale.key, &ScaleInfo::key);
    const auto there = std::ranges::find(listed, scale.key, &ScaleInfo::key);
    if (planned != job.info.scales.end() && there != listed.end() && *there == *planned) {
      continue;
    }
    return Conflict(
        fmt::format("{}: its scale \"{}\" is not what it was when it was to "
                    "be made again; remove {} and begin again",
                    folder.Describe(), scale.key, folder.Child(kRebuildName).Describe()));
  }
  return {};
}

}  // namespace

Result<VolumeJob> MakeRebuildJob(const Volume& volume, size_t from,
                                 const DownsampleSpec& spec) {
  DOLIUM_TRY_VOID(volume.OpenCopy(from));
  VolumeJob job;
  job.adds = true;
  job.info = volume.info();
  DOLIUM_TRY(job.volume, PortableText(volume.folder(), volume.folder().Describe()));
  const std::vector<ScaleInfo>& scales = volume.info().scales;
  std::vector<size_t> made(
      scales.size());  // by scale: that of the job which has its data
  made[from] = from;
  for (size_t i = from + 1; i < scales.size(); ++i) {
    DOLIUM_TRY_VOID(CheckOwnFolder(volume, i));
    std::optional<Vec3> factor;
    size_t finer = i;
    while (!factor && finer > from) factor = FactorBetween(scales[--finer], scales[i]);
    if (!factor) {
      return Unsupported(fmt::format(
          "{}: scale {} ({}) does not stand for any of those before it, from "
          "scale {} on, by factors from 1 to {}; drop it, or begin with "
          "another scale",
          volume.folder().Describe(), i, scales[i].key, from, kMaxDownsampleFactor));
    }
    made[i] = job.info.scales.size();
    for (size_t c = 0; c < scales[i].chunk_sizes.size(); ++c) {
      DOLIUM_TRY(const auto old, volume.OpenCopy(i, c));
      // One that has no chunks yet gets them as the scale that it is made of has them.
      DOLIUM_TRY(auto wrapper, FindWrapper(*old));
      if (!wrapper) {
        DOLIUM_TRY(const auto source, volume.OpenCopy(from));
        DOLIUM_TRY(wrapper, FindWrapper(*source));
      }
      ScaleInfo fresh = scales[i];
      fresh.key = fmt::format("{}/{}", kRebuildName, i);
      fresh.chunk_sizes = {scales[i].chunk_sizes[c]};
      job.info.scales.push_back(fresh);
      DownsampleSpec made_by = spec;
      made_by.factor = *factor;
      job.stages.push_back({.scale = job.info.scales.size() - 1,
                            .input = FinerInput{made[finer], made_by},
                            .layout = LayoutOf(fresh, false),
                            .wrapper = wrapper.value_or(Wrapper::kNone),
                            .replaces = scales[i].key});
    }
  }
  return job;
}

Result<void> SwapRebuiltScales(const VolumeJob& job, const Location& volume,
                               const ScaleSwapOptions& options) {
  DOLIUM_TRY_VOID(CheckStillListed(job, volume));
  DOLIUM_TRY(const auto path, volume.store->LocalPath(volume.path));
  if (!path) return Unsupported(volume.Describe() + ": is not a local folder");
  const auto step = [&] {
    if (options.after_step) options.after_step();
  };
  const std::vector<SwappedScale> scales = SwappedBy(job);
  DOLIUM_TRY(const FolderNumbers numbers, NoteFreshFolders(scales, volume, *path));
  step();
  for (const SwappedScale& scale : scales) {
    SwapFolders folders;
    folders.target = JoinPath(*path, scale.key);
    folders.fresh = JoinPath(*path, scale.fresh);
    folders.aside = folders.fresh + ".old";
    DOLIUM_TRY(const auto at_target, FolderNumber(folders.target));
    const auto noted = numbers.find(scale.fresh);
    if (noted == numbers.end() || at_target != noted->second) {
      DOLIUM_TRY(const auto at_fresh, FolderNumber(folders.fresh));
      if (noted == numbers.end() || at_fresh != noted->second) {
        return Conflict(fmt::format(
            "{}: the new data of scale \"{}\" are not where they were; remove {} and "
            "begin again",
            volume.Describe(), scale.key, volume.Child(kRebuildName).Describe()));
      }
      std::error_code error;
      std::filesystem::create_directories(ParentPath(folders.target), error);
      DOLIUM_TRY_VOID(SwapIn(folders, options.exchange, step));
      step();
    }
    DOLIUM_TRY_VOID(RemoveReplaced(folders));
    step();
  }
  return {};
}

}  // namespace dolium::volume
