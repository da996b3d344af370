#include "dolium/domain/dataset/imports/tfrecord.h"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/crc32c.h"
#include "dolium/base/endian.h"
#include "dolium/domain/dataset/content_types.h"
#include "dolium/domain/dataset/imports/output_shards.h"
#include "dolium/domain/dataset/imports/put_checks.h"
#include "dolium/domain/dataset/imports/running_key.h"
#include "dolium/domain/dataset/imports/source_files.h"
#include "dolium/domain/dataset/imports/tf_example.h"

namespace dolium::dataset {
namespace {

using shardpack::Sample;

constexpr size_t kHeaderBytes = 12;
constexpr size_t kTailBytes = 4;
constexpr uint32_t kMaskDelta = 0xa282ead8;

uint32_t MaskedCrc(BytesView bytes) {
  const uint32_t crc = Crc32c(bytes);
  return (crc >> 15 | crc << 17) + kMaskDelta;
}

// The next record; nullopt at the end. `is_passed`: whatever is wrong with it, the stream
// is behind it.
Result<std::optional<Bytes>> ReadRecord(InputStream& stream, uint64_t limit,
                                        bool& is_passed) {
  is_passed = false;
  DOLIUM_TRY(const bool at_end, stream.AtEnd());
  if (at_end) return std::nullopt;
  const uint64_t at = stream.position();
  const auto damaged = [&](std::string what) {
    return Corrupt(fmt::format("{}: the record at {}: {}", stream.name(), at, what));
  };
  DOLIUM_TRY(const BytesView header, stream.Peek(kHeaderBytes, "the header of a record"));
  if (LoadLE<uint32_t>(header.data() + 8) != MaskedCrc(header.first(8))) {
    return damaged("the checksum of its length is wrong");
  }
  const uint64_t length = LoadLE<uint64_t>(header.data());
  if (length > limit) {
    return damaged(fmt::format("{} bytes, more than the limit of {}", length, limit));
  }
  DOLIUM_TRY(Bytes data, stream.Read(length, "a record"));
  DOLIUM_TRY(const BytesView tail, stream.Peek(kTailBytes, "the checksum of a record"));
  is_passed = true;
  if (LoadLE<uint32_t>(tail.data()) != MaskedCrc(data)) {
    return damaged("the checksum of its data is wrong");
  }
  return data;
}

class TfRecordSource final : public SampleSource {
 public:
  TfRecordSource(SourceFiles files, const ImportOptions& options)
      : files_(std::move(files)), options_(options), records_(options.records) {}

  Result<std::string> Bind() override { return files_.Bind(); }

  bool can_go_on() const override { return can_go_on_; }

  Result<std::optional<Sample>> Next() override {
    can_go_on_ = false;
    while (true) {
      if (!stream_) {
        DOLIUM_TRY(stream_, files_.Next());
        if (!stream_) return std::nullopt;
        in_file_ = 0;
      }
      auto read = ReadRecord(*stream_, options_.max_file_bytes, can_go_on_);
      if (!read) {
        // A bad one has its number, too.
        ++in_file_;
        ++samples_;
        return std::move(read).error();
      }
      auto& record = *read;
      if (!record) {
        bytes_before_ += stream_->consumed();
        stream_ = nullptr;
        continue;
      }
      auto sample = MakeSample(*record);
      ++samples_;
      if (!sample) {
        return std::move(sample).error().Within(
            fmt::format("{}: record {}", stream_->name(), in_file_++));
      }
      ++in_file_;
      return *std::move(sample);
    }
  }

  Progress progress() const override {
    return {.entries = samples_,
            .bytes = bytes_before_ + (stream_ ? stream_->consumed() : 0),
            .total_bytes = files_.total_bytes()};
  }

 private:
  Result<Sample> MakeSample(const Bytes& record) {
    Sample sample{.key = RunningKey(options_.key_prefix, samples_)};
    if (records_ != TfRecords::kRaw) {
      auto example = ParseExample(record);
      const bool fits = example && !example->files.empty();
      if (records_ == TfRecords::kAuto) {
        records_ = fits ? TfRecords::kExample : TfRecords::kRaw;
      }
      if (records_ == TfRecords::kExample) {
        if (!example) {
          return std::move(example).error().Within("not a tf.train.Example");
        }
        if (!fits) return Corrupt("a tf.train.Example without features");
        if (example->key) sample.key = *std::move(example->key);
        sample.files = std::move(example->files);
        return sample;
      }
    }
    sample.files.push_back({.name = "data",
                            .content_type = std::string(GuessContentType("", record)),
                            .data = record});
    return sample;
  }

  SourceFiles files_;
  const ImportOptions options_;
  TfRecords records_;
  std::unique_ptr<InputStream> stream_;
  uint64_t samples_ = 0;
  uint64_t in_file_ = 0;
  bool can_go_on_ = false;
  uint64_t bytes_before_ = 0;  // of the files done
};

class TfRecordSink final : public SampleSink {
 public:
  TfRecordSink(std::unique_ptr<OutputShards> shards, bool keys)
      : shards_(std::move(shards)), keys_(keys) {}

  bool KeepsArray(const shardpack::ArrayShape& array) const override {
    return IsFeatureArray(array);
  }

  Result<void> Put(const Sample& sample) override {
    DOLIUM_TRY_VOID(CheckHasFiles(sample));
    const ByteVector record = MakeExample(
        sample.files, keys_ ? std::optional<std::string_view>(sample.key) : std::nullopt);
    std::array<std::byte, kHeaderBytes> header;
    StoreLE<uint64_t>(header.data(), record.size());
    StoreLE(header.data() + 8, MaskedCrc(BytesView(header).first(8)));
    std::array<std::byte, kTailBytes> tail;
    StoreLE(tail.data(), MaskedCrc(record));
    DOLIUM_TRY_VOID(shards_->BeginSample(kHeaderBytes + record.size() + kTailBytes));
    DOLIUM_TRY_VOID(shards_->Append(header));
    DOLIUM_TRY_VOID(shards_->Append(record));
    return shards_->Append(tail);
  }

  Result<void> Finish() override { return shards_->Finish(); }

 private:
  const std::unique_ptr<OutputShards> shards_;
  const bool keys_;
};

}  // namespace

Result<std::unique_ptr<SampleSource>> OpenTfRecords(std::vector<Location> files,
                                                    const ImportOptions& options) {
  DOLIUM_TRY(SourceFiles opened, SourceFiles::Open(std::move(files)));
  return std::make_unique<TfRecordSource>(std::move(opened), options);
}

std::unique_ptr<SampleSource> ReadTfRecords(std::unique_ptr<InputStream> stream,
                                            const ImportOptions& options) {
  return std::make_unique<TfRecordSource>(SourceFiles(std::move(stream)), options);
}

Result<std::unique_ptr<SampleSink>> CreateTfRecords(const std::string& path,
                                                    const SampleExportOptions& options) {
  DOLIUM_TRY(auto shards, OutputShards::Create(path, options));
  return std::make_unique<TfRecordSink>(std::move(shards), options.keys);
}

}  // namespace dolium::dataset
