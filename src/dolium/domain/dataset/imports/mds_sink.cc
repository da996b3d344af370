#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/imports/mds.h"
#include "dolium/domain/dataset/imports/mds_shard.h"
#include "dolium/domain/dataset/imports/output_shards.h"
#include "dolium/domain/dataset/imports/put_checks.h"
#include "dolium/domain/dataset/imports/text_values.h"
#include "dolium/domain/dataset/imports/tf_example.h"

namespace dolium::dataset {
namespace {

using shardpack::File;
using shardpack::Sample;

constexpr uint64_t kDefaultShardBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxShardBytes = (uint64_t{1} << 32) - 1;

std::string NamesOf(const std::vector<MdsColumn>& columns) {
  std::string out;
  for (const MdsColumn& column : columns) {
    out +=
        fmt::format("{}{} ({})", out.empty() ? "" : ", ", column.name, column.encoding);
  }
  return out;
}

class MdsSink final : public SampleSink {
 public:
  MdsSink(Location folder, const SampleExportOptions& options)
      : folder_(std::move(folder)),
        options_(options),
        limit_(
            std::min(options.shard_bytes > 0 ? options.shard_bytes : kDefaultShardBytes,
                     kMaxShardBytes)) {}

  bool KeepsArray(const shardpack::ArrayShape& array) const override {
    return KeepsMdsArray(array);
  }

  // Takes the shards that are there for its own.
  Result<void> GoOn() {
    for (uint64_t i = 0; i < options_.files_before; ++i) {
      const Location at = folder_.Child(NameOf(i));
      DOLIUM_TRY(MdsShardInfo info, InfoOf(at).Within(at.Describe()));
      shards_.push_back(std::move(info));
    }
    if (!shards_.empty()) TakeColumns(shards_.front().columns);
    return {};
  }

  Result<void> Put(const Sample& sample) override {
    DOLIUM_TRY_VOID(CheckHasFiles(sample));
    auto put = PutSteps(sample);
    if (!put) {
      return std::move(put).error().Within(fmt::format("sample \"{}\"", sample.key));
    }
    return {};
  }

  Result<void> Finish() override {
    DOLIUM_TRY_VOID(WriteShard());
    DOLIUM_TRY_VOID(Write("index.json", AsBytes(MdsIndexText(shards_))));
    return options_.file_done ? options_.file_done(/*is_last=*/true) : Result<void>();
  }

 private:
  struct Value {
    MdsColumn column;
    Bytes data;
  };

  static std::string NameOf(uint64_t shard) {
    return fmt::format("shard.{:05}.mds", shard);
  }

  // What the index says of a shard, from the shard itself.
  static Result<MdsShardInfo> InfoOf(const Location& at) {
    DOLIUM_TRY(const auto there, at.store->Stat(at.path));
    if (!there) return NotFound("a shard that was written is gone");
    DOLIUM_TRY(const Bytes numbers, at.store->ReadRange(at.path, {0, 8}));
    MdsShardInfo info;
    info.samples = LoadLE<uint32_t>(numbers.data());
    info.raw = {std::string(BaseName(at.path)), there->size};
    const uint64_t begin = 4 + 4 * (info.samples + 1);
    const uint64_t end = LoadLE<uint32_t>(numbers.data() + 4);
    if (end < begin) return Corrupt(fmt::format("its samples begin at {}", end));
    DOLIUM_TRY(const Bytes text, at.store->ReadRange(at.path, {begin, end - begin}));
    DOLIUM_TRY(info.columns, ParseMdsColumns(AsText(text)));
    return info;
  }

  void TakeColumns(const std::vector<MdsColumn>& columns) {
    columns_ = columns;
    header_ = MdsShardHeader(columns_, 0);
  }

