// The one table of what a location can hold.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/ops/source/source.h"

namespace dolium {

// A row: how it is recognised, and how its capabilities are opened. A function that is
// null means that there is no such capability, or that what all sources do will do.
struct SourceKind {
  std::string_view kind;  // for people
  // The name of its entries' format. Where that is a row of formats/builtin.cc, it is
  // recognised and opened by that row.
  std::string_view format;

  // Of kinds without a format: how sure they are that `location` holds one, from 0 to
  // 100. They are asked before the formats, which cannot be as sure; so they
  // answer for their own mark alone.
  Result<int> (*probe)(const Location& location) = nullptr;
  Result<std::shared_ptr<Container>> (*entries)(const Source& source) = nullptr;
  // Of kinds whose entries are those of a format that takes entries: whether what such a
  // format recognised is of this kind. They have neither a probe nor a format.
  bool (*is_at)(const Location& location) = nullptr;

  Result<std::shared_ptr<const volume::Volume>> (*volume)(const Source&) = nullptr;
  Result<std::shared_ptr<const dataset::SampleSet>> (*samples)(const Source&) = nullptr;
  Result<std::shared_ptr<const cas::CasStore>> (*versions)(const Source&) = nullptr;
  Result<std::shared_ptr<const mesh::MeshSource>> (*meshes)(const Source&) = nullptr;
  Result<std::shared_ptr<const skeleton::SkeletonSource>> (*skeletons)(const Source&) =
      nullptr;
  Result<std::shared_ptr<const annotation::AnnotationSource>> (*annotations)(
      const Source&) = nullptr;
  Result<std::vector<SourcePart>> (*parts)(const Source&) = nullptr;

  // Instead of Verify(), Stats() and the number of entries by Stats().
  Result<VerifyReport> (*check)(const Source&, const VerifyOptions&,
                                const FindingVisitor&) = nullptr;
  Result<StatsReport> (*count_sizes)(const Source&, const StatsOptions&) = nullptr;
  Result<uint64_t> (*count_entries)(const Source&) = nullptr;
  // What a copy into a format (empty: its own) is made of; instead of the entries, whose
  // folder must hold nothing else.
  Result<CopySource> (*open_for_copy)(const Source&,
                                      std::shared_ptr<const Container> entries,
                                      std::string_view format) = nullptr;
  // What a copy of the entries into that format does not have of the rest.
  Result<std::vector<Finding>> (*find_left_out)(const Source&,
                                                const Format& format) = nullptr;
  // Whether a conversion can write its format, entry by entry.
  bool takes_entries = false;
  // Copied as voxels, by the voxel target of its own name (ops/write_voxels.h).
  bool is_copied_as_voxels = false;
  // Of kinds whose copies are written in a format that is no row of formats/builtin.cc:
  // that format, and whether a copy may replace what is in a folder.
  const Format* copy_format = nullptr;
  Result<void> (*check_replaceable)(const Location& folder) = nullptr;
  Result<EntryVoxels> (*decode_entry)(const Container&, std::string_view key,
                                      std::string_view labels) = nullptr;
  Result<EntryLabels> (*entry_labels)(const Container&, std::string_view key) = nullptr;
};

// The two storages of meshes and skeletons, as targets of a conversion.
inline constexpr std::string_view kShardedStorage = "neuroglancer";
inline constexpr std::string_view kUnshardedStorage = "unsharded";

std::span<const SourceKind> SourceKinds();

// The formats that a conversion writes entry by entry.
std::vector<std::string_view> EntryTargets();

// The format that copies of that name are written in: a kind's, or one of `formats`.
Result<const Format*> FindTargetFormat(Formats formats, std::string_view name);
// Whether a set of that format may replace what is in a folder: kExists if not. A cas
// store, a volume or a DVID export is no folder of files that another set may replace.
Result<void> CheckTargetReplaceable(Formats formats, const Location& folder,
                                    const Format& format);

// The entries as their format has them, if their folder holds nothing else: what a copy
// of most kinds is made of.
Result<CopySource> OpenEntriesForCopy(const Source& source,
                                      std::shared_ptr<const Container> entries,
                                      std::string_view format);

// What a conversion that would lose something says.
Error WouldBeLeftOut(const Source& source, std::string_view name);

}  // namespace dolium
