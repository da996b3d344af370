#include "dolium/domain/mesh/making/cell_file.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/base/endian.h"

namespace dolium::mesh {
namespace {

constexpr std::string_view kCellFileMagic = "dolcell1";
constexpr uint64_t kWordBytes = sizeof(uint64_t);
constexpr uint64_t kBoxOffset = kWordBytes;
constexpr uint64_t kGroupsOffset = kBoxOffset + 6 * kWordBytes;
constexpr uint64_t kTableOffset = kGroupsOffset + kWordBytes;
constexpr uint64_t kRunBytes = 5 * kWordBytes;

void AddWord64(ByteVector& bytes, uint64_t word) {
  const size_t at = bytes.size();
  bytes.resize(at + kWordBytes);
  StoreLE(&bytes[at], word);
}

}  // namespace

ByteVector WriteCellFile(const BlockCells& cells, const volume::Box& block,
                         uint64_t groups,
                         const std::function<uint64_t(uint64_t label)>& group_of) {
  std::vector<uint64_t> group_of_run;
  group_of_run.reserve(cells.runs.size());
  std::vector<uint64_t> first_runs(groups + 1);
  for (const CellRun& run : cells.runs) {
    group_of_run.push_back(group_of(run.label));
    ++first_runs[group_of_run.back() + 1];
  }
  std::partial_sum(first_runs.begin(), first_runs.end(), first_runs.begin());
  std::vector<size_t> order(cells.runs.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t run) { return group_of_run[run]; });

  ByteVector bytes;
  const uint64_t data =
      kTableOffset + (groups + 1) * kWordBytes + order.size() * kRunBytes;
  bytes.reserve(data + cells.bytes.size());
  Append(bytes, AsBytes(kCellFileMagic));
  for (const volume::Vec3& corner : {block.begin, block.end}) {
    for (const int64_t number : corner) AddWord64(bytes, static_cast<uint64_t>(number));
  }
  AddWord64(bytes, groups);
  for (const uint64_t first : first_runs) AddWord64(bytes, first);
  uint64_t offset = data;
  for (const size_t i : order) {
    const CellRun& run = cells.runs[i];
    for (const uint64_t word : {run.label, run.cells, run.voxels, offset, run.size}) {
      AddWord64(bytes, word);
    }
    offset += run.size;
  }
  for (const size_t i : order) {
    const CellRun& run = cells.runs[i];
    Append(bytes, BytesView(cells.bytes).subspan(run.offset, run.size));
  }
  return bytes;
}

Result<CellFile> CellFile::Open(Location object, uint64_t groups) {
  CellFile file;
  file.object_ = std::move(object);
  const Store& store = *file.object_.store;
  const auto bad = [&](std::string_view what) {
    return Corrupt(fmt::format("{}: {}", file.object_.Describe(), what));
  };
  DOLIUM_TRY(const auto info, store.Stat(file.object_.path));
  if (!info) return NotFound(file.object_.Describe() + ": is not there");
  file.size_ = info->size;
  const uint64_t head = kTableOffset + (groups + 1) * kWordBytes;
  if (groups > kMaxCellGroups || file.size_ < head) return bad("is no file of cells");
  DOLIUM_TRY(const Bytes bytes, store.ReadRange(file.object_.path, {0, head}));
  if (!AsText(bytes).starts_with(kCellFileMagic) ||
      LoadLE<uint64_t>(bytes.data() + kGroupsOffset) != groups) {
    return bad("is no file of cells of this job");
  }
  for (size_t d = 0; d < 3; ++d) {
    const std::byte* const box = bytes.data() + kBoxOffset;
    file.block_.begin[d] = static_cast<int64_t>(LoadLE<uint64_t>(box + d * kWordBytes));
    file.block_.end[d] =
        static_cast<int64_t>(LoadLE<uint64_t>(box + (d + 3) * kWordBytes));
    constexpr int64_t kMost = int64_t{1} << 60;
    const bool is_side = file.block_.begin[d] >= -kMost && file.block_.end[d] <= kMost &&
                         file.block_.begin[d] <= file.block_.end[d] &&
                         file.block_.size()[d] < static_cast<int64_t>(kMaxBlockCells);
    if (!is_side) {
      return bad("has a block that is none");
    }
  }
  const uint64_t most = (file.size_ - head) / kRunBytes;
  for (uint64_t i = 0; i <= groups; ++i) {
    const auto first = LoadLE<uint64_t>(bytes.data() + kTableOffset + i * kWordBytes);
    if (first > most || (i > 0 && first < file.first_runs_.back())) {
      return bad("has a table of groups that is none");
    }
    file.first_runs_.push_back(first);
  }
  return file;
}

Result<std::vector<CellRun>> CellFile::ReadRuns(uint64_t group) const {
  const uint64_t begin = kTableOffset + first_runs_.size() * kWordBytes;
  const uint64_t first = first_runs_[group];
  const uint64_t count = first_runs_[group + 1] - first;
  std::vector<CellRun> runs;
  if (count == 0) return runs;
  DOLIUM_TRY(const Bytes bytes,
             object_.store->ReadRange(object_.path,
                                      {begin + first * kRunBytes, count * kRunBytes}));
  runs.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    const std::byte* const row = bytes.data() + i * kRunBytes;
    const auto word = [&](size_t n) { return LoadLE<uint64_t>(row + n * kWordBytes); };
    const CellRun run{word(0), word(1), word(2), word(3), word(4)};
    const auto end = CheckedAdd(run.offset, run.size);
    const bool follows =
        runs.empty() || (runs.back().label < run.label &&
                         runs.back().offset + runs.back().size == run.offset);
    // Two bytes or more for each cell.
    if (!end || *end > size_ || !follows || run.cells > run.size / 2) {
      return Corrupt(fmt::format("{}: run {} of group {} is not as it should be",
                                 object_.Describe(), i, group));
    }
    runs.push_back(run);
  }
  return runs;
}

Result<Bytes> CellFile::ReadCells(const CellRun& first, const CellRun& last) const {
  return object_.store->ReadRange(object_.path,
                                  {first.offset, last.offset + last.size - first.offset});
}

}  // namespace dolium::mesh
