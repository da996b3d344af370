// A volume as a container: the entries of all its parts, with keys `PART/KEY`.
//
// A part is a scale, or what the info names as mesh, skeletons or segment properties. Its
// name is the one that the info has for it, so that it may begin with `..`. Of parts that
// lie in the same folder, the first counts.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/base/once.h"
#include "dolium/container/container.h"
#include "dolium/container/format.h"
#include "dolium/container/index_cache.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/source/source.h"

namespace dolium {

// The parts of a volume, scales first.
std::vector<SourcePart> PartsOf(const volume::Volume& volume);

// Const methods may be called from many threads. Parts are opened when they are needed.
class VolumeEntries final : public Container, public IndexCache {
 public:
  VolumeEntries(Formats formats, std::shared_ptr<const volume::Volume> volume,
                OpenOptions options);

  const Location& location() const override { return volume_->folder(); }
  std::string_view format_name() const override;
  Properties properties() const override;
  Result<std::optional<Entry>> Find(std::string_view key) const override;
  Result<std::vector<std::string>> Objects() const override;
  Result<void> ScanObject(std::string_view object,
                          const ScanVisitor& visitor) const override;
  Result<void> CheckObject(std::string_view object,
                           const FindingVisitor& visitor) const override;
  void Forget(std::string_view key) const override;

  const std::vector<SourcePart>& parts() const { return parts_; }
  // The container of a part; nullptr if its folder is not there.
  Result<const Container*> OpenPart(size_t part) const;

 private:
  // The part that a key begins with, and the rest; nullopt if none does.
  std::optional<std::pair<size_t, std::string_view>> SplitKey(std::string_view key) const;
  Result<size_t> PartOfObject(std::string_view object) const;
  Result<std::shared_ptr<const Container>> Load(size_t part) const;

  const Formats formats_;
  const std::shared_ptr<const volume::Volume> volume_;
  const OpenOptions options_;
  const std::vector<SourcePart> parts_;
  const std::unique_ptr<Once<std::shared_ptr<const Container>>[]> opened_;
};

}  // namespace dolium
