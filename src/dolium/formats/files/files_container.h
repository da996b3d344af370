// A plain folder as a container: every file in it and in its subfolders. It keeps nothing
// in memory: each call looks at the folder. Links to folders are not followed, for they
// may lead back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/container/container.h"

namespace dolium::files {

class FilesContainer : public Container {
 public:
  explicit FilesContainer(Location location) : location_(std::move(location)) {}

  const Location& location() const override { return location_; }
  std::string_view format_name() const override;
  Properties properties() const override { return {}; }
  Result<std::optional<Entry>> Find(std::string_view key) const override;

  // One: the folder itself, which is the index.
  Result<std::vector<std::string>> Objects() const override;
  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override;
  Result<void> CheckObject(std::string_view object,
                           const FindingVisitor& visitor) const override;
  Result<void> Apply(std::span<const Change> changes,
                     const ChangeOptions& options = {}) override;

  // What lies in the folder and is no part of an entry, by its path there: links to
  // folders, names that cannot be keys, preceding bytes of nothing. In order of name.
  Result<std::vector<std::string>> Unlisted() const;

 private:
  // Paths from the folder, in order of name, without bookkeeping.
  struct Listing {
    std::vector<std::string> files;
    std::vector<std::string> links;  // to folders

    bool has_file(std::string_view path) const;
  };

  Result<Listing> ListAll() const;
  // kInvalidArgument for a key below a link: scans do not follow it, so that what lies
  // there is not of this set.
  Result<void> CheckNoLinkAbove(std::string_view key) const;
  Result<Listing> ListObject(std::string_view object) const;
  // The entry without its preceding bytes, or nullopt.
  Result<std::optional<Entry>> FindValue(std::string_view key) const;
  Result<void> AddPreceding(Entry& entry) const;

  const Location location_;
};

}  // namespace dolium::files
