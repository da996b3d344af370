#include "dolium/formats/shardpack/pack_writer.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/formats/shardpack/record.h"
#include "dolium/formats/shardpack/split_sample.h"

namespace dolium::shardpack {

namespace {

// What is encoded as one task.
constexpr uint64_t kBatchBytes = uint64_t{512} << 10;
constexpr size_t kBatchSamples = 256;
// What a dictionary is trained from: small files of the first samples.
constexpr size_t kTrainingFile = 16 << 10;
constexpr uint64_t kTrainingBytes = uint64_t{8} << 20;
constexpr std::string_view kRecordTooLarge = "record-size";
// Samples that are to be split and have more times the bytes of a record are not encoded
// as one to see whether compression makes them fit.
constexpr uint64_t kMostTried = 8;

uint64_t BytesOf(const Sample& sample) {
  uint64_t bytes = sample.key.size() + sample.metadata.bytes.size();
  for (const File& file : sample.files) bytes += file.data.size();
  return bytes;
}

}  // namespace

uint64_t PackSummary::bytes() const {
  uint64_t sum = 0;
  for (const ShardSummary& shard : shards) sum += shard.bytes;
  return sum;
}

struct PackWriter::Batch {
  std::vector<Sample> samples;
  uint64_t bytes = 0;

  std::mutex mutex;
  std::condition_variable changed;
  // One for each sample, once they are encoded.
  std::optional<std::vector<Result<Encoded>>> encoded;
};

PackWriter::PackWriter(PackOptions options)
    : options_(std::move(options)),
      samples_done_(options_.samples_before),
      samples_to_drop_(options_.samples_to_drop) {}

PackWriter::~PackWriter() = default;

Result<std::unique_ptr<PackWriter>> PackWriter::Create(PackOptions options) {
  DOLIUM_TRY_VOID(CheckOptions(options.shard.encode));
  std::unique_ptr<PackWriter> writer(new PackWriter(std::move(options)));
  const PackOptions& own = writer->options_;
  if (own.dictionary_bytes > 0 && own.shard.encode.compression != Compression::kZstd) {
    return InvalidArgument("a dictionary is for zstd");
  }
  if ((own.dictionary_bytes > 0 || own.shard.encode.dictionary) &&
      own.oversize == Oversize::kSplit) {
    return InvalidArgument("samples cannot be split where a dictionary is wanted");
  }
  writer->is_training_ = own.dictionary_bytes > 0;
  const size_t threads = ThreadCount(own.jobs, SIZE_MAX);
  // A checksum alone is not worth a thread.
  writer->is_parallel_ =
      threads > 1 && own.shard.encode.compression != Compression::kNone;
  if (writer->is_parallel_) {
    writer->workers_ = std::make_unique<WorkerPool>(threads);
    // Without a thread, it encodes by itself.
    writer->is_parallel_ = writer->workers_->status().has_value();
  }
  // The first shard is begun at once: a target that may not be written is reported early.
  DOLIUM_TRY_VOID(writer->BeginShard());
  return writer;
}

Result<void> PackWriter::Add(Sample sample) {
  if (failure_) return *failure_;
  if (options_.stop.stop_requested()) return Cancelled();
  if (!is_training_ && samples_to_drop_ > 0) {
    --samples_to_drop_;
    return {};
  }
  if (!is_training_ && !is_parallel_) {
    DOLIUM_TRY(auto encoded, Encode(sample));
    return Keep(Commit(sample, std::move(encoded)));
  }
  DOLIUM_TRY_VOID(CheckBefore(sample));
  const uint64_t bytes = BytesOf(sample);
  if (!is_training_) return Keep(Enqueue(std::move(sample)));
  training_bytes_ += bytes;
  training_.push_back(std::move(sample));
  if (training_bytes_ < kTrainingBytes) return {};
  return Keep(TrainDictionary());
}

Result<void> PackWriter::CheckBefore(const Sample& sample) const {
  DOLIUM_TRY_VOID(CheckSample(sample));
  const EncodeOptions& encode = options_.shard.encode;
  if (encode.record_limit == 0 || options_.oversize == Oversize::kSkip ||
      MostBytes(sample, encode) <= encode.record_limit) {
    return {};
  }
  // How far compression gets it below the limit, only an attempt can show.
  const auto encoded = Encode(sample);
  if (!encoded) return encoded.error();
  return {};
}

Result<void> PackWriter::Keep(Result<void> result) {
  if (!result) failure_ = result.error();
  return result;
}

Result<void> PackWriter::Enqueue(Sample sample) {
  if (!open_batch_) open_batch_ = std::make_unique<Batch>();
  open_batch_->bytes += BytesOf(sample);
  open_batch_->samples.push_back(std::move(sample));
  if (open_batch_->bytes >= kBatchBytes || open_batch_->samples.size() >= kBatchSamples) {
    return SubmitBatch();
  }
  return {};
}

Result<void> PackWriter::TrainDictionary() {
  is_training_ = false;
  std::vector<Bytes> small;
  for (const Sample& sample : training_) {
    for (const File& file : sample.files) {
      const auto& is_worth = options_.shard.encode.worth_compressing;
      if (!file.data.empty() && file.data.size() <= kTrainingFile &&
          (!is_worth || is_worth(file.content_type))) {
        small.push_back(file.data);
      }
    }
  }
  if (auto trained = ZstdDictionary::Train(small, options_.dictionary_bytes)) {
    const int level = options_.shard.encode.level;
    DOLIUM_TRY(options_.shard.encode.dictionary,
               ZstdDictionary::Load(Bytes::FromVector(*std::move(trained)),
                                    level < 0 ? kZstdLevel : level));
  }
  std::vector<Sample> samples = std::exchange(training_, {});
  for (Sample& sample : samples) {
    if (samples_to_drop_ > 0) {
      --samples_to_drop_;
    } else if (is_parallel_) {
      DOLIUM_TRY_VOID(Enqueue(std::move(sample)));
    } else {
      DOLIUM_TRY(auto encoded, Encode(sample));
      DOLIUM_TRY_VOID(Commit(sample, std::move(encoded)));
    }
  }
  return {};
}

Result<PackWriter::Encoded> PackWriter::Encode(const Sample& sample) const {
  const EncodeOptions& encode = options_.shard.encode;
  const auto split = [&]() -> Result<Encoded> {
    DOLIUM_TRY_VOID(CheckSample(sample));
    DOLIUM_TRY([[maybe_unused]] const auto parts, SplitSample(sample, encode));
    return Encoded{.is_split = true};
  };
  // Nothing is worth a try that takes many times the memory of a record.
  const bool splits = options_.oversize == Oversize::kSplit && encode.record_limit > 0;
  if (splits && BytesOf(sample) / kMostTried > encode.record_limit) return split();
  auto whole = EncodeRecord(sample, encode);
  if (!whole && whole.error().kind == kRecordTooLarge && encode.dictionary) {
    // It may have been found to be within the limit before there was a dictionary.
    EncodeOptions plain = encode;
    plain.dictionary = nullptr;
    whole = EncodeRecord(sample, plain);
  }
  if (whole) return Encoded{.record = *std::move(whole)};
  if (whole.error().kind != kRecordTooLarge || options_.oversize == Oversize::kError) {
    return std::move(whole).error();
  }
  if (splits) return split();
  return Encoded{};
}

Result<void> PackWriter::SubmitBatch() {
  if (!open_batch_) return {};
  const std::shared_ptr<Batch> batch = std::move(open_batch_);
  bytes_in_flight_ += batch->bytes;
  in_flight_.push_back(batch);
  workers_->Submit([this, batch]() -> Result<void> {
    std::vector<Result<Encoded>> encoded;
    encoded.reserve(batch->samples.size());
    for (const Sample& sample : batch->samples) encoded.push_back(Encode(sample));
    const std::scoped_lock lock(batch->mutex);
    batch->encoded = std::move(encoded);
    batch->changed.notify_all();
    return {};
  });
  while (!in_flight_.empty()) {
    {
      const std::scoped_lock lock(in_flight_.front()->mutex);
      const bool is_done = in_flight_.front()->encoded.has_value();
      if (!is_done && bytes_in_flight_ < options_.memory) break;
    }
    DOLIUM_TRY_VOID(CommitFront());
  }
  return {};
}

Result<void> PackWriter::CommitFront() {
  const std::shared_ptr<Batch> batch = in_flight_.front();
  in_flight_.pop_front();
  bytes_in_flight_ -= batch->bytes;
  std::unique_lock lock(batch->mutex);
  batch->changed.wait(lock, [&] { return batch->encoded.has_value(); });
  // Taken out: the thread that encoded them may hold the batch a little longer, but bytes
  // that were borrowed are given back on this one.
  const std::vector<Sample> samples = std::move(batch->samples);
  auto all = *std::move(batch->encoded);
  lock.unlock();
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!all[i]) return std::move(all[i]).error();
    DOLIUM_TRY_VOID(Commit(samples[i], *std::move(all[i])));
  }
  return {};
}

