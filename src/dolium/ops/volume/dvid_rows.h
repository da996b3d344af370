// Rows of DVID exports: made from voxels, or copied from another export.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/volume/dvid/dvid_export.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/formats/dvid/shard_writer.h"

namespace dolium::volume {

// Voxels of a row's block.
inline constexpr size_t kBlockVoxels = size_t{64} * 64 * 64;

// One row, ready to be written.
struct MadeRow {
  Bytes labels;
  Bytes supervoxels;
  Bytes stored;
  uint32_t block_bytes = 0;
};

// Where the rows of a scale come from. May be used from many threads.
class RowSource {
 public:
  virtual ~RowSource() = default;
  // Nullopt if all voxels are zero, or it is not there. `skip_damaged` is as in
  // BoxOptions.
  virtual Result<std::optional<MadeRow>> Make(
      const dvid::Key& block, const DamageVisitor& skip_damaged) const = 0;
};

std::unique_ptr<RowSource> RowsOfVoxels(std::shared_ptr<const Scale> scale,
                                        dvid::ShardLayout layout);
// After a look that they are well; with the export's `salvage`, damaged ones are left
// out.
std::unique_ptr<RowSource> RowsOfExport(std::shared_ptr<const dvid::ExportScale> scale,
                                        dvid::ShardLayout layout);

}  // namespace dolium::volume
