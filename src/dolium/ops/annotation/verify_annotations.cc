// The check of a folder of annotations.
#include <algorithm>
#include <mutex>
#include <set>
#include <unordered_map>
#include <unordered_set>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/container/entry_error.h"
#include "dolium/ops/annotation/annotation_entries.h"

namespace dolium {
namespace {

using annotation::AnnotationInfo;
using annotation::AnnotationSource;
using annotation::AnnotationTable;
using annotation::AnnotationView;
using annotation::Property;

// Values that are read before they are looked at.
constexpr size_t kCheckedAtOnce = 4096;

class AnnotationCheck {
 public:
  AnnotationCheck(const AnnotationSource& annotations, const VerifyOptions& options,
                  const FindingVisitor& visitor, VerifyReport& report)
      : annotations_(annotations),
        info_(annotations.info()),
        options_(options),
        visitor_(visitor),
        report_(report) {
    read_.jobs = options.jobs;
    read_.stop = options.stop;
  }

  Result<void> Run() {
    DOLIUM_TRY_VOID(CheckValues());
    for (size_t r = 0; r < info_.relationships.size(); ++r) {
      DOLIUM_TRY_VOID(CheckRelationship(r));
    }
    for (size_t level = 0; level < info_.spatial.size(); ++level) {
      DOLIUM_TRY_VOID(CheckLevel(level));
    }
    CheckComplete();
    return {};
  }

 private:
  void Add(Severity severity, std::string kind, std::string object, std::string key,
           std::string message) {
    if (severity == Severity::kError) {
      ++report_.errors;
    } else {
      ++report_.warnings;
    }
    visitor_({.severity = severity,
              .kind = std::move(kind),
              .object = std::move(object),
              .key = std::move(key),
              .range = std::nullopt,
              .message = std::move(message)});
  }

  // An error of reading one value: damage is a finding, all else ends the check.
  Result<void> Damage(const std::string& object, const std::string& key,
                      const Error& error) {
    if (error.code == ErrorCode::kCancelled) return error;
    CountError(report_, error.code);
    visitor_(ErrorFinding("value", object, key, std::nullopt, error));
    return {};
  }

  static std::string KeyOf(const std::string& part, uint64_t id) {
    return fmt::format("{}/{}", part, id);
  }

  void CheckProperties(const AnnotationView& one, const std::string& object,
                       const std::string& key) {
    size_t used = 0;
    for (size_t p = 0; p < info_.properties.size(); ++p) {
      const Property& property = info_.properties[p];
      const size_t offset = annotations_.layout().offset(p);
      used = std::max(used, offset + annotation::SizeOf(property.type));
      if (property.enum_values.empty()) continue;
      const double number = annotation::NumberAt(property.type, &one.properties[offset]);
      if (std::ranges::find(property.enum_values, number) == property.enum_values.end()) {
        Add(Severity::kWarning, "enum", object, key,
            fmt::format("property \"{}\" is {}, which is none of its enum values",
                        property.id, number));
      }
    }
    const auto padding = one.properties.subspan(used);
    if (std::ranges::any_of(padding, [](std::byte b) { return b != std::byte{0}; })) {
      Add(Severity::kWarning, "padding", object, key,
          "the bytes behind the properties are not zero");
    }
    const annotation::Region reach =
        annotation::RegionOf(info_.type, info_.rank(), one.geometry);
    for (size_t d = 0; d < info_.rank(); ++d) {
      // Bounds may have been rounded to float32.
      const auto lower = static_cast<float>(info_.lower_bound[d]);
      const auto upper = static_cast<float>(info_.upper_bound[d]);
      if (static_cast<float>(reach.lower[d]) >= lower &&
          static_cast<float>(reach.upper[d]) <= upper) {
        continue;
      }
      Add(Severity::kWarning, "bounds", object, key,
          fmt::format("reaches from {} to {} in {}, outside of the bounds from {} to {}",
                      reach.lower[d], reach.upper[d], info_.dimensions[d].name,
                      info_.lower_bound[d], info_.upper_bound[d]));
    }
  }

