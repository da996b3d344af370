#include "dolium/domain/skeleton/making/label_components.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

namespace dolium::skeleton {
namespace {

// Sets of runs that are connected, by the least number in each.
class RunSets {
 public:
  void Add() { parents_.push_back(static_cast<uint32_t>(parents_.size())); }

  uint32_t Find(uint32_t run) {
    while (parents_[run] != run) {
      parents_[run] = parents_[parents_[run]];
      run = parents_[run];
    }
    return run;
  }

  void Join(uint32_t a, uint32_t b) {
    a = Find(a);
    b = Find(b);
    if (a == b) return;
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<uint32_t> parents_;
};

// All runs of a block, and which there are in each row.
struct RowRuns {
  std::vector<Run> runs;
  std::vector<uint32_t> labels;     // of each run
  std::vector<uint32_t> row_first;  // and an end
};

RowRuns CutIntoRuns(const LabelBlock& block, const Box& core) {
  RowRuns out;
  for (int64_t z = core.begin[2]; z < core.end[2]; ++z) {
    for (int64_t y = core.begin[1]; y < core.end[1]; ++y) {
      out.row_first.push_back(static_cast<uint32_t>(out.runs.size()));
      const uint32_t* const row = block.labels.data() + block.IndexOf(0, y, z);
      for (int64_t x = core.begin[0]; x < core.end[0];) {
        const uint32_t label = row[x];
        const int64_t begin = x;
        while (x < core.end[0] && row[x] == label) ++x;
        if (label == 0) continue;
        out.runs.push_back({static_cast<uint16_t>(begin), static_cast<uint16_t>(x),
                            static_cast<uint16_t>(y), static_cast<uint16_t>(z)});
        out.labels.push_back(label);
      }
    }
  }
  out.row_first.push_back(static_cast<uint32_t>(out.runs.size()));
  return out;
}

// Joins the runs of two rows that touch, by edges and corners too.
void JoinRows(const RowRuns& rows, size_t row, size_t other, RunSets& sets) {
  uint32_t a = rows.row_first[row];
  uint32_t b = rows.row_first[other];
  const uint32_t a_end = rows.row_first[row + 1];
  const uint32_t b_end = rows.row_first[other + 1];
  const auto join = [&](uint32_t i, uint32_t j) {
    if (i == a_end || j == b_end || rows.labels[i] != rows.labels[j]) return;
    const Run& first = rows.runs[i];
    const Run& second = rows.runs[j];
    if (first.begin <= second.end && second.begin <= first.end) sets.Join(i, j);
  };
  while (a < a_end && b < b_end) {
    join(a, b);
    const uint16_t first_end = rows.runs[a].end;
    const uint16_t second_end = rows.runs[b].end;
    if (first_end == second_end) {
      // Each may touch the one after the other by a corner.
      join(a + 1, b);
      join(a, b + 1);
    }
    if (first_end <= second_end) ++a;
    if (second_end <= first_end) ++b;
  }
}

RunSets JoinRuns(const RowRuns& rows, const Box& core) {
  RunSets sets;
  for (size_t i = 0; i < rows.runs.size(); ++i) sets.Add();
  const auto height = static_cast<size_t>(core.size()[1]);
  const auto depth = static_cast<size_t>(core.size()[2]);
  for (size_t z = 0; z < depth; ++z) {
    for (size_t y = 0; y < height; ++y) {
      const size_t row = z * height + y;
      if (y > 0) JoinRows(rows, row, row - 1, sets);
      if (z == 0) continue;
      const size_t below = row - height;
      if (y > 0) JoinRows(rows, row, below - 1, sets);
      JoinRows(rows, row, below, sets);
      if (y + 1 < height) JoinRows(rows, row, below + 1, sets);
    }
  }
  return sets;
}

}  // namespace

template <typename T>
Result<LabelBlock> NumberLabels(std::span<const T> voxels, const Vec3& size,
                                std::span<const uint64_t> wanted) {
  for (const int64_t side : size) {
    if (side <= kMaxBlockSide) continue;
    return InvalidArgument(
        fmt::format("a block of {} voxels, expected at most {} in each direction",
                    volume::ToString(size), kMaxBlockSide));
  }
  LabelBlock block;
  block.size = size;
  block.labels.resize(voxels.size());
  std::unordered_map<uint64_t, uint32_t> numbers = {{0, 0}};
  T last_id = 0;
  uint32_t last = 0;
  for (size_t i = 0; i < voxels.size(); ++i) {
    if (voxels[i] != last_id) {
      last_id = voxels[i];
      const uint64_t id = last_id;
      const auto next = static_cast<uint32_t>(block.ids.size());
      const auto [found, is_new] = numbers.try_emplace(id, next);
      if (is_new) {
        if (wanted.empty() || std::ranges::binary_search(wanted, id)) {
          block.ids.push_back(id);
        } else {
          found->second = 0;
        }
      }
      last = found->second;
    }
    block.labels[i] = last;
  }
  return block;
}

template Result<LabelBlock> NumberLabels(std::span<const uint8_t>, const Vec3&,
                                         std::span<const uint64_t>);
template Result<LabelBlock> NumberLabels(std::span<const uint16_t>, const Vec3&,
                                         std::span<const uint64_t>);
template Result<LabelBlock> NumberLabels(std::span<const uint32_t>, const Vec3&,
                                         std::span<const uint64_t>);
template Result<LabelBlock> NumberLabels(std::span<const uint64_t>, const Vec3&,
                                         std::span<const uint64_t>);

uint32_t ComponentSet::ComponentAt(const Vec3& place) const {
  const int64_t row =
      (place[2] - core_.begin[2]) * core_.size()[1] + place[1] - core_.begin[1];
  const auto first = run_ends_.begin() + row_first_[static_cast<size_t>(row)];
  const auto end = run_ends_.begin() + row_first_[static_cast<size_t>(row) + 1];
  const auto run = std::upper_bound(first, end, place[0]);
  return component_of_[static_cast<size_t>(run - run_ends_.begin())];
}

ComponentSet FindComponents(const LabelBlock& block, const Box& core) {
  RowRuns rows = CutIntoRuns(block, core);
  RunSets sets = JoinRuns(rows, core);
  constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();
  ComponentSet out;
  out.core_ = core;
  std::vector<uint32_t>& component_of = out.component_of_;
  component_of.resize(rows.runs.size());
  std::vector<uint32_t> number(rows.runs.size(), kNone);
  std::vector<size_t> counts;
  for (uint32_t i = 0; i < rows.runs.size(); ++i) {
    const uint32_t root = sets.Find(i);
    if (number[root] == kNone) {
      number[root] = static_cast<uint32_t>(counts.size());
      counts.push_back(0);
      out.components_.push_back({.label = rows.labels[i], .voxels = 0, .runs = {}});
    }
    component_of[i] = number[root];
    ++counts[number[root]];
    out.components_[number[root]].voxels += rows.runs[i].end - rows.runs[i].begin;
  }
  // Sorted by component, in the order that they have.
  std::vector<size_t> next(counts.size());
  size_t sum = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    next[i] = sum;
    sum += counts[i];
  }
  out.runs_.resize(rows.runs.size());
  for (size_t i = 0; i < rows.runs.size(); ++i) {
    out.runs_[next[component_of[i]]++] = rows.runs[i];
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    out.components_[i].runs =
        std::span<const Run>(out.runs_).subspan(next[i] - counts[i], counts[i]);
  }
  for (const Run& run : rows.runs) out.run_ends_.push_back(run.end);
  out.row_first_ = std::move(rows.row_first);
  return out;
}

}  // namespace dolium::skeleton
