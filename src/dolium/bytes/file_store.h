// FileStore: objects are files of the local file system.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "dolium/bytes/store.h"

namespace dolium {

struct FileStoreOptions {
  // Make commits and removals outlive a crash of the machine. Off for spill files.
  bool sync = true;
  // Read cold batches through io_uring where the kernel has it. The environment variable
  // DOLIUM_NO_IO_URING=1 switches it off everywhere.
  bool io_uring = true;
};

// Object names are paths: absolute ones as they are, others relative to the directory
// that was the root when the store was opened, whatever the process changes to later.
// Objects are regular files (links are followed); anything else is not there.
//
// A generation is made of device, inode, size and modification time. Files read lately
// are kept open; every read looks whether the path still names the same file in the same
// state.
//
// Writers write a temporary `.<name>.dolium-tmp-<number>` beside the target and rename it
// under a lock of the folder, so that preconditions hold among processes. A target that
// is a link is replaced by the file. Folders are made as needed, and stay if the writer
// gives up.
class FileStore final : public Store {
 public:
  static Result<std::shared_ptr<FileStore>> Open(std::string_view root = ".",
                                                 FileStoreOptions options = {});
  ~FileStore() override;

  std::string Describe(std::string_view object) const override;
  Result<std::optional<ObjectInfo>> Stat(std::string_view object) const override;
  Result<void> List(std::string_view folder, const ListVisitor& visit) const override;
  Result<ObjectInfo> ReadInto(std::string_view object, std::span<const ReadSlice> slices,
                              const ReadOptions& options) const override;
  Result<WholeObject> ReadWhole(std::string_view object, uint64_t limit) const override;
  Result<std::unique_ptr<ObjectWriter>> Begin(std::string_view object) override;
  Result<void> Remove(std::string_view object, const Precondition& precondition) override;

  // nullptr if the object is absent or its file system has no locks.
  Result<std::shared_ptr<void>> LockForRewrite(std::string_view object,
                                               bool wait = true) override;
  Result<std::optional<LocalFile>> OpenLocal(std::string_view object) const override;
  Result<std::optional<std::string>> LocalPath(std::string_view object) const override;
  Result<std::optional<Bytes>> Map(std::string_view object,
                                   MapGuard guard = MapGuard::kNone) const override;
  Result<size_t> RemoveStaleTemporaries(std::string_view folder) override;

 private:
  explicit FileStore(std::shared_ptr<class FileRoot> root);

  const std::shared_ptr<FileRoot> root_;
};

}  // namespace dolium
