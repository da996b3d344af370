#include "dolium/ops/source/part_container.h"

#include <algorithm>

#include <fmt/format.h>

namespace dolium {
namespace {

// The key with the part in front.
Entry WithPart(const Entry& entry, const std::string& part) {
  Entry named = entry;
  named.key = fmt::format("{}/{}", part, entry.key);
  return named;
}

Finding WithPart(const Finding& finding, const std::string& part) {
  Finding named = finding;
  if (!finding.key.empty()) named.key = fmt::format("{}/{}", part, finding.key);
  return named;
}

}  // namespace

void AddPart(SourcePart part, std::vector<SourcePart>& parts) {
  const auto is_same = [&](const SourcePart& other) {
    return other.name == part.name || other.location.path == part.location.path;
  };
  if (!std::ranges::any_of(parts, is_same)) parts.push_back(std::move(part));
}

Result<std::shared_ptr<const Container>> OpenPartFolder(Formats formats,
                                                        const Location& folder,
                                                        std::string_view format,
                                                        const OpenOptions& options) {
  auto opened = OpenContainer(formats, folder, format, options);
  if (!opened && format.empty() && opened.error().code == ErrorCode::kInvalidArgument) {
    // Files that cannot be listed are not recognised, and can be read.
    auto files = OpenContainer(formats, folder, "files", options);
    if (files) opened = std::move(files);
  }
  if (!opened && opened.error().code == ErrorCode::kNotFound) {
    return std::shared_ptr<const Container>();
  }
  if (!opened) return std::move(opened).error();
  return std::shared_ptr<const Container>(*std::move(opened));
}

PartContainer::PartContainer(std::vector<SourcePart> parts)
    : parts_(std::move(parts)),
      opened_(std::make_unique<Once<std::shared_ptr<const Container>>[]>(parts_.size())) {
}

Result<const Container*> PartContainer::OpenPart(size_t part) const {
  DOLIUM_TRY(const auto* const opened,
             opened_[part].Get([&] { return Load(parts_[part]); }));
  return opened->get();
}

std::optional<std::pair<size_t, std::string_view>> PartContainer::SplitKey(
    std::string_view key) const {
  std::optional<std::pair<size_t, std::string_view>> longest;
  for (size_t i = 0; i < parts_.size(); ++i) {
    const std::string& name = parts_[i].name;
    if (key.size() <= name.size() || !key.starts_with(name) || key[name.size()] != '/') {
      continue;
    }
    if (longest && parts_[longest->first].name.size() > name.size()) continue;
    longest = {i, key.substr(name.size() + 1)};
  }
  return longest;
}

Result<size_t> PartContainer::PartOfObject(std::string_view object) const {
  // A plain folder is its own object; shards lie in theirs.
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].location.path == object) return i;
  }
  const std::string folder = ParentPath(object);
  for (size_t i = 0; i < parts_.size(); ++i) {
    if (parts_[i].location.path == folder) return i;
  }
  return InvalidArgument(fmt::format("{}: not an object of {}", store().Describe(object),
                                     location().Describe()));
}

Result<std::optional<Entry>> PartContainer::Find(std::string_view key) const {
  const auto split = SplitKey(key);
  if (!split) return std::nullopt;
  DOLIUM_TRY(const Container* const part, OpenPart(split->first));
  if (part == nullptr) return std::nullopt;
  DOLIUM_TRY(const auto entry, part->Find(split->second));
  if (!entry) return std::nullopt;
  return WithPart(*entry, parts_[split->first].name);
}

Result<std::vector<std::string>> PartContainer::Objects() const {
  std::vector<std::string> objects;
  for (size_t i = 0; i < parts_.size(); ++i) {
    DOLIUM_TRY(const Container* const part, OpenPart(i));
    if (part == nullptr) continue;
    auto own = part->Objects();
    // Nothing was written to it.
    if (!own && own.error().code == ErrorCode::kNotFound) continue;
    if (!own) return std::move(own).error();
    objects.insert(objects.end(), own->begin(), own->end());
  }
  return objects;
}

Result<void> PartContainer::ScanObject(std::string_view object,
                                       const ScanVisitor& visitor) const {
  DOLIUM_TRY(const size_t number, PartOfObject(object));
  DOLIUM_TRY(const Container* const part, OpenPart(number));
  if (part == nullptr) return {};
  const std::string& name = parts_[number].name;
  ScanVisitor named;
  named.entry = [&](const Entry& entry) { return visitor.entry(WithPart(entry, name)); };
  if (visitor.damage) {
    named.damage = [&](const Finding& finding) {
      return visitor.damage(WithPart(finding, name));
    };
  }
  return part->ScanObject(object, named);
}

Result<void> PartContainer::CheckObject(std::string_view object,
                                        const FindingVisitor& visitor) const {
  DOLIUM_TRY(const size_t number, PartOfObject(object));
  DOLIUM_TRY(const Container* const part, OpenPart(number));
  if (part == nullptr) return {};
  return part->CheckObject(object, [&](const Finding& finding) {
    visitor(WithPart(finding, parts_[number].name));
  });
}

void PartContainer::Forget(std::string_view key) const {
  const auto split = SplitKey(key);
  if (!split) return;
  const auto part = OpenPart(split->first);
  if (!part || *part == nullptr) return;
  if (const auto* const cache = dynamic_cast<const IndexCache*>(*part)) {
    cache->Forget(split->second);
  }
}

}  // namespace dolium
