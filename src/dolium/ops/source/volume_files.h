// A volume as the files that it is made of: what a copy of all of it takes.
//
// Keys are paths in the copy. They are those in the folder of the info, but for parts in
// other folders (`../meshes`), which come to lie in folders of their own (`meshes`). The
// info is none of the entries: info() has it as the copy is to have it, and it is written
// last.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/container/container.h"
#include "dolium/container/format.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/source/volume_entries.h"

namespace dolium {

// Const methods may be called from many threads.
class VolumeFiles final : public Container {
 public:
  // kUnsupported, with the name, if there is something that a copy would leave out: a
  // link that no part explains, or files of a part that the store cannot list.
  static Result<std::shared_ptr<const VolumeFiles>> Open(const volume::Volume& volume,
                                                         const VolumeEntries& entries);

  const Location& location() const override { return location_; }
  std::string_view format_name() const override;
  Properties properties() const override { return {}; }
  Result<std::optional<Entry>> Find(std::string_view key) const override;
  Result<std::vector<std::string>> Objects() const override;
  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override;
  Result<void> CheckObject(std::string_view object,
                           const FindingVisitor& visitor) const override;

  const std::string& info() const { return info_; }

 private:
  // A folder, where it comes to lie in the copy ("": its root), and the names of its
  // files where the store cannot list them.
  struct Tree {
    Location folder;
    std::string copied_to;
    std::optional<std::vector<std::string>> names = {};
  };
  class Layout;

  VolumeFiles(Location location, std::vector<Tree> trees, std::string info)
      : location_(std::move(location)),
        trees_(std::move(trees)),
        info_(std::move(info)) {}

  Result<void> ScanTree(const Tree& tree, const ScanVisitor& visitor) const;

  const Location location_;
  const std::vector<Tree> trees_;
  const std::string info_;
};

// The format that such a copy is written in. It is no row of formats/builtin.cc, because
// it holds volumes only.
extern const Format kVolumeCopyFormat;

}  // namespace dolium
