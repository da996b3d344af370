#include "dolium/ops/objects/object_copy.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/codec/brotli.h"
#include "dolium/container/entry_error.h"
#include "dolium/container/json.h"
#include "dolium/container/unfinished.h"
#include "dolium/domain/mesh/mesh_source.h"
#include "dolium/domain/objects/object_storage.h"
#include "dolium/domain/skeleton/skeleton_source.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/formats/files/files_target.h"
#include "dolium/formats/neuroglancer/sharded_container.h"
#include "dolium/ops/source/kinds.h"
#include "dolium/ops/source/object_folder.h"

namespace dolium {
namespace {

using nlohmann::ordered_json;

constexpr uint64_t kMaxCopiedObjectInfo = uint64_t{64} << 20;
constexpr std::string_view kManifestSuffix = ".index";

// Files of brotli, for which there is no codec of chains.
class BrotliStep final : public StepDecoder {
 public:
  Result<void> DecodeInto(BytesView stored, MutableBytes into) const override {
    DOLIUM_TRY(const Bytes value, volume::Unwrap(volume::Wrapper::kBrotli,
                                                 Bytes::Copy(stored), into.size()));
    if (value.size() != into.size()) {
      return Corrupt(
          fmt::format("decodes to {} bytes, expected {}", value.size(), into.size()));
    }
    std::ranges::copy(value.view(), into.begin());
    return {};
  }
};

CodecChain CodecsOf(volume::Wrapper wrapper, uint64_t size) {
  switch (wrapper) {
    case volume::Wrapper::kNone:
      break;
    case volume::Wrapper::kGzip:
      return {{.codec = CodecId::kGzip}};
    case volume::Wrapper::kZstd:
      return {{.codec = CodecId::kZstd, .decoded_size = size}};
    case volume::Wrapper::kBrotli:
      return {{.codec = CodecId::kXetChunks,
               .decoded_size = size,
               .decoder = std::make_shared<const BrotliStep>()}};
  }
  return {};
}

class UnshardedObjects final : public Container {
 public:
  UnshardedObjects(Location folder, std::optional<mesh::MeshSource> meshes,
                   std::optional<skeleton::SkeletonSource> skeletons)
      : folder_(std::move(folder)),
        meshes_(std::move(meshes)),
        skeletons_(std::move(skeletons)) {}

  const Location& location() const override { return folder_; }
  std::string_view format_name() const override { return kUnshardedFormat.name; }
  Properties properties() const override { return {}; }

  Result<std::optional<Entry>> Find(std::string_view key) const override {
    DOLIUM_TRY(const uint64_t id, neuroglancer::ParseKey(key));
    const std::string name =
        meshes_ ? fmt::format("{}{}", id, kManifestSuffix) : std::to_string(id);
    for (const volume::ChunkForm& form : volume::kChunkForms) {
      const std::string path = JoinPath(folder_.path, name + std::string(form.suffix));
      const auto stored = store().ReadWhole(path, kDefaultDecodeLimit);
      if (!stored && stored.error().code == ErrorCode::kNotFound) continue;
      if (!stored) return stored.error();
      auto entry = MakeEntry(id, path, form.wrapper, *stored);
      if (!entry) return std::move(entry).error().Within(store().Describe(path));
      return std::optional(*std::move(entry));
    }
    return std::nullopt;
  }

  Result<std::vector<std::string>> Objects() const override {
    return std::vector<std::string>{folder_.path};
  }

  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override {
    if (object != folder_.path) {
      return InvalidArgument(fmt::format("{}: not an object of {}",
                                         store().Describe(object), folder_.Describe()));
    }
    DOLIUM_TRY(const auto ids, meshes_ ? meshes_->ListIds() : skeletons_->ListIds());
    for (const uint64_t id : ids) {
      const std::string key = std::to_string(id);
      const auto entry = Find(key);
      bool go_on = true;
      if (entry) {
        if (*entry) go_on = visitor.entry(**entry);
      } else if (visitor.damage) {
        go_on = visitor.damage(
            ErrorFinding("read", folder_.Child(key).Describe(), key, {}, entry.error()));
      } else {
        return entry.error();
      }
      if (!go_on) break;
    }
    return {};
  }

  Result<void> CheckObject(std::string_view /*object*/,
                           const FindingVisitor& /*visitor*/) const override {
    return {};
  }

