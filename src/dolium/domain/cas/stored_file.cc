#include "dolium/domain/cas/stored_file.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/base/parallel.h"
#include "dolium/formats/xet/merkle.h"
#include "dolium/formats/xet/xorb_record.h"

namespace dolium::cas {
namespace {

constexpr uint64_t kSegment = uint64_t{4} << 20;
// Stored bytes that are read at once.
constexpr uint64_t kReadAhead = uint64_t{1} << 20;

}  // namespace

Result<std::shared_ptr<const StoredFile>> StoredFile::Open(
    const xet::Hash& hash, const std::optional<FoundFile>& found,
    std::shared_ptr<XorbCache> xorbs) {
  std::shared_ptr<StoredFile> file(new StoredFile(hash, std::move(xorbs)));
  uint64_t offset = 0;
  file->offsets_.push_back(0);
  if (found) {
    const xet::FileBlock& block = found->block;
    if (block.size() == 0 && !hash.is_zero()) {
      return Corrupt(
          fmt::format("file {}: the shard has no terms of it", ToString(hash)));
    }
    if (const auto field = block.sha256()) file->sha256_ = xet::Sha256Digest(*field);
    for (size_t i = 0; i < block.size(); ++i) {
      const xet::Term term = block.term(i);
      if (term.first >= term.end || term.raw_bytes == 0) {
        return Corrupt(fmt::format("{}: has no chunks", file->Describe(i)));
      }
      offset += term.raw_bytes;  // Less than 2^32 terms of less than 2^32 bytes.
      file->terms_.push_back(term);
      file->offsets_.push_back(offset);
      if (block.has_verification()) file->verification_.push_back(block.verification(i));
    }
  } else if (!hash.is_zero()) {
    return NotFound(fmt::format("file {}: is not in the store", ToString(hash)));
  }
  file->checked_ = std::make_unique<std::atomic<bool>[]>(file->terms_.size());
  return file;
}

std::string StoredFile::Describe(size_t term) const {
  return fmt::format("file {}: term {}", ToString(hash_), term);
}

Result<std::shared_ptr<const OpenedXorb>> StoredFile::XorbOf(size_t i) const {
  const xet::Term& term = terms_[i];
  DOLIUM_TRY(auto xorb, xorbs_->Get(term.xorb).Within(Describe(i)));
  if (checked_[i].load(std::memory_order_acquire)) return xorb;
  const xet::XorbIndex& index = xorb->index;
  const auto fail = [&](std::string what) {
    return Corrupt(
        fmt::format("{}: xorb {}: {}", Describe(i), ToString(term.xorb), what));
  };
  if (term.end > index.size()) {
    return fail(fmt::format("chunks [{}, {}) of {}", term.first, term.end, index.size()));
  }
  const uint64_t raw = index.raw_offset(term.end) - index.raw_offset(term.first);
  if (raw != term.raw_bytes) {
    return fail(fmt::format("chunks [{}, {}) have {} bytes, the term {}", term.first,
                            term.end, raw, term.raw_bytes));
  }
  if (!verification_.empty() &&
      xet::TermHash(std::span(index.chunks).subspan(term.first, term.end - term.first)) !=
          verification_[i]) {
    return fail("its chunks are not those of the term");
  }
  checked_[i].store(true, std::memory_order_release);
  return xorb;
}

Result<void> StoredFile::ReadTerm(size_t i, uint64_t offset, MutableBytes into) const {
  const xet::Term& term = terms_[i];
  DOLIUM_TRY(const auto xorb, XorbOf(i));
  const xet::XorbIndex& index = xorb->index;
  const std::string context =
      fmt::format("{}: xorb {}", Describe(i), ToString(term.xorb));
  const uint64_t begin = index.raw_offset(term.first) + offset;
  const uint64_t end = begin + into.size();
  size_t chunk = index.ChunkAt(begin);
  // Fresh memory for each call would cost more than reading.
  thread_local xet::ChunkDecompressor decompressor;
  thread_local ByteVector stored;
  thread_local ByteVector whole;
  while (index.raw_offset(chunk) < end) {
    size_t last = chunk + 1;  // One more than the last chunk that is read now.
    while (last < index.size() && index.raw_offset(last) < end &&
           index.records(chunk, last + 1).length <= kReadAhead) {
      ++last;
    }
    const ByteRange range = index.records(chunk, last);
    stored.resize(range.length);
    DOLIUM_TRY_VOID(xorb->object.Read(range.offset, stored)
                        .Within(fmt::format("{}: chunk {}", context, chunk)));
    for (; chunk < last; ++chunk) {
      const ByteRange at = index.records(chunk, chunk + 1);
      const BytesView record =
          BytesView(stored).subspan(at.offset - range.offset, at.length);
      const uint64_t raw = index.raw_offset(chunk);
      const uint64_t raw_end = raw + index.raw_size(chunk);
      const bool is_whole = raw >= begin && raw_end <= end;
      MutableBytes target;
      if (is_whole) {
        target = into.subspan(raw - begin, raw_end - raw);
      } else {
        whole.resize(raw_end - raw);
        target = whole;
      }
      DOLIUM_TRY_VOID(ReadRecord(record, decompressor, &index.chunks[chunk], target)
                          .Within(fmt::format("{}: chunk {}", context, chunk)));
      if (is_whole) continue;
      const uint64_t from = std::max(raw, begin);
      const uint64_t to = std::min(raw_end, end);
      std::memcpy(into.data() + (from - begin), whole.data() + (from - raw), to - from);
    }
  }
  return {};
}

Result<void> StoredFile::Read(uint64_t offset, MutableBytes into) const {
  size_t term = static_cast<size_t>(
      std::upper_bound(offsets_.begin(), offsets_.end(), offset) - offsets_.begin() - 1);
  while (!into.empty()) {
    const uint64_t within = offset - offsets_[term];
    const uint64_t size =
        std::min<uint64_t>(into.size(), offsets_[term + 1] - offsets_[term] - within);
    auto read = ReadTerm(term, within, into.first(size));
    if (!read && read.error().code == ErrorCode::kConflict) {
      // The xorb was stored again since it was opened.
      xorbs_->Forget(terms_[term].xorb);
      read = ReadTerm(term, within, into.first(size));
    }
    if (!read) return read;
    into = into.subspan(size);
    offset += size;
    ++term;
  }
  return {};
}

Result<void> StoredFile::CheckHash() const {
  xet::MerkleBuilder tree;
  for (size_t i = 0; i < terms_.size(); ++i) {
    DOLIUM_TRY(const auto xorb, XorbOf(i));
    for (size_t chunk = terms_[i].first; chunk < terms_[i].end; ++chunk) {
      tree.Add(xorb->index.chunks[chunk], xorb->index.raw_size(chunk));
    }
  }
  const xet::Hash found = xet::FileHash(tree);
  if (found == hash_) return {};
  return Corrupt(
      fmt::format("file {}: its terms give {}", ToString(hash_), ToString(found)));
}

Result<Sha256Value> StoredFile::ComputeSha256(size_t jobs,
                                              const std::stop_token& stop) const {
  Sha256 digest;
  DOLIUM_TRY_VOID(ReadAll(jobs, stop, [&](BytesView segment) -> Result<void> {
    digest.Update(segment);
    return {};
  }));
  return digest.Finish();
}

Result<void> StoredFile::CheckSha256(size_t jobs, const std::stop_token& stop) const {
  if (!sha256_) return {};
  DOLIUM_TRY(const Sha256Value found, ComputeSha256(jobs, stop));
  if (found == *sha256_) return {};
  return WrongSha256(found, *sha256_).Within(fmt::format("file {}", ToString(hash_)));
}

Result<void> StoredFile::ReadAll(
    size_t jobs, const std::stop_token& stop,
    const std::function<Result<void>(BytesView)>& take) const {
  const uint64_t segments = (size() + kSegment - 1) / kSegment;
  const size_t threads = ThreadCount(jobs, static_cast<size_t>(segments));
  std::vector<ByteVector> window(threads);
  for (uint64_t first = 0; first < segments; first += threads) {
    const auto count = static_cast<size_t>(std::min<uint64_t>(threads, segments - first));
    DOLIUM_TRY_VOID(ParallelFor(
        count, threads,
        [&](size_t i) {
          const uint64_t offset = (first + i) * kSegment;
          window[i].resize(std::min(kSegment, size() - offset));
          return Read(offset, window[i]);
        },
        stop));
    for (size_t i = 0; i < count; ++i) DOLIUM_TRY_VOID(take(window[i]));
  }
  return {};
}

}  // namespace dolium::cas
