// FakeContainer: an index in the heap over objects of gzip values, which tests can
// damage.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/memory_store.h"
#include "dolium/codec/gzip.h"
#include "dolium/container/container.h"
#include "dolium/container/testing/must.h"

namespace dolium {

class FakeContainer final : public Container {
 public:
  const Location& location() const override { return location_; }
  std::string_view format_name() const override { return "fake"; }
  Properties properties() const override { return {}; }

  Result<std::optional<Entry>> Find(std::string_view key) const override {
    for (const auto& [name, entries] : index_) {
      for (const Entry& entry : entries) {
        if (entry.key == key) return entry;
      }
    }
    return std::nullopt;
  }
  Result<std::vector<std::string>> Objects() const override {
    std::vector<std::string> objects;
    for (const auto& [name, entries] : index_) objects.push_back(name);
    return objects;
  }
  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override {
    if (object == unreadable) return Corrupt(store().Describe(object) + ": no index");
    if (object == damaged && visitor.damage && !visitor.damage(Damage(object))) return {};
    for (const Entry& entry : index_.at(std::string(object))) {
      if (!visitor.entry(entry)) break;
    }
    return {};
  }
  Result<void> CheckObject(std::string_view object,
                           const FindingVisitor& visitor) const override {
    if (object == unreadable) return Corrupt(store().Describe(object) + ": no index");
    if (object == damaged) visitor(Damage(object));
    if (replacements > 0) {
      --replacements;
      visitor(Damage(object));
      return Conflict(store().Describe(object) + ": was replaced");
    }
    if (object == odd) {
      visitor({Severity::kWarning, "gap", store().Describe(object), {}, {}, "a gap"});
    }
    return {};
  }

  // Adds an object of `count` entries, "<name>-<i>".
  void AddObject(const std::string& name, size_t count) {
    const CodecChain gzip{{CodecId::kGzip}};
    ByteVector all;
    std::vector<Entry> entries;
    for (size_t i = 0; i < count; ++i) {
      Entry entry;
      entry.key = fmt::format("{}-{}", name, i);
      const ByteVector stored = GzipEncode(AsBytes(entry.key), 1);
      entry.extents.push_back({nullptr, {all.size(), stored.size()}, gzip});
      Append(all, stored);
      entries.push_back(std::move(entry));
    }
    const auto version = std::make_shared<const ObjectVersion>(
        ObjectVersion{name, Must(location_.store->Put(name, all, Precondition::None()))});
    for (Entry& entry : entries) entry.extents[0].object = version;
    index_[name] = std::move(entries);
  }
  Entry& entry(const std::string& object, size_t i) { return index_.at(object).at(i); }

  std::string unreadable;        // an object whose index cannot be read
  mutable int replacements = 0;  // how often an object is replaced while it is checked
  std::string damaged;           // one whose index is damaged in one place
  std::string odd;               // one that deserves a warning

 private:
  Finding Damage(std::string_view object) const {
    return {Severity::kError, "index",          store().Describe(object), {},
            ByteRange{3, 4},  "a damaged block"};
  }

  const Location location_{std::make_shared<MemoryStore>("m"), ""};
  std::map<std::string, std::vector<Entry>> index_;
};

}  // namespace dolium
