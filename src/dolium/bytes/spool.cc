#include "dolium/bytes/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "dolium/bytes/file_reader.h"
#include "dolium/bytes/guarded_map.h"
#include "dolium/bytes/slice_check.h"

namespace dolium {
namespace {

Result<void> WriteAt(int fd, uint64_t offset, BytesView bytes) {
  while (!bytes.empty()) {
    const ssize_t put =
        pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return SystemError(errno, "cannot write to a temporary file");
    bytes = bytes.subspan(static_cast<size_t>(put));
    offset += static_cast<uint64_t>(put);
  }
  return {};
}

}  // namespace

Result<Spool> Spool::Make() {
  std::error_code failure;
  std::string folder = std::filesystem::temp_directory_path(failure).string();
  UniqueFd file(open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) return SystemError(errno, "cannot make a temporary file").Within(folder);
  return Spool(std::move(file), std::move(folder));
}

Result<void> Spool::Append(BytesView bytes) {
  DOLIUM_TRY_VOID(WriteAt(file_.get(), size_, bytes).Within(folder_));
  size_ += bytes.size();
  return {};
}

Result<Spool> Spool::Of(const Store& store, std::string_view object,
                        const Generation& expected) {
  DOLIUM_TRY(Spool spool, Make());
  const int fd = spool.file_.get();
  // A second attempt writes over the first, which may have been longer.
  DOLIUM_TRY(const ObjectInfo read,
             store.ReadThrough(
                 object, {.begin = [&](const ObjectInfo& info) -> Result<void> {
                            if (!expected.token.empty() && info.generation != expected) {
                              return ChangedError(store.Describe(object));
                            }
                            return {};
                          },
                          .take =
                              [&](uint64_t offset, BytesView bytes) {
                                return WriteAt(fd, offset, bytes).Within(spool.folder_);
                              }}));
  spool.size_ = read.size;
  return spool;
}

Result<void> Spool::Read(uint64_t offset, MutableBytes into) const {
  const ReadSlice slice{offset, into};
  const int failure = ReadFileSlices(file_.get(), {&slice, 1}, /*use_io_uring=*/false);
  if (failure == 0) return {};
  return SystemError(failure > 0 ? failure : EIO, "cannot read a temporary file");
}

Result<Bytes> Spool::Map() const {
  if (size_ == 0) return Bytes();
  Bytes map = MapFile(file_.get(), static_cast<size_t>(size_));
  if (map.empty()) return SystemError(errno, "cannot map").Within(folder_);
  return map;
}

}  // namespace dolium
