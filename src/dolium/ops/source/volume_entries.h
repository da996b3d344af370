// A volume as a container: the entries of all its parts, with keys `PART/KEY`.
//
// A part is a scale, or what the info names as mesh, skeletons or segment properties. Its
// name is the one that the info has for it.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "dolium/container/format.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/source/part_container.h"

namespace dolium {

// The parts of a volume, scales first.
std::vector<SourcePart> PartsOf(const volume::Volume& volume);

class VolumeEntries final : public PartContainer {
 public:
  VolumeEntries(Formats formats, std::shared_ptr<const volume::Volume> volume,
                OpenOptions options);

  const Location& location() const override { return volume_->folder(); }
  std::string_view format_name() const override;
  Properties properties() const override;

 private:
  Result<std::shared_ptr<const Container>> Load(const SourcePart& part) const override;

  const Formats formats_;
  const std::shared_ptr<const volume::Volume> volume_;
  const OpenOptions options_;
};

}  // namespace dolium
