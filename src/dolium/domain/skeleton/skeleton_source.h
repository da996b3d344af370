// SkeletonSource: the skeletons of a folder, by id, however they are stored.
//
// All methods may be called from many threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/writer.h"
#include "dolium/domain/objects/object_storage.h"
#include "dolium/domain/objects/object_writer.h"
#include "dolium/domain/skeleton/skeleton.h"

namespace dolium::skeleton {

struct SkeletonReadOptions {
  // Positions as stored, in units of the stored model, and not in nanometres. Attributes
  // are always as stored.
  bool stored_units = false;
  objects::ReadManyOptions read = {};
};

class SkeletonSource {
 public:
  static constexpr uint64_t kCacheBytes = uint64_t{64} << 20;

  // kNotFound if the folder has no info; kCorrupt if it is not one of skeletons.
  static Result<SkeletonSource> Open(Location folder, uint64_t cache_bytes = kCacheBytes);

  const SkeletonInfo& info() const { return info_; }
  const objects::ObjectStorage& storage() const { return *storage_; }

  Result<std::vector<uint64_t>> ListIds(const std::stop_token& stop = {}) const {
    return storage_->ListIds(stop);
  }

  // Nullopt if there is no such skeleton.
  Result<std::optional<Skeleton>> Get(uint64_t id,
                                      const SkeletonReadOptions& options = {}) const;
  Result<std::vector<std::optional<Skeleton>>> GetMany(
      std::span<const uint64_t> ids, const SkeletonReadOptions& options = {}) const;

  // As GetMany(), without keeping them: `visit(index, skeleton)` is called in any order,
  // from several threads at once. An error of one ends it.
  using Visitor =
      std::function<Result<void>(size_t index, std::optional<Skeleton> skeleton)>;
  Result<void> GetEach(std::span<const uint64_t> ids, const SkeletonReadOptions& options,
                       const Visitor& visit) const;

 private:
  SkeletonSource(SkeletonInfo info, std::unique_ptr<objects::ObjectStorage> storage);

  SkeletonInfo info_;
  std::unique_ptr<objects::ObjectStorage> storage_;
};

// A new folder of skeletons, sharded if the info says so. One thread at a time.
class SkeletonWriter {
 public:
  // Attributes are written as float32 with kFloat32, which is what clients can show, and
  // else as they are.
  enum class Types : uint8_t { kFloat32, kKeep };

  // kInvalidArgument unless Validate(info) holds; kExists if the folder has an info.
  static Result<SkeletonWriter> Create(Location folder, SkeletonInfo info,
                                       Types types = Types::kFloat32,
                                       const WriterOptions& options = {});

  // Attributes are of the types of the info that Create() was given. kInvalidArgument for
  // id 0, and for what WriteSkeleton() refuses.
  Result<void> Add(uint64_t id, const Skeleton& skeleton);

  Result<WriteSummary> Finish();

 private:
  SkeletonWriter(SkeletonInfo info, Types types, objects::ObjectWriter writer)
      : info_(std::move(info)), types_(types), writer_(std::move(writer)) {}

  SkeletonInfo info_;  // as given
  Types types_;
  objects::ObjectWriter writer_;
};

}  // namespace dolium::skeleton
