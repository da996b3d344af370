// TargetFile: a local file in the making that may be written anywhere; it appears whole
// or not at all. (FileWriter, in bytes/, is for files written front to back.)
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/atomic_file.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium::volume {

// An AtomicFile at a path. Destroyed without Commit(), it leaves nothing behind. One
// thread at a time.
class TargetFile {
 public:
  // `path` is that of a file, as people type it. Makes folders as needed. kExists if it
  // is there and not `force`.
  static Result<std::unique_ptr<TargetFile>> Create(const std::string& path, bool force);

  // Stays open, and ours.
  int fd() const { return file_.fd(); }

  Result<void> WriteAt(uint64_t offset, BytesView bytes);

  // Makes it appear, durably. kExists if somebody else was faster and not `force`.
  Result<void> Commit();

 private:
  TargetFile(std::string path, std::string name, bool force, UniqueFd folder,
             AtomicFile file)
      : path_(std::move(path)),
        name_(std::move(name)),
        force_(force),
        folder_(std::move(folder)),
        file_(std::move(file)) {}

  // The permissions of the file that is replaced; nullopt if there is none.
  static Result<std::optional<mode_t>> CheckTarget(int folder, const std::string& name,
                                                   bool force);
  Result<void> CommitSteps();

  const std::string path_;  // for messages
  const std::string name_;  // base name
  const bool force_;
  const UniqueFd folder_;
  AtomicFile file_;
};

}  // namespace dolium::volume
