// SourceState: the names and generations of all that a job reads, as a short text.
//
// A job notes it before it reads anything, compares it when it is resumed, and again when
// all parts are made and before the result appears. A generation does not come back, so
// equal texts mean that everything that was read in between was of one state. It costs
// one Stat() for each object, and memory for one batch of names. All methods may be
// called from many threads.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/container.h"
#include "dolium/container/writer.h"

namespace dolium {

class SourceState {
 public:
  // Objects that are asked for at once.
  static constexpr size_t kBatch = size_t{1} << 14;

  explicit SourceState(const WriterOptions& options) : options_(options) {}

  // What is known of the source besides.
  void AddText(std::string_view text);
  // These objects, there or absent.
  Result<void> AddObjects(const Store& store, std::span<const std::string> objects);
  // All objects directly in a folder but for bookkeeping. One that is not there holds
  // none. kUnsupported where the store cannot list.
  Result<void> AddFolder(const Location& folder);
  // The objects of a container's index; where one is a folder, those of its entries.
  Result<void> AddEntries(const Container& container);

  std::string text() const;

 private:
  void Add(std::string_view object, const std::optional<Generation>& generation);
  Result<void> AddObject(const Container& container, const std::string& object);

  const WriterOptions options_;
  // Sums of hashes, so that the order does not matter.
  std::array<std::atomic<uint64_t>, 2> sums_ = {};
};

}  // namespace dolium
