#include "dolium/domain/cas/repack.h"

#include <algorithm>
#include <optional>

#include "dolium/domain/cas/xorb_file.h"
#include "dolium/formats/xet/merkle.h"
#include "dolium/formats/xet/xorb_record.h"
#include "dolium/formats/xet/xorb_writer.h"

namespace dolium::cas {

// Gathers records to xorbs.
class Repack::Writer {
 public:
  explicit Writer(Repack& repack) : repack_(repack) {}

  Result<ChunkLocation> Add(const xet::Hash& hash, uint32_t raw, BytesView record) {
    if (!xet::XorbHasRoom(index_.size(), tree_.size(), raw)) DOLIUM_TRY_VOID(Finish());
    if (!file_) {
      DOLIUM_TRY(XorbFile file,
                 XorbFile::Create(repack_.store_.layout(), repack_.lease_.id()));
      file_.emplace(std::move(file));
    }
    DOLIUM_TRY_VOID(file_->Append(record));
    tree_.Add(hash, raw);
    stored_ += static_cast<uint32_t>(record.size());
    index_.chunks.push_back(hash);
    index_.record_ends.push_back(stored_);
    index_.raw_ends.push_back(static_cast<uint32_t>(tree_.size()));
    return ChunkLocation{static_cast<uint32_t>(repack_.made_.size()),
                         static_cast<uint32_t>(index_.size() - 1)};
  }

  Result<void> Finish() {
    if (!file_) return {};
    index_.hash = tree_.Root();
    DOLIUM_TRY_VOID(file_->Publish(repack_.store_.layout(), repack_.lease_, index_));
    repack_.store_.xorbs()->Forget(index_.hash);
    repack_.made_.push_back(
        ShardInfoOf(index_.hash, index_.chunks, index_.raw_ends, stored_));
    repack_.made_bytes_ += stored_ + xet::XorbFooterBytes(index_.size());
    file_.reset();
    index_ = {};
    tree_ = {};
    stored_ = 0;
    return {};
  }

 private:
  Repack& repack_;
  std::optional<XorbFile> file_;
  xet::XorbIndex index_;
  xet::MerkleBuilder tree_;
  uint32_t stored_ = 0;
};

void Repack::Need(const xet::Term& term) {
  if (term.first >= term.end || term.end > xet::kMaxXorbChunks) return;
  const auto [found, is_new] = needed_.try_emplace(term.xorb);
  if (is_new) order_.push_back(term.xorb);
  std::vector<bool>& needed = found->second;
  if (needed.size() < term.end) needed.resize(term.end);
  std::fill(needed.begin() + term.first, needed.begin() + term.end, true);
}

uint64_t Repack::NeededBytes(const xet::XorbIndex& index,
                             const std::vector<bool>& needed) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < needed.size(); ++i) {
    if (needed[i]) bytes += index.records(i, i + 1).length;
  }
  return bytes;
}

Result<void> Repack::Copy(const Options& options) {
  Writer writer(*this);
  for (const xet::Hash& hash : order_) {
    if (options.stop.stop_requested()) return Cancelled();
    std::vector<bool>& needed = needed_[hash];
    const auto xorb = store_.xorbs()->Get(hash);
    if (!xorb || (*xorb)->is_quarantined) continue;
    const xet::XorbIndex& index = (*xorb)->index;
    if (needed.size() > index.size()) continue;
    const uint64_t bytes = NeededBytes(index, needed);
    if (bytes * 100 >= uint64_t{index.record_ends.back()} * options.percent) continue;
    DOLIUM_TRY(const bool may_replace, options.may_replace(hash));
    if (!may_replace) continue;
    Replaced replaced{std::move(needed), index.chunks, index.raw_ends, {}};
    if (options.dry_run) {
      made_bytes_ += bytes + xet::XorbFooterBytes(static_cast<uint64_t>(std::count(
                                 replaced.needed.begin(), replaced.needed.end(), true)));
    } else {
      const auto copied = CopyXorb(**xorb, replaced, writer);
      if (!copied && copied.error().code == ErrorCode::kCorrupt) continue;
      if (!copied) return GiveUp(copied.error());
    }
    replaced_.emplace(hash, std::move(replaced));
  }
  const auto finished = writer.Finish();
  if (!finished) return GiveUp(finished.error());
  return {};
}

Result<void> Repack::GiveUp(const Error& error) {
  if (error.code != ErrorCode::kIo) return error;
  KeepAll();
  gave_up_ = error;
  return {};
}

Result<void> Repack::CopyXorb(const OpenedXorb& xorb, Replaced& replaced,
                              Writer& writer) {
  const xet::XorbIndex& index = xorb.index;
  // Damage is not to be copied: all is read first.
  std::vector<ByteVector> records(replaced.needed.size());
  xet::ChunkDecompressor decompressor;
  ByteVector raw;
  for (size_t i = 0; i < records.size(); ++i) {
    if (!replaced.needed[i]) continue;
    const ByteRange range = index.records(i, i + 1);
    records[i].resize(range.length);
    raw.resize(index.raw_size(i));
    DOLIUM_TRY_VOID(xorb.object.Read(range.offset, records[i]));
    DOLIUM_TRY_VOID(ReadRecord(records[i], decompressor, &index.chunks[i], raw));
  }
  replaced.now.resize(records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    if (!replaced.needed[i]) continue;
    DOLIUM_TRY(replaced.now[i],
               writer.Add(index.chunks[i], static_cast<uint32_t>(index.raw_size(i)),
                          records[i]));
  }
  return {};
}

bool Repack::Covers(const xet::Term& term) const {
  const std::vector<bool>& needed = replaced_.at(term.xorb).needed;
  return term.first < term.end && term.end <= needed.size() &&
         std::all_of(
             needed.begin() + term.first, needed.begin() + term.end,
             [](bool is_needed) { return is_needed; });
}

bool Repack::Translate(xet::FileInfo& file) const {
  xet::FileInfo translated = file;
  translated.terms.clear();
  translated.verification.clear();
  for (size_t i = 0; i < file.terms.size(); ++i) {
    const xet::Term& term = file.terms[i];
    const auto found = replaced_.find(term.xorb);
    if (found == replaced_.end()) {
      translated.terms.push_back(term);
      if (file.is_verified) translated.verification.push_back(file.verification[i]);
      continue;
    }
    // A term for each new xorb that its chunks are in.
    const Replaced& was = found->second;
    for (uint32_t first = term.first; first < term.end;) {
      const ChunkLocation& begin = was.now[first];
      xet::Term part{made_[begin.xorb].hash, 0, begin.chunk, begin.chunk};
      uint32_t end = first;
      while (end < term.end && was.now[end].xorb == begin.xorb &&
             was.now[end].chunk == part.end) {
        part.raw_bytes += was.raw_size(end++);
        ++part.end;
      }
      translated.terms.push_back(part);
      if (file.is_verified) {
        translated.verification.push_back(
            xet::TermHash(std::span(was.chunks).subspan(first, end - first)));
      }
      first = end;
    }
  }
  const bool is_changed = translated.terms != file.terms;
  if (is_changed) file = std::move(translated);
  return is_changed;
}

std::vector<xet::Hash> Repack::ReplacedXorbs() const {
  std::vector<xet::Hash> xorbs;
  xorbs.reserve(replaced_.size());
  for (const auto& [hash, replaced] : replaced_) xorbs.push_back(hash);
  return xorbs;
}

}  // namespace dolium::cas
