#include "dolium/ops/source/volume_files.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/entry_error.h"
#include "dolium/container/json.h"
#include "dolium/formats/files/files_container.h"
#include "dolium/formats/files/files_target.h"

namespace dolium {
namespace {

constexpr uint64_t kMaxCopiedInfo = uint64_t{64} << 20;
constexpr std::string_view kFirstOfPair = ".index";
constexpr std::string_view kSecondOfPair = ".data";

// The rest of `path` below `folder`, "" if it is that; nullopt if it lies elsewhere.
std::optional<std::string> PathBelow(std::string_view path, std::string_view folder) {
  if (path == folder || folder.empty()) return std::string(path.substr(folder.size()));
  if (!path.starts_with(folder)) return std::nullopt;
  if (folder.ends_with('/')) return std::string(path.substr(folder.size()));
  if (path[folder.size()] != '/') return std::nullopt;
  return std::string(path.substr(folder.size() + 1));
}

Error WouldLeaveOut(const Location& volume, const std::string& what,
                    std::string_view reason) {
  return Unsupported(
      fmt::format("{}: a copy would leave out {}: {}", volume.Describe(), what, reason));
}

Result<std::optional<Entry>> FindWhole(const Store& store, const std::string& path,
                                       std::string key) {
  DOLIUM_TRY(const auto found, store.Stat(path));
  if (!found) return std::nullopt;
  Entry entry;
  entry.key = std::move(key);
  entry.size = found->size;
  entry.extents.push_back(
      {std::make_shared<const ObjectVersion>(ObjectVersion{path, found->generation}),
       {0, found->size},
       {}});
  return entry;
}

// The objects of a part, by name, of a store that cannot list: those that its index
// names.
Result<std::vector<std::string>> NamesInIndex(const Location& volume,
                                              const SourcePart& part,
                                              const Container& container) {
  DOLIUM_TRY(const auto objects, container.Objects());
  std::vector<std::string> names;
  for (const std::string& object : objects) {
    const auto name = PathBelow(object, part.location.path);
    if (!name || name->empty()) {
      return WouldLeaveOut(volume, fmt::format("its {} \"{}\"", part.kind, part.name),
                           "its files cannot be listed there");
    }
    names.push_back(*name);
    // An older layout has a shard in two.
    if (name->ends_with(kFirstOfPair)) {
      names.push_back(
          name->substr(0, name->size() - kFirstOfPair.size()).append(kSecondOfPair));
    }
  }
  names.emplace_back(volume::kInfoName);
  return names;
}

class VolumeCopyTarget final : public Target {
 public:
  VolumeCopyTarget(Location location, std::string info)
      : files_(std::move(location)), info_(std::move(info)) {}

  const Location& location() const override { return files_.location(); }
  std::string_view format_name() const override { return kVolumeCopyFormat.name; }
  std::string Describe() const override {
    return DumpJson(nlohmann::json{{"format", kVolumeCopyFormat.name}, {"info", info_}});
  }
  const CodecChain& codecs() const override { return files_.codecs(); }
  Result<uint64_t> PartOf(std::string_view key) const override {
    return files_.PartOf(key);
  }
  std::string PartObject(uint64_t part) const override { return files_.PartObject(part); }
  Result<WriteSummary> WritePart(uint64_t part, const PartSource& source,
                                 const WriterOptions& options) override {
    return files_.WritePart(part, source, options);
  }
  Result<std::unique_ptr<Writer>> NewWriter(const WriterOptions& options) override {
    return files_.NewWriter(options);
  }
  Result<void> Finish() override {
    const Location info = location().Child(volume::kInfoName);
    DOLIUM_TRY_VOID(info.store->Put(info.path, AsBytes(info_), Precondition::None()));
    return files_.Finish();
  }

 private:
  files::FilesTarget files_;
  const std::string info_;
};

Result<std::unique_ptr<Target>> CreateVolumeCopy(const Location& location,
                                                 const CreateOptions& options) {
  if (options.spec || !options.parameters.empty()) {
    return InvalidArgument(fmt::format(
        "{}: a volume is copied as it is, and takes no {}; a volume can be "
        "transcoded instead",
        location.Describe(), options.spec ? "spec" : options.parameters.begin()->first));
  }
  const auto* const like = dynamic_cast<const VolumeFiles*>(options.like);
  if (like == nullptr) {
    return InvalidArgument(
        fmt::format("{}: only a volume is copied to a volume", location.Describe()));
  }
  return std::make_unique<VolumeCopyTarget>(location, like->info());
}

Result<std::unique_ptr<Target>> ReopenVolumeCopy(const Location& location,
                                                 std::string_view description) {
  const auto json = ParseJson(description);
  if (!json || !json->is_object() || !json->contains("info") ||
      !(*json)["info"].is_string()) {
    return InvalidArgument(fmt::format("{}: not the description of a copied volume: {}",
                                       location.Describe(), description));
  }
  return std::make_unique<VolumeCopyTarget>(location, (*json)["info"].get<std::string>());
}

Result<int> ProbeNothing(const Location& /*location*/) { return 0; }

Result<std::unique_ptr<Container>> OpenNothing(const Location& location,
                                               const OpenOptions& /*options*/) {
  return Unsupported(location.Describe() + ": a volume is opened as a source");
}

bool OwnsNothing(std::string_view /*name*/) { return false; }

}  // namespace

const Format kVolumeCopyFormat{
    .name = "precomputed",
    .summary = "volume",
    .probe = ProbeNothing,
    .open = OpenNothing,
    .create = CreateVolumeCopy,
    .reopen = ReopenVolumeCopy,
    .owns_object = OwnsNothing,
};

// Finds out which folders there are to copy, and where each comes to lie.
class VolumeFiles::Layout {
 public:
  Layout(const volume::Volume& volume, const VolumeEntries& entries)
      : volume_(volume),
        entries_(entries),
        root_(volume.folder()),
        root_path_(NormalizePath(root_.path)) {}