 private:
  Result<Entry> MakeEntry(uint64_t id, const std::string& path, volume::Wrapper wrapper,
                          const WholeObject& stored) const {
    DOLIUM_TRY(const Bytes value,
               objects::UnwrapFile(path, stored.bytes, kDefaultDecodeLimit));
    // One that was compressed ahead of time has its plain name.
    if (wrapper == volume::Wrapper::kNone && value.size() != stored.bytes.size()) {
      const BytesView head = stored.bytes.view();
      wrapper =
          volume::WrapperOf(head.first(std::min(head.size(), volume::kWrapperHeadBytes)));
    }
    Entry entry;
    entry.key = std::to_string(id);
    entry.size = value.size();
    entry.extents.push_back(
        {std::make_shared<const ObjectVersion>(ObjectVersion{path, stored.generation}),
         {0, stored.bytes.size()},
         CodecsOf(wrapper, value.size())});
    if (meshes_) DOLIUM_TRY_VOID(AddFragments(id, value, entry));
    return entry;
  }

  // As many bytes of the file as the manifest lists.
  Result<void> AddFragments(uint64_t id, BytesView manifest, Entry& entry) const {
    DOLIUM_TRY(const mesh::Manifest parsed, mesh::ParseManifest(manifest));
    const uint64_t listed = parsed.fragment_bytes();
    if (listed == 0) return {};
    const std::string path = JoinPath(folder_.path, std::to_string(id));
    DOLIUM_TRY(const auto info, store().Stat(path));
    if (!info) {
      return Corrupt(fmt::format("the fragments are missing: no file {}", id));
    }
    if (info->size < listed) {
      return Corrupt(fmt::format("lists fragments of {} bytes, {} has {}", listed,
                                 store().Describe(path), info->size));
    }
    entry.preceding_from = Extent{
        std::make_shared<const ObjectVersion>(ObjectVersion{path, info->generation}),
        {0, listed},
        {}};
    return {};
  }

  const Location folder_;
  const std::optional<mesh::MeshSource> meshes_;
  const std::optional<skeleton::SkeletonSource> skeletons_;
};

// Entries of objects as those of their files.
class FilesOfObjects final : public EntrySource {
 public:
  explicit FilesOfObjects(EntrySource& objects) : objects_(objects) {}

  Result<std::span<const Entry>> Next() override {
    DOLIUM_TRY(const auto objects, objects_.Next());
    files_.clear();
    for (const Entry& object : objects) AddFilesOf(object);
    return std::span<const Entry>(files_);
  }
  Result<void> Rewind() override { return objects_.Rewind(); }

 private:
  void AddFilesOf(const Entry& object) {
    Entry file = object;
    file.preceding = 0;
    file.preceding_from.reset();
    if (object.preceding_size() == 0) {
      files_.push_back(std::move(file));
      return;
    }
    Entry fragments;
    fragments.key = object.key;
    fragments.size = object.preceding_size();
    const Extent& value = object.extents.front();
    fragments.extents.push_back(
        object.preceding_from
            ? *object.preceding_from
            : Extent{value.object,
                     {value.range.offset - object.preceding, object.preceding},
                     {}});
    files_.push_back(std::move(fragments));
    file.key += kManifestSuffix;
    files_.push_back(std::move(file));
  }

  EntrySource& objects_;
  std::vector<Entry> files_;
};

class UnshardedTarget final : public Target {
 public:
  UnshardedTarget(Location location, std::string info)
      : files_(std::move(location)), info_(std::move(info)) {}

  const Location& location() const override { return files_.location(); }
  std::string_view format_name() const override { return kUnshardedFormat.name; }
  std::string Describe() const override {
    return DumpJson(ordered_json{{"format", kUnshardedFormat.name}, {"info", info_}});
  }
  const CodecChain& codecs() const override { return files_.codecs(); }
  Result<uint64_t> PartOf(std::string_view key) const override {
    DOLIUM_TRY_VOID(neuroglancer::ParseKey(key));
    return files_.PartOf(key);
  }
  std::string PartObject(uint64_t part) const override { return files_.PartObject(part); }

