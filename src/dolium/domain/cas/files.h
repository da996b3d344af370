// Local files: read whole, mapped, listed, and written so that they appear whole. The
// objects of a store, which may be elsewhere, are for objects.h.
//
// The functions may be called from many threads. Errors name the path.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/atomic_file.h"
#include "dolium/bytes/unique_fd.h"

namespace dolium::cas {

class Layout;

// A file in tmp/ that gets its name, or becomes an object, when it is complete. Destroyed
// before, it leaves nothing; of a killed process, gc removes what it left, by the lease
// in its name. One thread at a time.
class NewFile {
 public:
  static Result<NewFile> Create(const Layout& layout, std::string_view lease);

  Result<void> Append(BytesView bytes);
  // Makes the bytes durable.
  Result<void> Sync();
  // The name alone, after Sync(): the folder is not synced.
  Result<void> Rename(const std::string& path);

  int fd() const { return file_.fd(); }
  // Empty once it has its name.
  const std::string& path() const { return file_.temporary(); }

 private:
  explicit NewFile(AtomicFile file) : file_(std::move(file)) {}

  AtomicFile file_;
};

// kNotFound if it is not there; kCorrupt if it is larger than `limit`.
Result<ByteVector> ReadWholeFile(const std::string& path, uint64_t limit);

// A file of a store, which is never changed in place, as a memory map; kNotFound if it is
// not there. Files of others are read: a map of one that is cut short ends the process.
Result<Bytes> MapFile(const std::string& path);

Result<UniqueFd> OpenForReading(const std::string& path);

// Fills `into` from `offset` on; kCorrupt if the file ends before.
Result<void> ReadAt(int fd, uint64_t offset, MutableBytes into);
Result<void> WriteAll(int fd, BytesView bytes);

// Visits the names in a folder but "." and "..", in any order. One that is not there has
// none.
Result<void> ListFolder(const std::string& path,
                        const std::function<void(std::string_view)>& visit);
// The same, sorted.
Result<std::vector<std::string>> SortedFolder(const std::string& path);

// Makes one folder whose parent is there, durably; one that is there is made durable.
Result<void> MakeFolderAt(const std::string& path);
Result<void> SyncFolderAt(const std::string& path);

// nullopt if nothing is there.
Result<std::optional<struct stat>> StatusOf(const std::string& path);

// Not there is fine; whether it was.
Result<bool> RemoveFile(const std::string& path);

// Nanoseconds since 1970.
int64_t NowNanoseconds();

}  // namespace dolium::cas
