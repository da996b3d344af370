#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/xxh64.h"
#include "dolium/bytes/location.h"
#include "dolium/codec/gzip.h"
#include "dolium/codec/zstd.h"
#include "dolium/domain/dataset/imports/bound_files.h"
#include "dolium/domain/dataset/imports/mds.h"
#include "dolium/domain/dataset/imports/mds_shard.h"
#include "dolium/domain/dataset/imports/running_key.h"
#include "dolium/domain/dataset/imports/tf_example.h"

namespace dolium::dataset {
namespace {

using shardpack::Sample;

constexpr uint64_t kMaxIndexBytes = uint64_t{1} << 30;
constexpr uint64_t kMaxMdsShardBytes = uint64_t{1} << 32;

Result<void> CheckFile(BytesView bytes, const MdsFile& file) {
  if (bytes.size() != file.bytes) {
    return Corrupt(
        fmt::format("{} bytes, but the index says {}", bytes.size(), file.bytes));
  }
  const auto hash = file.hashes.find("xxh64");
  if (hash == file.hashes.end()) return {};
  const std::string digits = fmt::format("{:016x}", Xxh64(bytes));
  if (digits == hash->second) return {};
  return Corrupt(
      fmt::format("its xxh64 is {}, but the index says {}", digits, hash->second));
}

Result<Bytes> Decompress(BytesView stored, const MdsShardInfo& info) {
  const std::string_view name =
      std::string_view(info.compression).substr(0, info.compression.find(':'));
  if (name == "gz") {
    DOLIUM_TRY(ByteVector raw, GzipDecode(stored, info.raw.bytes));
    return Bytes::FromVector(std::move(raw));
  }
  if (name == "zstd") {
    const auto claimed = ZstdClaimedSize(stored);
    if (claimed && *claimed != info.raw.bytes) {
      return Corrupt(fmt::format("decompresses to {} bytes, but the index says {}",
                                 *claimed, info.raw.bytes));
    }
    Buffer raw(static_cast<size_t>(info.raw.bytes));
    DOLIUM_TRY_VOID(ZstdDecodeInto(stored, raw.view()));
    return std::move(raw).Share();
  }
  return Unsupported(fmt::format("compressed with {}; only gz and zstd can be undone",
                                 info.compression));
}

class MdsSource final : public SampleSource {
 public:
  // `index` is the generation of the index that lists the shards.
  MdsSource(Location folder, Generation index, std::vector<MdsShardInfo> shards,
            const ImportOptions& options)
      : folder_(std::move(folder)),
        index_(std::move(index)),
        shards_(std::move(shards)),
        options_(options) {
    for (const MdsShardInfo& info : shards_) total_ += info.samples;
  }

  Result<std::string> Bind() override {
    for (const MdsShardInfo& info : shards_) {
      Location at = folder_.Child(info.raw.basename);
      DOLIUM_TRY(auto there, at.store->Stat(at.path));
      if (!there && info.zip) {
        at = folder_.Child(info.zip->basename);
        DOLIUM_TRY(there, at.store->Stat(at.path));
      }
      bound_.Add(at.Describe(), there ? there->generation.token : "");
    }
    bound_.Add("index.json", index_.token);
    return bound_.text();
  }

  // A shard of which nothing can be had is passed as one.
  bool can_go_on() const override { return true; }

  Result<std::optional<Sample>> Next() override {
    while (!shard_ || next_ == shard_->size()) {
      if (opened_ == shards_.size()) return std::nullopt;
      shard_.reset();  // Not two at a time.
      const MdsShardInfo& info = shards_[opened_];
      auto opened = OpenShard(info);
      ++opened_;
      next_ = 0;
      if (!opened) {
        samples_ += info.samples;
        return std::move(opened).error();
      }
    }
    auto sample = ReadSample(shards_[opened_ - 1]);
    ++samples_;  // A bad one has its number, too.
    if (!sample) {
      return std::move(sample).error().Within(
          fmt::format("{}: sample {}", shard_name_, next_++));
    }
    ++next_;
    return *std::move(sample);
  }

