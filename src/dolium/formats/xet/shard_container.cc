#include "dolium/formats/xet/shard_container.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "dolium/container/entry_error.h"
#include "dolium/formats/xet/format.h"
#include "dolium/formats/xet/mdb_check.h"
#include "dolium/formats/xet/mdb_lookup.h"

namespace dolium::xet {

namespace {

bool IsDamage(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kUnsupported;
}

std::string TimeText(uint64_t seconds) {
  // What fmt can print: up to the year 9999.
  constexpr uint64_t kLast = 253402300799;
  if (seconds > kLast) return std::to_string(seconds);
  const std::chrono::sys_seconds time{std::chrono::seconds(seconds)};
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", time);
}

}  // namespace

std::optional<Hash> ShardNameOf(std::string_view path) {
  std::string_view name = BaseName(path);
  if (!name.ends_with(kShardExtension)) return std::nullopt;
  name.remove_suffix(kShardExtension.size());
  const auto hash = ParseHash(name);
  if (!hash) return std::nullopt;
  return *hash;
}

ShardContainer::ShardContainer(Location location, bool is_folder,
                               std::unique_ptr<XorbFolder> xorbs)
    : location_(std::move(location)), is_folder_(is_folder), xorbs_(std::move(xorbs)) {}

std::string_view ShardContainer::format_name() const { return kFormat.name; }

Properties ShardContainer::properties() const {
  Properties properties;
  if (is_folder_) return properties;
  properties.emplace_back("kind", "shard");
  const auto shard = OpenShard(location_.path);
  if (!shard) return properties;
  const ShardView& view = (*shard)->view;
  uint64_t files = 0;
  uint64_t file_bytes = 0;
  uint64_t xorbs = 0;
  uint64_t chunks = 0;
  uint64_t xorb_bytes = 0;
  const auto scanned = view.Scan({.file = [&](const FileBlock& file) -> Result<void> {
                                    ++files;
                                    file_bytes += file.raw_bytes();
                                    return {};
                                  },
                                  .xorb = [&](const XorbBlock& xorb) -> Result<void> {
                                    ++xorbs;
                                    chunks += xorb.size();
                                    xorb_bytes += xorb.raw_bytes();
                                    return {};
                                  }});
  if (!scanned) return properties;
  const auto add = [&](std::string name, uint64_t value) {
    properties.emplace_back(std::move(name), value);
  };
  add("files", files);
  add("file_bytes", file_bytes);
  add("xorbs", xorbs);
  add("chunks", chunks);
  add("xorb_bytes", xorb_bytes);
  const auto& footer = view.footer();
  properties.emplace_back("footer", footer ? "version 1" : "none");
  if (!footer) return properties;
  properties.emplace_back("keyed", !footer->key.is_zero());
  if (footer->created != 0) properties.emplace_back("created", TimeText(footer->created));
  properties.emplace_back("expires",
                          footer->expires() ? TimeText(footer->expiry) : "never");
  return properties;
}

Result<std::vector<std::string>> ShardContainer::Objects() const {
  if (!is_folder_) return std::vector<std::string>{location_.path};
  std::vector<std::string> objects;
  DOLIUM_TRY_VOID(
      store().List(location_.path, [&](std::string_view name, bool is_folder) {
        if (!is_folder && ShardNameOf(name)) {
          objects.push_back(JoinPath(location_.path, name));
        }
        return true;
      }));
  std::ranges::sort(objects);
  return objects;
}

Result<std::shared_ptr<const ShardContainer::Open>> ShardContainer::OpenShard(
    std::string_view object) const {
  const Location place{location_.store, std::string(object)};
  if (auto known = open_.Get(object)) return known;
  DOLIUM_TRY(WholeObject whole, store().ReadWhole(object, kMaxShardObject));
  Bytes bytes = std::move(whole.bytes);
  DOLIUM_TRY(const ShardView view, ShardView::Open(bytes).Within(place.Describe()));
  auto shard = std::make_shared<const Open>(Open{std::move(bytes), view});
  open_.Put(object, shard, shard->bytes.size());
  return shard;
}

Result<Extent> ShardContainer::ExtentOfTerm(std::string_view what, const Term& term,
                                            std::optional<MerkleBuilder>& chunks) const {
  DOLIUM_TRY(const auto xorb, xorbs_->Find(term.xorb));
  if (!xorb) {
    chunks.reset();
    const Location absent = xorbs_->first().Child(ToString(term.xorb));
    auto object =
        std::make_shared<const ObjectVersion>(ObjectVersion{absent.path, Generation()});
    return Extent{std::move(object), {0, term.raw_bytes}, {}};
  }
  const XorbIndex& index = xorb->index;
  if (term.first >= term.end || term.end > index.size()) {
    return Corrupt(fmt::format("chunks [{}, {}) of xorb {}, which has {}", term.first,
                               term.end, ToString(term.xorb), index.size()));
  }
  const uint64_t raw = index.raw_offset(term.end) - index.raw_offset(term.first);
  if (raw != term.raw_bytes) {
    return Corrupt(fmt::format("chunks [{}, {}) of xorb {} have {} bytes, {} expected",
                               term.first, term.end, ToString(term.xorb), raw,
                               term.raw_bytes));
  }
  for (size_t i = term.first; chunks && i < term.end; ++i) {
    chunks->Add(index.chunks[i], index.raw_size(i));
  }
  return ExtentOf(xorb, term.first, term.end, what);
}

Result<Entry> ShardContainer::EntryOf(const FileBlock& file) const {
  Entry entry;
  entry.key = ToString(file.hash());
  entry.size = file.raw_bytes();
  if (const auto sha256 = file.sha256()) entry.sha256 = Sha256Digest(*sha256);
  std::optional<MerkleBuilder> chunks(std::in_place);
  for (size_t i = 0; i < file.size(); ++i) {
    const std::string what = fmt::format("term {}", i);
    auto extent = ExtentOfTerm(what, file.term(i), chunks);
    if (!extent) return std::move(extent).error().Within(what);
    entry.extents.push_back(*std::move(extent));
  }
  if (chunks) {
    if (const Hash found = FileHash(*chunks); found != file.hash()) {
      return Corrupt(fmt::format("its chunks give the hash {}", ToString(found)));
    }
  }
  return entry;
}

Result<std::optional<Entry>> ShardContainer::Find(std::string_view key) const {
  DOLIUM_TRY(const Hash hash, ParseHash(key));
  DOLIUM_TRY(const auto objects, Objects());
  for (const std::string& object : objects) {
    DOLIUM_TRY(const auto shard, OpenShard(object));
    DOLIUM_TRY(const auto file,
               FindFile(shard->view, hash).Within(store().Describe(object)));
    if (!file) continue;
    auto entry = EntryOf(*file);
    if (!entry) return EntryError(store().Describe(object), key, entry.error());
    return *std::move(entry);
  }
  return std::nullopt;
}

Result<void> ShardContainer::ScanObject(std::string_view object,
                                        const ScanVisitor& visitor) const {
  DOLIUM_TRY(const auto shard, OpenShard(object));
  const std::string name = store().Describe(object);
  FileCursor files = shard->view.files();
  for (;;) {
    DOLIUM_TRY(const auto file, files.Next().Within(name));
    if (!file) return {};
    auto entry = EntryOf(*file);
    bool goes_on = true;
    if (entry) {
      goes_on = visitor.entry(*entry);
    } else if (visitor.damage && IsDamage(entry.error())) {
      goes_on = visitor.damage(ErrorFinding("terms", name, ToString(file->hash()),
                                            std::nullopt, entry.error()));
    } else {
      return EntryError(name, ToString(file->hash()), entry.error());
    }
    if (!goes_on) return {};
  }
}

Result<void> ShardContainer::CheckObject(std::string_view object,
                                         const FindingVisitor& visitor) const {
  DOLIUM_TRY(const auto shard, OpenShard(object));
  const std::string name = store().Describe(object);
  if (const auto checked = CheckShard(shard->view); !checked) {
    visitor(ErrorFinding("index", name, {}, std::nullopt, checked.error()));
  }
  if (const auto expected = ShardNameOf(object)) {
    if (const Hash found = ChunkHash(shard->bytes); found != *expected) {
      visitor(ErrorFinding(
          "name", name, {}, std::nullopt,
          Corrupt(fmt::format("its bytes give the hash {}", ToString(found)))));
    }
  }
  return {};
}

}  // namespace dolium::xet
