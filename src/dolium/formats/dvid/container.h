// An export, one scale of it, or one shard as a container: every block is an entry
// `x_y_z`, or `s0/x_y_z` where there are scales.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/container/container.h"
#include "dolium/formats/dvid/export.h"
#include "dolium/formats/dvid/label_block.h"

namespace dolium::dvid {

class DvidContainer final : public Container {
 public:
  // kNotFound if there is no shard.
  static Result<std::unique_ptr<DvidContainer>> Open(const Location& location,
                                                     const ShardOptions& options,
                                                     uint64_t index_bytes);

  const Location& location() const override { return location_; }
  std::string_view format_name() const override;
  Properties properties() const override;
  Result<std::optional<Entry>> Find(std::string_view key) const override;
  // The shards.
  Result<std::vector<std::string>> Objects() const override;
  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override;
  // All messages against the index and the file's name.
  Result<void> CheckObject(std::string_view object,
                           const FindingVisitor& visitor) const override;
  // That it is a block whose voxels decode, with the label list of its row.
  Result<void> CheckValue(const Entry& entry, const Bytes& value) const override;
  Result<bool> WriteIndex(std::string_view object, bool replace) override;
  // Labels and supervoxels.
  Result<Properties> Statistics(std::stop_token stop) const override;

  // For those who want more of a row than its block. Nullopt if it is not there.
  Result<std::optional<Row>> FindRow(std::string_view key) const;

 private:
  struct Scale {
    std::string prefix;
    std::shared_ptr<const ExportScale> shards;
  };

  DvidContainer(Location location, std::vector<Scale> scales)
      : location_(std::move(location)), scales_(std::move(scales)) {}

  // The scale, and what remains of the key; kInvalidArgument if it can be no key.
  Result<std::pair<const Scale*, Key>> ParseEntryKey(std::string_view key) const;
  const Scale* ScaleOf(std::string_view object) const;
  Error NoShard(std::string_view object) const;
  static Result<Entry> MakeEntry(const Scale& scale, const Shard& shard, size_t number);
  static Result<void> CheckElsewhere(const Scale& scale, const Shard& shard,
                                     std::string_view object,
                                     const FindingVisitor& visitor);

  const Location location_;
  const std::vector<Scale> scales_;
};

// Voxels of a row: labels, or the block's own supervoxels. kCorrupt if the lists do not
// belong together.
enum class LabelKind : uint8_t { kLabels, kSupervoxels };
std::optional<LabelKind> ParseLabelKind(std::string_view word);
std::string_view ToString(LabelKind kind);

struct BlockVoxels {
  std::array<size_t, 3> size = {0, 0, 0};
  std::vector<uint64_t> voxels;  // x fastest
};
// The block of a row, by its bytes, which are to stay. kCorrupt if the row's supervoxels
// are not its list, or are not as many as labels.
Result<LabelBlock> ParseRowBlock(const Row& row, const Bytes& block);
Result<BlockVoxels> DecodeRow(const Row& row, LabelKind kind);

}  // namespace dolium::dvid
