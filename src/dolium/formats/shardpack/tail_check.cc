#include "dolium/formats/shardpack/tail_check.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/formats/shardpack/layout.h"

namespace dolium::shardpack {

namespace {

template <typename T>
std::optional<Error> ErrorOf(const Result<T>& result) {
  if (result) return std::nullopt;
  return result.error();
}

void AppendWord(ByteVector& to, uint64_t word) {
  to.resize(to.size() + sizeof word);
  StoreLE(to.data() + to.size() - sizeof word, word);
}

}  // namespace

void EntryDigest::Add(const EntryLocation& location, const EntryColumn& column) {
  AppendWord(record_, location.offset);
  AppendWord(record_, location.length);
  for (const std::string& text :
       {std::cref(column.name), std::cref(column.content_type)}) {
    AppendWord(record_, text.size());
    Append(record_, AsBytes(text));
  }
}

void EntryDigest::EndRecord() {
  AppendWord(record_, record_.size());
  digest_.Add(record_);
  record_.clear();
}

Result<bool> TailCheck::NeedsHashes(const Shard& shard) {
  if (!shard.sections() || !shard.stat()) return false;
  if (!shard.stat()->keys_unique || shard.stat()->keys_ascending) return false;
  const auto body = shard.ReadSection("KEYX");
  if (!body && !IsDamage(body.error())) return body.error();
  return !body || !*body || !KeyIndexCheck::Make(**body, shard.size());
}

void TailCheck::Add(const EncodedRecord& record) {
  const uint64_t number = stat_.records();
  if (number == 0) first_record_ = record.entries;
  stat_.Add(record);
  const uint64_t hash = HashKey(record.key);
  key_sum_.Add({hash, static_cast<uint32_t>(number)});
  if (keeps_hashes_) hashes_.push_back(hash);
  for (const EntrySummary& entry : record.entries) {
    if (entry.is_aux) continue;
    entries_.Add(
        {.offset = end_ + entry.header_at, .length = entry.end - entry.header_at},
        {entry.name, entry.content_type});
  }
  entries_.EndRecord();
  end_ += record.size;
}

Result<void> TailCheck::Report(const Shard& shard, bool are_all_added,
                               const Reporter& report) {
  are_all_added_ = are_all_added;
  key_index_allows_unique_.reset();
  if (const auto body = shard.ReadSection("KEYX"); body && *body) {
    if (const auto index = KeyIndexCheck::Make(**body, shard.size())) {
      key_index_allows_unique_ = index->are_hashes_unique() || index->sum() != key_sum_;
    }
  }
  for (const Section& section : *shard.sections()) {
    const auto body = shard.ReadSection(section.name());
    if (!body && !IsDamage(body.error())) return body.error();
    const auto error =
        body ? Check(shard, section, **body) : std::optional<Error>(body.error());
    if (error) report(section, *error);
  }
  return {};
}

std::optional<Error> TailCheck::Check(const Shard& shard, const Section& section,
                                      const Bytes& body) const {
  const std::string_view tag = section.name();
  if (&section != FindSection(*shard.sections(), tag)) return Corrupt("is there twice");
  if (tag == "META") return ErrorOf(shard.metadata());
  if (tag == "STAT") return CheckStat(body);
  if (tag == "ZDIC") return CheckDictionaries(shard, body);
  if (tag == "KEYX") return CheckKeyIndex(shard, body);
  if (tag == "ENTX") return CheckEntryIndex(shard, body);
  if (tag == "KEYS") {
    auto visited = VisitKeys(body, shard.size(), [](uint64_t, auto) {});
    if (!visited || !are_all_added_) return ErrorOf(visited);
    // Its bytes are those that the digest is of.
    if (Xxh64(body) == stat_.stat().keys_digest) return std::nullopt;
    return Corrupt("KEYS: its keys are not those of the records");
  }
  return std::nullopt;
}

std::optional<Error> TailCheck::CheckKeyIndex(const Shard& shard,
                                              const Bytes& body) const {
  const auto index = KeyIndexCheck::Make(body, shard.size());
  if (!index || !are_all_added_) return ErrorOf(index);
  if (index->sum() == key_sum_ && index->is_sorted()) return std::nullopt;
  return Corrupt("KEYX does not agree with the keys of the records");
}

std::optional<Error> TailCheck::CheckEntryIndex(const Shard& shard,
                                                const Bytes& body) const {
  const auto index = EntryIndex::Parse(body, shard.size());
  if (!index || !are_all_added_) return ErrorOf(index);
  EntryDigest said;
  for (uint64_t record = 0; record < shard.size(); ++record) {
    for (const EntryLocation& location : index->EntriesOf(record)) {
      said.Add(location, index->columns()[location.column]);
    }
    said.EndRecord();
  }
  if (said.value() == entries_.value()) return std::nullopt;
  return Corrupt("ENTX does not agree with the entries of the records");
}

std::optional<Error> TailCheck::CheckStat(const Bytes& body) const {
  const auto said = ParseStat(body);
  if (!said || !are_all_added_) return ErrorOf(said);
  Stat is = stat_.stat();
  if (key_index_allows_unique_) {
    is.keys_unique |= *key_index_allows_unique_;
  } else if (keeps_hashes_) {
    std::vector<uint64_t> sorted = hashes_;
    std::ranges::sort(sorted);
    is.keys_unique |= std::ranges::adjacent_find(sorted) == sorted.end();
  }
  // Who does not say that keys are unique may not have known.
  if (!said->keys_unique) is.keys_unique = false;
  if (*said == is) return std::nullopt;
  return Corrupt("STAT does not agree with the records");
}

std::optional<Error> TailCheck::CheckDictionaries(const Shard& shard,
                                                  const Bytes& body) const {
  const auto places = ParseDictionaryLocations(body);
  if (!places) return places.error();
  if ((shard.footer().features_optional & kFeatureDictionaries) == 0) {
    return Corrupt("ZDIC in a shard that is said to have no dictionaries");
  }
  if (!are_all_added_ || shard.size() == 0) return std::nullopt;
  for (const DictionaryLocation& place : *places) {
    const auto is_there = [&](const EntrySummary& entry) {
      return entry.is_aux && entry.dictionary_id == place.id && place.id != 0 &&
             place.range == ByteRange{entry.header_at, entry.end - entry.header_at};
    };
    if (std::ranges::none_of(first_record_, is_there)) {
      return Corrupt(
          fmt::format("ZDIC: dictionary {} is not in the first record, {} "
                      "bytes at {}",
                      place.id, place.range.length, place.range.offset));
    }
  }
  return std::nullopt;
}

}  // namespace dolium::shardpack
