// AnnotationSource: the annotations of a folder, however they are stored: by id, by what
// they are related to, by a box, or all.
//
// All methods may be called from many threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/annotation/annotation_info.h"
#include "dolium/domain/annotation/annotation_table.h"
#include "dolium/domain/annotation/cell_grid.h"
#include "dolium/domain/objects/object_storage.h"

namespace dolium::annotation {

class AnnotationSource {
 public:
  static constexpr uint64_t kCacheBytes = uint64_t{64} << 20;

  // kNotFound if the folder has no info; kCorrupt if it is not one of annotations.
  static Result<AnnotationSource> Open(Location folder,
                                       uint64_t cache_bytes = kCacheBytes);

  const Location& folder() const { return folder_; }
  const AnnotationInfo& info() const { return info_; }
  const RecordLayout& layout() const { return layout_; }
  const objects::ObjectStorage& by_id() const { return *by_id_; }
  const objects::ObjectStorage& related(size_t relationship) const {
    return *related_[relationship];
  }

  // Ascending. kUnsupported where the store cannot list.
  Result<std::vector<uint64_t>> ListIds(const std::stop_token& stop = {}) const;

  // With related ids, in the order of `ids`; those that are not there are left out.
  Result<AnnotationTable> GetMany(std::span<const uint64_t> ids,
                                  const objects::ReadManyOptions& options = {}) const;
  // As GetMany(), a part at a time: `visit(table)`, ids ascending.
  using Visitor = std::function<Result<void>(const AnnotationTable& table)>;
  Result<void> VisitAll(const objects::ReadManyOptions& options,
                        const Visitor& visit) const;

  // Those related to an id; empty if none is. kInvalidArgument for a relationship that is
  // not there.
  Result<AnnotationTable> Related(std::string_view relationship, uint64_t id,
                                  const objects::ReadManyOptions& options = {}) const;
  // The place of a relationship in the info.
  Result<size_t> FindRelationship(std::string_view id) const;

  // All that meet a closed box, each once, without related ids; of the first `levels`
  // levels alone, if that is not 0. kInvalidArgument if the box has another number of
  // dimensions.
  struct BoxQuery {
    Region region;
    size_t levels = 0;
    // No more than about this many: levels that would add more are left out. 0: all.
    uint64_t most = 0;
    objects::ReadManyOptions read = {};
  };
  Result<AnnotationTable> Query(const BoxQuery& query) const;

  // The cells of a level that have a list, by code; and their lists, in any order, from
  // several threads at once. Codes without a list are left out.
  Result<std::vector<uint64_t>> ListCells(size_t level,
                                          const std::stop_token& stop = {}) const;
  using ListVisitor =
      std::function<Result<void>(uint64_t code, const AnnotationTable& list)>;
  Result<void> ReadLists(size_t level, std::span<const uint64_t> codes,
                         const objects::ReadManyOptions& options,
                         const ListVisitor& visit) const;
  // The object that a list is in, for messages.
  std::string DescribeList(size_t level, uint64_t code) const;
  const CellGrid& grid(size_t level) const { return levels_[level].grid; }

 private:
  struct Level {
    CellGrid grid;
    Location folder;
    std::unique_ptr<objects::ObjectStorage> shards;  // null: files
  };

  AnnotationSource(Location folder, AnnotationInfo info)
      : folder_(std::move(folder)), info_(std::move(info)), layout_(info_) {}

  Result<std::vector<uint64_t>> CellsOf(size_t level, const Region& region,
                                        const std::stop_token& stop) const;

  Location folder_;
  AnnotationInfo info_;
  RecordLayout layout_;
  std::unique_ptr<objects::ObjectStorage> by_id_;
  std::vector<std::unique_ptr<objects::ObjectStorage>> related_;
  std::vector<Level> levels_;
};

}  // namespace dolium::annotation