Result<void> PackWriter::CommitRest() {
  if (is_training_) DOLIUM_TRY_VOID(TrainDictionary());
  DOLIUM_TRY_VOID(SubmitBatch());
  while (!in_flight_.empty()) DOLIUM_TRY_VOID(CommitFront());
  return {};
}

Result<void> PackWriter::CommitParts(const Sample& sample) {
  const EncodeOptions& encode = options_.shard.encode;
  DOLIUM_TRY(const std::vector<Sample> parts, SplitSample(sample, encode));
  uint64_t most = 0;
  for (const Sample& part : parts) most += MostBytes(part, encode);
  DOLIUM_TRY_VOID(MakeRoom(parts.size(), most));
  const auto count = static_cast<uint32_t>(parts.size());
  for (uint32_t i = 0; i < count; ++i) {
    if (options_.stop.stop_requested()) return Cancelled();
    DOLIUM_TRY(const EncodedRecord record, EncodePart(parts[i], {i, count}, encode));
    DOLIUM_TRY_VOID(shard_->Append(record));
  }
  ++samples_done_;
  return {};
}

Result<void> PackWriter::Commit(const Sample& sample, Encoded encoded) {
  if (encoded.is_split) return CommitParts(sample);
  if (!encoded.record) {
    ++summary_.skipped;
    ++skipped_in_shard_;
    ++samples_done_;
    return {};
  }
  EncodedRecord& record = *encoded.record;
  DOLIUM_TRY_VOID(MakeRoom(1, record.size));
  const auto& dictionary = options_.shard.encode.dictionary;
  if (dictionary && shard_->records() == 0) {
    // The first record of a shard carries the dictionary that the others need.
    if (sample.tombstone) {
      return InvalidArgument(
          fmt::format("\"{}\": a tombstone cannot be the first of a shard with a "
                      "dictionary, which it has no place for",
                      sample.key));
    }
    Sample with_dictionary = sample;
    with_dictionary.files.push_back(DictionaryFile(*dictionary));
    EncodeOptions encode = options_.shard.encode;
    encode.record_limit = 0;  // The sample alone was within.
    DOLIUM_TRY(record, EncodeRecord(with_dictionary, encode));
  }
  DOLIUM_TRY_VOID(shard_->Append(record));
  ++samples_done_;
  return {};
}