  Result<void> PutSteps(const Sample& sample) {
    DOLIUM_TRY(const std::vector<Value> row, MakeRow(sample));
    std::vector<MdsColumn> columns;
    std::vector<Bytes> values;
    for (const Value& value : row) {
      columns.push_back(value.column);
      values.push_back(value.data);
    }
    if (columns_.empty()) TakeColumns(columns);
    if (columns != columns_) {
      return InvalidArgument(fmt::format(
          "its columns are {}, but those of samples before are {}; all samples "
          "of an MDS data set have the same",
          NamesOf(columns), NamesOf(columns_)));
    }
    ByteVector encoded = EncodeMdsSample(columns_, values);
    const uint64_t more = encoded.size() + 4;
    if (header_ + more > kMaxShardBytes) {
      return InvalidArgument(
          fmt::format("{} bytes, which offsets of 32 bits do not reach", encoded.size()));
    }
    const bool full =
        !samples_.empty() &&
        (header_ + bytes_ + more > limit_ ||
         (options_.shard_samples > 0 && samples_.size() >= options_.shard_samples));
    if (full) {
      DOLIUM_TRY_VOID(WriteShard());
      if (options_.file_done) DOLIUM_TRY_VOID(options_.file_done(/*is_last=*/false));
    }
    bytes_ += more;
    samples_.push_back(std::move(encoded));
    return {};
  }

  Result<std::vector<Value>> MakeRow(const Sample& sample) const {
    std::vector<Value> row;
    if (options_.keys) {
      row.push_back({{std::string(kKeyName), "str"}, Bytes::Copy(AsBytes(sample.key))});
    }
    for (const File& file : sample.files) {
      row.push_back({MdsColumnFor(file), file.data});
    }
    std::ranges::sort(row, {}, [](const Value& value) -> const std::string& {
      return value.column.name;
    });
    for (size_t i = 0; i < row.size(); ++i) {
      const MdsColumn& column = row[i].column;
      if (i > 0 && column.name == row[i - 1].column.name) {
        return InvalidArgument(fmt::format("two files named \"{}\"", column.name));
      }
      if (!IsUtf8(AsBytes(column.name)) || !IsUtf8(AsBytes(column.encoding))) {
        return InvalidArgument("a file whose name or type is not UTF-8");
      }
      if (column.encoding == "str" && !IsUtf8(row[i].data)) {
        return InvalidArgument(fmt::format(
            "\"{}\" is text, but not UTF-8, which MDS readers want", column.name));
      }
    }
    return row;
  }

  Result<void> WriteShard() {
    if (samples_.empty()) return {};
    const ByteVector shard = MakeMdsShard(columns_, samples_);
    MdsShardInfo info;
    info.columns = columns_;
    info.raw = {NameOf(shards_.size()), shard.size()};
    info.samples = samples_.size();
    DOLIUM_TRY_VOID(Write(info.raw.basename, shard));
    shards_.push_back(std::move(info));
    samples_.clear();
    bytes_ = 0;
    return {};
  }

  Result<void> Write(std::string_view name, BytesView bytes) const {
    const Location at = folder_.Child(name);
    auto written = at.store->Put(at.path, bytes, MayReplace(options_.force));
    if (!written) return std::move(written).error();
    return {};
  }

  const Location folder_;
  const SampleExportOptions options_;
  const uint64_t limit_;
  std::vector<MdsColumn> columns_;
  uint64_t header_ = 0;  // bytes of a shard without samples
  std::vector<ByteVector> samples_;
  uint64_t bytes_ = 0;  // that the samples add to the header
  std::vector<MdsShardInfo> shards_;
};

}  // namespace

Result<std::unique_ptr<SampleSink>> CreateMds(const std::string& path,
                                              const SampleExportOptions& options) {
  DOLIUM_TRY(Location folder, ParseLocation(path));
  if (!options.force) {
    const Location index = folder.Child("index.json");
    DOLIUM_TRY(const auto there, index.store->Stat(index.path));
    if (there) return Exists(index.Describe() + ": is there already");
  }
  auto sink = std::make_unique<MdsSink>(std::move(folder), options);
  DOLIUM_TRY_VOID(sink->GoOn());
  return sink;
}

}  // namespace dolium::dataset
