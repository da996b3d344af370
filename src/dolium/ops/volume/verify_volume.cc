#include "dolium/ops/volume/verify_volume.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/base/parallel.h"
#include "dolium/bytes/folder_check.h"
#include "dolium/container/entry_error.h"
#include "dolium/container/json.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/scratch.h"
#include "dolium/formats/dvid/label_block.h"
#include "dolium/ops/job/target_folder.h"

namespace dolium {
namespace {

using volume::Scale;
using volume::Vec3;

// Cells that are asked for, one by one, where chunks cannot be listed.
constexpr uint64_t kMaxProbedCells = uint64_t{1} << 20;
constexpr size_t kProbesAtOnce = 32;

// Missing chunks of a scale that are reported one by one; and cells up to which it is
// noted which ones they are, a bit for each.
constexpr uint64_t kMaxMissingReported = 1000;
constexpr uint64_t kMaxNotedCells = uint64_t{1} << 31;

// Which cells of a scale have a chunk. Add() may be called from many threads.
class CellsFound {
 public:
  // `note`: keeps which ones, if they are not too many; else only their number.
  CellsFound(const Scale& scale, bool note) : scale_(&scale) {
    const uint64_t cells = scale.grid().cell_count();
    if (note && cells <= kMaxNotedCells)
      bits_ = std::vector<std::atomic<uint64_t>>(cells / 64 + 1);
  }

  const Scale& scale() const { return *scale_; }
  bool is_noted() const { return !bits_.empty(); }
  uint64_t missing() const {
    return scale_->grid().cell_count() -
           std::min(count_.load(), scale_->grid().cell_count());
  }

  void Add(const Vec3& cell) {
    if (is_noted()) {
      const uint64_t bit = BitOf(cell);
      const uint64_t mask = uint64_t{1} << (bit % 64);
      // A chunk may be there under two names.
      if ((bits_[bit / 64].fetch_or(mask) & mask) != 0) return;
    }
    ++count_;
  }
  // Precondition: is_noted().
  bool Has(const Vec3& cell) const {
    const uint64_t bit = BitOf(cell);
    return (bits_[bit / 64] >> (bit % 64) & 1) != 0;
  }

 private:
  uint64_t BitOf(const Vec3& cell) const {
    const Vec3& shape = scale_->grid().shape();
    return static_cast<uint64_t>((cell[2] * shape[1] + cell[1]) * shape[0] + cell[0]);
  }

  const Scale* scale_;
  std::vector<std::atomic<uint64_t>> bits_;
  std::atomic<uint64_t> count_ = 0;
};

class VolumeVerifier {
 public:
  VolumeVerifier(Formats formats, const volume::Volume& volume,
                 const VerifyOptions& options, const FindingVisitor& visitor)
      : formats_(formats), volume_(volume), options_(options), visitor_(visitor) {}

  Result<VerifyReport> Run() {
    DOLIUM_TRY_VOID(CheckInfo());
    for (size_t i = 0; i < volume_.info().scales.size(); ++i) {
      const size_t chunkings = volume_.info().scales[i].chunk_sizes.size();
      auto scale = volume_.OpenScale(i);
      if (!scale) {
        Report(ErrorFinding("scale", InfoName(), {}, {}, scale.error()),
               scale.error().code);
        continue;
      }
      DOLIUM_TRY_VOID(CheckScale(i, **scale, chunkings));
    }
    return report_;
  }

 private:
  std::string InfoName() const {
    return volume_.folder().Child(volume::kInfoName).Describe();
  }

  Result<void> CheckInfo() {
    DOLIUM_TRY(const auto unfinished, FindUnfinished(volume_.folder()));
    if (unfinished) {
      Report(
          ErrorFinding("unfinished", volume_.folder().Describe(), {}, {}, *unfinished));
    }
    for (const volume::InfoWarning& warning : volume::CheckVolumeInfo(volume_.info())) {
      Report({.severity = Severity::kWarning,
              .kind = "info",
              .object = InfoName(),
              .key = warning.path,
              .range = std::nullopt,
              .message = warning.text});
    }
    return {};
  }

