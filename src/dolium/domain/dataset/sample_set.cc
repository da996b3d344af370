#include "dolium/domain/dataset/sample_set.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/once.h"
#include "dolium/base/parallel.h"
#include "dolium/domain/dataset/set_reference.h"
#include "dolium/formats/shardpack/part_check.h"

namespace dolium::dataset {

namespace {

using shardpack::Shard;

// Opening is waiting: more threads than cores.
constexpr size_t kOpeners = 16;

// The shards of one set.
class ShardSet final : public SampleSet {
 public:
  ShardSet(std::vector<ShardReference> references, SetOptions options)
      : options_(options), slots_(references.size()) {
    for (size_t i = 0; i < references.size(); ++i) {
      slots_[i].reference = std::move(references[i]);
    }
  }

  // Learns how many samples each shard has.
  Result<void> Count() {
    DOLIUM_TRY_VOID(ParallelFor(slots_.size(), Openers(), [&](size_t i) -> Result<void> {
      Slot& slot = slots_[i];
      if (slot.reference.known) {
        slot.count = slot.reference.known->records;
        return {};
      }
      DOLIUM_TRY(const Opened* opened, Open(i));
      slot.count = SamplesIn(*opened);
      return {};
    }));
    starts_.push_back(0);
    for (const Slot& slot : slots_) starts_.push_back(starts_.back() + slot.count);
    return {};
  }

  uint64_t size() const override { return starts_.back(); }

  Result<LoadedSample> Read(uint64_t number) const override {
    const size_t index = SlotOf(number);
    DOLIUM_TRY(const Opened* opened, Open(index));
    return ReadFrom(*opened, number - starts_[index]);
  }

  std::vector<Result<LoadedSample>> ReadMany(
      std::span<const uint64_t> numbers) const override {
    return ReadBy(numbers, &Shard::ReadMany);
  }
  std::vector<Result<LoadedSample>> ReadManyOf(
      std::span<const uint64_t> numbers,
      std::span<const std::string> names) const override {
    return ReadBy(numbers, [&](const Shard& shard, std::span<const uint64_t> records) {
      return shard.ReadManyOf(records, names);
    });
  }

  Result<std::optional<MappedRecord>> Locate(uint64_t number) const override {
    const size_t index = SlotOf(number);
    DOLIUM_TRY(const Opened* opened, Open(index));
    const Shard& found = *opened->shard;
    if (!found.is_mapped() || !opened->firsts.empty()) return std::nullopt;
    const uint64_t record = number - starts_[index];
    const ByteRange range = found.range(record);
    return MappedRecord{&found, record,
                        found.mapped().subspan(static_cast<size_t>(range.offset),
                                               static_cast<size_t>(range.length))};
  }

  Result<std::optional<uint64_t>> Find(std::string_view key) const override {
    std::vector<size_t> passed;
    for (size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      if (slot.reference.known && slot.reference.known->min_key &&
          (key < *slot.reference.known->min_key ||
           key > *slot.reference.known->max_key)) {
        passed.push_back(i);
        continue;
      }
      DOLIUM_TRY(const Opened* opened, Open(i));
      DOLIUM_TRY(const auto record, opened->shard->Find(key));
      if (record) return starts_[i] + SampleOf(*opened, *record);
    }
    // That it is not there, only shards can say that are those of the catalog.
    DOLIUM_TRY_VOID(ParallelFor(passed.size(), Openers(), [&](size_t i) -> Result<void> {
      const auto opened = Open(passed[i]);
      if (!opened) return opened.error();
      return {};
    }));
    return std::nullopt;
  }

  Result<void> VisitKeys(
      const std::function<bool(uint64_t, std::string_view)>& visit) const override {
    for (size_t i = 0; i < slots_.size(); ++i) {
      DOLIUM_TRY(const Opened* opened, Open(i));
      bool goes_on = true;
      uint64_t last = UINT64_MAX;
      DOLIUM_TRY_VOID(
          opened->shard->VisitKeys([&](uint64_t record, std::string_view key) {
            const uint64_t sample = starts_[i] + SampleOf(*opened, record);
            if (sample != last) goes_on = visit(sample, key);
            last = sample;
            return goes_on;
          }));
      if (!goes_on) return {};
    }
    return {};
  }

