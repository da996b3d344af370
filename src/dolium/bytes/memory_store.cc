#include "dolium/bytes/memory_store.h"

#include <chrono>
#include <cstring>

#include "dolium/bytes/slice_check.h"

namespace dolium {

class MemoryStore::Writer final : public ObjectWriter {
 public:
  Writer(MemoryStore& store, std::string_view object) : store_(store), object_(object) {}

  Result<void> Append(BytesView bytes) override {
    dolium::Append(data_, bytes);
    return {};
  }
  uint64_t size() const override { return data_.size(); }
  Result<Generation> Commit(const Precondition& precondition) override {
    return store_.Publish(object_, Bytes::FromVector(std::move(data_)), precondition);
  }

 private:
  MemoryStore& store_;
  const std::string object_;
  ByteVector data_;
};

std::string MemoryStore::Describe(std::string_view object) const {
  return "memory://" + JoinPath(name_, object);
}

std::optional<MemoryStore::Object> MemoryStore::Find(std::string_view object) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(object);
  if (found == objects_.end()) return std::nullopt;
  return found->second;
}

Result<std::optional<ObjectInfo>> MemoryStore::Stat(std::string_view object) const {
  const auto found = Find(object);
  if (!found) return std::nullopt;
  return ObjectInfo{found->bytes.size(), found->generation, found->modified};
}

Result<void> MemoryStore::List(std::string_view folder, const ListVisitor& visit) const {
  while (folder.ends_with('/')) folder.remove_suffix(1);
  const std::string prefix = folder.empty() ? "" : std::string(folder) + '/';
  std::map<std::string, bool, std::less<>> names;  // base name -> is a folder
  {
    const std::lock_guard lock(mutex_);
    for (auto at = objects_.lower_bound(prefix);
         at != objects_.end() && at->first.starts_with(prefix); ++at) {
      const std::string_view rest = std::string_view(at->first).substr(prefix.size());
      const size_t slash = rest.find('/');
      names.emplace(rest.substr(0, slash), slash != std::string_view::npos);
    }
  }
  if (names.empty() && !prefix.empty()) {
    return NotFound(Describe(folder) + ": no such folder");
  }
  for (const auto& [name, is_folder] : names) {
    if (!visit(name, is_folder)) break;
  }
  return {};
}

Result<ObjectInfo> MemoryStore::ReadInto(std::string_view object,
                                         std::span<const ReadSlice> slices,
                                         const ReadOptions& options) const {
  ++reads_;
  slices_ += slices.size();
  const auto found = Find(object);
  if (!found) return NoSuchObjectError(Describe(object));
  if (options.if_generation && *options.if_generation != found->generation) {
    return ChangedError(Describe(object));
  }
  const Bytes& bytes = found->bytes;
  if (const ReadSlice* past = FindSlicePastEnd(slices, bytes.size())) {
    return PastEndError(Describe(object), past->offset, past->into.size(), bytes.size());
  }
  for (const ReadSlice& slice : slices) {
    if (slice.into.empty()) continue;
    std::memcpy(slice.into.data(), bytes.data() + slice.offset, slice.into.size());
  }
  return ObjectInfo{bytes.size(), found->generation};
}

Result<WholeObject> MemoryStore::ReadWhole(std::string_view object,
                                           uint64_t limit) const {
  ++reads_;
  const auto found = Find(object);
  if (!found) return NoSuchObjectError(Describe(object));
  if (found->bytes.size() > limit) {
    return OverLimitError(Describe(object), found->bytes.size(), limit);
  }
  return WholeObject{found->bytes, found->generation};
}

Result<std::unique_ptr<ObjectWriter>> MemoryStore::Begin(std::string_view object) {
  if (object.empty())
    return InvalidArgument(Describe(object) + ": an object needs a name");
  return std::make_unique<Writer>(*this, object);
}

Result<Generation> MemoryStore::Publish(const std::string& object, Bytes bytes,
                                        const Precondition& precondition) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(object);
  std::optional<Generation> current;
  if (found != objects_.end()) current = found->second.generation;
  DOLIUM_TRY_VOID(CheckPrecondition(precondition, current).Within(Describe(object)));
  Generation generation{std::to_string(++last_generation_)};
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  objects_[object] =
      Object{std::move(bytes), generation,
             std::chrono::duration_cast<std::chrono::nanoseconds>(now).count()};
  return generation;
}

Result<void> MemoryStore::Remove(std::string_view object,
                                 const Precondition& precondition) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(object);
  if (found == objects_.end()) return NoSuchObjectError(Describe(object));
  DOLIUM_TRY_VOID(
      CheckPrecondition(precondition, found->second.generation).Within(Describe(object)));
  objects_.erase(found);
  return {};
}

}  // namespace dolium