  Result<void> CheckValues() {
    auto listed = annotations_.ListIds(options_.stop);
    if (!listed) {
      return Damage(annotations_.by_id().folder().Describe(), "", listed.error());
    }
    const std::vector<uint64_t>& ids = *listed;
    for (size_t begin = 0; begin < ids.size(); begin += kCheckedAtOnce) {
      const auto some =
          std::span(ids).subspan(begin, std::min(kCheckedAtOnce, ids.size() - begin));
      const auto table = annotations_.GetMany(some, read_);
      if (table) {
        TakeValues(*table);
        continue;
      }
      // Once more, one by one, to find those that are damaged.
      for (const uint64_t id : some) {
        const auto one = annotations_.GetMany(std::span(&id, 1), read_);
        if (one) {
          TakeValues(*one);
          continue;
        }
        known_.insert(id);
        DOLIUM_TRY_VOID(Damage(annotations_.by_id().Describe(id),
                               KeyOf(info_.by_id.key, id), one.error()));
      }
    }
    return {};
  }

  void TakeValues(const AnnotationTable& table) {
    CountBytes(table);
    for (size_t i = 0; i < table.size(); ++i) {
      const uint64_t id = table.ids()[i];
      known_.insert(id);
      CheckProperties(table[i], annotations_.by_id().Describe(id),
                      KeyOf(info_.by_id.key, id));
      for (size_t r = 0; r < info_.relationships.size(); ++r) {
        const auto ids = table.related()[r].Of(i);
        for (const uint64_t related : std::set<uint64_t>(ids.begin(), ids.end())) {
          ++related_[{r, related}];
        }
      }
    }
    Progressed(table.size());
  }

  void Progressed(size_t values) {
    report_.entries_read += values;
    if (options_.progress) options_.progress({.entries = report_.entries_read});
  }

  // What values and lists have of records and ids.
  void CountBytes(const AnnotationTable& table) {
    const uint64_t bytes = table.properties().size() +
                           table.geometry().size() * sizeof(float) +
                           table.size() * sizeof(uint64_t);
    report_.bytes_read += bytes;
    report_.bytes_decoded += bytes;
  }

  // What is wrong with a list by itself.
  void CheckList(const AnnotationTable& list, const std::string& object,
                 const std::string& key) {
    CountBytes(list);
    std::unordered_set<uint64_t> seen;
    for (const uint64_t id : list.ids()) {
      if (!seen.insert(id).second) {
        Add(Severity::kError, "duplicate", object, key,
            fmt::format("annotation {} is there twice", id));
      }
      if (!known_.contains(id)) {
        Add(Severity::kError, "unknown", object, key,
            fmt::format("annotation {} is not there by its id", id));
      }
    }
  }

  Result<void> CheckRelationship(size_t relationship) {
    const auto& storage = annotations_.related(relationship);
    const std::string& part = info_.relationships[relationship].key;
    auto listed = storage.ListIds(options_.stop);
    if (!listed && listed.error().code != ErrorCode::kNotFound) {
      return Damage(storage.folder().Describe(), "", listed.error());
    }
    const std::vector<uint64_t> ids =
        listed ? *std::move(listed) : std::vector<uint64_t>();
    for (const uint64_t id : ids) {
      const std::string object = storage.Describe(id);
      const std::string key = KeyOf(part, id);
      const auto list =
          annotations_.Related(info_.relationships[relationship].id, id, read_);
      if (!list) {
        related_.erase({relationship, id});
        DOLIUM_TRY_VOID(Damage(object, key, list.error()));
        continue;
      }
      CheckList(*list, object, key);
      const auto expected = related_.find({relationship, id});
      const uint64_t count = expected == related_.end() ? 0 : expected->second;
      if (count != list->size()) {
        Add(Severity::kError, "count", object, key,
            fmt::format("{} annotations, by their values there are {}", list->size(),
                        count));
      }
      if (expected != related_.end()) related_.erase(expected);
      Progressed(1);
    }
    for (const auto& [key, count] : related_) {
      if (key.relationship != relationship) continue;
      Add(Severity::kError, "count", storage.folder().Describe(), KeyOf(part, key.id),
          fmt::format("no list, by their values there are {} annotations", count));
    }
    return {};
  }

