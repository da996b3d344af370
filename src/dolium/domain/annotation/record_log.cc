#include "dolium/domain/annotation/record_log.h"

#include <bit>

#include <fmt/format.h>

#include "dolium/base/endian.h"

namespace dolium::annotation {
namespace {

// Read by one thread at a time.
constexpr size_t kBlockBytes = size_t{4} << 20;

}  // namespace

Result<void> RecordLog::Add(const AnnotationView& annotation,
                            std::span<const std::span<const uint64_t>> related) {
  if (blocks_.empty() || blocks_.back().bytes.size() >= kBlockBytes ||
      !blocks_.back().spill.empty()) {
    if (held_ >= memory_) DOLIUM_TRY_VOID(Spill());
    blocks_.emplace_back();
    blocks_.back().bytes.reserve(kBlockBytes + kBlockBytes / 8);
  }
  ByteVector& bytes = blocks_.back().bytes;
  const size_t before = bytes.size();
  bytes.resize(before + kHeaderBytes);
  AppendRecord(annotation, layout_, bytes);
  const size_t record_end = bytes.size();
  for (const auto& ids : related) AppendRelated(ids, bytes);
  std::byte* const header = &bytes[before];
  StoreLE(header, annotation.id);
  StoreLE(header + 8, static_cast<uint32_t>(annotation.geometry.size()));
  StoreLE(header + 12, static_cast<uint32_t>(bytes.size() - record_end));
  held_ += bytes.size() - before;
  value_bytes_ += bytes.size() - before - kHeaderBytes;
  ++size_;
  return {};
}

Result<void> RecordLog::Spill() {
  DOLIUM_TRY(Store* const store, spills_->store());
  store_ = store;
  const std::string object = fmt::format("log-{:06}", spill_count_++);
  DOLIUM_TRY(const auto out, store->Begin(object));
  for (Block& block : blocks_) {
    if (!block.spill.empty()) continue;
    block.spill = object;
    block.offset = out->size();
    block.length = block.bytes.size();
    DOLIUM_TRY_VOID(out->Append(block.bytes));
    block.bytes = ByteVector();
  }
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             out->Commit(Precondition::Absent()));
  held_ = 0;
  return {};
}

Result<Bytes> RecordLog::Load(const Block& block) const {
  if (block.spill.empty()) return Bytes(nullptr, block.bytes);
  return store_->ReadRange(block.spill, {block.offset, block.length});
}

Result<LoggedRecord> RecordLog::Next(BytesView bytes, size_t& at,
                                     std::vector<float>& scratch) const {
  const std::byte* const header = &bytes[at];
  const size_t numbers = LoadLE<uint32_t>(header + 8);
  const size_t related = LoadLE<uint32_t>(header + 12);
  const size_t count = layout_.type() == AnnotationType::kPolyline ? sizeof(uint32_t) : 0;
  const size_t length = count + numbers * sizeof(float) + layout_.property_bytes();
  const size_t begin = at + kHeaderBytes;
  if (begin + length + related > bytes.size()) {
    return IoError("a spill file is not what was written to it");
  }
  scratch.resize(numbers);
  for (size_t i = 0; i < numbers; ++i) {
    scratch[i] =
        std::bit_cast<float>(LoadLE<uint32_t>(&bytes[begin + count + i * sizeof(float)]));
  }
  at = begin + length + related;
  return LoggedRecord{LoadLE<uint64_t>(header), bytes.subspan(begin, length),
                      bytes.subspan(begin + length, related), scratch};
}

}  // namespace dolium::annotation
