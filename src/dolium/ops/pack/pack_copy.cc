#include "dolium/ops/pack/pack_copy.h"

#include <algorithm>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/formats/shardpack/layout.h"
#include "dolium/ops/pack/pack_output.h"

namespace dolium::dataset {
namespace {

using shardpack::Check;
using shardpack::EncodedRecord;
using shardpack::Shard;
using shardpack::ShardSummary;
using shardpack::ShardWriter;

constexpr size_t kSamplesAtOnce = 256;

bool HasDictionaries(const Shard& shard) {
  return (shard.footer().features_optional & shardpack::kFeatureDictionaries) != 0;
}

// How many bytes the records of each sample take, without reading them where the index of
// their shard tells.
class SampleSizes {
 public:
  static Result<SampleSizes> Make(const SampleSet& set) {
    SampleSizes sizes(set);
    uint64_t begin = 0;
    const std::vector<ShardExtent> extents = set.extents();
    for (size_t i = 0; i < extents.size(); ++i) {
      std::shared_ptr<const Shard> shard;
      if (extents.size() == set.shard_count()) {
        DOLIUM_TRY(shard, set.shard(i));
        // Samples of several records are not numbered as records are.
        if (shard->size() != extents[i].records) shard = nullptr;
      }
      sizes.slots_.push_back({begin, std::move(shard)});
      begin += extents[i].records;
    }
    return sizes;
  }

  Result<uint64_t> Of(uint64_t number) const {
    const auto after = std::ranges::upper_bound(slots_, number, {}, &Slot::begin);
    const Slot& slot = *(after - 1);
    if (slot.shard) return slot.shard->range(number - slot.begin).length;
    DOLIUM_TRY(const LoadedSample sample, set_.Read(number));
    uint64_t bytes = 0;
    for (const SamplePart& piece : sample.parts()) bytes += piece.record.block().size();
    return bytes;
  }

 private:
  struct Slot {
    uint64_t begin = 0;
    std::shared_ptr<const Shard> shard;  // nullptr: look at the records
  };
  explicit SampleSizes(const SampleSet& set) : set_(set) {}

  const SampleSet& set_;
  std::vector<Slot> slots_;
};

class Copy {
 public:
  Copy(const SampleSet& set, std::span<const uint64_t> order, const CopyRequest& request,
       PackOutput output)
      : set_(set),
        order_(order),
        request_(request),
        output_(std::move(output)),
        shard_options_(request.shard) {}

  Result<PackReport> Run() {
    DOLIUM_TRY_VOID(LearnFromSource());
    DOLIUM_TRY_VOID(Plan());
    const size_t shards = ends_.size();
    const size_t threads = ThreadCount(request_.jobs, SIZE_MAX);
    inner_jobs_ = std::max<size_t>(1, threads / shards);
    const size_t at_once = std::min(shards, threads);
    memory_ = std::max<uint64_t>(1, request_.memory / at_once);
    summaries_.resize(shards);
    auto written = ParallelFor(
        shards, at_once, [&](size_t i) { return WriteShard(i); }, request_.stop);
    PackReport report;
    for (size_t i = 0; i < shards; ++i) {
      if (!summaries_[i]) continue;
      if (!written && !shard_options_.force) output_.Withdraw(i);
      report.summary.records += summaries_[i]->records;
      report.summary.raw_bytes += summaries_[i]->stat.raw_bytes;
      report.summary.shards.push_back(*std::move(summaries_[i]));
    }
    if (!written) return std::move(written).error();
    DOLIUM_TRY(report.leftover, output_.Leftover(shards));
    return report;
  }

 private:
  // What the new shards have from the old ones: alignment, compression, metadata.
  Result<void> LearnFromSource() {
    for (size_t i = 0; i < set_.shard_count(); ++i) {
      DOLIUM_TRY(const auto shard, set_.shard(i));
      sources_.insert(shard->Describe());
      if (i == 0) {
        shard_options_.encode.align_log2 =
            request_.align_log2.value_or(shard->footer().align_log2);
      }
      const auto metadata = shard->metadata();
      if (!metadata) continue;
      if (const auto user = metadata->find("user");
          user != metadata->end() && user->is_object()) {
        for (const auto& [name, value] : user->items()) {
          if (!shard_options_.user.contains(name)) shard_options_.user[name] = value;
        }
      }
      const auto own = metadata->find("shardpack");
      if (i > 0 || request_.recode || own == metadata->end() || !own->is_object())
        continue;
      if (const auto name = own->find("compression");
          name != own->end() && name->is_string()) {
        const auto compression = shardpack::ParseCompression(name->get<std::string>());
        if (compression) shard_options_.encode.compression = *compression;
      }
    }
    return {};
  }

  // Where each shard ends, as a position in the order.
  Result<void> Plan() {
    const uint64_t total = order_.size();
    if (request_.shards > 0) {
      const uint64_t shards = std::min(request_.shards, std::max<uint64_t>(total, 1));
      for (uint64_t i = 1; i <= shards; ++i) {
        // No overflow: both are numbers of things in memory.
        ends_.push_back(total / shards * i + total % shards * i / shards);
      }
    } else if (request_.shard_records > 0) {
      for (uint64_t end = request_.shard_records; end < total;
           end += request_.shard_records) {
        ends_.push_back(end);
      }
      ends_.push_back(total);
    } else if (request_.shard_bytes > 0) {
      DOLIUM_TRY(const SampleSizes sizes, SampleSizes::Make(set_));
      uint64_t bytes = 0;
      for (size_t i = 0; i < order_.size(); ++i) {
        DOLIUM_TRY(const uint64_t size, sizes.Of(order_[i]));
        if (bytes > 0 && bytes + size > request_.shard_bytes) {
          ends_.push_back(i);
          bytes = 0;
        }
        bytes += size;
      }
      ends_.push_back(total);
    } else {
      ends_.push_back(total);
    }
    for (uint64_t i = 0; output_.is_numbered() && i < ends_.size(); ++i) {
      if (!sources_.contains(output_.At(i).Describe())) continue;
      return InvalidArgument(fmt::format(
          "{}: is a shard of the source; name another output", output_.At(i).Describe()));
    }
    return {};
  }

