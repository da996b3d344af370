// Permutation: the numbers 0 to n-1 in a shuffled order that is computed, not stored.
//
// A keyed bijection: a Feistel network over a grid of rows x columns that is hardly
// larger than n, and numbers that fall outside are sent through it again (cycle walking).
// The value at a position costs the same anywhere in the order and needs no memory, so
// the state of an epoch over 10^9 samples is a key and a position.
//
// The order is a function of (n, key) alone, the same in every process, on every machine
// and in every version: checkpoints rely on it. It is for shuffling, not for secrecy.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace dolium::dataset {

// A key for everything that is shuffled by `seed` in `epoch`. Different streams are
// shuffled independently.
uint64_t OrderKey(uint64_t seed, uint64_t epoch, uint64_t stream = 0);

// Immutable: all methods may be called from many threads.
class Permutation {
 public:
  static constexpr uint64_t kMaxTotal = uint64_t{1} << 62;

  // Precondition: total <= kMaxTotal.
  Permutation(uint64_t total, uint64_t key);

  uint64_t total() const { return total_; }

  // Precondition: position < total().
  uint64_t At(uint64_t position) const;
  // The position at which `value` stands. Precondition: value < total().
  uint64_t PositionOf(uint64_t value) const;

  // values[i] = At(begin + i), several at a time: a few times as fast as one by one.
  // Precondition: begin + values.size() <= total().
  void Fill(uint64_t begin, std::span<uint64_t> values) const;

 private:
  // Tiny grids need more rounds until every order is as likely as any other.
  static constexpr int kMaxRounds = 24;

  struct RoundKey {
    uint64_t mask = 0;
    uint64_t factor = 0;  // odd
  };
  struct Cell {
    uint64_t column = 0;
    uint64_t row = 0;
  };

  Cell CellOf(uint64_t number) const;
  uint64_t NumberOf(Cell cell) const { return cell.row * columns_ + cell.column; }
  uint64_t Encrypt(uint64_t number) const;
  uint64_t Decrypt(uint64_t number) const;

  uint64_t total_;
  uint64_t columns_;  // even
  uint64_t rows_;
  uint64_t reciprocal_;  // floor(2^64 / columns_), or as good
  int rounds_;           // even
  std::array<RoundKey, kMaxRounds> keys_;
};

}  // namespace dolium::dataset
