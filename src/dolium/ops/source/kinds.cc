#include "dolium/ops/source/kinds.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/container/entry_error.h"
#include "dolium/container/json.h"
#include "dolium/domain/cas/statistics.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/domain/volume/grid.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/dvid/container.h"
#include "dolium/formats/files/files_container.h"
#include "dolium/formats/files/format.h"
#include "dolium/formats/neuroglancer/format.h"
#include "dolium/formats/neuroglancer/info.h"
#include "dolium/ops/annotation/annotation_rows.h"
#include "dolium/ops/cas/cas_verify.h"
#include "dolium/ops/objects/object_copy.h"
#include "dolium/ops/pack/pack_catalog.h"
#include "dolium/ops/properties/segment_tables.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/source/cas_entries.h"
#include "dolium/ops/source/object_rows.h"
#include "dolium/ops/source/volume_entries.h"
#include "dolium/ops/source/volume_files.h"
#include "dolium/ops/volume/verify_volume.h"
#include "dolium/ops/volume/volume_target.h"

namespace dolium {
namespace {

constexpr int kHasMark = 100;
constexpr uint64_t kMaxProbedInfo = uint64_t{64} << 20;

// Volumes.

Result<int> ProbeVolume(const Location& location) {
  const Location info = location.Child(volume::kInfoName);
  const auto whole = info.store->ReadWhole(info.path, kMaxProbedInfo);
  if (!whole) return 0;
  const auto json = ParseJson(AsText(whole->bytes));
  return json && json->is_object() && json->contains("scales") ? kHasMark : 0;
}

Result<std::shared_ptr<const volume::Volume>> OpenVolumeOf(const Source& source) {
  const SourceOptions& options = source.options();
  DOLIUM_TRY(auto opened, OpenVolume(source.location(),
                                     {.allow_unfinished = options.open.allow_unfinished,
                                      .exported = options.exported}));
  return std::make_shared<const volume::Volume>(std::move(opened));
}

Result<std::shared_ptr<Container>> OpenVolumeEntries(const Source& source) {
  DOLIUM_TRY(const volume::Volume* const opened, source.volume());
  return std::make_shared<VolumeEntries>(source.formats(),
                                         std::make_shared<const volume::Volume>(*opened),
                                         source.options().open);
}

Result<std::vector<SourcePart>> ListVolumeParts(const Source& source) {
  DOLIUM_TRY(const volume::Volume* const opened, source.volume());
  return PartsOf(*opened);
}

Result<uint64_t> CountCells(const Source& source) {
  DOLIUM_TRY(const volume::Volume* const opened, source.volume());
  uint64_t cells = 0;
  for (const volume::ScaleInfo& scale : opened->info().scales) {
    const auto grid = volume::Grid::Make(scale.bounds(), scale.chunk_sizes.front());
    if (grid) cells += grid->cell_count();
  }
  return cells;
}

void AddReport(VerifyReport& sum, const VerifyReport& other) {
  sum.objects += other.objects;
  sum.entries += other.entries;
  sum.entries_read += other.entries_read;
  sum.bytes_read += other.bytes_read;
  sum.bytes_decoded += other.bytes_decoded;
  sum.errors += other.errors;
  sum.unreadable += other.unreadable;
  sum.warnings += other.warnings;
}

// Scales down to their voxels, other parts as sets of their own.
Result<VerifyReport> CheckVolumeSource(const Source& source, const VerifyOptions& options,
                                       const FindingVisitor& visitor) {
  DOLIUM_TRY(const volume::Volume* const opened, source.volume());
  DOLIUM_TRY(const Container* const all, source.entries());
  const auto& entries = static_cast<const VolumeEntries&>(*all);
  DOLIUM_TRY(VerifyReport report,
             VerifyVolume(source.formats(), *opened, options, visitor));
  for (size_t i = 0; i < entries.parts().size(); ++i) {
    const SourcePart& part = entries.parts()[i];
    if (part.kind == "scale") continue;
    const auto container = entries.OpenPart(i);
    if (!container) {
      CountError(report, container.error().code);
      visitor(ErrorFinding("part", part.location.Describe(), {}, {}, container.error()));
      continue;
    }
    if (*container == nullptr) {
      ++report.warnings;
      visitor({.severity = Severity::kWarning,
               .kind = "part",
               .object = part.location.Describe(),
               .key = {},
               .range = std::nullopt,
               .message = fmt::format("the info names it as {}, and it is not there",
                                      part.kind)});
      continue;
    }
    VerifyOptions further = options;
    if (options.progress) {
      further.progress = [&](Progress progress) {
        progress.entries += report.entries;
        progress.bytes += report.bytes_read;
        options.progress(progress);
      };
    }
    const auto checked = CheckPart(part, **container, further, visitor);
    if (!checked && checked.error().code == ErrorCode::kUnsupported) {
      // Files behind a server that cannot list them.
      ++report.warnings;
      visitor({.severity = Severity::kWarning,
               .kind = "part",
               .object = part.location.Describe(),
               .key = {},
               .range = std::nullopt,
               .message = checked.error().message});
      continue;
    }
    if (!checked && checked.error().code == ErrorCode::kIo) {
      CountError(report, checked.error().code);
      visitor(ErrorFinding("part", part.location.Describe(), {}, {}, checked.error()));
      continue;
    }
    if (!checked) return checked.error();
    AddReport(report, *checked);
    if (part.kind == "segment_properties") {
      DOLIUM_TRY(const VerifyReport of_info,
                 VerifySegmentProperties(part.location, visitor));
      report.errors += of_info.errors;
      report.unreadable += of_info.unreadable;
    }
  }
  return report;
}

// All the files of a volume, those of its parts in other folders included.
Result<CopySource> OpenVolumeForCopy(
    const Source& source,
    // NOLINTNEXTLINE(performance-unnecessary-value-param): a row
    std::shared_ptr<const Container> entries, std::string_view format) {
  DOLIUM_TRY(const volume::Volume* const opened, source.volume());
  const auto& parts = static_cast<const VolumeEntries&>(*entries);
  if (!format.empty() && format != kVolumeCopyFormat.name) {
    return Unsupported(fmt::format(
        "{}: a volume is copied as a volume; a part of it, as {}, can be "
        "converted to {}",
        source.location().Describe(), parts.parts().front().location.Describe(), format));
  }
  if (opened->folder().Describe() != source.location().Describe()) {
    return Unsupported(fmt::format("{}: redirects to {}: copy that",
                                   source.location().Describe(),
                                   opened->folder().Describe()));
  }
  DOLIUM_TRY(auto files, VolumeFiles::Open(*opened, parts));
  return CopySource{std::move(files), &kVolumeCopyFormat, /*is_unchecked=*/true};
}

Result<void> CheckVolumeCopyReplaceable(const Location& folder) {
  return volume::CheckVolumeReplaceable(folder, /*with_all_parts=*/true);
}

// DVID exports.

Result<VerifyReport> CheckExportSource(const Source& source, const VerifyOptions& options,
                                       const FindingVisitor& visitor) {
  DOLIUM_TRY(const Container* const entries, source.entries());
  return VerifyExport(*entries, source.options().exported, options, visitor);
}

Result<dvid::Row> RowOf(const Container& container, std::string_view key) {
  const auto& blocks = dynamic_cast<const dvid::DvidContainer&>(container);
  DOLIUM_TRY(auto row, blocks.FindRow(key));
  if (row) return *std::move(row);
  return NotFound(
      fmt::format("{}: no entry \"{}\"", container.location().Describe(), key));
}

Result<EntryLabels> LabelsOfBlock(const Container& container, std::string_view key) {
  DOLIUM_TRY(const dvid::Row row, RowOf(container, key));
  const auto numbers = [](const dvid::LabelList& list) {
    std::vector<uint64_t> out(list.size());
    for (size_t i = 0; i < out.size(); ++i) out[i] = list[i];
    return out;
  };
  return EntryLabels{numbers(dvid::LabelList(row.labels)),
                     numbers(dvid::LabelList(row.supervoxels))};
}

Result<EntryVoxels> DecodeBlock(const Container& container, std::string_view key,
                                std::string_view labels) {
  const auto kind = dvid::ParseLabelKind(labels);
  if (!kind) {
    return InvalidArgument(
        fmt::format("\"{}\" is neither labels nor supervoxels", labels));
  }
  DOLIUM_TRY(const dvid::Row row, RowOf(container, key));
  auto decoded = dvid::DecodeRow(row, *kind);
  if (!decoded) {
    return std::move(decoded).error().Within(
        fmt::format("{}: {}", container.location().Describe(), key));
  }
  const auto& size = decoded->size;
  return EntryVoxels{{size[0], size[1], size[2]}, std::move(decoded->voxels)};
}

// ShardPack sets.

Result<std::shared_ptr<const dataset::SampleSet>> OpenSamplesOf(const Source& source) {
  const std::string reference[] = {source.location().Describe()};
  return OpenSamples(reference);
}

Result<VerifyReport> CheckPackSource(const Source& source, const VerifyOptions& options,
                                     const FindingVisitor& visitor) {
  DOLIUM_TRY(const Container* const entries, source.entries());
  DOLIUM_TRY(VerifyReport report, Verify(*entries, options, visitor));
  if (options.depth != CheckDepth::kDeep) return report;
  DOLIUM_TRY(const auto catalog, dataset::FindCatalog(source.location()));
  if (!catalog) return report;
  DOLIUM_TRY(const VerifyReport of_catalog,
             dataset::CheckCatalog(*catalog, {options.jobs, options.stop}, visitor));
  report.errors += of_catalog.errors;
  report.unreadable += of_catalog.unreadable;
  return report;
}

// Cas stores.

std::string CasPathOf(const Location& location) {
  const auto local = location.store->LocalPath(location.path);
  return local && *local ? std::string(**local) : std::string();
}

Result<int> ProbeCasStore(const Location& location) {
  const std::string path = CasPathOf(location);
  if (path.empty()) return 0;
  const auto layout = cas::OpenLayout(path);
  if (layout) return kHasMark;
  if (layout.error().code == ErrorCode::kUnsupported) return layout.error();
  return 0;
}

Result<std::shared_ptr<const cas::CasStore>> OpenCasOf(const Source& source) {
  const std::string path = CasPathOf(source.location());
  if (path.empty()) {
    return Unsupported(
        fmt::format("{}: a cas store is a local folder", source.location().Describe()));
  }
  DOLIUM_TRY(auto store, OpenVersions(path));
  return std::shared_ptr<const cas::CasStore>(std::move(store));
}

Result<std::shared_ptr<Container>> OpenCasEntries(const Source& source) {
  DOLIUM_TRY(auto store, OpenCasOf(source));
  DOLIUM_TRY(auto entries, CasEntries::Open(source.location(), std::move(store),
                                            source.options().open.cache_bytes));
  return std::shared_ptr<Container>(std::move(entries));
}

Result<VerifyReport> CheckCasSource(const Source& source, const VerifyOptions& options,
                                    const FindingVisitor& visitor) {
  DOLIUM_TRY(const cas::CasStore* const store, source.versions());
  return VerifyCas(*store, options, /*quarantine=*/false, visitor);
}

// What is in the folder of a store, and not of the store.
Result<std::optional<std::string>> FindForeignInCas(const Source& source) {
  DOLIUM_TRY(const cas::CasStore* const store, source.versions());
  const cas::Layout& layout = store->layout();
  const std::string own[] = {layout.marker(),
                             layout.xorbs(),
                             layout.shards(),
                             layout.names(),
                             layout.index(),
                             layout.quarantine(),
                             layout.temporaries(),
                             layout.leases(),
                             layout.lock(),
                             layout.seen(),
                             layout.quarantines().back()};
  std::optional<std::string> foreign;
  const Location& root = source.location();
  DOLIUM_TRY_VOID(root.store->List(root.path, [&](std::string_view name, bool) {
    const bool is_own = std::ranges::any_of(
        own, [&](const std::string& path) { return BaseName(path) == name; });
    if (!is_own) foreign = name;
    return is_own;
  }));
  return foreign;
}

// Files of versions, in a folder for each. Folders and permissions are left to `cas get`;
// links hold something, and no entry shows it.
Result<CopySource> OpenCasForCopy(const Source& source,
                                  std::shared_ptr<const Container> entries,
                                  std::string_view format) {
  DOLIUM_TRY(const auto foreign, FindForeignInCas(source));
  if (foreign) return WouldBeLeftOut(source, *foreign);
  DOLIUM_TRY(const auto link, static_cast<const CasEntries&>(*entries).FindLink());
  if (link) return WouldBeLeftOut(source, *link);
  DOLIUM_TRY(
      const Format* const target,
      FindTargetFormat(source.formats(), format.empty() ? files::kFormat.name : format));
  return CopySource{std::move(entries), target};
}

// Files of several versions share their chunks: the objects are counted for themselves.
Result<StatsReport> CountCasSizes(const Source& source, const StatsOptions& options) {
  DOLIUM_TRY(const Container* const entries, source.entries());
  DOLIUM_TRY(StatsReport report, Stats(*entries, options));
  DOLIUM_TRY(const cas::CasStore* const store, source.versions());
  DOLIUM_TRY(const cas::StoreStatistics counts, cas::CountStore(*store));
  report.objects = counts.xorbs + counts.shards + counts.versions;
  report.object_bytes += counts.stored_bytes + counts.shard_bytes;
  return report;
}

}  // namespace

std::span<const SourceKind> SourceKinds() {
  static constexpr SourceKind kKinds[] = {
      {.kind = "cas store",
       .format = "cas",
       .probe = ProbeCasStore,
       .entries = OpenCasEntries,
       .versions = OpenCasOf,
       .check = CheckCasSource,
       .count_sizes = CountCasSizes,
       .open_for_copy = OpenCasForCopy},
      {.kind = "volume",
       .format = "precomputed",
       .probe = ProbeVolume,
       .entries = OpenVolumeEntries,
       .volume = OpenVolumeOf,
       .meshes = OpenMeshesOfVolume,
       .skeletons = OpenSkeletonsOfVolume,
       .parts = ListVolumeParts,
       .check = CheckVolumeSource,
       .count_entries = CountCells,
       .open_for_copy = OpenVolumeForCopy,
       .copy_format = &kVolumeCopyFormat,
       .check_replaceable = CheckVolumeCopyReplaceable},
      {.kind = "meshes",
       .format = {},
       .is_at = IsMeshFolder,
       .meshes = OpenMeshesOf,
       .check = CheckMeshSource,
       .open_for_copy = OpenObjectsForCopy,
       .copy_format = &kUnshardedFormat},
      {.kind = "skeletons",
       .format = {},
       .is_at = IsSkeletonFolder,
       .skeletons = OpenSkeletonsOf,
       .check = CheckSkeletonSource,
       .open_for_copy = OpenObjectsForCopy,
       .copy_format = &kUnshardedFormat},
      {.kind = "annotations",
       .format = "annotations",
       .probe = ProbeAnnotations,
       .entries = OpenAnnotationEntries,
       .annotations = OpenAnnotationsOf,
       .parts = ListAnnotationParts,
       .check = CheckAnnotationSource,
       .open_for_copy = RefuseAnnotationCopy},
      {.kind = "segment properties",
       .format = "segment_properties",
       .probe = ProbeSegmentProperties,
       .entries = OpenPropertyFiles,
       .check = CheckPropertySource,
       .open_for_copy = OpenFilesForCopy},
      {.kind = "sharded set",
       .format = "neuroglancer",
       .find_left_out = FindLeftOutOfSharded,
       .takes_entries = true},
      {.kind = "ShardPack set",
       .format = "shardpack",
       .samples = OpenSamplesOf,
       .check = CheckPackSource},
      {.kind = "Xet shard or xorb", .format = "xet"},
      {.kind = "DVID export",
       .format = "dvid",
       .volume = OpenVolumeOf,
       .check = CheckExportSource,
       .is_copied_as_voxels = true,
       .decode_entry = DecodeBlock,
       .entry_labels = LabelsOfBlock},
      {.kind = "folder of files",
       .format = "files",
       .open_for_copy = OpenFilesForCopy,
       .takes_entries = true},
  };
  return kKinds;
}

std::vector<std::string_view> EntryTargets() {
  std::vector<std::string_view> formats;
  for (const SourceKind& row : SourceKinds()) {
    if (row.takes_entries) formats.push_back(row.format);
  }
  return formats;
}

}  // namespace dolium