  Result<void> CheckLevel(size_t level) {
    const std::string& part = info_.spatial[level].key;
    const auto codes = annotations_.ListCells(level, options_.stop);
    if (!codes) return Damage(annotations_.DescribeList(level, 0), "", codes.error());
    const annotation::CellGrid& grid = annotations_.grid(level);
    for (const uint64_t code : *codes) {
      const std::string object = annotations_.DescribeList(level, code);
      const auto cell = grid.Decode(code);
      const bool is_file = !info_.spatial[level].sharding;
      const std::string key = fmt::format(
          "{}/{}", part,
          is_file && cell ? annotation::CellGrid::NameOf(*cell) : std::to_string(code));
      if (!cell) {
        Add(Severity::kError, "cell", object, key, "no cell of the grid has this key");
        continue;
      }
      auto read = annotations_.ReadLists(
          level, std::span(&code, 1), read_,
          [&](uint64_t, const AnnotationTable& list) -> Result<void> {
            const std::lock_guard lock(mutex_);
            CheckList(list, object, key);
            CheckPlaces(level, *cell, list, object, key);
            return {};
          });
      if (!read) DOLIUM_TRY_VOID(Damage(object, key, read.error()));
      Progressed(1);
    }
    return {};
  }

  void CheckPlaces(size_t level, const annotation::Cell& cell,
                   const AnnotationTable& list, const std::string& object,
                   const std::string& key) {
    const annotation::CellGrid& grid = annotations_.grid(level);
    for (size_t i = 0; i < list.size(); ++i) {
      const AnnotationView one = list[i];
      const auto [place, is_new] = level_of_.try_emplace(one.id, level);
      const bool is_point = info_.type == annotation::AnnotationType::kPoint;
      if (place->second != level || (!is_new && is_point)) {
        Add(Severity::kError, "duplicate", object, key,
            fmt::format("annotation {} is in {} as well", one.id,
                        info_.spatial[place->second].key));
      }
      const auto range =
          grid.RangeOf(annotation::RegionOf(info_.type, info_.rank(), one.geometry));
      if (!range.Contains(cell)) {
        Add(Severity::kWarning, "cell", object, key,
            fmt::format("annotation {} lies outside of the cell", one.id));
      }
    }
  }

  void CheckComplete() {
    if (info_.spatial.empty()) return;
    for (const uint64_t id : known_) {
      if (level_of_.contains(id)) continue;
      Add(Severity::kError, "count", annotations_.folder().Describe(),
          KeyOf(info_.by_id.key, id), "the annotation is in no level");
    }
  }

  struct RelatedKey {
    size_t relationship = 0;
    uint64_t id = 0;

    friend bool operator==(const RelatedKey&, const RelatedKey&) = default;
  };
  struct HashRelated {
    size_t operator()(const RelatedKey& key) const {
      return static_cast<size_t>(key.id * 0x9e3779b97f4a7c15 + key.relationship);
    }
  };

  const AnnotationSource& annotations_;
  const AnnotationInfo& info_;
  const VerifyOptions& options_;
  const FindingVisitor& visitor_;
  VerifyReport& report_;
  objects::ReadManyOptions read_;
  std::mutex mutex_;
  std::unordered_set<uint64_t> known_;
  std::unordered_map<uint64_t, size_t> level_of_;
  // How many annotations say that they are related to an id.
  std::unordered_map<RelatedKey, uint64_t, HashRelated> related_;
};

}  // namespace

Result<VerifyReport> VerifyAnnotations(const AnnotationSource& annotations,
                                       const Container& entries,
                                       const VerifyOptions& options,
                                       const FindingVisitor& visitor) {
  VerifyOptions index = options;
  index.depth = CheckDepth::kQuick;
  DOLIUM_TRY(VerifyReport report, Verify(entries, index, visitor));
  if (options.depth == CheckDepth::kQuick) return report;
  AnnotationCheck check(annotations, options, visitor, report);
  DOLIUM_TRY_VOID(check.Run());
  return report;
}

}  // namespace dolium