  Result<void> Find() {
    DOLIUM_TRY_VOID(AddOutside());
    const auto listed = root_.store->List(root_.path, [](auto, bool) { return false; });
    if (!listed && listed.error().code == ErrorCode::kUnsupported) return AddByIndex();
    if (!listed) return listed.error();
    DOLIUM_TRY_VOID(AddLinks());
    for (const Tree& tree : trees_) DOLIUM_TRY_VOID(CheckTree(tree));
    trees_.insert(trees_.begin(), {root_, ""});
    return {};
  }

  std::vector<Tree> TakeTrees() { return std::move(trees_); }

  // The info as it is, unless parts come to lie elsewhere.
  Result<std::string> Info() const {
    const Location object = root_.Child(volume::kInfoName);
    DOLIUM_TRY(const auto whole, object.store->ReadWhole(object.path, kMaxCopiedInfo));
    volume::VolumeInfo info = volume_.info();
    const auto rename = [&](std::optional<std::string>& key) {
      if (key) key = CopiedKey(*key);
    };
    for (volume::ScaleInfo& scale : info.scales) scale.key = CopiedKey(scale.key);
    rename(info.mesh);
    rename(info.skeletons);
    rename(info.segment_properties);
    if (info == volume_.info()) return std::string(AsText(whole.bytes));
    return volume::ToJson(info);
  }

 private:
  std::string PathOfKey(const std::string& key) const {
    return volume::ResolveScaleKey(root_, key).path;
  }

  std::string CopiedKey(const std::string& key) const {
    const std::string path = PathOfKey(key);
    if (PathBelow(path, root_path_)) return key;
    for (const Tree& tree : trees_) {
      const auto rest = PathBelow(path, NormalizePath(tree.folder.path));
      if (rest) return rest->empty() ? tree.copied_to : JoinPath(tree.copied_to, *rest);
    }
    return key;
  }

  // Folders of parts that lie elsewhere. A folder is there before those that lie in it.
  Result<void> AddOutside() {
    std::vector<SourcePart> outside;
    for (const SourcePart& part : entries_.parts()) {
      if (PathBelow(root_path_, part.location.path) && part.location.path != root_path_) {
        return WouldLeaveOut(root_, fmt::format("its {} \"{}\"", part.kind, part.name),
                             "the volume itself lies in that folder");
      }
      if (!PathBelow(part.location.path, root_path_)) outside.push_back(part);
    }
    std::ranges::stable_sort(
        outside, {}, [](const SourcePart& part) { return part.location.path.size(); });
    for (const SourcePart& part : outside) {
      const bool is_known = std::ranges::any_of(trees_, [&](const Tree& tree) {
        return PathBelow(part.location.path, tree.folder.path).has_value();
      });
      if (is_known) continue;
      DOLIUM_TRY(std::string name, FreeName(BaseName(part.location.path)));
      trees_.push_back({part.location, std::move(name)});
    }
    return {};
  }

  Result<std::string> FreeName(std::string_view wanted) const {
    std::string name(wanted);
    for (size_t number = 2;; ++number) {
      const bool is_known = std::ranges::any_of(
          trees_, [&](const Tree& tree) { return tree.copied_to == name; });
      const bool is_part =
          std::ranges::any_of(entries_.parts(), [&](const SourcePart& part) {
            return PathBelow(NormalizePath(part.name), name).has_value();
          });
      DOLIUM_TRY(const bool is_there, IsInRoot(name));
      if (!is_known && !is_part && !is_there) return name;
      name = fmt::format("{}_{}", wanted, number);
    }
  }

  Result<bool> IsInRoot(std::string_view wanted) const {
    bool is_there = false;
    const auto listed = root_.store->List(root_.path, [&](std::string_view name, bool) {
      is_there = name == wanted;
      return !is_there;
    });
    if (!listed && listed.error().code != ErrorCode::kUnsupported) return listed.error();
    return is_there;
  }

