#include "dolium/ops/pack/pack_diff.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"

namespace dolium::dataset {
namespace {

using shardpack::EntryHeader;

// Keys whose samples are compared at once.
constexpr size_t kKeysAtOnce = 1024;

using Differences = std::vector<Difference>;

std::string TypeText(std::string_view type) {
  return type.empty() ? "none" : std::string(type);
}

// Of files of one size: whether their bytes differ.
Result<std::optional<std::string>> CompareContents(const LoadedSample& a,
                                                   LoadedSample::FileRef in_a,
                                                   const LoadedSample& b,
                                                   LoadedSample::FileRef in_b) {
  DOLIUM_TRY(const Bytes content, a.Content(in_a));
  DOLIUM_TRY(const Bytes other, b.Content(in_b));
  if (Equal(content, other)) return std::nullopt;
  return "contents differ";
}

// What differs in one file; nullopt if nothing does.
Result<std::optional<std::string>> CompareFiles(const LoadedSample& a,
                                                LoadedSample::FileRef in_a,
                                                const LoadedSample& b,
                                                LoadedSample::FileRef in_b) {
  const EntryHeader& one = a.header(in_a);
  const EntryHeader& other = b.header(in_b);
  if (one.raw_size != other.raw_size) {
    return fmt::format("size {}, then {}", one.raw_size, other.raw_size);
  }
  if (one.content_type != other.content_type) {
    return fmt::format("content type {}, then {}", TypeText(one.content_type),
                       TypeText(other.content_type));
  }
  if (!Equal(ExtensionsOfFile(one), ExtensionsOfFile(other))) return "metadata differ";
  if (one.segment || other.segment) return CompareContents(a, in_a, b, in_b);
  // Of chunked contents, the CRC is that of the table, which holds those of the chunks.
  const bool is_same_way =
      one.codec == other.codec && one.is_chunked() == other.is_chunked();
  if (is_same_way && one.stored_size == other.stored_size && one.crc32c == other.crc32c) {
    return std::nullopt;
  }
  if (is_same_way && one.codec == 0 && !one.is_chunked()) {
    return fmt::format("CRC-32C {:08x}, then {:08x}", one.crc32c, other.crc32c);
  }
  return CompareContents(a, in_a, b, in_b);
}

Result<Differences> CompareSamples(const LoadedSample& a, const LoadedSample& b) {
  Differences found;
  const auto changed = [&](std::string_view entry, std::string reason) {
    found.push_back({Difference::Kind::kChanged, std::string(a.key()), std::string(entry),
                     std::move(reason)});
  };
  const bool a_removes = a.parts().front().record.is_tombstone();
  const bool b_removes = b.parts().front().record.is_tombstone();
  if (a_removes != b_removes) {
    changed({}, a_removes ? "a tombstone, then a sample" : "a sample, then a tombstone");
    return found;
  }
  const shardpack::Metadata one = a.metadata();
  const shardpack::Metadata other = b.metadata();
  if (one.format != other.format || !Equal(one.bytes, other.bytes)) {
    changed({}, "metadata differ");
  }
  for (const auto file : a.files()) {
    const std::string_view name = a.header(file).name;
    const auto match = b.Find(name);
    if (!match) {
      changed(name, "only in the first");
      continue;
    }
    DOLIUM_TRY(auto reason, CompareFiles(a, file, b, *match));
    if (reason) changed(name, *std::move(reason));
  }
  for (const auto file : b.files()) {
    const std::string_view name = b.header(file).name;
    if (!a.Find(name)) changed(name, "only in the second");
  }
  return found;
}

class Diff {
 public:
  Diff(const SampleSet& first, const SampleSet& second, const DiffOptions& options,
       const std::function<void(const Difference&)>& visit)
      : first_(first), second_(second), options_(options), visit_(visit) {}

  Result<DiffSummary> Run() {
    DOLIUM_TRY_VOID(ForKeys(first_, [&](const auto& keys) { return CompareAll(keys); }));
    DOLIUM_TRY_VOID(ForKeys(second_, [&](const auto& keys) { return FindNew(keys); }));
    return summary_;
  }

 private:
  struct Key {
    uint64_t number = 0;
    std::string key;
  };

  // Calls `work` with some keys of the set at a time.
  Result<void> ForKeys(const SampleSet& set,
                       const std::function<Result<void>(const std::vector<Key>&)>& work) {
    std::vector<Key> keys;
    Result<void> done;
    DOLIUM_TRY_VOID(set.VisitKeys([&](uint64_t number, std::string_view key) {
      keys.push_back({number, std::string(key)});
      if (keys.size() < kKeysAtOnce) return true;
      done = work(keys);
      keys.clear();
      return done.has_value();
    }));
    if (done && !keys.empty()) done = work(keys);
    return done;
  }

  Result<void> CompareAll(const std::vector<Key>& keys) {
    std::vector<Differences> found(keys.size());
    DOLIUM_TRY_VOID(ParallelFor(
        keys.size(), options_.jobs,
        [&](size_t i) -> Result<void> {
          DOLIUM_TRY(const auto match, second_.Find(keys[i].key));
          if (!match) {
            found[i].push_back({Difference::Kind::kOnlyInFirst, keys[i].key, {}, {}});
            return {};
          }
          DOLIUM_TRY(const LoadedSample a, first_.Read(keys[i].number));
          DOLIUM_TRY(const LoadedSample b, second_.Read(*match));
          DOLIUM_TRY(found[i], CompareSamples(a, b));
          return {};
        },
        options_.stop));
    for (const Differences& of_sample : found) {
      if (of_sample.empty()) {
        ++summary_.equal;
      } else if (of_sample.front().kind == Difference::Kind::kOnlyInFirst) {
        ++summary_.only_in_first;
      } else {
        ++summary_.changed;
      }
      for (const Difference& difference : of_sample) visit_(difference);
    }
    Tell(keys.size());
    return {};
  }

  Result<void> FindNew(const std::vector<Key>& keys) {
    std::vector<char> is_new(keys.size(), 0);
    DOLIUM_TRY_VOID(ParallelFor(
        keys.size(), options_.jobs,
        [&](size_t i) -> Result<void> {
          DOLIUM_TRY(const auto match, first_.Find(keys[i].key));
          is_new[i] = match ? 0 : 1;
          return {};
        },
        options_.stop));
    for (size_t i = 0; i < keys.size(); ++i) {
      if (is_new[i] == 0) continue;
      ++summary_.only_in_second;
      visit_({Difference::Kind::kOnlyInSecond, keys[i].key, {}, {}});
    }
    Tell(keys.size());
    return {};
  }

  void Tell(uint64_t keys) {
    done_ += keys;
    if (options_.progress) {
      options_.progress({done_, first_.size() + second_.size(), 0, 0});
    }
  }

  const SampleSet& first_;
  const SampleSet& second_;
  const DiffOptions& options_;
  const std::function<void(const Difference&)>& visit_;
  DiffSummary summary_;
  uint64_t done_ = 0;
};

}  // namespace

Result<DiffSummary> DiffSets(const SampleSet& first, const SampleSet& second,
                             const DiffOptions& options,
                             const std::function<void(const Difference&)>& visit) {
  return Diff(first, second, options, visit).Run();
}

}  // namespace dolium::dataset
