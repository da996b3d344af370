// ObjectStoreDouble: a Store over nothing but what an S3 bucket offers; shows in tests
// that the Store interface asks for no more, and how callers behave when requests fail.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dolium/bytes/store.h"
#include "dolium/bytes/testing/object_service.h"

namespace dolium {

// Writers upload parts of `min_part` bytes and complete the upload, or put the object in
// one request if it is smaller. Nothing is tried again: a 503 is kUnavailable.
// Thread-safe.
class ObjectStoreDouble final : public Store {
 public:
  explicit ObjectStoreDouble(size_t min_part = 1024, size_t page_size = 3)
      : min_part_(min_part), service_(min_part, page_size) {}

  std::string Describe(std::string_view object) const override;
  Result<std::optional<ObjectInfo>> Stat(std::string_view object) const override;
  Result<void> List(std::string_view folder, const ListVisitor& visit) const override;
  Result<ObjectInfo> ReadInto(std::string_view object, std::span<const ReadSlice> slices,
                              const ReadOptions& options) const override;
  Result<WholeObject> ReadWhole(std::string_view object, uint64_t limit) const override;
  Result<std::unique_ptr<ObjectWriter>> Begin(std::string_view object) override;
  Result<void> Remove(std::string_view object, const Precondition& precondition) override;

  void set_fault_hook(ObjectService::FaultHook hook) {
    service_.set_fault_hook(std::move(hook));
  }
  size_t pending_uploads() const { return service_.pending_uploads(); }
  uint64_t calls() const { return service_.calls(); }

 private:
  class Writer;

  Error ErrorFor(int status, std::string_view object) const;

  const size_t min_part_;
  mutable ObjectService service_;
};

}  // namespace dolium
