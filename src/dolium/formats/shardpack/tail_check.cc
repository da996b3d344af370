#include "dolium/formats/shardpack/tail_check.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/xxh64.h"
#include "dolium/formats/shardpack/layout.h"

namespace dolium::shardpack {

Result<std::unique_ptr<TailCheck>> TailCheck::Make(const Shard& shard) {
  std::unique_ptr<TailCheck> check(new TailCheck(shard));
  DOLIUM_TRY_VOID(check->Load());
  return check;
}

Result<void> TailCheck::Load() {
  // What is wrong with a section by itself, Check() says.
  const auto load = [&](std::string_view tag, const auto& parse) -> Result<void> {
    auto body = shard_.ReadSection(tag);
    if (!body && !IsDamage(body.error())) return std::move(body).error();
    if (body && *body) parse(**std::move(body));
    return {};
  };
  DOLIUM_TRY_VOID(load("KEYX", [&](Bytes body) {
    if (auto index = KeyIndexCheck::Make(std::move(body), shard_.size())) {
      key_index_ = *std::move(index);
    }
  }));
  DOLIUM_TRY_VOID(load("ENTX", [&](Bytes body) {
    if (auto index = EntryIndex::Parse(std::move(body), shard_.size())) {
      entry_index_ = *std::move(index);
    }
  }));
  keeps_hashes_ = shard_.stat() && shard_.stat()->keys_unique &&
                  !shard_.stat()->keys_ascending && !key_index_;
  if (keeps_hashes_) hashes_.reserve(static_cast<size_t>(shard_.size()));
  return {};
}

void TailCheck::Compare(uint64_t number, const EncodedRecord& record) {
  if (key_index_ &&
      !key_index_->Agrees({HashKey(record.key), static_cast<uint32_t>(number)})) {
    ++wrong_keys_;
  }
  if (!entry_index_) return;
  const auto places = entry_index_->EntriesOf(number);
  size_t next = 0;
  bool is_good = true;
  for (const EntrySummary& want : record.entries) {
    if (want.is_aux) continue;
    is_good = is_good && next < places.size() &&
              places[next].offset == shard_.offset(number) + want.header_at &&
              places[next].length == want.end - want.header_at &&
              entry_index_->columns()[places[next].column] ==
                  EntryColumn{want.name, want.content_type};
    ++next;
  }
  if (!is_good || next != places.size()) ++wrong_places_;
}

void TailCheck::Add(const EncodedRecord& record) {
  if (stat_.records() == 0) first_record_ = record.entries;
  stat_.Add(record);
  if (keeps_hashes_) hashes_.push_back(HashKey(record.key));
}

Result<void> TailCheck::Report(bool are_all_compared, const Reporter& report) {
  for (const Section& section : *shard_.sections()) {
    const auto body = shard_.ReadSection(section.name());
    if (!body && !IsDamage(body.error())) return body.error();
    const auto error = body ? Check(section, **body, are_all_compared)
                            : std::optional<Error>(body.error());
    if (error) report(section, *error);
  }
  return {};
}

std::optional<Error> TailCheck::Check(const Section& section, const Bytes& body,
                                      bool are_all_compared) {
  const std::string_view tag = section.name();
  if (&section != FindSection(*shard_.sections(), tag)) return Corrupt("is there twice");
  const auto error_of = [](const auto& result) -> std::optional<Error> {
    if (result) return std::nullopt;
    return result.error();
  };
  if (tag == "META") return error_of(shard_.metadata());
  if (tag == "STAT") return CheckStat(body, are_all_compared);
  if (tag == "ZDIC") return CheckDictionaries(body, are_all_compared);
  if (tag == "KEYS") {
    auto visited = VisitKeys(body, shard_.size(), [](uint64_t, auto) {});
    if (!visited || !are_all_compared) return error_of(visited);
    // Its bytes are those that the digest is of.
    if (Xxh64(body) == stat_.stat().keys_digest) return std::nullopt;
    return Corrupt("KEYS: its keys are not those of the records");
  }
  if (tag == "KEYX") {
    if (!key_index_) return error_of(KeyIndexCheck::Make(body, shard_.size()));
    if (!are_all_compared || (wrong_keys_ == 0 && key_index_->is_sorted())) {
      return std::nullopt;
    }
    return Corrupt("KEYX does not agree with the keys of the records");
  }
  if (tag == "ENTX") {
    if (!entry_index_) return error_of(EntryIndex::Parse(body, shard_.size()));
    if (!are_all_compared || wrong_places_ == 0) return std::nullopt;
    return Corrupt(fmt::format("ENTX is wrong about {} records", wrong_places_.load()));
  }
  return std::nullopt;
}

std::optional<Error> TailCheck::CheckStat(const Bytes& body, bool are_all_compared) {
  const auto said = ParseStat(body);
  if (!said) return said.error();
  if (!are_all_compared) return std::nullopt;
  Stat is = stat_.stat();
  if (key_index_) {
    // One that is wrong is reported, and proves nothing.
    is.keys_unique |= key_index_->are_hashes_unique() || wrong_keys_ != 0;
  } else if (keeps_hashes_) {
    std::ranges::sort(hashes_);
    is.keys_unique |= std::ranges::adjacent_find(hashes_) == hashes_.end();
  }
  // Who does not say that keys are unique may not have known.
  if (!said->keys_unique) is.keys_unique = false;
  if (*said == is) return std::nullopt;
  return Corrupt("STAT does not agree with the records");
}

std::optional<Error> TailCheck::CheckDictionaries(const Bytes& body,
                                                  bool are_all_compared) const {
  const auto places = ParseDictionaryLocations(body);
  if (!places) return places.error();
  if ((shard_.footer().features_optional & kFeatureDictionaries) == 0) {
    return Corrupt("ZDIC in a shard that is said to have no dictionaries");
  }
  if (!are_all_compared || shard_.size() == 0) return std::nullopt;
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
