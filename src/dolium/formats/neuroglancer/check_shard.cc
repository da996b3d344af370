// CheckShard: everything that can be said of a shard without reading its chunks.
#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/folder_check.h"
#include "dolium/container/entry_error.h"
#include "dolium/formats/neuroglancer/chunk_sources.h"
#include "dolium/formats/neuroglancer/sharded_container.h"

namespace dolium::neuroglancer {
namespace {

// A part of the shard that something refers to.
struct Use {
  ByteRange range;
  uint64_t owner = 0;  // chunk id, or minishard
  bool is_index = false;

  std::string Name() const {
    return fmt::format("{} {}", is_index ? "the index of minishard" : "chunk", owner);
  }
};

class ShardChecker {
 public:
  ShardChecker(const ShardReader& reader, const ShardObjects& objects,
               std::optional<uint64_t> shard, Kind kind, const FindingVisitor& visitor)
      : reader_(reader),
        objects_(objects),
        shard_(shard),
        kind_(kind),
        visitor_(visitor) {}

  Result<void> Run() {
    if (!shard_) {
      Report(Severity::kError, "name", "", std::nullopt,
             fmt::format(
                 "no shard of this spec has this name (names are like \"{}.shard\"); "
                 "readers will not find it",
                 reader_.spec().ShardStem(0)));
    }
    const auto body = reader_.store().Stat(objects_.body);
    if (!body) return body.error();
    if (!*body) {
      DOLIUM_TRY(const auto index, reader_.store().Stat(objects_.index));
      const auto is_file = CheckNoFolder(reader_.store(), objects_.index);
      if (!is_file) return ReportIndex(is_file.error());
      if (!index) return {};  // Removed, or replaced by the other form.
      Report(Severity::kError, "missing", "", std::nullopt,
             fmt::format("{} is missing", reader_.store().Describe(objects_.body)));
      return {};
    }
    size_ = (*body)->size;
    if (shard_ && !objects_.is_pair()) {
      const std::string index = reader_.ObjectsOf(*shard_, /*pair=*/true).index;
      DOLIUM_TRY(const auto pair, reader_.store().Stat(index));
      if (pair) {
        Report(Severity::kWarning, "pair", "", std::nullopt,
               fmt::format("{} is there, too; readers take the .shard",
                           reader_.store().Describe(index)));
      }
    }
    Result<void> result;
    // Of one generation with the size, if it is one object.
    const auto index = ScanMinishards(
        reader_, objects_,
        objects_.is_pair() ? std::nullopt : std::optional((*body)->generation),
        [&](const ShardReader::MinishardRow& row, const Result<Minishard>& loaded) {
          result = CheckMinishard(row.minishard, row.row, loaded);
          return result.has_value();
        });
    if (!result) return result;
    if (!index) return ReportIndex(index.error());
    CheckUses();
    return {};
  }

 private:
  // That the shard index cannot be read.
  Result<void> ReportIndex(const Error& error) {
    if (error.code != ErrorCode::kCorrupt) return error;
    visitor_(ErrorFinding("index", reader_.store().Describe(objects_.index), "",
                          ByteRange{0, reader_.spec().shard_index_bytes()}, error));
    return {};
  }

  void Report(Severity severity, std::string kind, std::string key,
              std::optional<ByteRange> range, std::string message) {
    visitor_({severity, std::move(kind), reader_.store().Describe(objects_.index),
              std::move(key), range, std::move(message)});
  }

  Result<void> CheckMinishard(uint64_t minishard, const ShardIndexRow& row,
                              const Result<Minishard>& loaded) {
    if (!loaded) {
      if (loaded.error().code != ErrorCode::kCorrupt) return loaded.error();
      visitor_(ErrorFinding("index", reader_.store().Describe(objects_.index), "",
                            objects_.RangeOf(row), loaded.error()));
      return {};
    }
    uses_.push_back(
        {{objects_.body_base + row.begin, row.end - row.begin}, minishard, true});
    if (loaded->chunks.empty()) {
      Report(Severity::kWarning, "empty", "", uses_.back().range,
             fmt::format("the index of minishard {} lists no chunks", minishard));
    }
    CheckOrder(minishard, loaded->chunks);
    std::vector<ChunkLocation> within;
    for (const ChunkLocation& chunk : loaded->chunks) {
      if (CheckLocation(minishard, chunk)) within.push_back(chunk);
    }
    return CheckFragments(*loaded, within);
  }

  void CheckOrder(uint64_t minishard, std::span<const ChunkLocation> chunks) {
    if (!std::ranges::is_sorted(chunks, {}, &ChunkLocation::id)) {
      Report(Severity::kWarning, "order", "", std::nullopt,
             fmt::format("minishard {} lists its chunks out of order", minishard));
    }
    std::vector<uint64_t> ids;
    ids.reserve(chunks.size());
    for (const ChunkLocation& chunk : chunks) ids.push_back(chunk.id);
    std::ranges::sort(ids);
    for (size_t i = 1; i < ids.size(); ++i) {
      if (ids[i] == ids[i - 1] && (i == 1 || ids[i] != ids[i - 2])) {
        Report(Severity::kError, "duplicate", std::to_string(ids[i]), std::nullopt,
               fmt::format("minishard {} lists it more than once", minishard));
      }
    }
  }