  Result<WriteSummary> WritePart(uint64_t part, const PartSource& source,
                                 const WriterOptions& options) override {
    FilesOfObjects files(*source.entries);
    PartSource of_files = source;
    of_files.entries = &files;
    // Objects are what is counted, and not their files.
    if (source.progress) {
      of_files.progress = [&](uint64_t, uint64_t bytes) { source.progress(0, bytes); };
    }
    return files_.WritePart(part, of_files, options);
  }
  Result<std::unique_ptr<Writer>> NewWriter(const WriterOptions& /*options*/) override {
    return Unsupported(location().Describe() + ": objects are copied part by part");
  }
  Result<void> Finish() override {
    const Location info = location().Child("info");
    DOLIUM_TRY_VOID(info.store->Put(info.path, AsBytes(info_), Precondition::None()));
    return files_.Finish();
  }

 private:
  files::FilesTarget files_;
  const std::string info_;
};

Result<std::unique_ptr<Target>> CreateUnsharded(const Location& location,
                                                const CreateOptions& options) {
  if (options.spec || !options.parameters.empty()) {
    return InvalidArgument(
        fmt::format("{}: files have no shards, and take no {}", location.Describe(),
                    options.spec ? "spec of them" : options.parameters.begin()->first));
  }
  if (options.like == nullptr ||
      KindOfObjects(options.like->folder()) == ObjectKind::kNone) {
    return InvalidArgument(fmt::format(
        "{}: only meshes and skeletons have an unsharded storage of their own",
        location.Describe()));
  }
  DOLIUM_TRY(std::string info, UnshardedInfo(options.like->folder()));
  return std::make_unique<UnshardedTarget>(location, std::move(info));
}

Result<std::unique_ptr<Target>> ReopenUnsharded(const Location& location,
                                                std::string_view description) {
  const auto json = ParseJson(description);
  if (!json || !json->is_object() || !json->contains("info") ||
      !(*json)["info"].is_string()) {
    return InvalidArgument(fmt::format("{}: not the description of unsharded objects: {}",
                                       location.Describe(), description));
  }
  return std::make_unique<UnshardedTarget>(location, (*json)["info"].get<std::string>());
}

Result<int> ProbeUnsharded(const Location& /*location*/) { return 0; }

Result<std::unique_ptr<Container>> OpenUnsharded(const Location& location,
                                                 const OpenOptions& /*options*/) {
  return Unsupported(location.Describe() + ": unsharded objects are opened as a source");
}

bool OwnsUnsharded(std::string_view name) {
  if (name == "info") return true;
  name.remove_suffix(volume::FormOf(name).suffix.size());
  const size_t digits = std::min(name.find_first_not_of("0123456789"), name.size());
  const std::string_view suffix = name.substr(digits);
  return digits > 0 &&
         (suffix.empty() || suffix == kManifestSuffix || suffix.starts_with(':'));
}

}  // namespace

const Format kUnshardedFormat{
    .name = kUnshardedStorage,
    .summary = "meshes or skeletons, a file for each",
    .probe = ProbeUnsharded,
    .open = OpenUnsharded,
    .create = CreateUnsharded,
    .reopen = ReopenUnsharded,
    .owns_object = OwnsUnsharded,
};

Result<std::shared_ptr<const Container>> OpenUnshardedObjects(const Location& folder) {
  if (KindOfObjects(folder) == ObjectKind::kSkeletons) {
    DOLIUM_TRY(auto skeletons, skeleton::SkeletonSource::Open(folder));
    return std::make_shared<const UnshardedObjects>(folder, std::nullopt,
                                                    std::move(skeletons));
  }
  DOLIUM_TRY(auto meshes, mesh::MeshSource::Open(folder));
  if (meshes.kind() == mesh::MeshKind::kLegacy) {
    return Unsupported(
        fmt::format("{}: legacy meshes have no shards; they can be exported, and "
                    "imported as multi-resolution meshes",
                    folder.Describe()));
  }
  return std::make_shared<const UnshardedObjects>(folder, std::move(meshes),
                                                  std::nullopt);
}

Result<std::string> UnshardedInfo(const Location& folder) {
  const Location at = folder.Child("info");
  DOLIUM_TRY(const auto bytes, objects::ReadWrapped(at, kMaxCopiedObjectInfo));
  if (!bytes) return NotFound(fmt::format("{}: is not there", at.Describe()));
  auto info = ParseOrderedJson(AsText(*bytes));
  if (!info || !info->is_object()) {
    return Corrupt(fmt::format("{}: not a JSON object", at.Describe()));
  }
  info->erase("sharding");
  return DumpJsonLossy(*info, 2) + "\n";
}

}  // namespace dolium
