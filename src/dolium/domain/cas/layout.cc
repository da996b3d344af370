#include "dolium/domain/cas/layout.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "dolium/bytes/file_store.h"
#include "dolium/bytes/folder.h"
#include "dolium/domain/cas/files.h"

namespace dolium::cas {
namespace {

// Leaves room for the three digits of escapes within the 255 bytes of a file name.
constexpr size_t kLongestFolder = 240;
constexpr uint64_t kMarkerLimit = 4096;

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         c == '.' || c == '_' || c == '-';
}

std::optional<uint64_t> ParseSequence(std::string_view text) {
  uint64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

Result<void> MakeLocalParts(const Layout& layout) {
  DOLIUM_TRY(const UniqueFd folder,
             MakeFolder(AT_FDCWD, layout.local(), true).Within(layout.local()));
  for (const std::string& part : {layout.temporaries(), layout.leases()}) {
    DOLIUM_TRY_VOID(MakeFolderAt(part));
  }
  const UniqueFd lock(open(layout.lock().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  if (!lock) return SystemError(errno, "cannot make").Within(layout.lock());
  return {};
}

// Last: what has no marker is no store.
Result<void> WriteMarker(const Layout& layout) {
  DOLIUM_TRY(NewFile marker, NewFile::Create(layout, "init"));
  DOLIUM_TRY_VOID(marker.Append(AsBytes(MarkerText())));
  return layout.objects().Publish(std::move(marker), layout.marker());
}

Result<void> CheckMarker(const Layout& layout) {
  auto marker = layout.objects().ReadSmall(layout.marker(), kMarkerLimit);
  if (!marker) {
    if (marker.error().code != ErrorCode::kNotFound) return std::move(marker).error();
    return NotFound(fmt::format("{}: no store is there", layout.Describe()))
        .WithHint(Hint::kInitStore);
  }
  const std::string_view text = AsText(*marker);
  if (text == MarkerText()) return {};
  const std::string described = layout.objects().Describe(layout.marker());
  if (text.starts_with("{\"format\":\"dolium-cas\",\"version\":")) {
    return Unsupported(
        fmt::format("{}: a store of another version than 1, or damaged", described));
  }
  return Corrupt(fmt::format("{}: not the marker of a store", described));
}

}  // namespace

std::string Layout::xorb_folder(const xet::Hash& hash) const {
  return JoinPath(xorbs(), ToString(hash).substr(0, 2));
}
std::string Layout::xorb(const xet::Hash& hash) const {
  const std::string text = ToString(hash);
  return fmt::format("{}/{}/{}.xorb", xorbs(), text.substr(0, 2), text);
}
std::array<std::string, 2> Layout::quarantined_xorb(const xet::Hash& hash) const {
  auto paths = quarantines();
  for (std::string& path : paths) path += fmt::format("/{}.xorb", ToString(hash));
  return paths;
}
std::string Layout::shard(const xet::Hash& hash) const {
  return fmt::format("{}/{}.mdb", shards(), ToString(hash));
}
std::string Layout::name_folder(std::string_view name) const {
  return JoinPath(names(), EscapeName(name));
}

std::string_view MarkerText() { return "{\"format\":\"dolium-cas\",\"version\":1}\n"; }

Result<Layout> Layout::Local(const std::string& folder) {
  if (folder.empty()) return InvalidArgument("the folder of a store has no name");
  // Files are synced where objects are made: objects.h.
  DOLIUM_TRY(auto store, FileStore::Open(".", {.sync = false}));
  return Layout(Objects(std::move(store), true), folder, folder);
}

Result<void> InitStore(const std::string& path) {
  DOLIUM_TRY(const Layout layout, Layout::Local(path));
  DOLIUM_TRY(const UniqueFd folder, MakeFolder(AT_FDCWD, path, true).Within(path));
  bool is_empty = true;
  DOLIUM_TRY_VOID(ListFolder(path, [&](std::string_view) { is_empty = false; }));
  if (!is_empty) {
    return Exists(fmt::format("{}: is not empty; a store is made in a new folder", path));
  }
  for (const std::string& part : {layout.xorbs(), layout.shards(), layout.names()}) {
    DOLIUM_TRY_VOID(MakeFolderAt(part));
  }
  DOLIUM_TRY_VOID(MakeLocalParts(layout));
  return WriteMarker(layout);
}

Result<void> InitStore(const Layout& layout) {
  DOLIUM_TRY(const auto there, layout.objects().List(ParentPath(layout.marker())));
  if (!there.empty()) {
    return Exists(fmt::format("{}: is not empty; a store is made in a new folder",
                              layout.Describe()));
  }
  DOLIUM_TRY_VOID(MakeLocalParts(layout));
  return WriteMarker(layout);
}

Result<Layout> OpenLayout(const std::string& path) {
  DOLIUM_TRY(Layout layout, Layout::Local(path));
  DOLIUM_TRY_VOID(CheckMarker(layout));
  return layout;
}

Result<void> OpenLayout(const Layout& layout) {
  DOLIUM_TRY_VOID(CheckMarker(layout));
  return MakeLocalParts(layout);
}

std::optional<xet::Hash> HashOfFileName(std::string_view file_name,
                                        std::string_view end) {
  if (file_name.size() != 64 + end.size() || !file_name.ends_with(end)) {
    return std::nullopt;
  }
  const auto hash = xet::ParseHash(file_name.substr(0, 64));
  if (!hash || ToString(*hash) != file_name.substr(0, 64)) return std::nullopt;
  return *hash;
}

std::string EscapeName(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (IsPlain(c) && !(c == '.' && out.empty())) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::optional<std::string> UnescapeName(std::string_view folder) {
  std::string out;
  for (size_t i = 0; i < folder.size(); ++i) {
    if (folder[i] != '%') {
      out += folder[i];
      continue;
    }
    unsigned value = 0;
    if (i + 2 >= folder.size()) return std::nullopt;
    const auto [end, error] =
        std::from_chars(folder.data() + i + 1, folder.data() + i + 3, value, 16);
    if (error != std::errc() || end != folder.data() + i + 3) return std::nullopt;
    out += static_cast<char>(value);
    i += 2;
  }
  if (EscapeName(out) != folder) return std::nullopt;
  return out;
}

Result<void> CheckName(std::string_view name) {
  if (name.empty()) return InvalidArgument("a name is empty");
  if (EscapeName(name).size() > kLongestFolder) {
    return InvalidArgument(fmt::format("name \"{}\" is too long", name));
  }
  const size_t at = name.rfind('@');
  if (at != std::string_view::npos && ParseSequence(name.substr(at + 1))) {
    return InvalidArgument(
        fmt::format("name \"{}\" ends like the number of a version", name));
  }
  if (xet::ParseHash(name)) {
    return InvalidArgument(fmt::format("name \"{}\" reads like a hash", name));
  }
  return {};
}

Result<Reference> ParseReference(std::string_view text) {
  Reference reference;
  if (const auto hash = xet::ParseHash(text)) {
    reference.hash = *hash;
    return reference;
  }
  const size_t at = text.rfind('@');
  if (at != std::string_view::npos) {
    if (const auto sequence = ParseSequence(text.substr(at + 1))) {
      reference.sequence = sequence;
      text = text.substr(0, at);
    }
  }
  DOLIUM_TRY_VOID(CheckName(text));
  reference.name = text;
  return reference;
}

}  // namespace dolium::cas
