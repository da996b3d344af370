#include "dolium/bytes/testing/object_store_double.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include <fmt/format.h>

#include "dolium/bytes/coalesce.h"
#include "dolium/bytes/slice_check.h"

namespace dolium {
namespace {

constexpr uint64_t kMaxGap = 256;
constexpr uint64_t kMaxRequest = uint64_t{1} << 20;

ObjectService::Condition ToCondition(const Precondition& precondition) {
  switch (precondition.kind) {
    case Precondition::Kind::kNone:
      break;
    case Precondition::Kind::kAbsent:
      return {true, std::nullopt};
    case Precondition::Kind::kGeneration:
      return {false, precondition.generation.token};
  }
  return {};
}

}  // namespace

class ObjectStoreDouble::Writer final : public ObjectWriter {
 public:
  Writer(ObjectStoreDouble& store, std::string_view object)
      : store_(store), key_(object) {}
  ~Writer() override {
    if (!upload_.empty()) store_.service_.AbortUpload(upload_);
  }

  Result<void> Append(BytesView bytes) override {
    dolium::Append(buffer_, bytes);
    size_ += bytes.size();
    // One part stays back: only the last may be small.
    size_t sent = 0;
    while (buffer_.size() - sent >= 2 * store_.min_part_) {
      DOLIUM_TRY_VOID(SendPart(BytesView(buffer_).subspan(sent, store_.min_part_)));
      sent += store_.min_part_;
    }
    buffer_.erase(buffer_.begin(), buffer_.begin() + static_cast<ptrdiff_t>(sent));
    return {};
  }

  uint64_t size() const override { return size_; }

  Result<Generation> Commit(const Precondition& precondition) override {
    const ObjectService::Condition condition = ToCondition(precondition);
    ObjectService::Answer answer;
    if (upload_.empty()) {
      answer = store_.service_.Put(key_, buffer_, condition);
    } else {
      DOLIUM_TRY_VOID(SendPart(buffer_));
      answer = store_.service_.CompleteUpload(upload_, parts_, condition);
    }
    if (answer.status == 200) {
      upload_.clear();
      return Generation{answer.etag};
    }
    if (answer.status == 412 && condition.if_none_match) {
      return Exists(store_.Describe(key_) + ": exists already");
    }
    if (answer.status == 404 && condition.if_match) {
      return Conflict(store_.Describe(key_) + ": removed since it was first read");
    }
    return store_.ErrorFor(answer.status, key_);
  }

 private:
  Result<void> SendPart(BytesView bytes) {
    if (upload_.empty()) {
      const ObjectService::Answer created = store_.service_.CreateUpload(key_);
      if (created.status != 200) return store_.ErrorFor(created.status, key_);
      upload_ = AsText(created.body);
    }
    const int status = store_.service_.UploadPart(upload_, ++parts_, bytes).status;
    if (status != 200) return store_.ErrorFor(status, key_);
    return {};
  }

  ObjectStoreDouble& store_;
  const std::string key_;
  ByteVector buffer_;
  uint64_t size_ = 0;
  std::string upload_;  // empty until a part is sent
  size_t parts_ = 0;
};

std::string ObjectStoreDouble::Describe(std::string_view object) const {
  return "s3://double/" + std::string(object);
}

Error ObjectStoreDouble::ErrorFor(int status, std::string_view object) const {
  switch (status) {
    case 404:
      return NoSuchObjectError(Describe(object));
    case 412:
      return ChangedError(Describe(object));
    case 503:
      return Unavailable(Describe(object) + ": HTTP status 503");
    default:
      return IoError(fmt::format("{}: HTTP status {}", Describe(object), status));
  }
}

Result<std::optional<ObjectInfo>> ObjectStoreDouble::Stat(std::string_view object) const {
  const ObjectService::Answer answer = service_.Head(std::string(object));
  if (answer.status == 404) return std::nullopt;
  if (answer.status != 200) return ErrorFor(answer.status, object);
  return ObjectInfo{answer.total_size, {answer.etag}, answer.modified};
}

Result<void> ObjectStoreDouble::List(std::string_view folder,
                                     const ListVisitor& visit) const {
  const std::string prefix = folder.empty() ? "" : std::string(folder) + '/';
  bool empty = true;
  std::optional<std::string> continuation;
  do {
    const ObjectService::Page page = service_.List(prefix, continuation);
    if (page.status != 200) return ErrorFor(page.status, folder);
    for (const std::string& key : page.keys) {
      empty = false;
      if (!visit(std::string_view(key).substr(prefix.size()), false)) return {};
    }
    for (const std::string& common : page.common_prefixes) {
      empty = false;
      if (!visit(BaseName(common), true)) return {};
    }
    continuation = page.next;
  } while (continuation);
  if (empty && !prefix.empty()) return NotFound(Describe(folder) + ": no such folder");
  return {};
}

Result<ObjectInfo> ObjectStoreDouble::ReadInto(std::string_view object,
                                               std::span<const ReadSlice> slices,
                                               const ReadOptions& options) const {
  DOLIUM_TRY(auto info, Stat(object));
  if (!info) return NoSuchObjectError(Describe(object));
  if (options.if_generation && *options.if_generation != info->generation) {
    return ChangedError(Describe(object));
  }
  if (const ReadSlice* past = FindSlicePastEnd(slices, info->size)) {
    return PastEndError(Describe(object), past->offset, past->into.size(), info->size);
  }
  std::vector<ByteRange> ranges;
  ranges.reserve(slices.size());
  for (const ReadSlice& slice : slices) ranges.push_back(slice.range());
  for (const RangeGroup& group : CoalesceRanges(ranges, kMaxGap, kMaxRequest)) {
    const ObjectService::Answer answer =
        service_.Get(std::string(object), group.covering, info->generation.token);
    if (answer.status == 412 && !options.if_generation)
      return ReadInto(object, slices, options);
    if (answer.status != 206) return ErrorFor(answer.status, object);
    for (const size_t index : group.indices) {
      const ReadSlice& slice = slices[index];
      std::memcpy(slice.into.data(),
                  answer.body.data() + (slice.offset - group.covering.offset),
                  slice.into.size());
    }
  }
  return *std::move(info);
}

Result<WholeObject> ObjectStoreDouble::ReadWhole(std::string_view object,
                                                 uint64_t limit) const {
  DOLIUM_TRY(const auto info, Stat(object));
  if (!info) return NoSuchObjectError(Describe(object));
  if (info->size > limit) return OverLimitError(Describe(object), info->size, limit);
  const ObjectService::Answer answer =
      service_.Get(std::string(object), std::nullopt, info->generation.token);
  if (answer.status == 412) return ReadWhole(object, limit);
  if (answer.status != 200) return ErrorFor(answer.status, object);
  return WholeObject{answer.body, {answer.etag}};
}

Result<std::unique_ptr<ObjectWriter>> ObjectStoreDouble::Begin(std::string_view object) {
  if (object.empty())
    return InvalidArgument(Describe(object) + ": an object needs a name");
  return std::make_unique<Writer>(*this, object);
}

Result<void> ObjectStoreDouble::Remove(std::string_view object,
                                       const Precondition& precondition) {
  const ObjectService::Condition condition = ToCondition(precondition);
  if (condition.if_none_match) {
    DOLIUM_TRY(const auto info, Stat(object));
    if (!info) return NoSuchObjectError(Describe(object));
    return Exists(Describe(object) + ": exists already");
  }
  const int status = service_.Delete(std::string(object), condition.if_match).status;
  if (status != 200) return ErrorFor(status, object);
  return {};
}

}  // namespace dolium
