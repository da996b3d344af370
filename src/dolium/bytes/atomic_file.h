// AtomicFile: a local file in the making, which appears whole or not at all.
//
// The one way in which files are written here. The steps are apart, because their order
// is the caller's matter: write, Sync() the bytes, Rename() to the name, SyncFd() of the
// folder (folder.h). Whoever writes many files syncs them in batches.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium {

// A temporary in a folder that is given as a descriptor, so that names that come from
// data cannot lead elsewhere. The descriptor must stay open as long as the file is in the
// making; AT_FDCWD is one too. While it lives, the temporary is under an exclusive flock:
// that is how cleaners distinguish a live writer's temporary from a dead one's. Destroyed
// before Rename() it leaves nothing, except in a forked child, where it belongs to the
// parent. WriteAt() may be called from many threads, all else from one at a time. Errors
// do not name the file: the caller knows what people call it.
class AtomicFile {
 public:
  // Makes `.<name>.dolium-tmp-<number>`, whose permissions are `mode` less the umask.
  static Result<AtomicFile> Create(int folder, std::string_view name, mode_t mode = 0666);
  // Makes a temporary of just this name, and takes over what a dead writer left there.
  static Result<AtomicFile> CreateNamed(int folder, std::string temporary);

  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&& other) noexcept;
  ~AtomicFile() { Discard(); }

  int fd() const { return file_.get(); }
  // Its name in the folder until it has its own; empty from then on.
  const std::string& temporary() const { return temporary_; }

  Result<void> Append(BytesView bytes);
  Result<void> WriteAt(uint64_t offset, BytesView bytes);

  // Makes the bytes durable.
  Result<void> Sync();

  enum class IfThere : uint8_t { kReplace, kRefuse };
  // Gives it its name, in the same folder or in `folder`. kExists if something has the
  // name and is not to be replaced; then, and after other errors, it is still a
  // temporary. The descriptor stays open.
  Result<void> Rename(std::string_view name, IfThere if_there = IfThere::kReplace) {
    return Rename(folder_, name, if_there);
  }
  Result<void> Rename(int folder, std::string_view name, IfThere if_there);

  // Removes the temporary, if it is one still, and closes the file.
  void Discard();

 private:
  AtomicFile(int folder, std::string temporary, UniqueFd file)
      : folder_(folder), temporary_(std::move(temporary)), file_(std::move(file)) {}

  int folder_;
  std::string temporary_;
  UniqueFd file_;
  pid_t process_ = getpid();
};

}  // namespace dolium