  Result<void> WriteShard(size_t index) {
    const uint64_t begin = index == 0 ? 0 : ends_[index - 1];
    auto numbers = order_.subspan(static_cast<size_t>(begin),
                                  static_cast<size_t>(ends_[index] - begin));
    DOLIUM_TRY(const auto writer, ShardWriter::Create(output_.At(index), shard_options_));
    while (!numbers.empty()) {
      if (request_.stop.stop_requested()) return Cancelled();
      const auto some = numbers.first(std::min(kSamplesAtOnce, numbers.size()));
      numbers = numbers.subspan(some.size());
      DOLIUM_TRY_VOID(CopySome(some, *writer));
    }
    DOLIUM_TRY(summaries_[index], writer->Finish(index));
    return {};
  }

  Result<void> CopySome(std::span<const uint64_t> numbers, ShardWriter& writer) {
    const auto loaded = set_.ReadMany(numbers);
    uint64_t copied = 0;
    for (size_t begin = 0; begin < numbers.size();) {
      size_t end = begin;
      for (uint64_t bytes = 0; end < numbers.size(); ++end) {
        if (!loaded[end]) return loaded[end].error();
        if (!IsCopied(*loaded[end])) {
          for (const auto file : loaded[end]->files()) {
            bytes += loaded[end]->header(file).raw_size;
          }
        }
        if (bytes > memory_ && end > begin) break;
      }
      std::vector<std::vector<EncodedRecord>> records(end - begin);
      DOLIUM_TRY_VOID(ParallelFor(
          records.size(), inner_jobs_,
          [&](size_t i) -> Result<void> {
            DOLIUM_TRY(records[i], Prepare(*loaded[begin + i]));
            return {};
          },
          request_.stop));
      for (const std::vector<EncodedRecord>& of_sample : records) {
        for (const EncodedRecord& record : of_sample) {
          DOLIUM_TRY_VOID(writer.Append(record));
          copied += record.size;
        }
      }
      begin = end;
    }
    const std::scoped_lock lock(mutex_);
    done_ += numbers.size();
    done_bytes_ += copied;
    if (request_.progress) request_.progress({done_, order_.size(), done_bytes_, 0});
    return {};
  }

  bool IsCopied(const LoadedSample& sample) const {
    if (request_.recode) return false;
    const std::vector<SamplePart>& pieces = sample.parts();
    const Shard& shard = *pieces.front().shard;
    if (HasDictionaries(shard) ||
        shard.footer().align_log2 != shard_options_.encode.align_log2) {
      return false;
    }
    // Several records are the parts of one sample, as they were cut, or an overlay's.
    for (size_t i = 1; i < pieces.size(); ++i) {
      if (pieces[i].shard != pieces.front().shard ||
          (pieces[i].record.header().flags & shardpack::kRecordPart) == 0) {
        return false;
      }
    }
    return true;
  }

  Result<std::vector<EncodedRecord>> Prepare(const LoadedSample& sample) const {
    std::vector<EncodedRecord> records;
    if (!IsCopied(sample)) {
      DOLIUM_TRY(shardpack::Sample decoded, sample.Decode());
      if (request_.recode) {
        for (shardpack::File& file : decoded.files) file.compression = std::nullopt;
      }
      DOLIUM_TRY(EncodedRecord record, EncodeRecord(decoded, shard_options_.encode));
      records.push_back(std::move(record));
      return records;
    }
    for (const SamplePart& piece : sample.parts()) {
      auto record = SummarizeBlock(piece.record.block(), Check::kFull);
      if (!record) {
        return std::move(record).error().Within(
            fmt::format("{}: record {}", piece.shard->Describe(), piece.number));
      }
      records.push_back(*std::move(record));
    }
    return records;
  }

  const SampleSet& set_;
  const std::span<const uint64_t> order_;
  const CopyRequest& request_;
  const PackOutput output_;
  shardpack::ShardWriterOptions shard_options_;
  std::set<std::string> sources_;
  std::vector<uint64_t> ends_;
  std::vector<std::optional<ShardSummary>> summaries_;
  size_t inner_jobs_ = 1;
  uint64_t memory_ = 0;
  std::mutex mutex_;
  uint64_t done_ = 0;
  uint64_t done_bytes_ = 0;
};

}  // namespace

Result<PackReport> CopySamples(const SampleSet& set, std::span<const uint64_t> order,
                               const CopyRequest& request) {
  const bool is_numbered =
      request.shard_bytes > 0 || request.shard_records > 0 || request.shards > 0;
  DOLIUM_TRY(PackOutput output,
             PackOutput::Make(request.output, is_numbered, request.shard.force));
  return Copy(set, order, request, std::move(output)).Run();
}

}  // namespace dolium::dataset
