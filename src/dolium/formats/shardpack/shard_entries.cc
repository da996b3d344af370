// Shard::ReadManyOf: some files of records, by the entry index.
#include <algorithm>
#include <optional>
#include <utility>

#include "dolium/formats/shardpack/layout.h"
#include "dolium/formats/shardpack/shard.h"

namespace dolium::shardpack {

namespace {

// Reading less than a whole record is worth another request if it spares this much, which
// is also what records have on average where writers make an entry index unasked.
constexpr uint64_t kWorthSparing = uint64_t{64} << 10;

// What is read of a record instead of all of it.
struct Plan {
  uint64_t header_bytes = 0;
  std::vector<EntryPart> parts = {};
  std::vector<std::string_view> names = {};  // of the parts, as the index has them
  uint64_t bytes = 0;                        // of all

  // Whether that is what was read.
  bool Fits(const Record& record) const {
    return std::ranges::equal(record.entries(), names, {}, &EntryHeader::name) &&
           std::ranges::none_of(record.entries(), &EntryHeader::is_aux);
  }
};

// nullopt if the record has to be read whole: the others would spare little, or are not
// where they can be.
std::optional<Plan> MakePlan(const EntryIndex& index, uint64_t number, ByteRange record,
                             std::span<const std::string> names) {
  Plan plan{.header_bytes = record.length};
  for (const EntryLocation& place : index.EntriesOf(number)) {
    if (place.offset < record.offset || place.offset > record.end() ||
        place.length > record.end() - place.offset) {
      return std::nullopt;
    }
    const uint64_t at = place.offset - record.offset;
    plan.header_bytes = std::min(plan.header_bytes, at);
    const std::string& name = index.columns()[place.column].name;
    if (std::ranges::find(names, name) == names.end()) continue;
    if (place.length > record.length - plan.bytes) return std::nullopt;
    plan.parts.push_back({at, place.length});
    plan.names.emplace_back(name);
    plan.bytes += place.length;
  }
  if (plan.header_bytes < kRecordHeaderBytes ||
      plan.header_bytes > record.length - plan.bytes) {
    return std::nullopt;
  }
  plan.bytes += plan.header_bytes;
  if (record.length - plan.bytes < kWorthSparing) return std::nullopt;
  return plan;
}

// Where to read what is planned, into one buffer.
void AddSlices(const std::optional<Plan>& plan, uint64_t offset, MutableBytes into,
               std::vector<ReadSlice>& slices) {
  if (!plan) {
    slices.push_back({offset, into});
    return;
  }
  const auto add = [&](uint64_t at, uint64_t length) {
    const auto size = static_cast<size_t>(length);
    slices.push_back({offset + at, into.first(size)});
    into = into.subspan(size);
  };
  add(0, plan->header_bytes);
  for (const EntryPart& part : plan->parts) add(part.at, part.length);
}

}  // namespace

Result<const EntryIndex*> Shard::Entries() const {
  DOLIUM_TRY(const auto* const entries,
             entries_.Get([&]() -> Result<std::optional<EntryIndex>> {
               auto body = ReadSection("ENTX");
               if (!body && !IsDamage(body.error())) return std::move(body).error();
               if (!body || !*body) return std::nullopt;
               auto index = EntryIndex::Parse(**std::move(body), size());
               if (!index) return std::nullopt;
               return *std::move(index);
             }));
  return *entries ? &**entries : nullptr;
}

std::vector<Result<Record>> Shard::ReadManyOf(std::span<const uint64_t> numbers,
                                              std::span<const std::string> names) const {
  // Records that are small on average are not worth an index either.
  const bool are_known =
      std::ranges::all_of(numbers, [&](uint64_t number) { return number < size(); });
  if (is_mapped() || numbers.empty() || !are_known ||
      footer_.index_offset / size() < kWorthSparing) {
    return ReadMany(numbers);
  }
  const auto index = Entries();
  if (!index || *index == nullptr) return ReadMany(numbers);

  std::vector<std::optional<Plan>> plans;
  std::vector<Buffer> buffers;
  std::vector<ReadSlice> slices;
  for (const uint64_t number : numbers) {
    const ByteRange record = range(number);
    if (IsKept(record)) {
      plans.emplace_back();
      buffers.emplace_back(0);
      continue;
    }
    plans.push_back(MakePlan(**index, number, record, names));
    const uint64_t bytes = plans.back() ? plans.back()->bytes : record.length;
    buffers.emplace_back(static_cast<size_t>(bytes));
    AddSlices(plans.back(), record.offset, buffers.back().view(), slices);
  }
  const auto read =
      location_.store->ReadInto(location_.path, slices, {.if_generation = generation_});
  if (!read) return ReadMany(numbers);

  std::vector<Result<Record>> records;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (IsKept(range(numbers[i]))) {
      records.push_back(Read(numbers[i]));
      continue;
    }
    Bytes bytes = std::move(buffers[i]).Share();
    if (!plans[i]) {
      records.push_back(Parse(numbers[i], std::move(bytes)));
      continue;
    }
    auto record = Record::ParseParts(std::move(bytes), range(numbers[i]).length,
                                     static_cast<size_t>(plans[i]->header_bytes),
                                     plans[i]->parts, options_.check);
    if (record && plans[i]->Fits(*record) && CheckAlignment(record->header())) {
      records.push_back(std::move(record));
    } else {
      // What is wrong with it, the whole record shows.
      records.push_back(Read(numbers[i]));
    }
  }
  return records;
}

}  // namespace dolium::shardpack