  // Whether the chunk lies within the object; reports if not, or if it is in the wrong
  // place.
  bool CheckLocation(uint64_t minishard, const ChunkLocation& chunk) {
    const std::string key = std::to_string(chunk.id);
    const MinishardLocation place = reader_.spec().LocationOf(chunk.id);
    if (place.minishard != minishard || (shard_ && place.shard != *shard_)) {
      Report(Severity::kError, "misplaced", key,
             ByteRange::Make(chunk.offset, chunk.length),
             fmt::format(
                 "is in minishard {}, but belongs into shard {}, minishard {}; readers "
                 "will not find it",
                 minishard, reader_.spec().ShardStem(place.shard), place.minishard));
    }
    if (chunk.FitsIn(size_)) return true;
    Report(Severity::kError, "bounds", key, ByteRange::Make(chunk.offset, chunk.length),
           fmt::format(
               "bytes at {}, {} long, do not lie within the object ({} bytes); is the "
               "upload complete?",
               chunk.offset, chunk.length, size_));
    return false;
  }

  // Notes what the chunks use, with the mesh fragments before them.
  Result<void> CheckFragments(const Minishard& loaded,
                              std::span<const ChunkLocation> chunks) {
    std::vector<Result<uint64_t>> fragments;
    if (kind_ == Kind::kMesh)
      fragments = ReadFragmentBytes(reader_, *loaded.object, chunks);
    for (size_t i = 0; i < chunks.size(); ++i) {
      const ChunkLocation& chunk = chunks[i];
      uint64_t preceding = 0;
      if (!fragments.empty() && fragments[i]) {
        preceding = *fragments[i];
      } else if (!fragments.empty()) {
        if (fragments[i].error().code != ErrorCode::kCorrupt) return fragments[i].error();
        visitor_(ErrorFinding("manifest", reader_.store().Describe(objects_.body),
                              std::to_string(chunk.id), chunk.range(),
                              fragments[i].error()));
      }
      uses_.push_back(
          {{chunk.offset - preceding, chunk.length + preceding}, chunk.id, false});
    }
    return {};
  }

  // Overlaps and holes. Ranges of nothing overlap nothing.
  void CheckUses() {
    if (!objects_.is_pair()) {
      uses_.push_back({{0, objects_.body_base}, 0, true});
    }
    std::erase_if(uses_, [](const Use& use) { return use.range.empty(); });
    std::ranges::sort(uses_, [](const Use& a, const Use& b) {
      return a.range.offset != b.range.offset ? a.range.offset < b.range.offset
                                              : a.range.length > b.range.length;
    });
    uint64_t covered = 0;
    const Use* reaching = nullptr;  // the use that reaches `covered`
    for (const Use& use : uses_) {
      if (use.range.offset < covered) {
        ReportOverlap(*reaching, use);
      } else if (use.range.offset > covered) {
        ReportUnused(covered, use.range.offset, "gap", "belong to nothing");
      }
      if (use.range.end() > covered) {
        covered = use.range.end();
        reaching = &use;
      }
    }
    if (covered < size_)
      ReportUnused(covered, size_, "trailing", "lie behind everything else");
  }

  void ReportOverlap(const Use& first, const Use& second) {
    const bool shared =
        first.range == second.range && !first.is_index && !second.is_index;
    const bool is_header =
        first.is_index && first.range.offset == 0 && !objects_.is_pair();
    Report(shared ? Severity::kWarning : Severity::kError, shared ? "shared" : "overlap",
           second.is_index ? "" : std::to_string(second.owner), second.range,
           fmt::format(
               "{}bytes {} {} {} of {}", second.is_index ? second.Name() + ", " : "",
               ToString(second.range), shared ? "are also those" : "overlap the bytes",
               ToString(first.range), is_header ? "the shard index" : first.Name()));
  }

  void ReportUnused(uint64_t begin, uint64_t end, std::string kind,
                    std::string_view what) {
    const ByteRange range{begin, end - begin};
    Report(Severity::kWarning, std::move(kind), "", range,
           fmt::format("bytes {} {}", ToString(range), what));
  }

  const ShardReader& reader_;
  const ShardObjects& objects_;
  const std::optional<uint64_t> shard_;
  const Kind kind_;
  const FindingVisitor& visitor_;
  uint64_t size_ = 0;      // of the body
  std::vector<Use> uses_;  // of the body
};

}  // namespace

Result<void> CheckShard(const ShardReader& reader, const ShardObjects& objects,
                        std::optional<uint64_t> shard, Kind kind,
                        const FindingVisitor& visitor) {
  return ShardChecker(reader, objects, shard, kind, visitor).Run();
}

}  // namespace dolium::neuroglancer