  std::vector<ShardExtent> extents() const override {
    std::vector<ShardExtent> extents;
    for (size_t i = 0; i < slots_.size(); ++i) {
      const Slot& slot = slots_[i];
      ShardExtent extent{.records = slot.count};
      if (const auto& known = slot.reference.known) {
        extent.bytes = known->index_offset;
        extent.keys_digest = known->keys_digest.value_or(0);
      } else if (const auto opened = shard(i)) {
        extent.bytes = (*opened)->footer().index_offset;
        if ((*opened)->stat()) extent.keys_digest = (*opened)->stat()->keys_digest;
      }
      extents.push_back(extent);
    }
    return extents;
  }

  size_t shard_count() const override { return slots_.size(); }

  Result<std::shared_ptr<const Shard>> shard(size_t index) const override {
    DOLIUM_TRY(const Opened* opened, Open(index));
    return opened->shard;
  }

  bool is_whole() const override { return true; }

  bool is_mapped() const override {
    return options_.shard.map && std::ranges::all_of(slots_, [](const Slot& slot) {
             return IsLocal(slot.reference.location);
           });
  }

 private:
  // A shard with what was learned of it.
  struct Opened {
    std::shared_ptr<const Shard> shard;
    // The record that each sample begins with; empty unless samples have several.
    std::vector<uint64_t> firsts = {};
  };
  struct Slot {
    ShardReference reference;
    uint64_t count = 0;  // samples
    Once<Opened> opened;
  };

  size_t Openers() const { return options_.jobs > 0 ? options_.jobs : kOpeners; }

  Result<const Opened*> Open(size_t index) const {
    const Slot& slot = slots_[index];
    return slot.opened.Get([&] { return Load(slot); });
  }

  Result<Opened> Load(const Slot& slot) const {
    Opened opened;
    DOLIUM_TRY(opened.shard, Shard::Open(slot.reference.location, options_.shard));
    if (slot.reference.known) {
      DOLIUM_TRY_VOID(CheckCatalog(*slot.reference.known, *opened.shard));
    }
    LoadParts(opened);
    if (slot.reference.known && !opened.firsts.empty()) {
      return Unsupported(fmt::format(
          "{}: has samples of several records, which a catalog cannot number; name the "
          "shards instead",
          opened.shard->Describe()));
    }
    return opened;
  }

  static Result<void> CheckCatalog(const CatalogShard& catalog, const Shard& opened) {
    const shardpack::Footer& footer = opened.footer();
    if (catalog.records != opened.size() || catalog.size != footer.file_size) {
      return Conflict(
          fmt::format("{}: {} records in {} bytes, the catalog says {} in {}; write the "
                      "catalog again",
                      opened.Describe(), opened.size(), footer.file_size, catalog.records,
                      catalog.size));
    }
    if (catalog.footer_crc32c != footer.crc32c) {
      return Conflict(
          fmt::format("{}: footer has CRC-32C {:08x}, the catalog says {:08x}; write the "
                      "catalog again",
                      opened.Describe(), footer.crc32c, catalog.footer_crc32c));
    }
    return {};
  }

  static void LoadParts(Opened& opened) {
    const Shard& shard = *opened.shard;
    // Without STAT, only a look at each record shows it; remote ones are not looked at
    // for that.
    if (shard.stat() ? !shard.stat()->has_parts : shard.mapped().empty()) return;
    for (uint64_t i = 0; i < shard.size(); ++i) {
      // One that is damaged is reported when it is asked for.
      const auto record = shard.Read(i);
      const auto part = record ? shardpack::ParsePart(record->header()) : record.error();
      if (!part || !*part || (*part)->index == 0) opened.firsts.push_back(i);
    }
    if (opened.firsts.size() == shard.size()) opened.firsts.clear();
  }

  static uint64_t SamplesIn(const Opened& opened) {
    return opened.firsts.empty() ? opened.shard->size() : opened.firsts.size();
  }

  // The sample that a record belongs to.
  static uint64_t SampleOf(const Opened& opened, uint64_t record) {
    if (opened.firsts.empty()) return record;
    const auto after = std::ranges::upper_bound(opened.firsts, record);
    const auto begun = static_cast<uint64_t>(after - opened.firsts.begin());
    return begun > 0 ? begun - 1 : 0;  // 0 if the shard begins amid a sample
  }

  size_t SlotOf(uint64_t number) const {
    const auto after = std::ranges::upper_bound(starts_, number);
    return static_cast<size_t>(after - starts_.begin()) - 1;
  }

  static Result<void> AddPart(const Shard& shard, uint64_t number,
                              const shardpack::Record& record,
                              shardpack::PartCheck& parts) {
    DOLIUM_TRY(const auto part, shardpack::ParsePart(record.header()));
    return parts.Add(record.key(), part)
        .Within(fmt::format("{}: record {}", shard.Describe(), number));
  }