  // Links in the folder of the info that lead to parts.
  Result<void> AddLinks() {
    DOLIUM_TRY(const auto unlisted, files::FilesContainer(root_).Unlisted());
    for (const std::string& name : unlisted) {
      const bool is_of_part =
          std::ranges::any_of(entries_.parts(), [&](const SourcePart& part) {
            return PathBelow(part.location.path, JoinPath(root_path_, name)).has_value();
          });
      if (!is_of_part) {
        return WouldLeaveOut(root_, fmt::format("\"{}\"", name),
                             "it is a link to a folder, or no name for a file");
      }
      trees_.push_back({root_.Child(name), name});
    }
    return {};
  }

  Result<void> CheckTree(const Tree& tree) const {
    const auto unlisted = files::FilesContainer(tree.folder).Unlisted();
    if (!unlisted && unlisted.error().code == ErrorCode::kNotFound) return {};
    if (!unlisted) return unlisted.error();
    if (unlisted->empty()) return {};
    return WouldLeaveOut(
        root_, fmt::format("\"{}\"", tree.folder.Child(unlisted->front()).Describe()),
        "it is a link to a folder, or no name for a file");
  }

  // Of a store that cannot list, what the indexes of the parts name.
  Result<void> AddByIndex() {
    std::vector<Tree> trees;
    for (size_t i = 0; i < entries_.parts().size(); ++i) {
      const SourcePart& part = entries_.parts()[i];
      DOLIUM_TRY(const Container* const container, entries_.OpenPart(i));
      if (container == nullptr) continue;
      DOLIUM_TRY(auto names, NamesInIndex(root_, part, *container));
      trees.push_back({part.location, CopiedKey(part.name), std::move(names)});
    }
    trees_ = std::move(trees);
    return {};
  }

  const volume::Volume& volume_;
  const VolumeEntries& entries_;
  const Location root_;
  const std::string root_path_;
  std::vector<Tree> trees_;
};

Result<std::shared_ptr<const VolumeFiles>> VolumeFiles::Open(
    const volume::Volume& volume, const VolumeEntries& entries) {
  Layout layout(volume, entries);
  DOLIUM_TRY_VOID(layout.Find());
  DOLIUM_TRY(std::string info, layout.Info());
  return std::shared_ptr<const VolumeFiles>(
      new VolumeFiles(volume.folder(), layout.TakeTrees(), std::move(info)));
}

std::string_view VolumeFiles::format_name() const { return kVolumeCopyFormat.name; }

Result<std::optional<Entry>> VolumeFiles::Find(std::string_view key) const {
  // That of the root is the first: its key is anything.
  for (auto tree = trees_.rbegin(); tree != trees_.rend(); ++tree) {
    const auto rest = PathBelow(key, tree->copied_to);
    if (rest && !rest->empty() && key != volume::kInfoName) {
      return FindWhole(store(), JoinPath(tree->folder.path, *rest), std::string(key));
    }
  }
  return std::nullopt;
}

Result<std::vector<std::string>> VolumeFiles::Objects() const {
  std::vector<std::string> objects;
  objects.reserve(trees_.size());
  for (const Tree& tree : trees_) objects.push_back(tree.folder.path);
  return objects;
}

Result<void> VolumeFiles::ScanTree(const Tree& tree, const ScanVisitor& visitor) const {
  if (!tree.names) {
    const files::FilesContainer files(tree.folder);
    ScanVisitor named = visitor;
    named.entry = [&](const Entry& entry) {
      if (tree.copied_to.empty() && entry.key == volume::kInfoName) return true;
      Entry copy = entry;
      if (!tree.copied_to.empty()) copy.key = JoinPath(tree.copied_to, entry.key);
      return visitor.entry(copy);
    };
    auto scanned = files.ScanObject(tree.folder.path, named);
    // Nothing was written to it.
    if (!scanned && scanned.error().code == ErrorCode::kNotFound) return {};
    return scanned;
  }
  for (const std::string& name : *tree.names) {
    DOLIUM_TRY(const auto entry, FindWhole(store(), JoinPath(tree.folder.path, name),
                                           JoinPath(tree.copied_to, name)));
    if (entry && !visitor.entry(*entry)) break;
  }
  return {};
}

Result<void> VolumeFiles::ScanObject(std::string_view object,
                                     const ScanVisitor& visitor) const {
  for (const Tree& tree : trees_) {
    if (tree.folder.path == object) return ScanTree(tree, visitor);
  }
  return InvalidArgument(fmt::format("{}: not an object of {}", store().Describe(object),
                                     location().Describe()));
}

Result<void> VolumeFiles::CheckObject(std::string_view /*object*/,
                                      const FindingVisitor& /*visitor*/) const {
  return {};
}

}  // namespace dolium
