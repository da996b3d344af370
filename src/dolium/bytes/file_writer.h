// FileWriter: a local file in the making; see FileStore for what it leaves where.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "dolium/bytes/atomic_file.h"
#include "dolium/bytes/file_root.h"
#include "dolium/bytes/store.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium {

// An AtomicFile, which others can distinguish from a dead writer's. A commit stamps the
// file with a time later than that of the file it replaces, so that no generation comes
// back, even if the file system gives the inode number of an earlier one. After an error
// only destruction is of use.
class FileWriter final : public ObjectWriter {
 public:
  static Result<std::unique_ptr<ObjectWriter>> Begin(std::shared_ptr<FileRoot> root,
                                                     std::string_view object);

  Result<void> Append(BytesView bytes) override;
  Result<void> AppendFrom(const Store& source, std::string_view object, ByteRange range,
                          const Generation& generation) override;
  uint64_t size() const override { return written_ + buffer_.size(); }
  Result<Generation> Commit(const Precondition& precondition) override;

 private:
  FileWriter(std::shared_ptr<FileRoot> root, std::string_view object, UniqueFd folder,
             AtomicFile file)
      : root_(std::move(root)),
        object_(object),
        folder_(std::move(folder)),
        file_(std::move(file)) {}

  // Writes the buffer and then `bytes`.
  Result<void> WriteOut(BytesView bytes);
  Result<void> CopyThroughBuffer(int source, ByteRange range);
  // Copies by the kernel; returns how many bytes, fewer if it does not want to.
  Result<uint64_t> CopyInKernel(int source, ByteRange range);
  // Gives the file a modification time after that of `replaced`.
  Result<void> Stamp(const std::optional<struct stat>& replaced);
  Result<std::optional<struct stat>> TargetStatus() const;
  Result<Generation> CommitSteps(const Precondition& precondition);

  const std::shared_ptr<FileRoot> root_;
  const std::string object_;
  const UniqueFd folder_;
  AtomicFile file_;
  ByteVector buffer_;
  uint64_t written_ = 0;
  bool failed_ = false;
};

}  // namespace dolium