  static Result<LoadedSample> ReadFrom(const Opened& opened, uint64_t sample) {
    const auto& [shard, firsts] = opened;
    if (firsts.empty()) {
      DOLIUM_TRY(auto record, shard->Read(sample));
      return LoadedSample({shard, sample, std::move(record)});
    }
    const uint64_t begin = firsts[static_cast<size_t>(sample)];
    const uint64_t end = sample + 1 < firsts.size()
                             ? firsts[static_cast<size_t>(sample) + 1]
                             : shard->size();
    DOLIUM_TRY(auto first, shard->Read(begin));
    shardpack::PartCheck parts;
    DOLIUM_TRY_VOID(AddPart(*shard, begin, first, parts));
    LoadedSample loaded({shard, begin, std::move(first)});
    for (uint64_t i = begin + 1; i < end; ++i) {
      DOLIUM_TRY(auto part, shard->Read(i));
      DOLIUM_TRY_VOID(AddPart(*shard, i, part, parts));
      DOLIUM_TRY_VOID(loaded.Add({shard, i, std::move(part)}, /*replaces=*/false));
    }
    DOLIUM_TRY_VOID(
        parts.Finish().Within(fmt::format("{}: record {}", shard->Describe(), end - 1)));
    return loaded;
  }

  // Records of one shard are read by read(shard, records).
  template <typename ReadRecords>
  std::vector<Result<LoadedSample>> ReadBy(std::span<const uint64_t> numbers,
                                           const ReadRecords& read_records) const;

  const SetOptions options_;
  std::vector<Slot> slots_;
  std::vector<uint64_t> starts_;  // the first sample of each shard, and the total
};

template <typename ReadRecords>
std::vector<Result<LoadedSample>> ShardSet::ReadBy(
    std::span<const uint64_t> numbers, const ReadRecords& read_records) const {
  std::vector<Result<LoadedSample>> samples;
  samples.reserve(numbers.size());
  if (is_mapped()) {
    for (const uint64_t number : numbers) samples.push_back(Read(number));
    return samples;
  }
  // Shard by shard, so that each is asked once, and all at the same time.
  std::map<size_t, std::vector<size_t>> by_slot;
  for (size_t i = 0; i < numbers.size(); ++i) by_slot[SlotOf(numbers[i])].push_back(i);
  const std::vector<std::pair<size_t, std::vector<size_t>>> parts(by_slot.begin(),
                                                                  by_slot.end());
  std::vector<std::optional<Result<LoadedSample>>> found(numbers.size());
  std::ignore = ParallelFor(parts.size(), kOpeners, [&](size_t part) -> Result<void> {
    const auto& [index, wanted] = parts[part];
    const auto opened = Open(index);
    if (!opened || !(*opened)->firsts.empty()) {
      for (const size_t i : wanted) found[i] = Read(numbers[i]);
      return {};
    }
    const std::shared_ptr<const Shard>& shard = (*opened)->shard;
    std::vector<uint64_t> records;
    for (const size_t i : wanted) records.push_back(numbers[i] - starts_[index]);
    auto read = std::invoke(read_records, *shard, records);
    for (size_t j = 0; j < wanted.size(); ++j) {
      if (read[j]) {
        found[wanted[j]] = LoadedSample({shard, records[j], *std::move(read[j])});
      } else {
        found[wanted[j]] = std::move(read[j]).error();
      }
    }
    return {};
  });
  for (auto& sample : found) samples.push_back(*std::move(sample));
  return samples;
}

}  // namespace

std::vector<Result<LoadedSample>> SampleSet::ReadMany(
    std::span<const uint64_t> numbers) const {
  std::vector<Result<LoadedSample>> samples;
  samples.reserve(numbers.size());
  for (const uint64_t number : numbers) samples.push_back(Read(number));
  return samples;
}

std::vector<Result<LoadedSample>> SampleSet::ReadManyOf(
    std::span<const uint64_t> numbers, std::span<const std::string> /*names*/) const {
  return ReadMany(numbers);
}

Result<std::optional<MappedRecord>> SampleSet::Locate(uint64_t /*number*/) const {
  return std::nullopt;
}

Result<std::shared_ptr<const SampleSet>> OpenSampleSet(
    std::span<const std::string> references, const SetOptions& options) {
  DOLIUM_TRY(auto shards, ResolveSet(references));
  auto set = std::make_shared<ShardSet>(std::move(shards), options);
  DOLIUM_TRY_VOID(set->Count());
  return std::shared_ptr<const SampleSet>(std::move(set));
}

}  // namespace dolium::dataset
