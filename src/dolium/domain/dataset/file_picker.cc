#include "dolium/domain/dataset/file_picker.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/crc32c.h"
#include "dolium/base/parallel.h"

namespace dolium::dataset {

namespace {

using shardpack::EntryHeader;

constexpr size_t kCacheLine = 64;
// Contents beyond this are read front to back, which processors foresee by themselves.
constexpr size_t kMostToPrefetch = size_t{32} << 10;
// What is fetched of either end of a record before it is known where its files are: its
// header and its first file's, and a small last file, as labels often are.
constexpr size_t kEndToPrefetch = 128;
// So many samples ahead their headers are fetched.
constexpr size_t kSamplesAhead = 4;
// So many samples are worth a thread.
constexpr size_t kSamplesPerShare = 32;
// Up to so many names, no memory is taken for their headers.
constexpr size_t kFewNames = 4;

void PrefetchBytes(BytesView bytes) {
  for (size_t at = 0; at < bytes.size(); at += kCacheLine) {
    __builtin_prefetch(bytes.data() + at, /*rw=*/0, /*locality=*/2);
  }
}

void PrefetchEnds(BytesView block) {
  const size_t size = std::min(block.size(), kEndToPrefetch);
  PrefetchBytes(block.first(size));
  PrefetchBytes(block.last(size));
}

Error InFile(Error error, const PickedFile& file) {
  return std::move(error).Within(
      fmt::format("{}: record {}: {}", file.shard->Describe(), file.record,
                  shardpack::EntryContext(file.key, file.header.name)));
}

}  // namespace

Result<void> PickedFile::CheckLimits() const {
  DOLIUM_TRY(const auto options, shard->content_options());
  auto allowed = shardpack::CheckLimits(header, options);
  if (!allowed) return InFile(std::move(allowed).error(), *this);
  return allowed;
}

Result<void> PickedFile::ContentInto(MutableBytes into) const {
  DOLIUM_TRY(const auto options, shard->content_options());
  auto done = shardpack::DecodeContentInto(header, stored, into, options);
  DOLIUM_TRY_VOID(shard->CheckMap());
  if (!done) return InFile(std::move(done).error(), *this);
  return done;
}

void PickedFile::Prefetch() const {
  PrefetchBytes(stored.first(std::min(stored.size(), kMostToPrefetch)));
}

Result<PickedSample> FilePicker::PickMapped(const MappedRecord& record,
                                            std::span<PickedFile> found) const {
  std::array<EntryHeader, kFewNames> few;
  std::vector<EntryHeader> many(names_.size() > kFewNames ? names_.size() : 0);
  const std::span<EntryHeader> headers =
      many.empty() ? std::span(few).first(names_.size()) : std::span(many);
  DOLIUM_TRY(const std::string_view key,
             record.shard->Pick(record.number, record.block, names_, headers));
  for (size_t i = 0; i < headers.size(); ++i) {
    const EntryHeader& header = headers[i];
    found[i] = {header, record.shard, record.number, key, {}};
    if (!found[i].is_there()) continue;
    found[i].stored = record.block.subspan(static_cast<size_t>(header.content_at),
                                           static_cast<size_t>(header.stored_size));
  }
  return PickedSample{key, nullptr};
}

Result<PickedSample> FilePicker::PickLoaded(Result<LoadedSample> sample,
                                            std::span<PickedFile> found) const {
  if (!sample) return std::move(sample).error();
  // Files in segments are joined here, and kept with the sample.
  struct Owned {
    LoadedSample sample;
    std::vector<Bytes> joined;
  };
  const auto owned = std::make_shared<Owned>(*std::move(sample));
  std::shared_ptr<const LoadedSample> owner(owned, &owned->sample);
  for (size_t i = 0; i < names_.size(); ++i) {
    const SamplePart& front = owner->parts().front();
    found[i] = {{}, front.shard.get(), front.number, owner->key(), {}};
    const auto file = owner->Find(names_[i]);
    if (!file) {
      // It may be among those that damage has hidden.
      for (const SamplePart& part : owner->parts()) {
        if (!part.record.damage()) continue;
        return Error(*part.record.damage())
            .Within(fmt::format("{}: record {}", part.shard->Describe(), part.number));
      }
      continue;
    }
    const SamplePart& part = owner->parts()[file->part];
    EntryHeader header = owner->header(*file);
    if (header.segment) {
      DOLIUM_TRY(const Bytes content, owner->Content(*file));
      header = {.stored_size = content.size(),
                .raw_size = content.size(),
                .crc32c = Crc32c(content),
                .name = header.name,
                .content_type = header.content_type,
                .extensions = header.extensions};
      found[i] = {header, part.shard.get(), part.number, part.record.key(), content};
      owned->joined.push_back(content);
      continue;
    }
    found[i] = {
        header, part.shard.get(), part.number, part.record.key(),
        part.record.block().view().subspan(static_cast<size_t>(header.content_at),
                                           static_cast<size_t>(header.stored_size))};
  }
  const std::string_view key = owner->key();
  return PickedSample{key, std::move(owner)};
}

Result<PickedSample> FilePicker::Pick(uint64_t number,
                                      std::span<PickedFile> found) const {
  DOLIUM_TRY(const auto record, set_->Locate(number));
  if (record) {
    PrefetchEnds(record->block);
    return PickMapped(*record, found);
  }
  if (is_mapped_) return PickLoaded(set_->Read(number), found);
  auto loaded = set_->ReadManyOf({&number, 1}, names_);
  return PickLoaded(std::move(loaded.front()), found);
}

void FilePicker::Prefetch(uint64_t number) const {
  const auto record = set_->Locate(number);
  if (!record || !*record) return;
  PrefetchEnds((*record)->block);
}

Result<std::vector<PickedSample>> FilePicker::PickMany(
    std::span<const uint64_t> numbers, std::span<PickedFile> found) const {
  std::vector<PickedSample> samples(numbers.size());
  const auto files_of = [&](size_t i) {
    return found.subspan(i * names_.size(), names_.size());
  };
  if (!is_mapped_) {
    auto loaded = set_->ReadManyOf(numbers, names_);
    for (size_t i = 0; i < numbers.size(); ++i) {
      DOLIUM_TRY(samples[i], PickLoaded(std::move(loaded[i]), files_of(i)));
    }
    return samples;
  }
  const size_t shares = (numbers.size() + kSamplesPerShare - 1) / kSamplesPerShare;
  DOLIUM_TRY_VOID(ParallelFor(shares, 0, [&](size_t share) -> Result<void> {
    const size_t begin = share * kSamplesPerShare;
    const size_t end = std::min(numbers.size(), begin + kSamplesPerShare);
    for (size_t i = begin; i < std::min(end, begin + kSamplesAhead); ++i) {
      Prefetch(numbers[i]);
    }
    for (size_t i = begin; i < end; ++i) {
      if (i + kSamplesAhead < end) Prefetch(numbers[i + kSamplesAhead]);
      DOLIUM_TRY(samples[i], Pick(numbers[i], files_of(i)));
    }
    return {};
  }));
  return samples;
}

}  // namespace dolium::dataset
