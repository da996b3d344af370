// ObjectService: an object store's HTTP interface in memory, as narrow as S3's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"

namespace dolium {

// No folders, no rename, no append, one range per GET. Answers carry HTTP statuses:
// 200, 206; 400 a part too small or out of order; 404 no such key or upload; 412 the
// condition failed; 416 a range that begins past the end; 503 a fault. ETags are digests
// of the content: the same bytes, put again as a whole, get the same one. Thread-safe.
class ObjectService {
 public:
  struct Answer {
    int status = 200;
    std::string etag;
    uint64_t total_size = 0;  // of the whole object
    Bytes body;               // of a GET; the upload id of CreateUpload
    int64_t modified = 0;     // of a HEAD; nanoseconds since 1970
  };

  // `If-None-Match: *`, `If-Match: etag`, or neither.
  struct Condition {
    bool if_none_match = false;
    std::optional<std::string> if_match;
  };

  struct Page {
    int status = 200;
    std::vector<std::string> keys;
    std::vector<std::string> common_prefixes;
    std::optional<std::string> next;  // continuation token
  };

  // What goes wrong with a call: refused before it took effect, or its answer lost after.
  enum class Fault : uint8_t { kNone, kRefused, kAnswerLost };
  // Asked before each call with its name ("Get", "CompleteUpload", ...) and key.
  using FaultHook = std::function<Fault(std::string_view call, std::string_view key)>;

  // Parts of an upload, but for the last, must have `min_part` bytes; a page of a listing
  // has at most `page_size` names.
  ObjectService(size_t min_part, size_t page_size)
      : min_part_(min_part), page_size_(page_size) {}

  Answer Head(const std::string& key);
  Answer Get(const std::string& key, std::optional<ByteRange> range,
             const std::optional<std::string>& if_match);
  Answer Put(const std::string& key, BytesView bytes, const Condition& condition);
  Answer Delete(const std::string& key, const std::optional<std::string>& if_match);
  // Keys that begin with `prefix`, those with a '/' after it folded into common prefixes.
  Page List(const std::string& prefix, const std::optional<std::string>& continuation);

  Answer CreateUpload(const std::string& key);
  Answer UploadPart(const std::string& upload, size_t number, BytesView bytes);
  Answer CompleteUpload(const std::string& upload, size_t parts,
                        const Condition& condition);
  Answer AbortUpload(const std::string& upload);

  void set_fault_hook(FaultHook hook);
  size_t pending_uploads() const;
  uint64_t calls() const;

 private:
  struct Object {
    Bytes bytes;
    std::string etag;
    int64_t modified = 0;
  };
  struct Upload {
    std::string key;
    std::map<size_t, ByteVector> parts;
  };

  Fault Enter(std::string_view call, std::string_view key);
  // Under the lock.
  Answer Store(const std::string& key, Bytes bytes, std::string etag,
               const Condition& condition);

  const size_t min_part_;
  const size_t page_size_;
  mutable std::mutex mutex_;
  // All guarded by mutex_.
  std::map<std::string, Object> objects_;
  std::map<std::string, Upload> uploads_;
  uint64_t last_upload_ = 0;
  uint64_t calls_ = 0;
  FaultHook hook_;
};

}  // namespace dolium
