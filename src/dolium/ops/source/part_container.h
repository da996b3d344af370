// PartContainer: the entries of several parts as one container, with keys `PART/KEY`.
//
// A part is a folder with a name of its own, which may begin with `..`. Of parts that lie
// in the same folder, the first counts. Const methods may be called from many threads.
// Parts are opened when they are needed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/base/once.h"
#include "dolium/container/container.h"
#include "dolium/container/index_cache.h"
#include "dolium/ops/source/source.h"

namespace dolium {

class PartContainer : public Container, public IndexCache {
 public:
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

 protected:
  explicit PartContainer(std::vector<SourcePart> parts);

  // Opens a part; null if its folder is not there.
  virtual Result<std::shared_ptr<const Container>> Load(const SourcePart& part) const = 0;

 private:
  // The part that a key begins with, and the rest; nullopt if none does.
  std::optional<std::pair<size_t, std::string_view>> SplitKey(std::string_view key) const;
  Result<size_t> PartOfObject(std::string_view object) const;

  const std::vector<SourcePart> parts_;
  const std::unique_ptr<Once<std::shared_ptr<const Container>>[]> opened_;
};

// Adds a part, unless there is one of its name or in its folder.
void AddPart(SourcePart part, std::vector<SourcePart>& parts);

// Opens the folder of a part: its shards by their spec, or files. Null if it is not
// there.
Result<std::shared_ptr<const Container>> OpenPartFolder(Formats formats,
                                                        const Location& folder,
                                                        std::string_view format,
                                                        const OpenOptions& options);

}  // namespace dolium
