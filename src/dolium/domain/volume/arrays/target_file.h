// TargetFile: a local file in the making that may be written anywhere; it appears whole
// or not at all. (FileWriter, in bytes/, is for files written front to back.)
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium::volume {

// Writes a temporary beside the target, as a FileStore does. Destroyed without Commit(),
// it leaves nothing behind. One thread at a time.
class TargetFile {
 public:
  // `path` is that of a file, as people type it. Makes folders as needed. kExists if it
  // is there and not `force`.
  static Result<std::unique_ptr<TargetFile>> Create(const std::string& path, bool force);
  ~TargetFile();
  TargetFile(const TargetFile&) = delete;
  TargetFile& operator=(const TargetFile&) = delete;

  // Stays open, and ours.
  int fd() const { return file_.get(); }

  Result<void> WriteAt(uint64_t offset, BytesView bytes);

  // Makes it appear, durably. kExists if somebody else was faster and not `force`.
  Result<void> Commit();

 private:
  TargetFile(std::string path, std::string name, bool force, UniqueFd folder)
      : path_(std::move(path)),
        name_(std::move(name)),
        force_(force),
        folder_(std::move(folder)) {}

  Result<void> CreateTemporary();
  Result<void> CheckTarget();
  Result<void> CommitSteps();

  const std::string path_;  // for messages
  const std::string name_;  // base name
  const bool force_;
  UniqueFd folder_;
  UniqueFd file_;
  std::string temporary_;  // base name; empty once it is gone
};

}  // namespace dolium::volume
