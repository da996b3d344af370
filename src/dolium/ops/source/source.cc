#include "dolium/ops/source/source.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "dolium/container/unfinished.h"
#include "dolium/domain/cas/store.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/domain/mesh/mesh_source.h"
#include "dolium/domain/skeleton/skeleton_source.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/source/kinds.h"

namespace dolium {
namespace {

// Of formats that are not in the table, as those of tests.
constexpr SourceKind kOtherFormat{.kind = "set", .format = {}};

const SourceKind& RowOfFormat(std::string_view format) {
  for (const SourceKind& row : SourceKinds()) {
    if (row.is_at == nullptr && row.format == format) return row;
  }
  return kOtherFormat;
}

// The row of what a format recognised: that of the format, or one of what its entries
// are.
const SourceKind& RowOfEntries(const Location& location, std::string_view format,
                               const SourceOptions& options) {
  const SourceKind& row = RowOfFormat(format);
  // A format that was named shows what it shows.
  if (!row.takes_entries || !options.format.empty()) return row;
  for (const SourceKind& closer : SourceKinds()) {
    if (closer.is_at != nullptr && closer.is_at(location)) return closer;
  }
  return row;
}

// The row without a format that is to be taken: by its name, or by its mark.
Result<const SourceKind*> FindRowWithoutFormat(const Location& location,
                                               const SourceOptions& options) {
  const SourceKind* best = nullptr;
  int highest = 0;
  for (const SourceKind& row : SourceKinds()) {
    if (row.probe == nullptr) continue;
    if (!options.format.empty()) {
      if (row.format == options.format) return &row;
      continue;
    }
    if (options.open.spec) continue;  // A spec is for sets.
    DOLIUM_TRY(const int score, row.probe(location));
    if (score > highest) {
      best = &row;
      highest = score;
    }
  }
  return best;
}

// Whether a format has its entries and a row its voxels. A spec is what such an export
// was made with: it is in SourceOptions::exported, and its entries need none.
bool IsExport(Formats formats, const Location& location) {
  for (const SourceKind& row : SourceKinds()) {
    if (row.probe != nullptr || row.volume == nullptr) continue;
    const auto format = FindFormat(formats, row.format);
    if (!format) continue;
    const auto score = (*format)->probe(location);
    if (score && *score > 0) return true;
  }
  return false;
}

template <typename T, typename Open>
Result<const T*> CapabilityOf(const Once<std::shared_ptr<const T>>& once, Open* open,
                              const Source& source) {
  if (open == nullptr) return nullptr;
  DOLIUM_TRY(const auto* const opened, once.Get([&] { return open(source); }));
  return opened->get();
}

// Refuses to copy the entries of a folder that holds something else besides.
Result<void> CheckNothingElse(const Source& source, const Container& entries) {
  const Location& location = source.location();
  DOLIUM_TRY(const auto object, location.store->Stat(location.path));
  if (object || !source.options().format.empty()) return {};
  DOLIUM_TRY(const Format* const format,
             FindFormat(source.formats(), entries.format_name()));
  std::vector<std::string> others;
  const auto listed =
      location.store->List(location.path, [&](std::string_view name, bool is_folder) {
        const bool is_owned = !is_folder && format->owns_object(name);
        if (!IsBookkeeping(name) && !is_owned) others.emplace_back(name);
        return true;
      });
  if (!listed && listed.error().code == ErrorCode::kUnsupported) return {};
  if (!listed) return listed.error();
  if (others.empty()) return {};
  // The index may lie in folders, and be made of more than the format calls its own.
  DOLIUM_TRY(const auto objects, entries.Objects());
  std::ranges::sort(others);
  for (const std::string& name : others) {
    const std::string path = JoinPath(location.path, name);
    const bool is_known = std::ranges::any_of(objects, [&](const std::string& known) {
      return known == path || known.starts_with(path + "/");
    });
    if (!is_known) return WouldBeLeftOut(source, name);
  }
  return {};
}

// kExists if a folder is something that no set of this format may replace.
Result<void> CheckNoOtherKind(Formats formats, const Location& folder,
                              const Format& format) {
  for (const SourceKind& row : SourceKinds()) {
    auto* probe = row.probe;
    if (probe == nullptr && row.volume != nullptr && row.format != format.name) {
      const auto found = FindFormat(formats, row.format);
      if (found) probe = (*found)->probe;
    }
    if (probe == nullptr) continue;
    DOLIUM_TRY(const int score, probe(folder));
    if (score > 0) {
      return Exists(fmt::format("{}: holds a {}, which is no {} set; move it away",
                                folder.Describe(), row.kind, format.name));
    }
  }
  return {};
}

// The same for the folders in it, and in those.
Result<void> CheckNoneBelow(Formats formats, const Location& folder,
                            const Format& format) {
  std::vector<std::string> names;
  const auto listed =
      folder.store->List(folder.path, [&](std::string_view name, bool is_folder) {
        if (is_folder && !IsBookkeeping(name)) names.emplace_back(name);
        return true;
      });
  if (!listed && listed.error().code == ErrorCode::kNotFound) return {};
  if (!listed) return listed.error();
  std::ranges::sort(names);
  for (const std::string& name : names) {
    const Location child = folder.Child(name);
    DOLIUM_TRY_VOID(CheckNoOtherKind(formats, child, format));
    DOLIUM_TRY_VOID(CheckNoneBelow(formats, child, format));
  }
  return {};
}

}  // namespace

Error WouldBeLeftOut(const Source& source, std::string_view name) {
  return Unsupported(
      fmt::format("{}: a conversion would leave out \"{}\", which is no "
                  "part of the {}; move it away, or name the format to "
                  "convert the rest",
                  source.location().Describe(), name, source.kind()));
}

Result<CopySource> OpenEntriesForCopy(const Source& source,
                                      std::shared_ptr<const Container> entries,
                                      std::string_view format) {
  DOLIUM_TRY_VOID(CheckNothingElse(source, *entries));
  DOLIUM_TRY(const Format* const target,
             FindTargetFormat(source.formats(),
                              format.empty() ? entries->format_name() : format));
  return CopySource{std::move(entries), target};
}

Result<const Format*> FindTargetFormat(Formats formats, std::string_view name) {
  for (const SourceKind& row : SourceKinds()) {
    if (row.copy_format != nullptr && row.copy_format->name == name) {
      return row.copy_format;
    }
  }
  return FindFormat(formats, name);
}

Result<void> CheckTargetReplaceable(Formats formats, const Location& folder,
                                    const Format& format) {
  for (const SourceKind& row : SourceKinds()) {
    if (row.copy_format == &format && row.check_replaceable != nullptr) {
      return row.check_replaceable(folder);
    }
  }
  DOLIUM_TRY_VOID(CheckNoOtherKind(formats, folder, format));
  DOLIUM_TRY_VOID(CheckReplaceable(folder, format));
  return CheckNoneBelow(formats, folder, format);
}

Source::Source(const SourceKind& row, Formats formats, Location location,
               SourceOptions options, std::shared_ptr<Container> entries)
    : row_(row),
      formats_(formats),
      location_(std::move(location)),
      options_(std::move(options)) {
  if (entries == nullptr) return;
  static_cast<void>(entries_.Get(
      [&] { return Result<std::shared_ptr<Container>>(std::move(entries)); }));
}

Source::~Source() = default;

std::string_view Source::kind() const { return row_.kind; }

Result<std::shared_ptr<Container>> Source::MutableEntries() const {
  DOLIUM_TRY(const auto* const opened,
             entries_.Get([&]() -> Result<std::shared_ptr<Container>> {
               if (row_.entries == nullptr) return std::shared_ptr<Container>();
               return row_.entries(*this);
             }));
  return *opened;
}

Result<const Container*> Source::entries() const {
  DOLIUM_TRY(const auto opened, MutableEntries());
  return opened.get();
}

Result<const volume::Volume*> Source::volume() const {
  return CapabilityOf<volume::Volume>(volume_, row_.volume, *this);
}

Result<const dataset::SampleSet*> Source::samples() const {
  return CapabilityOf<dataset::SampleSet>(samples_, row_.samples, *this);
}

Result<const cas::CasStore*> Source::versions() const {
  return CapabilityOf<cas::CasStore>(versions_, row_.versions, *this);
}

Result<const mesh::MeshSource*> Source::meshes() const {
  return CapabilityOf<mesh::MeshSource>(meshes_, row_.meshes, *this);
}

Result<const skeleton::SkeletonSource*> Source::skeletons() const {
  return CapabilityOf<skeleton::SkeletonSource>(skeletons_, row_.skeletons, *this);
}

Result<const annotation::AnnotationSource*> Source::annotations() const {
  return CapabilityOf<annotation::AnnotationSource>(annotations_, row_.annotations,
                                                    *this);
}

Result<std::vector<SourcePart>> Source::parts() const {
  if (row_.parts == nullptr) return std::vector<SourcePart>();
  return row_.parts(*this);
}

Result<CopySource> Source::OpenForCopy(std::string_view format) const {
  DOLIUM_TRY(std::shared_ptr<const Container> all, MutableEntries());
  if (row_.open_for_copy != nullptr) return row_.open_for_copy(*this, all, format);
  DOLIUM_TRY(CopySource copy, OpenEntriesForCopy(*this, std::move(all), format));
  if (row_.find_left_out != nullptr) {
    DOLIUM_TRY(copy.left_out, row_.find_left_out(*this, *copy.format));
  }
  return copy;
}

std::string_view Source::own_voxel_target() const {
  return row_.is_copied_as_voxels ? row_.format : std::string_view();
}

Result<VerifyReport> Source::Check(const VerifyOptions& options,
                                   const FindingVisitor& visitor) const {
  if (row_.check != nullptr) return row_.check(*this, options, visitor);
  DOLIUM_TRY(const Container* const all, entries());
  return Verify(*all, options, visitor);
}

Result<StatsReport> Source::CountSizes(const StatsOptions& options) const {
  if (row_.count_sizes != nullptr) return row_.count_sizes(*this, options);
  DOLIUM_TRY(const Container* const all, entries());
  return Stats(*all, options);
}

Result<Properties> Source::Statistics(std::stop_token stop) const {  // NOLINT
  DOLIUM_TRY(const Container* const all, entries());
  return all->Statistics(std::move(stop));
}

Result<uint64_t> Source::CountEntries(const StatsOptions& options) const {
  if (row_.count_entries != nullptr) return row_.count_entries(*this);
  DOLIUM_TRY(const StatsReport report, CountSizes(options));
  return report.stored_size.count;
}

Result<bool> Source::IsFinished() const {
  // The marker lies in the set's folder: the location itself, or the one a shard is in.
  DOLIUM_TRY(const auto object, location_.store->Stat(location_.path));
  DOLIUM_TRY(const auto unfinished,
             FindUnfinished(object ? location_.Parent() : location_));
  return !unfinished;
}

Result<std::optional<uint64_t>> Source::CountObjects() const {
  DOLIUM_TRY(const Container* const all, entries());
  const auto listed =
      location_.store->List(location_.path, [](auto, bool) { return false; });
  if (!listed && listed.error().code == ErrorCode::kUnsupported) return std::nullopt;
  DOLIUM_TRY(const auto objects, all->Objects());
  return objects.size();
}

Result<std::optional<EntryLabels>> Source::LabelsOf(std::string_view key) const {
  if (row_.entry_labels == nullptr) return std::nullopt;
  DOLIUM_TRY(const Container* const all, entries());
  DOLIUM_TRY(EntryLabels labels, row_.entry_labels(*all, key));
  return labels;
}

Result<std::optional<EntryVoxels>> Source::DecodeEntry(std::string_view key,
                                                       std::string_view labels) const {
  if (row_.decode_entry == nullptr) return std::nullopt;
  DOLIUM_TRY(const Container* const all, entries());
  DOLIUM_TRY(EntryVoxels voxels, row_.decode_entry(*all, key, labels));
  return std::optional(std::move(voxels));
}

Result<std::unique_ptr<Source>> OpenSource(Formats formats, const Location& location,
                                           const SourceOptions& given) {
  SourceOptions options = given;
  if (options.open.spec && options.format.empty() && IsExport(formats, location)) {
    options.open.spec.reset();
  }
  const bool is_named = !options.format.empty() || options.open.spec;
  const Format* const own = is_named ? nullptr : FindByEnding(formats, location);
  if (own != nullptr) {
    DOLIUM_TRY(std::shared_ptr<Container> container, own->open(location, options.open));
    return std::make_unique<Source>(RowOfFormat(own->name), formats, location, options,
                                    std::move(container));
  }
  DOLIUM_TRY(const SourceKind* const row, FindRowWithoutFormat(location, options));
  if (row != nullptr) {
    auto source = std::make_unique<Source>(*row, formats, location, options, nullptr);
    // What is not there, or not to be read, is reported now and not at the first entry.
    DOLIUM_TRY([[maybe_unused]] const auto* const opened, source->entries());
    return source;
  }
  DOLIUM_TRY(std::shared_ptr<Container> container,
             OpenContainer(formats, location, options.format, options.open));
  const SourceKind& kind = RowOfEntries(location, container->format_name(), options);
  return std::make_unique<Source>(kind, formats, location, options, std::move(container));
}

}  // namespace dolium