Result<void> PackWriter::BeginShard() {
  const uint64_t number = options_.shards_before + summary_.shards.size();
  DOLIUM_TRY(shard_, ShardWriter::Create(options_.place(number), options_.shard));
  return {};
}

Result<void> PackWriter::EndShard(bool is_last) {
  const uint64_t number = options_.shards_before + summary_.shards.size();
  DOLIUM_TRY(ShardSummary summary, shard_->Finish(number));
  shard_.reset();
  if (options_.shard_done) {
    DOLIUM_TRY_VOID(
        options_.shard_done(summary, samples_done_, skipped_in_shard_, is_last));
  }
  skipped_in_shard_ = 0;
  summary_.records += summary.records;
  summary_.raw_bytes += summary.stat.raw_bytes;
  summary_.shards.push_back(std::move(summary));
  return {};
}

Result<void> PackWriter::MakeRoom(uint64_t records, uint64_t bytes) {
  if (shard_->records() == 0) return {};
  const bool is_full =
      (options_.shard_bytes > 0 && shard_->bytes() + bytes > options_.shard_bytes) ||
      (options_.shard_records > 0 &&
       shard_->records() + records > options_.shard_records);
  if (!is_full) return {};
  DOLIUM_TRY_VOID(EndShard(/*is_last=*/false));
  return BeginShard();
}

Result<void> PackWriter::AddBlock(const Bytes& block, Check check) {
  if (failure_) return *failure_;
  if (options_.stop.stop_requested()) return Cancelled();
  if (is_training_ || options_.shard.encode.dictionary) {
    return InvalidArgument("blocks cannot be copied where a dictionary is wanted");
  }
  DOLIUM_TRY(const EncodedRecord record, SummarizeBlock(block, check));
  DOLIUM_TRY(const Record parsed, Record::Parse(block, Check::kNone));
  const RecordHeader& header = parsed.header();
  for (const EntryHeader& entry : parsed.entries()) {
    DOLIUM_TRY(const auto needed, DictionariesNeeded(entry, parsed.Stored(entry)));
    if (needed.empty()) continue;
    return InvalidArgument(fmt::format("{}: needs dictionary {} of its shard",
                                       EntryContext(record.key, entry.name),
                                       *needed.begin()));
  }
  if (header.align_log2 != options_.shard.encode.align_log2) {
    return InvalidArgument(
        fmt::format("\"{}\": a block of alignment 2^{} for a shard of 2^{}", record.key,
                    header.align_log2, options_.shard.encode.align_log2));
  }
  // The parts of a sample stay together.
  DOLIUM_TRY(const auto part, ParsePart(header));
  return Keep(AppendBlock(record, /*may_roll=*/!part || part->index == 0));
}

Result<void> PackWriter::AppendBlock(const EncodedRecord& record, bool may_roll) {
  DOLIUM_TRY_VOID(CommitRest());
  if (may_roll) DOLIUM_TRY_VOID(MakeRoom(1, record.size));
  return shard_->Append(record);
}

Result<PackSummary> PackWriter::Finish() {
  if (failure_) return *failure_;
  DOLIUM_TRY_VOID(Keep(CommitRest()));
  DOLIUM_TRY_VOID(Keep(EndShard(/*is_last=*/true)));
  return std::move(summary_);
}

}  // namespace dolium::shardpack
