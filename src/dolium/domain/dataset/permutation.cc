#include "dolium/domain/dataset/permutation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace dolium::dataset {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

// The finaliser of SplitMix64: a bijection of 64 bits in which all depend on all.
constexpr uint64_t Mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

uint64_t MultiplyHigh(uint64_t a, uint64_t b) {
  return static_cast<uint64_t>((static_cast<unsigned __int128>(a) * b) >> 64);
}

// Measured: with fewer, some orders of few numbers come up more often than others, and
// the distance of two neighbours is not as even as chance would have it.
int RoundsFor(uint64_t total) {
  if (total <= 64) return 24;
  if (total <= 1024) return 10;
  if (total <= 65536) return 8;
  return 6;
}

// A number below `modulus` that looks random, for every `half` another.
template <typename Key>
uint64_t RoundValue(uint64_t half, const Key& key, uint64_t modulus) {
  uint64_t x = (half ^ key.mask) * key.factor;
  x = (x ^ (x >> 32)) * kGolden;
  return MultiplyHigh(x, modulus);
}

// Sum and difference modulo `modulus`, of numbers below it.
uint64_t AddWithin(uint64_t a, uint64_t b, uint64_t modulus) {
  const uint64_t sum = a + b;
  return sum >= modulus ? sum - modulus : sum;
}
uint64_t SubtractWithin(uint64_t a, uint64_t b, uint64_t modulus) {
  return a >= b ? a - b : a + modulus - b;
}

}  // namespace

uint64_t OrderKey(uint64_t seed, uint64_t epoch, uint64_t stream) {
  uint64_t key = Mix(seed + kGolden);
  key = Mix((key ^ epoch) + kGolden);
  return Mix((key ^ stream) + kGolden);
}

// The number of columns is even because a round that turns a row of even length is an odd
// permutation half of the time: with odd sides, half of all orders could never come up.
Permutation::Permutation(uint64_t total, uint64_t key) : total_(total) {
  const double half_side = std::sqrt(static_cast<double>(total)) / 2;
  columns_ = 2 * std::max<uint64_t>(1, static_cast<uint64_t>(std::llround(half_side)));
  rows_ = (total + columns_ - 1) / columns_;
  reciprocal_ = ~uint64_t{0} / columns_;
  rounds_ = RoundsFor(total);
  uint64_t state = OrderKey(key, total);
  for (int i = 0; i < rounds_; ++i) {
    RoundKey& round = keys_[static_cast<size_t>(i)];
    round.mask = Mix(state += kGolden);
    round.factor = Mix(state += kGolden) | 1;
  }
}

// The reciprocal is a little too small, so that the row may come out one too low.
Permutation::Cell Permutation::CellOf(uint64_t number) const {
  const uint64_t row = MultiplyHigh(number, reciprocal_);
  const uint64_t column = number - row * columns_;
  return column >= columns_ ? Cell{column - columns_, row + 1} : Cell{column, row};
}

uint64_t Permutation::Encrypt(uint64_t number) const {
  auto [column, row] = CellOf(number);
  for (int i = 0; i < rounds_; i += 2) {
    const RoundKey* const keys = &keys_[static_cast<size_t>(i)];
    column = AddWithin(column, RoundValue(row, keys[0], columns_), columns_);
    row = AddWithin(row, RoundValue(column, keys[1], rows_), rows_);
  }
  return NumberOf({column, row});
}

uint64_t Permutation::Decrypt(uint64_t number) const {
  auto [column, row] = CellOf(number);
  for (int i = rounds_ - 2; i >= 0; i -= 2) {
    const RoundKey* const keys = &keys_[static_cast<size_t>(i)];
    row = SubtractWithin(row, RoundValue(column, keys[1], rows_), rows_);
    column = SubtractWithin(column, RoundValue(row, keys[0], columns_), columns_);
  }
  return NumberOf({column, row});
}

uint64_t Permutation::At(uint64_t position) const {
  uint64_t value = position;
  do {
    value = Encrypt(value);
  } while (value >= total_);
  return value;
}

uint64_t Permutation::PositionOf(uint64_t value) const {
  uint64_t position = value;
  do {
    position = Decrypt(position);
  } while (position >= total_);
  return position;
}

// One number is a long chain of multiplications; several at once fill the gaps.
void Permutation::Fill(uint64_t begin, std::span<uint64_t> values) const {
  constexpr size_t kLanes = 8;
  size_t done = 0;
  for (; done + kLanes <= values.size(); done += kLanes) {
    std::array<Cell, kLanes> cells;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      cells[lane] = CellOf(begin + done + lane);
    }
    for (int i = 0; i < rounds_; i += 2) {
      const RoundKey* const keys = &keys_[static_cast<size_t>(i)];
      for (Cell& cell : cells) {
        cell.column =
            AddWithin(cell.column, RoundValue(cell.row, keys[0], columns_), columns_);
      }
      for (Cell& cell : cells) {
        cell.row = AddWithin(cell.row, RoundValue(cell.column, keys[1], rows_), rows_);
      }
    }
    for (size_t lane = 0; lane < kLanes; ++lane) {
      uint64_t value = NumberOf(cells[lane]);
      while (value >= total_) value = Encrypt(value);
      values[done + lane] = value;
    }
  }
  for (; done < values.size(); ++done) values[done] = At(begin + done);
}

}  // namespace dolium::dataset
