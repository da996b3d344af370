// A xorb as a container: each chunk is an entry, whose key is its number from 0.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/container/container.h"
#include "dolium/formats/xet/xorb_folder.h"

namespace dolium::xet {

class XorbContainer final : public Container {
 public:
  // Nothing is read yet.
  explicit XorbContainer(Location location) : location_(std::move(location)) {}

  const Location& location() const override { return location_; }
  std::string_view format_name() const override;
  Properties properties() const override;

  // Takes the hash of a chunk as well, and gives the first that has it.
  Result<std::optional<Entry>> Find(std::string_view key) const override;

  Result<std::vector<std::string>> Objects() const override;
  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override;
  // The footer, if there is one, against the name and itself.
  Result<void> CheckObject(std::string_view object,
                           const FindingVisitor& visitor) const override;

 private:
  Result<std::shared_ptr<const XorbObject>> Load() const;

  const Location location_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const XorbObject> xorb_;  // guarded by mutex_
};

}  // namespace dolium::xet
