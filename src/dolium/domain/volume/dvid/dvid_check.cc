// What an export holds besides, and what is wrong with it, before anything is converted.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/container/entry_error.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/volume/dvid/dvid_export.h"
#include "dolium/formats/dvid/format.h"

namespace dolium::volume {
namespace {

constexpr Vec3 kExportBlock = {dvid::kBlockSide, dvid::kBlockSide, dvid::kBlockSide};

// One shard's part of the report.
struct ShardReport {
  std::vector<dvid::Key> keys;  // of its blocks, where names do not give the shard
  uint64_t blocks = 0;
  uint64_t outside = 0;
  uint64_t damaged = 0;
  std::vector<Finding> damage;
  std::vector<Finding> warnings;
};

Finding Warning(std::string kind, std::string object, std::string message) {
  return {.severity = Severity::kWarning,
          .kind = std::move(kind),
          .object = std::move(object),
          .key = {},
          .range = {},
          .message = std::move(message)};
}

// What salvage leaves out of a shard, and what it takes from where it should not be.
void CheckSalvaged(const dvid::ExportScale& scale, const dvid::Shard& shard,
                   ShardReport& report) {
  if (const auto misplaced = scale.MisplacedIn(shard); misplaced.count > 0) {
    report.warnings.push_back(
        Warning("misplaced", shard.Describe(), misplaced.Explain()));
  }
  for (size_t i = 0; i < shard.size(); ++i) {
    const auto row = shard.Read(i);
    const auto voxels = row ? dvid::DecodeRow(*row, dvid::LabelKind::kLabels)
                            : Result<dvid::BlockVoxels>(row.error());
    if (voxels || voxels.error().code != ErrorCode::kCorrupt) continue;
    ++report.damaged;
    Finding finding =
        ErrorFinding(std::string(kLeftOutKind), shard.Describe(),
                     dvid::ToString(shard.key(i)), shard.MessageOf(i), voxels.error());
    finding.severity = Severity::kWarning;
    finding.message += "; the block is left out";
    report.warnings.push_back(std::move(finding));
  }
}

Result<ShardReport> CheckShard(const dvid::ExportScale& scale, const Grid& grid,
                               const std::string& object) {
  ShardReport report;
  const auto shard = scale.OpenShard(object);
  if (!shard) {
    const Error& error = shard.error();
    if (error.code != ErrorCode::kCorrupt) return error;
    report.damage.push_back(
        ErrorFinding(error.kind.empty() ? "index" : std::string(error.kind),
                     scale.location().store->Describe(object), {}, {}, error));
    return report;
  }
  report.warnings = (*shard)->warnings();
  report.blocks = (*shard)->size();
  for (size_t k = 0; k < (*shard)->size(); ++k) {
    const dvid::Key block = (*shard)->BlockOf(k);
    if (!scale.shard_side()) report.keys.push_back(block);
    for (size_t d = 0; d < 3; ++d) {
      if (block[d] >= 0 && block[d] < grid.shape()[d]) continue;
      ++report.outside;
      break;
    }
  }
  if (scale.options().salvage) CheckSalvaged(scale, **shard, report);
  return report;
}

// Where names do not decide, a block may be in several shards; the first of them is read.
void CheckTwice(const dvid::ExportScale& scale, std::vector<ShardReport>& shards) {
  std::map<dvid::Key, size_t> first;
  for (size_t i = 0; i < shards.size(); ++i) {
    for (const dvid::Key& block : shards[i].keys) {
      const auto [found, is_new] = first.emplace(block, i);
      if (is_new) continue;
      const auto name = [&](size_t shard) {
        return scale.location().store->Describe(scale.objects()[shard]);
      };
      Finding finding = Warning(
          "twice", name(i),
          fmt::format("is in {}, too, from where it is taken", name(found->second)));
      finding.key = dvid::ToString(block);
      const bool salvage = scale.options().salvage;
      if (!salvage) finding.severity = Severity::kError;
      (salvage ? shards[i].warnings : shards[i].damage).push_back(std::move(finding));
    }
    shards[i].keys = {};
  }
}

}  // namespace

Result<std::vector<std::string>> FindForeign(const Location& folder, bool is_strict) {
  std::vector<std::string> foreign;
  const auto look = [&](const Location& place, const std::string& prefix,
                        std::vector<std::string>* scales) -> Result<void> {
    std::vector<std::string> names;
    std::set<std::string, std::less<>> stems;  // of shards, whatever they are called
    const auto listed =
        place.store->List(place.path, [&](std::string_view name, bool is_folder) {
          if (IsBookkeeping(name)) return true;
          if (is_folder && scales != nullptr && dvid::ParseScaleName(name)) {
            scales->emplace_back(name);
          } else if (is_folder) {
            foreign.push_back(JoinPath(prefix, name));
          } else {
            names.emplace_back(name);
          }
          if (!is_strict && !is_folder && name.ends_with(dvid::kExtension)) {
            stems.emplace(name.substr(0, name.size() - dvid::kExtension.size()));
          }
          return true;
        });
    const bool has_none = !listed && (listed.error().code == ErrorCode::kNotFound ||
                                      listed.error().code == ErrorCode::kUnsupported);
    if (!listed && !has_none) return listed.error();
    for (const std::string& name : names) {
      const bool is_sidecar =
          std::ranges::any_of(dvid::kShardSuffixes, [&](std::string_view suffix) {
            return name.ends_with(suffix) &&
                   stems.contains(name.substr(0, name.size() - suffix.size()));
          });
      const bool is_spec = scales != nullptr && name == kSpecName;
      if (dvid::OwnsShard(name) || is_sidecar || is_spec || name == "export.log") {
        continue;
      }
      foreign.push_back(JoinPath(prefix, name));
    }
    return {};
  };
  std::vector<std::string> scales;
  DOLIUM_TRY_VOID(look(folder, "", &scales));
  for (const std::string& scale : scales) {
    DOLIUM_TRY_VOID(look(folder.Child(scale), scale, nullptr));
  }
  std::ranges::sort(foreign);
  return foreign;
}

std::vector<Finding> ExportReport::LeftOut() const {
  std::vector<Finding> out;
  std::ranges::copy_if(warnings, std::back_inserter(out), [](const Finding& finding) {
    return finding.kind == kLeftOutKind || finding.kind == dvid::kLostKind;
  });
  const bool is_empty = blocks > 0 && outside == blocks;
  std::ranges::copy_if(of_spec, std::back_inserter(out), [&](const Finding& finding) {
    return is_empty && finding.kind == kOutsideKind;
  });
  return out;
}

Result<ExportReport> CheckExport(const DvidExport& exported, size_t jobs,
                                 const std::stop_token& stop) {
  ExportReport report;
  for (size_t index = 0; index < exported.info().scales.size(); ++index) {
    const ScaleInfo& info = exported.info().scales[index];
    const dvid::ExportScale& scale = *exported.scale(index);
    if (const auto why = WhyNotCubic(info)) {
      report.of_spec.push_back(Warning("noncubic", scale.location().Describe(), *why));
    }
    DOLIUM_TRY(const Grid grid, Grid::Make(info.bounds(), kExportBlock));
    std::vector<ShardReport> shards(scale.objects().size());
    DOLIUM_TRY_VOID(ParallelFor(
        shards.size(), jobs,
        [&](size_t i) -> Result<void> {
          DOLIUM_TRY(shards[i], CheckShard(scale, grid, scale.objects()[i]));
          return {};
        },
        stop));
    CheckTwice(scale, shards);
    for (ShardReport& shard : shards) {
      report.blocks += shard.blocks;
      report.outside += shard.outside;
      report.damaged += shard.damaged;
      std::ranges::move(shard.damage, std::back_inserter(report.damage));
      std::ranges::move(shard.warnings, std::back_inserter(report.warnings));
    }
  }
  const bool is_shard = exported.scale(0)->objects().front() == exported.location().path;
  std::vector<std::string> foreign;
  if (!is_shard) {
    DOLIUM_TRY(foreign, FindForeign(exported.location(), /*is_strict=*/false));
  }
  if (!foreign.empty()) {
    std::string names = foreign.front();
    if (foreign.size() > 1) names += fmt::format(" and {} more", foreign.size() - 1);
    report.warnings.push_back(Warning(
        "foreign", exported.location().Describe(),
        fmt::format("holds {}, which is no part of the export and is not read", names)));
  }
  if (report.outside > 0) {
    report.of_spec.push_back(
        Warning(std::string(kOutsideKind), exported.location().Describe(),
                fmt::format("{} of {} blocks lie outside of the volume and are left out: "
                            "DVID exports blocks beyond the size of its spec",
                            report.outside, report.blocks)));
  }
  return report;
}

}  // namespace dolium::volume
