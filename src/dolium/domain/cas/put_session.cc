#include "dolium/domain/cas/put_session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "dolium/domain/cas/stored_file.h"
#include "dolium/formats/xet/mdb_writer.h"

namespace dolium::cas {
namespace {

constexpr uint64_t kBatchRaw = uint64_t{2} << 20;
constexpr uint64_t kLargeBlock = uint64_t{1} << 20;
static_assert(kBatchRaw + kLargeBlock <= MemoryBudget::kLargest);
constexpr size_t kSchemeRun = 32;
constexpr size_t kXorbsPerSessionShard = 4;
// Records of a shard before it is written for good: well below the 64 MiB of a shard with
// its tables.
constexpr uint64_t kShardRecords = (uint64_t{32} << 20) / xet::kRecordSize;

}  // namespace

PutSession::PutSession(std::shared_ptr<Catalog> catalog, std::shared_ptr<XorbCache> xorbs,
                       Lease& lease, WorkerPool& pool, MemoryBudget& budget)
    : catalog_(std::move(catalog)),
      cache_(std::move(xorbs)),
      lease_(lease),
      pool_(pool),
      budget_(budget),
      disk_(std::make_unique<WorkerPool>(1)) {}

PutSession::~PutSession() {
  while (true) {
    const uint64_t seen = budget_.state();
    if (running_->load() == 0) break;
    budget_.WaitForChange(seen);
  }
  disk_.reset();
}

std::optional<PutSession::ChunkLocation> PutSession::FindOwn(
    const xet::Hash& hash) const {
  const auto found = own_.find(hash);
  if (found == own_.end()) return std::nullopt;
  return found->second;
}

void PutSession::CloseTerm() {
  if (!term_) return;
  terms_.push_back(
      {term_->own,
       {term_->other, static_cast<uint32_t>(term_->raw), term_->first, term_->end},
       term_->chunks.Finish()});
  term_.reset();
  term_xorb_.reset();
}

void PutSession::AddToTerm(const std::optional<size_t>& own, const xet::Hash& other,
                           uint32_t chunk, const HashedChunk& hashed) {
  if (!term_ || term_->own != own || term_->other != other || term_->end != chunk) {
    std::shared_ptr<const OpenedXorb> xorb = std::move(term_xorb_);
    CloseTerm();
    if (!own) term_xorb_ = std::move(xorb);
    term_.emplace();
    term_->own = own;
    term_->other = other;
    term_->first = term_->end = chunk;
  }
  ++term_->end;
  term_->raw += hashed.raw.size();
  term_->chunks.Update(hashed.hash.view());
}

// Whether the chunk behind the last one of the term is this one.
bool PutSession::ContinuesTerm(const xet::Hash& hash) {
  if (!term_) return false;
  if (term_->own) {
    const OwnXorb& xorb = xorbs_[*term_->own];
    return term_->end < xorb.chunks.size() && xorb.chunks[term_->end] == hash;
  }
  const xet::XorbIndex& index = term_xorb_->index;
  return term_->end < index.size() && index.chunks[term_->end] == hash;
}

// Notes that a xorb must stay; false if it is not there.
Result<bool> PutSession::PinXorb(const xet::Hash& hash) {
  const auto [found, is_new] = pinned_.try_emplace(hash, false);
  if (!is_new) return found->second;
  DOLIUM_TRY(const StoreLock lock, StoreLock::Shared(catalog_->layout(), lease_.stop()));
  DOLIUM_TRY(const bool is_there,
             catalog_->layout().objects().IsThere(catalog_->layout().xorb(hash)));
  if (!is_there) return false;
  DOLIUM_TRY_VOID(lease_.Note(Pin::kXorb, hash));
  found->second = true;
  return true;
}

// Begins a term with a chunk that the store has; false if it has not.
Result<bool> PutSession::FindOther(const xet::Hash& hash) {
  const auto found = catalog_->FindChunk(hash);
  if (!found) return false;
  DOLIUM_TRY(const bool is_there, PinXorb(found->xorb));
  if (!is_there) return false;
  auto xorb = cache_->Get(found->xorb);
  // A xorb that is damaged is none: its chunks are stored again.
  if (!xorb || found->chunk >= (*xorb)->index.size() ||
      (*xorb)->index.chunks[found->chunk] != hash) {
    return false;
  }
  CloseTerm();
  term_xorb_ = *std::move(xorb);
  term_.emplace();
  term_->other = found->xorb;
  term_->first = term_->end = found->chunk;
  return true;
}

Result<void> PutSession::TakeChunks(std::span<const HashedChunk> chunks,
                                    std::shared_ptr<const ChunkBlock> block) {
  for (const HashedChunk& chunk : chunks) {
    ++totals_.chunks;
    totals_.bytes += chunk.raw.size();
    tree_.Add(chunk.hash, chunk.raw.size());
    if (ContinuesTerm(chunk.hash)) {
      AddToTerm(term_->own, term_->other, term_->end, chunk);
    } else if (const auto own = FindOwn(chunk.hash)) {
      AddToTerm(own->xorb, {}, own->chunk, chunk);
    } else {
      DOLIUM_TRY(const bool is_there, FindOther(chunk.hash));
      if (is_there) {
        AddToTerm(term_->own, term_->other, term_->end, chunk);
      } else {
        AddNew(chunk, block);
      }
    }
  }
  if (advanced_) advanced_();
  // Blocks of large files are let go as they end, whatever is new in them.
  if (batch_ && block->buffer.capacity() > kLargeBlock) FlushBatch();
  if (IsShardFull()) return Flush();
  return {};
}

void PutSession::AddNew(const HashedChunk& chunk,
                        const std::shared_ptr<const ChunkBlock>& block) {
  if (has_open_ &&
      !xet::XorbHasRoom(xorbs_.back().chunks.size(), open_raw_, chunk.raw.size())) {
    CloseXorb();
  }
  if (!has_open_) {
    xorbs_.emplace_back();
    has_open_ = true;
    open_raw_ = 0;
  }
  OwnXorb& xorb = xorbs_.back();
  const auto number = static_cast<uint32_t>(xorbs_.size() - 1);
  const auto position = static_cast<uint32_t>(xorb.chunks.size());
  xorb.chunks.push_back(chunk.hash);
  open_raw_ += chunk.raw.size();
  xorb.raw_ends.push_back(static_cast<uint32_t>(open_raw_));
  own_[chunk.hash] = {number, position};
  ++totals_.new_chunks;
  totals_.new_bytes += chunk.raw.size();
  AddToTerm(number, {}, position, chunk);

  if (!batch_) {
    batch_ = std::make_unique<Batch>();
    batch_->xorb = number;
  }
  batch_->chunks.push_back({chunk.raw, std::exchange(begins_file_, false)});
  batch_->raw += chunk.raw.size();
  if (batch_->blocks.empty() || batch_->blocks.back() != block) {
    batch_->blocks.push_back(block);
    const size_t capacity = block->buffer.capacity();
    if (capacity <= kLargeBlock) batch_->held += capacity;
  }
  // What a batch holds while it is gathered nobody else can free.
  if (batch_->raw >= kBatchRaw || batch_->held >= kBatchRaw) FlushBatch();
}

void PutSession::CloseXorb() {
  if (!has_open_) return;
  has_open_ = false;
  OwnXorb& xorb = xorbs_.back();
  std::vector<xet::MerkleNode> leaves;
  for (size_t i = 0; i < xorb.chunks.size(); ++i) {
    const uint32_t begin = i == 0 ? 0 : xorb.raw_ends[i - 1];
    leaves.push_back({xorb.chunks[i], xorb.raw_ends[i] - begin});
  }
  xorb.hash = xet::MerkleRoot(leaves);
  if (!batch_) {
    batch_ = std::make_unique<Batch>();
    batch_->xorb = xorbs_.size() - 1;
  }
  batch_->closes_xorb = true;
  FlushBatch();
}

// Sends the batch to be compressed.
void PutSession::FlushBatch() {
  if (!batch_) return;
  const std::shared_ptr<Batch> batch = std::move(batch_);
  batches_.push_back(batch);
  running_->fetch_add(1);
  std::shared_ptr<void> end(nullptr,
                            [batch, running = running_, budget = &budget_](void*) {
                              batch->is_done.store(true);
                              running->fetch_sub(1);
                              budget->Notify();
                            });
  pool_.Submit([batch, budget = &budget_, end = std::move(end)]() -> Result<void> {
    xet::ChunkCompressor compressor;
    xet::Scheme scheme = xet::Scheme::kLz4;
    size_t in_run = 0;
    batch->buffer =
        budget->Take(batch->raw + batch->chunks.size() * xet::kChunkHeaderSize);
    std::byte* const records = batch->buffer.data();
    for (const NewChunk& chunk : batch->chunks) {
      if (in_run == 0 || in_run == kSchemeRun || chunk.begins_file) {
        scheme = xet::ChooseScheme(chunk.raw);
        in_run = 0;
      }
      ++in_run;
      const xet::EncodedChunk encoded = compressor.Encode(chunk.raw, scheme);
      const xet::ChunkHeader header{static_cast<uint32_t>(encoded.bytes.size()),
                                    encoded.scheme,
                                    static_cast<uint32_t>(chunk.raw.size())};
      StoreChunkHeader(header, records + batch->records);
      std::memcpy(records + batch->records + xet::kChunkHeaderSize, encoded.bytes.data(),
                  encoded.bytes.size());
      batch->records += header.record_size();
      batch->sizes.push_back(static_cast<uint32_t>(header.record_size()));
    }
    batch->blocks.clear();
    return {};
  });
}

Result<bool> PutSession::Poll() {
  DOLIUM_TRY_VOID(disk_->status());
  DOLIUM_TRY_VOID(pool_.status());
  bool any = false;
  while (!batches_.empty() && batches_.front()->is_done.load()) {
    const std::shared_ptr<Batch> batch = std::move(batches_.front());
    batches_.pop_front();
    DOLIUM_TRY_VOID(TakeBatch(*batch));
    any = true;
  }
  return any;
}

// Sends compressed chunks to the disk, in order.
Result<void> PutSession::TakeBatch(Batch& batch) {
  DOLIUM_TRY_VOID(pool_.status());
  OwnXorb& xorb = xorbs_[batch.xorb];
  for (const uint32_t size : batch.sizes) {
    xorb.stored += size;
    xorb.record_ends.push_back(xorb.stored);
  }
  if (!xorb.file) {
    DOLIUM_TRY(XorbFile file, XorbFile::Create(catalog_->layout(), lease_.id()));
    xorb.file = std::make_shared<XorbFile>(std::move(file));
  }
  totals_.stored_bytes += batch.records;
  auto buffer = std::make_shared<MemoryBudget::Reservation>(std::move(batch.buffer));
  disk_->Submit([file = xorb.file, buffer, size = batch.records]() {
    return file->Append(BytesView(buffer->data(), size));
  });
  if (batch.closes_xorb) DOLIUM_TRY_VOID(WriteXorb(batch));
  return {};
}

Result<void> PutSession::WriteXorb(Batch& batch) {
  OwnXorb& xorb = xorbs_[batch.xorb];
  totals_.stored_bytes += xet::XorbFooterBytes(xorb.chunks.size());
  disk_->Submit([this, file = std::move(xorb.file),
                 index = xet::XorbIndex{*xorb.hash, xorb.chunks, xorb.record_ends,
                                        xorb.raw_ends}]() -> Result<void> {
    DOLIUM_TRY_VOID(file->Publish(catalog_->layout(), lease_, index));
    cache_->Forget(index.hash);  // It may have replaced one that was damaged.
    return {};
  });
  xorb.record_ends = {};
  xorb.is_written = true;
  if (batch.xorb + 1 >= in_session_shards_ + kXorbsPerSessionShard) SubmitSessionShard();
  return {};
}

// A shard with the xorbs that were written since the last one: for a put after a crash.
void PutSession::SubmitSessionShard() {
  std::vector<xet::XorbInfo> infos;
  while (in_session_shards_ < xorbs_.size() && xorbs_[in_session_shards_].is_written) {
    infos.push_back(InfoOf(xorbs_[in_session_shards_++]));
  }
  disk_->Submit([this, infos = std::move(infos)]() -> Result<void> {
    DOLIUM_TRY(const ByteVector bytes, xet::WriteShard({}, infos, {}));
    DOLIUM_TRY(const xet::Hash name, WriteShard(bytes));
    const std::lock_guard hold(shards_mutex_);
    session_shards_.push_back(name);
    return {};
  });
}

xet::XorbInfo PutSession::InfoOf(const OwnXorb& xorb) {
  return ShardInfoOf(*xorb.hash, xorb.chunks, xorb.raw_ends, xorb.stored);
}

Result<xet::Hash> PutSession::WriteShard(BytesView bytes) {
  const Layout& layout = catalog_->layout();
  const xet::Hash name = xet::ChunkHash(bytes);
  DOLIUM_TRY(NewFile file, NewFile::Create(layout, lease_.id()));
  DOLIUM_TRY_VOID(file.Append(bytes));
  DOLIUM_TRY(StagedObject object,
             layout.objects().Stage(std::move(file), layout.shard(name)));
  {
    DOLIUM_TRY(const StoreLock lock, StoreLock::Shared(layout, lease_.stop()));
    DOLIUM_TRY_VOID(lease_.Note(Pin::kShard, name));
    DOLIUM_TRY_VOID(object.Appear());
  }
  catalog_->Forget(name);  // It may have replaced one that was damaged.
  DOLIUM_TRY_VOID(object.Settle());
  return name;
}

// Notes the xorbs of a file; false if one is not there.
Result<bool> PutSession::PinXorbsOf(const FoundFile& found) {
  for (size_t i = 0; i < found.block.size(); ++i) {
    DOLIUM_TRY(const bool is_there, PinXorb(found.block.term(i).xorb));
    if (!is_there) return false;
  }
  return true;
}

// The number of chunks of a file that a shard of the store has, with xorbs that are there
// and whose footers give the file's hash; noted then.
Result<std::optional<uint64_t>> PutSession::ChunksOfKnown(const StoredName& name,
                                                          bool is_covered) {
  std::optional<Error> error;
  const auto found = catalog_->FindFile(name.hash, [&](const FoundFile& candidate) {
    if (candidate.block.raw_bytes() != name.size) return false;
    const auto pinned = PinXorbsOf(candidate);
    if (!pinned) error = pinned.error();
    if (!pinned || !*pinned) return !pinned;
    const auto file = StoredFile::Open(name.hash, candidate, cache_);
    return file && (*file)->CheckHash();
  });
  if (error) return *std::move(error);
  // A shard that is damaged is no reason not to store the file again.
  if (!found && !IsDamagedShard(found.error())) return found.error();
  if (!found || !*found) return std::nullopt;
  uint64_t chunks = 0;
  for (size_t i = 0; i < (*found)->block.size(); ++i) {
    const xet::Term term = (*found)->block.term(i);
    if (term.first >= term.end) return std::nullopt;
    chunks += term.end - term.first;
  }
  if (is_covered) return chunks;
  DOLIUM_TRY(const StoreLock lock, StoreLock::Shared(catalog_->layout(), lease_.stop()));
  DOLIUM_TRY(const bool is_there, catalog_->layout().objects().IsThere(
                                      catalog_->layout().shard((*found)->shard->name)));
  if (!is_there) return std::nullopt;
  DOLIUM_TRY_VOID(lease_.Note(Pin::kFile, name.hash));
  return chunks;
}

Result<bool> PutSession::TakeKnown(const StoredName& name, bool is_covered) {
  if (name.hash.is_zero() != (name.size == 0)) return false;
  if (!name.hash.is_zero()) {
    std::optional<uint64_t> chunks;
    if (const auto own = file_names_.find(name.hash); own != file_names_.end()) {
      chunks = own->second;
    } else {
      DOLIUM_TRY(chunks, ChunksOfKnown(name, is_covered));
      if (!chunks) return false;
      if (!is_covered) file_names_.emplace(name.hash, *chunks);
    }
    totals_.chunks += *chunks;
  }
  ++totals_.files;
  totals_.bytes += name.size;
  return true;
}

Result<void> PutSession::EndFile(const ChunkInput& input,
                                 const std::optional<Error>& failed) {
  CloseTerm();
  begins_file_ = true;
  if (failed) {
    // Chunks that were stored stay; those of a file that is read again are found.
    totals_.chunks -= tree_.leaves();
    totals_.bytes -= tree_.size();
    terms_.clear();
    tree_ = {};
    return file_ended_(input, *failed);
  }
  const StoredName name{xet::FileHash(tree_), tree_.size()};
  const uint64_t chunks = tree_.leaves();
  ++totals_.files;
  std::vector<ClosedTerm> terms = std::move(terms_);
  terms_.clear();
  tree_ = {};
  if (!name.hash.is_zero() && !file_names_.contains(name.hash)) {
    const bool is_old = std::none_of(terms.begin(), terms.end(),
                                     [](const auto& term) { return term.own; });
    std::optional<uint64_t> known;
    if (is_old) {
      DOLIUM_TRY(known, ChunksOfKnown(name, false));
    }
    file_names_.emplace(name.hash, chunks);
    if (!known) {
      records_ += 1 + 2 * terms.size();
      files_.push_back({name.hash, std::move(terms)});
    }
  }
  return file_ended_(input, name);
}

bool PutSession::IsShardFull() const {
  return records_ + totals_.new_chunks - shard_chunks_ >= kShardRecords;
}

// Brings all that was taken so far to xorbs and shards. Of a file that has not ended,
// terms are kept.
Result<void> PutSession::Flush() {
  CloseTerm();
  CloseXorb();
  for (ClosedTerm& term : terms_) {
    if (!term.own) continue;
    term.term.xorb = *xorbs_[*term.own].hash;
    term.own.reset();
  }
  while (!batches_.empty()) {
    const uint64_t seen = budget_.state();
    DOLIUM_TRY(const bool any, Poll());
    if (!any && !batches_.empty()) budget_.WaitForChange(seen);
  }
  DOLIUM_TRY_VOID(disk_->Wait());
  if (!files_.empty() || !xorbs_.empty()) DOLIUM_TRY_VOID(WriteFinalShard());
  return {};
}

Result<void> PutSession::WriteFinalShard() {
  std::vector<xet::FileInfo> files;
  for (const FileRecord& record : files_) {
    xet::FileInfo& file = files.emplace_back();
    file.hash = record.hash;
    file.is_verified = true;
    for (const ClosedTerm& term : record.terms) {
      file.terms.push_back(term.term);
      if (term.own) file.terms.back().xorb = *xorbs_[*term.own].hash;
      file.verification.push_back(term.verification);
    }
  }
  std::vector<xet::XorbInfo> infos;
  infos.reserve(xorbs_.size());
  for (const OwnXorb& xorb : xorbs_) infos.push_back(InfoOf(xorb));
  DOLIUM_TRY(const ByteVector bytes, xet::WriteShard(std::move(files), std::move(infos),
                                                     {.mark_file_starts = true}));
  DOLIUM_TRY(const xet::Hash name, WriteShard(bytes));
  // One that was written on the way may be all there is.
  std::erase(session_shards_, name);
  for (const xet::Hash& shard : session_shards_) {
    DOLIUM_TRY([[maybe_unused]] const bool was_there,
               catalog_->layout().objects().Remove(catalog_->layout().shard(shard)));
  }
  session_shards_.clear();
  DOLIUM_TRY(const auto shard, catalog_->Shard(name));
  // The index is a cache: what it lacks, the next put adds.
  if (shard && catalog_->index()) {
    [[maybe_unused]] const auto added = catalog_->index()->Add(name, shard->view);
  }
  files_.clear();
  file_names_.clear();
  xorbs_.clear();
  own_.clear();
  in_session_shards_ = 0;
  records_ = 0;
  shard_chunks_ = totals_.new_chunks;
  return {};
}

Result<void> PutSession::Finish() { return Flush(); }

}  // namespace dolium::cas