  Progress progress() const override {
    return {.entries = samples_, .total_entries = total_, .bytes = bytes_};
  }

 private:
  Result<void> OpenShard(const MdsShardInfo& info) {
    Location at = folder_.Child(info.raw.basename);
    shard_name_ = at.Describe();
    if (info.raw.bytes > kMaxMdsShardBytes) {
      return Corrupt(
          fmt::format("{}: a shard of {} bytes, which offsets of 32 bits do "
                      "not reach",
                      shard_name_, info.raw.bytes));
    }
    Bytes raw;
    // Streaming keeps what it has decompressed beside the compressed file.
    DOLIUM_TRY(const auto there, at.store->Stat(at.path));
    if (there || !info.zip) {
      DOLIUM_TRY(WholeObject whole, at.store->ReadWhole(at.path, kMaxMdsShardBytes));
      DOLIUM_TRY_VOID(bound_.Check(opened_, whole.generation.token).Within(shard_name_));
      raw = std::move(whole.bytes);
      bytes_ += raw.size();
    } else {
      at = folder_.Child(info.zip->basename);
      shard_name_ = at.Describe();
      DOLIUM_TRY(const WholeObject whole,
                 at.store->ReadWhole(at.path, kMaxMdsShardBytes));
      DOLIUM_TRY_VOID(bound_.Check(opened_, whole.generation.token).Within(shard_name_));
      bytes_ += whole.bytes.size();
      DOLIUM_TRY_VOID(CheckFile(whole.bytes, *info.zip).Within(shard_name_));
      auto decoded = Decompress(whole.bytes, info);
      if (!decoded) return std::move(decoded).error().Within(shard_name_);
      raw = *std::move(decoded);
    }
    DOLIUM_TRY_VOID(CheckFile(raw, info.raw).Within(shard_name_));
    auto shard = MdsShard::Open(std::move(raw), info);
    if (!shard) return std::move(shard).error().Within(shard_name_);
    shard_ = *std::move(shard);
    return {};
  }

  Result<Sample> ReadSample(const MdsShardInfo& info) const {
    DOLIUM_TRY(std::vector<Bytes> values, shard_->Read(next_));
    Sample sample{.key = RunningKey(options_.key_prefix, samples_)};
    for (size_t i = 0; i < values.size(); ++i) {
      const MdsColumn& column = info.columns[i];
      if (column.name == kKeyName && column.encoding == "str") {
        sample.key = AsText(values[i]);
        continue;
      }
      auto file = MdsFileOf(column, std::move(values[i]));
      if (!file) {
        return std::move(file).error().Within(fmt::format("column \"{}\"", column.name));
      }
      sample.files.push_back(*std::move(file));
    }
    if (sample.key.empty()) return Corrupt("an empty key");
    if (sample.files.empty()) return Corrupt("no columns");
    return sample;
  }

  const Location folder_;
  const Generation index_;
  const std::vector<MdsShardInfo> shards_;
  BoundFiles bound_;
  const ImportOptions options_;
  size_t opened_ = 0;
  std::optional<MdsShard> shard_;
  std::string shard_name_;
  uint32_t next_ = 0;  // sample of the shard
  uint64_t samples_ = 0;
  uint64_t total_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace

Result<std::unique_ptr<SampleSource>> OpenMds(const std::string& path,
                                              const ImportOptions& options) {
  DOLIUM_TRY(Location folder, ParseLocation(path));
  const Location index = folder.Child("index.json");
  DOLIUM_TRY(const WholeObject whole, index.store->ReadWhole(index.path, kMaxIndexBytes));
  auto shards = ParseMdsIndex(AsText(whole.bytes));
  if (!shards) return std::move(shards).error().Within(index.Describe());
  return std::make_unique<MdsSource>(std::move(folder), whole.generation,
                                     *std::move(shards), options);
}

}  // namespace dolium::dataset