  Result<void> CheckScale(size_t index, const Scale& scale, size_t chunkings) {
    if (scale.info().sharding) return CheckContainer("neuroglancer", {&scale});
    // All chunk sizes of a scale are in one folder.
    std::vector<std::shared_ptr<Scale>> others;
    std::vector<const Scale*> all = {&scale};
    for (size_t c = 1; c < chunkings; ++c) {
      DOLIUM_TRY(auto other, volume_.OpenScale(index, c));
      all.push_back(other.get());
      others.push_back(std::move(other));
    }
    if (IsLocal(scale.folder())) return CheckContainer("files", all);
    for (const Scale* one : all) DOLIUM_TRY_VOID(ProbeCells(*one));
    return {};
  }

  // `scales` are one, or the same in several chunk sizes.
  Result<void> CheckContainer(std::string_view format,
                              const std::vector<const Scale*>& scales) {
    std::vector<std::unique_ptr<CellsFound>> found;
    found.reserve(scales.size());
    for (const Scale* scale : scales) {
      found.push_back(std::make_unique<CellsFound>(*scale, options_.report_missing));
    }
    const Location& folder = scales.front()->folder();
    DOLIUM_TRY(const bool is_known, CheckChunks(format, folder, found));
    if (is_known && !scales.front()->info().sharding) {
      DOLIUM_TRY_VOID(CheckFolders(folder, found));
    }
    if (!is_known || !options_.report_missing) return {};
    for (const auto& one : found) ReportMissing(*one);
    return {};
  }

  // Folders in the place of chunks, within which a look at files would go on.
  Result<void> CheckFolders(const Location& folder,
                            const std::vector<std::unique_ptr<CellsFound>>& found) {
    auto listed =
        folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
          const bool is_chunk =
              is_folder && std::ranges::any_of(found, [&](const auto& one) {
                return one->scale().storage().CellOf(name).has_value();
              });
          if (!is_chunk) return true;
          const Location object = folder.Child(name);
          const auto free = CheckNoFolder(*object.store, object.path);
          if (!free) {
            Report(ErrorFinding("read", object.Describe(), {}, {}, free.error()),
                   free.error().code);
          }
          return true;
        });
    if (!listed && listed.error().code == ErrorCode::kNotFound) return {};
    return listed;
  }

  // False if it is not known which chunks there are.
  Result<bool> CheckChunks(std::string_view format, const Location& folder,
                           const std::vector<std::unique_ptr<CellsFound>>& found) {
    OpenOptions open;
    open.allow_unfinished = true;
    if (const auto& sharding = found.front()->scale().info().sharding) {
      open.spec = DumpJson(ToJson(*sharding));
    }
    const auto container = OpenContainer(formats_, folder, format, open);
    if (!container && container.error().code == ErrorCode::kNotFound) {
      return true;  // Nothing was written to the scale: all of it is zero.
    }
    if (!container) {
      Report(ErrorFinding("scale", folder.Describe(), {}, {}, container.error()),
             container.error().code);
      return false;
    }
    VerifyOptions options = options_;
    options.value_kind = "voxels";
    options.check_entry = [&](const Entry& entry) { return CheckKey(found, entry.key); };
    options.check_value = [&](const Entry& entry, const Bytes& value) {
      return CheckValue(found, entry.key, value);
    };
    const uint64_t entries = report_.entries;
    const uint64_t bytes = report_.bytes_read;
    if (options_.progress) {
      options.progress = [&](Progress progress) {
        progress.entries += entries;
        progress.bytes += bytes;
        options_.progress(progress);
      };
    }
    const auto checked = Verify(**container, options, visitor_);
    if (!checked && checked.error().code == ErrorCode::kNotFound) {
      // TensorStore makes no folder for a scale of zeros.
      DOLIUM_TRY(const Occupancy occupancy, InspectFolder(folder));
      if (occupancy == Occupancy::kAbsent) return true;
    }
    if (!checked && checked.error().code == ErrorCode::kIo) {
      Report(ErrorFinding("scale", folder.Describe(), {}, {}, checked.error()),
             checked.error().code);
      return false;
    }
    if (!checked) return checked.error();
    Add(*checked);
    return true;
  }

