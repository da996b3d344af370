#include "dolium/bytes/testing/object_service.h"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

namespace dolium {
namespace {

uint64_t Fnv1a(BytesView bytes) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (const std::byte b : bytes) {
    hash = (hash ^ static_cast<uint64_t>(b)) * 0x100000001b3U;
  }
  return hash;
}

ObjectService::Answer Status(int status) {
  ObjectService::Answer answer;
  answer.status = status;
  return answer;
}

}  // namespace

ObjectService::Fault ObjectService::Enter(std::string_view call, std::string_view key) {
  FaultHook hook;
  {
    const std::lock_guard lock(mutex_);
    ++calls_;
    hook = hook_;
  }
  return hook ? hook(call, key) : Fault::kNone;
}

ObjectService::Answer ObjectService::Head(const std::string& key) {
  if (Enter("Head", key) != Fault::kNone) return Status(503);
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return Status(404);
  return {
      200, found->second.etag, found->second.bytes.size(), {}, found->second.modified};
}

ObjectService::Answer ObjectService::Get(const std::string& key,
                                         std::optional<ByteRange> range,
                                         const std::optional<std::string>& if_match) {
  if (Enter("Get", key) != Fault::kNone) return Status(503);
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return Status(404);
  const Object& object = found->second;
  if (if_match && *if_match != object.etag) return Status(412);
  const uint64_t size = object.bytes.size();
  if (!range) return {200, object.etag, size, object.bytes};
  // As in HTTP: an empty range cannot be asked for, one past the end is refused, and one
  // across it is cut short.
  if (range->empty()) return Status(400);
  if (range->offset >= size) return {416, object.etag, size, {}};
  const uint64_t length = std::min(range->length, size - range->offset);
  return {206, object.etag, size,
          object.bytes.Slice(static_cast<size_t>(range->offset),
                             static_cast<size_t>(length))};
}

ObjectService::Answer ObjectService::Store(const std::string& key, Bytes bytes,
                                           std::string etag, const Condition& condition) {
  const auto found = objects_.find(key);
  if (condition.if_none_match && found != objects_.end()) return Status(412);
  if (condition.if_match) {
    if (found == objects_.end()) return Status(404);
    if (found->second.etag != *condition.if_match) return Status(412);
  }
  Answer answer{200, etag, bytes.size(), {}};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  objects_[key] =
      Object{std::move(bytes), std::move(etag),
             std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
  return answer;
}

ObjectService::Answer ObjectService::Put(const std::string& key, BytesView bytes,
                                         const Condition& condition) {
  const Fault fault = Enter("Put", key);
  if (fault == Fault::kRefused) return Status(503);
  const std::lock_guard lock(mutex_);
  const Answer answer =
      Store(key, Bytes::Copy(bytes), fmt::format("\"{:016x}\"", Fnv1a(bytes)), condition);
  return fault == Fault::kAnswerLost ? Status(503) : answer;
}

ObjectService::Answer ObjectService::Delete(const std::string& key,
                                            const std::optional<std::string>& if_match) {
  const Fault fault = Enter("Delete", key);
  if (fault == Fault::kRefused) return Status(503);
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(key);
  if (found == objects_.end()) return Status(404);
  if (if_match && found->second.etag != *if_match) return Status(412);
  objects_.erase(found);
  return Status(fault == Fault::kAnswerLost ? 503 : 200);
}

ObjectService::Page ObjectService::List(const std::string& prefix,
                                        const std::optional<std::string>& continuation) {
  Page page;
  if (Enter("List", prefix) != Fault::kNone) {
    page.status = 503;
    return page;
  }
  const std::lock_guard lock(mutex_);
  auto at =
      continuation ? objects_.lower_bound(*continuation) : objects_.lower_bound(prefix);
  for (; at != objects_.end() && at->first.starts_with(prefix); ++at) {
    const size_t slash = at->first.find('/', prefix.size());
    std::string name =
        at->first.substr(0, slash == std::string::npos ? slash : slash + 1);
    std::vector<std::string>& into =
        slash == std::string::npos ? page.keys : page.common_prefixes;
    if (!into.empty() && into.back() == name) continue;
    if (page.keys.size() + page.common_prefixes.size() == page_size_) {
      page.next = at->first;
      break;
    }
    into.push_back(std::move(name));
  }
  return page;
}

ObjectService::Answer ObjectService::CreateUpload(const std::string& key) {
  if (Enter("CreateUpload", key) != Fault::kNone) return Status(503);
  const std::lock_guard lock(mutex_);
  const std::string id = fmt::format("upload-{}", ++last_upload_);
  uploads_[id].key = key;
  return {200, "", 0, Bytes::Copy(AsBytes(id))};
}

ObjectService::Answer ObjectService::UploadPart(const std::string& upload, size_t number,
                                                BytesView bytes) {
  if (Enter("UploadPart", upload) != Fault::kNone) return Status(503);
  const std::lock_guard lock(mutex_);
  const auto found = uploads_.find(upload);
  if (found == uploads_.end()) return Status(404);
  if (number == 0) return Status(400);
  found->second.parts[number].assign(bytes.begin(), bytes.end());
  return Status(200);
}

ObjectService::Answer ObjectService::CompleteUpload(const std::string& upload,
                                                    size_t parts,
                                                    const Condition& condition) {
  const Fault fault = Enter("CompleteUpload", upload);
  if (fault == Fault::kRefused) return Status(503);
  const std::lock_guard lock(mutex_);
  const auto found = uploads_.find(upload);
  if (found == uploads_.end()) return Status(404);
  ByteVector whole;
  for (size_t number = 1; number <= parts; ++number) {
    const auto part = found->second.parts.find(number);
    if (part == found->second.parts.end()) return Status(400);
    if (number != parts && part->second.size() < min_part_) return Status(400);
    dolium::Append(whole, part->second);
  }
  std::string etag = fmt::format("\"{:016x}-{}\"", Fnv1a(whole), parts);
  const Answer answer = Store(found->second.key, Bytes::FromVector(std::move(whole)),
                              std::move(etag), condition);
  if (answer.status == 200) uploads_.erase(found);
  return fault == Fault::kAnswerLost ? Status(503) : answer;
}

ObjectService::Answer ObjectService::AbortUpload(const std::string& upload) {
  if (Enter("AbortUpload", upload) != Fault::kNone) return Status(503);
  const std::lock_guard lock(mutex_);
  return Status(uploads_.erase(upload) == 1 ? 200 : 404);
}

void ObjectService::set_fault_hook(FaultHook hook) {
  const std::lock_guard lock(mutex_);
  hook_ = std::move(hook);
}

size_t ObjectService::pending_uploads() const {
  const std::lock_guard lock(mutex_);
  return uploads_.size();
}

uint64_t ObjectService::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

}  // namespace dolium
