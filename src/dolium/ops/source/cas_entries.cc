#include "dolium/ops/source/cas_entries.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dolium/container/entry_error.h"
#include "dolium/domain/cas/statistics.h"

namespace dolium {
namespace {

constexpr size_t kKeptVersions = 16;
constexpr uint64_t kKeptFiles = 1'000'000;

// What ends the visit of a manifest early.
Error ManifestVisitEnded() { return Cancelled(); }

}  // namespace

CasEntries::CasEntries(Location location, std::shared_ptr<const cas::CasStore> store,
                       std::unique_ptr<cas::Lease> lease, uint64_t cache_bytes)
    : location_(std::move(location)),
      store_(std::move(store)),
      lease_(std::move(lease)),
      xorbs_({location_.Child("xorbs"), location_.Child("damaged")}, cache_bytes),
      files_(kKeptVersions, kKeptFiles) {}

Result<std::shared_ptr<CasEntries>> CasEntries::Open(
    Location location, std::shared_ptr<const cas::CasStore> store, uint64_t cache_bytes) {
  DOLIUM_TRY(auto lease, store->TakeLease());
  return std::shared_ptr<CasEntries>(new CasEntries(std::move(location), std::move(store),
                                                    std::move(lease), cache_bytes));
}

std::string_view CasEntries::format_name() const { return "cas"; }

Properties CasEntries::properties() const {
  const auto names = cas::ListNames(store_->layout());
  if (!names) return {};
  Properties properties = {{"names", names->size()}};
  for (const std::string& name : *names) {
    const auto files = cas::ListVersionFiles(store_->layout(), name);
    if (files) {
      properties.emplace_back(fmt::format("versions of {}", name), files->size());
    }
  }
  return properties;
}

Result<Properties> CasEntries::Statistics(std::stop_token /*stop*/) const {  // NOLINT
  DOLIUM_TRY(const auto counts, cas::CountStore(*store_));
  return Properties{{"names", counts.names},
                    {"versions", counts.versions},
                    {"files", counts.files},
                    {"file_bytes", counts.bytes},
                    {"chunks", counts.chunks},
                    {"raw_bytes", counts.raw_bytes},
                    {"xorbs", counts.xorbs},
                    {"shards", counts.shards},
                    {"dedup_ratio", counts.dedup_ratio()},
                    {"compression", counts.compression_ratio()}};
}

Result<Entry> CasEntries::EntryOfFile(std::string key, const xet::Hash& hash) const {
  DOLIUM_TRY(const auto file, store_->OpenFile(hash, *lease_));
  Entry entry;
  entry.key = std::move(key);
  entry.size = file->size();
  for (const xet::Term& term : file->terms()) {
    const std::string what = fmt::format("file {}", ToString(hash));
    DOLIUM_TRY(const auto xorb, xorbs_.Find(term.xorb));
    if (!xorb) {
      // Listing goes on without it; reading says that it is not there.
      auto absent = std::make_shared<const ObjectVersion>(
          ObjectVersion{xorbs_.first().Child(ToString(term.xorb)).path, Generation()});
      entry.extents.push_back({std::move(absent), {0, term.raw_bytes}, {}});
      continue;
    }
    const uint64_t chunks = xorb->index.size();
    if (term.first >= term.end || term.end > chunks) {
      return Corrupt(fmt::format("{}: chunks [{}, {}) of xorb {}, which has {}", what,
                                 term.first, term.end, ToString(term.xorb), chunks));
    }
    entry.extents.push_back(ExtentOf(xorb, term.first, term.end, what));
  }
  return entry;
}

Result<std::shared_ptr<const CasEntries::Files>> CasEntries::FilesOf(
    const cas::Version& version) const {
  const std::string reference = version.reference();
  if (auto kept = files_.Get(reference)) return kept;
  auto files = std::make_shared<Files>();
  DOLIUM_TRY_VOID(store_->VisitManifest(
      version, *lease_, [&](const cas::ManifestEntry& entry) -> Result<void> {
        if (entry.type == cas::EntryType::kFile) files->emplace(entry.path, entry.hash);
        return {};
      }));
  files_.Put(reference, files, files->size());
  return files;
}

Result<std::optional<Entry>> CasEntries::Find(std::string_view key) const {
  // Names and paths may have slashes and at signs: the first split that is a version
  // counts.
  for (size_t end = key.find('/');; end = key.find('/', end + 1)) {
    const std::string_view text = key.substr(0, end);
    const auto reference = cas::ParseReference(text);
    const bool is_last = end == std::string_view::npos;
    if (reference && reference->sequence) {
      const auto version = cas::FindVersion(store_->layout(), *reference);
      if (!version && version.error().code != ErrorCode::kNotFound) {
        return version.error();
      }
      if (version && version->kind == cas::VersionKind::kFile) {
        if (!is_last) return std::nullopt;
        DOLIUM_TRY(Entry entry, EntryOfFile(std::string(key), version->hash));
        return entry;
      }
      if (version && !is_last) {
        const std::string_view path = key.substr(end + 1);
        DOLIUM_TRY(const auto files, FilesOf(*version));
        const auto found = files->find(std::string(path));
        if (found == files->end()) return std::nullopt;
        DOLIUM_TRY(Entry entry, EntryOfFile(std::string(key), found->second));
        return entry;
      }
    }
    if (is_last) return std::nullopt;
  }
}

Result<std::vector<std::string>> CasEntries::Objects() const {
  std::vector<std::string> objects;
  DOLIUM_TRY(const auto names, cas::ListNames(store_->layout()));
  for (const std::string& name : names) {
    DOLIUM_TRY(const auto files, cas::ListVersionFiles(store_->layout(), name));
    for (const cas::VersionFile& file : files) objects.push_back(file.path);
  }
  return objects;
}

Result<cas::Version> CasEntries::VersionOf(std::string_view object) const {
  const auto name = cas::UnescapeName(BaseName(ParentPath(object)));
  if (name) {
    DOLIUM_TRY(const auto files, cas::ListVersionFiles(store_->layout(), *name));
    for (const cas::VersionFile& file : files) {
      if (file.path == object) return cas::ReadVersionFile(store_->layout(), file, *name);
    }
  }
  return NotFound(fmt::format("{}: no version of this store", object));
}

Result<void> CasEntries::ScanObject(std::string_view object,
                                    const ScanVisitor& visitor) const {
  const auto version = VersionOf(object);
  const std::string name = store().Describe(object);
  const auto damage = [&](std::string key, const Error& error) -> Result<bool> {
    if (!visitor.damage) return error;
    return visitor.damage(ErrorFinding("read", name, std::move(key), {}, error));
  };
  if (!version) {
    // Removed meanwhile.
    if (version.error().code == ErrorCode::kNotFound) return {};
    DOLIUM_TRY([[maybe_unused]] const bool go_on, damage({}, version.error()));
    return {};
  }
  const auto show = [&](std::string key, const xet::Hash& hash) -> Result<bool> {
    const auto entry = EntryOfFile(key, hash);
    if (!entry) return damage(std::move(key), entry.error());
    return visitor.entry(*entry);
  };
  if (version->kind == cas::VersionKind::kFile) {
    DOLIUM_TRY([[maybe_unused]] const bool go_on,
               show(version->reference(), version->hash));
    return {};
  }
  bool is_ended = false;
  Result<void> failed;
  const auto visited = store_->VisitManifest(
      *version, *lease_, [&](const cas::ManifestEntry& entry) -> Result<void> {
        if (entry.type != cas::EntryType::kFile) return {};
        const auto go_on =
            show(fmt::format("{}/{}", version->reference(), entry.path), entry.hash);
        if (go_on && *go_on) return {};
        is_ended = true;
        if (!go_on) failed = go_on.error();
        return ManifestVisitEnded();
      });
  if (is_ended) return failed;
  if (!visited) {
    DOLIUM_TRY([[maybe_unused]] const bool go_on, damage({}, visited.error()));
  }
  return {};
}

Result<std::optional<std::string>> CasEntries::FindLink() const {
  std::optional<std::string> link;
  DOLIUM_TRY(const auto objects, Objects());
  for (const std::string& object : objects) {
    const auto version = VersionOf(object);
    if (!version || version->kind == cas::VersionKind::kFile) continue;
    const auto visited = store_->VisitManifest(
        *version, *lease_, [&](const cas::ManifestEntry& entry) -> Result<void> {
          if (entry.type != cas::EntryType::kLink) return {};
          link = fmt::format("{}/{}", version->reference(), entry.path);
          return ManifestVisitEnded();
        });
    if (link) return link;
    // The scan reports what is damaged, and whether that is an error.
    static_cast<void>(visited);
  }
  return link;
}

Result<void> CasEntries::CheckObject(std::string_view object,
                                     const FindingVisitor& visitor) const {
  const auto version = VersionOf(object);
  if (version || version.error().code == ErrorCode::kNotFound) return {};
  visitor(ErrorFinding("version", store().Describe(object), {}, {}, version.error()));
  return {};
}

}  // namespace dolium