  static Result<void> CheckKey(const std::vector<std::unique_ptr<CellsFound>>& found,
                               std::string_view key) {
    for (const auto& one : found) {
      const auto cell = one->scale().storage().CellOf(key);
      if (!cell) continue;
      one->Add(*cell);
      return {};
    }
    if (IsNested(found, key)) {
      return Corrupt(
          "a chunk in folders within folders, as neuroglancer-scripts stores them; no "
          "reader finds it here unless a server maps it to its name, with \"_\" for "
          "\"/\"");
    }
    return Corrupt(fmt::format("no chunk of the grid ({}) has this key",
                               volume::ToString(found.front()->scale().grid().shape())));
  }

  // Whether a path is the name of a chunk whose parts are folders.
  static bool IsNested(const std::vector<std::unique_ptr<CellsFound>>& found,
                       std::string_view key) {
    std::string flat(key);
    std::ranges::replace(flat, '/', '_');
    return flat != key && std::ranges::any_of(found, [&](const auto& one) {
             return one->scale().storage().CellOf(flat).has_value();
           });
  }

  static Result<void> CheckValue(const std::vector<std::unique_ptr<CellsFound>>& found,
                                 std::string_view key, const Bytes& value) {
    for (const auto& one : found) {
      const Scale& scale = one->scale();
      const auto cell = scale.storage().CellOf(key);
      if (!cell) continue;
      DOLIUM_TRY(const Bytes encoded, scale.storage().Unwrap(key, value));
      return CheckVoxels(scale, *cell, encoded);
    }
    return {};  // Its key is a finding already.
  }

  void ReportMissing(const CellsFound& found) {
    const Scale& scale = found.scale();
    uint64_t reported = 0;
    if (found.is_noted() && found.missing() < scale.grid().cell_count()) {
      const Vec3& shape = scale.grid().shape();
      for (Vec3 cell{}; cell[2] < shape[2] && reported < kMaxMissingReported; ++cell[2]) {
        for (cell[1] = 0; cell[1] < shape[1] && reported < kMaxMissingReported;
             ++cell[1]) {
          for (cell[0] = 0; cell[0] < shape[0] && reported < kMaxMissingReported;
               ++cell[0]) {
            if (found.Has(cell)) continue;
            ReportMissing(scale.storage().Describe(cell),
                          fmt::format("voxels {}: the chunk is not there",
                                      volume::ToString(scale.grid().VoxelsOf(cell))));
            ++reported;
          }
        }
      }
    }
    if (found.missing() > reported) {
      ReportMissing(
          scale.folder().Describe(),
          fmt::format("{}{} of {} chunks are not there", reported > 0 ? "further " : "",
                      found.missing() - reported, scale.grid().cell_count()));
    }
  }

  void ReportMissing(std::string object, std::string message) {
    Report({.severity = Severity::kWarning,
            .kind = "missing",
            .object = std::move(object),
            .key = {},
            .range = std::nullopt,
            .message = std::move(message)});
  }

  static Result<void> CheckVoxels(const Scale& scale, const Vec3& cell,
                                  BytesView encoded) {
    const auto shape = scale.ShapeOf(scale.grid().VoxelsOf(cell));
    volume::Scratch voxels(static_cast<size_t>(*shape.bytes()));
    return scale.DecodeChunk(cell, encoded, voxels.view());
  }

  Result<void> ProbeCells(const Scale& scale) {
    if (scale.grid().cell_count() > kMaxProbedCells) {
      return Unsupported(fmt::format(
          "{}: {} chunks in files that the server cannot list; more than {} are not "
          "asked for one by one",
          scale.folder().Describe(), scale.grid().cell_count(), kMaxProbedCells));
    }
    const std::vector<Vec3> cells = volume::CellsOf(scale.grid().cells());
    if (options_.depth == CheckDepth::kQuick) return {};
    std::mutex mutex;
    CellsFound found(scale, options_.report_missing);
    const auto check = [&](size_t i) -> Result<void> {
      const auto chunk = scale.storage().Get(cells[i]);
      if (chunk && !*chunk) return {};
      found.Add(cells[i]);
      const Result<void> good =
          chunk ? CheckVoxels(scale, cells[i], **chunk) : Result<void>(chunk.error());
      const std::lock_guard lock(mutex);
      ++report_.entries;
      ++report_.objects;
      ++report_.entries_read;
      if (chunk) report_.bytes_read += (*chunk)->size();
      if (!good) {
        Report(ErrorFinding(chunk ? "voxels" : "read", scale.storage().Describe(cells[i]),
                            {}, {}, good.error()),
               good.error().code);
      }
      if (options_.progress) {
        options_.progress({.entries = report_.entries, .bytes = report_.bytes_read});
      }
      return {};
    };
    const size_t jobs = options_.jobs == 0 ? kProbesAtOnce : options_.jobs;
    DOLIUM_TRY_VOID(ParallelFor(cells.size(), jobs, check, options_.stop));
    if (options_.report_missing) ReportMissing(found);
    return {};
  }

