// The entries of one part, from all work lists of a plan, a few at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/writer.h"
#include "dolium/ops/job/work_list.h"

namespace dolium {

class PartEntries final : public EntrySource {
 public:
  // The lists must outlive it.
  static Result<PartEntries> Find(std::span<const WorkList> lists, uint64_t part);

  // As the tables say.
  uint64_t count() const;
  uint64_t bytes() const;

  Result<std::span<const Entry>> Next() override;
  Result<void> Rewind() override;

 private:
  struct Share {
    const WorkList* list = nullptr;
    PartShare share;
  };

  PartEntries() = default;

  std::vector<Share> shares_;
  size_t next_share_ = 0;
  std::optional<ShareReader> reader_;  // of the share before that
  std::vector<Entry> entries_;
};

}  // namespace dolium