  void Add(const VerifyReport& other) {
    report_.objects += other.objects;
    report_.entries += other.entries;
    report_.entries_read += other.entries_read;
    report_.bytes_read += other.bytes_read;
    report_.bytes_decoded += other.bytes_decoded;
    report_.errors += other.errors;
    report_.unreadable += other.unreadable;
    report_.warnings += other.warnings;
  }

  void Report(const Finding& finding, ErrorCode code = ErrorCode::kCorrupt) {
    // A stop makes reads fail: those are no findings.
    if (options_.stop.stop_requested()) return;
    if (finding.severity == Severity::kError) {
      CountError(report_, code);
    } else {
      ++report_.warnings;
    }
    if (visitor_) visitor_(finding);
  }

  const Formats formats_;
  const volume::Volume& volume_;
  const VerifyOptions& options_;
  const FindingVisitor& visitor_;
  VerifyReport report_;
};

// Whether each label that a block of DVID lists, whose voxels can be decoded, is listed
// once and has voxels.
Result<void> CheckLabelsUsed(const Bytes& bytes) {
  DOLIUM_TRY(const auto block, dvid::LabelBlock::Parse(bytes));
  std::vector<uint64_t> voxels(static_cast<size_t>(block.voxels()));
  DOLIUM_TRY_VOID(DecodeBlock(block, block.labels(), voxels));
  std::unordered_set<uint64_t> used;
  uint64_t last = voxels.front();
  used.insert(last);
  for (const uint64_t voxel : voxels) {
    if (voxel == last) continue;
    used.insert(voxel);
    last = voxel;
  }
  const size_t listed = block.labels().size();
  if (used.size() == listed) return {};
  return Corrupt(fmt::format("lists {} labels, its voxels have {} different ones", listed,
                             used.size()));
}

}  // namespace

Result<VerifyReport> VerifyVolume(Formats formats, const volume::Volume& volume,
                                  const VerifyOptions& options,
                                  const FindingVisitor& visitor) {
  return VolumeVerifier(formats, volume, options, visitor).Run();
}

Result<VerifyReport> VerifyExport(const Container& container,
                                  const volume::DvidReadOptions& exported,
                                  const VerifyOptions& options,
                                  const FindingVisitor& visitor) {
  VerifyOptions further = options;
  if (options.depth == CheckDepth::kDeep) {
    further.check_value = [](const Entry&, const Bytes& block) {
      return CheckLabelsUsed(block);
    };
    further.value_kind = "labels";
    // DVID may leave labels in the list when voxels get others.
    further.value_severity = Severity::kWarning;
  }
  DOLIUM_TRY(VerifyReport report, Verify(container, further, visitor));
  const Location& location = container.location();
  DOLIUM_TRY(const auto shard, location.store->Stat(location.path));
  if (shard) return report;
  const Location spec = location.Child(volume::kSpecName);
  DOLIUM_TRY(const auto there, spec.store->Stat(spec.path));
  if (!there) return report;
  const auto opened = volume::DvidExport::Open(location, exported);
  if (!opened) {
    ++report.errors;
    visitor(ErrorFinding("spec", spec.Describe(), {}, {}, opened.error()));
    return report;
  }
  if (!*opened) return report;
  DOLIUM_TRY(const volume::ExportReport checked,
             CheckExport(**opened, options.jobs, options.stop));
  for (const Finding& finding : checked.of_spec) {
    ++report.warnings;
    visitor(finding);
  }
  return report;
}

}  // namespace dolium
