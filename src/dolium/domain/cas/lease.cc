#include "dolium/domain/cas/lease.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include <fmt/format.h>

#include "dolium/domain/cas/files.h"

namespace dolium::cas {
namespace {

constexpr uint64_t kLeaseLimit = uint64_t{1} << 32;
constexpr size_t kLineSize = 2 + 64 + 1;

// Whether nothing can be written there at all.
bool IsUnwritable(int error) {
  return error == EACCES || error == EROFS || error == ENOSPC || error == EDQUOT;
}

// How long a wait for the lock goes on before somebody looks whether to stop.
constexpr auto kLockPause = std::chrono::milliseconds(5);

Result<UniqueFd> OpenLocked(const Layout& layout, int operation,
                            const std::stop_token& stop) {
  const std::string path = layout.lock();
  UniqueFd fd(RetryOnSignal(
      [&] { return open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666); }));
  // A store that may only be read has no gc that could write to it either.
  if (!fd && IsUnwritable(errno)) {
    fd = UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  }
  if (!fd) return SystemError(errno, "cannot open").Within(path);
  if (stop.stop_possible()) operation |= LOCK_NB;
  while (RetryOnSignal([&] { return flock(fd.get(), operation); }) != 0) {
    if (errno != EWOULDBLOCK) return SystemError(errno, "cannot lock").Within(path);
    if (stop.stop_requested()) return Cancelled();
    std::this_thread::sleep_for(kLockPause);
  }
  return fd;
}

std::string RandomName() {
  uint64_t number = 0;
  if (getrandom(&number, sizeof number, 0) != sizeof number) {
    number = static_cast<uint64_t>(NowNanoseconds());
  }
  return fmt::format("{}-{:016x}", getpid(), number);
}

Result<void> ReadLease(const std::string& path, LivePins& pins) {
  DOLIUM_TRY(const ByteVector bytes, ReadWholeFile(path, kLeaseLimit));
  std::string_view text = AsText(bytes);
  while (text.size() >= kLineSize) {
    const auto kind = static_cast<Pin>(text[0]);
    // Half a line cannot be noted under the lock; one that is no line is nobody's need.
    if (const auto hash = xet::ParseHash(text.substr(2, 64))) {
      pins.noted[kind].insert(*hash);
    }
    text.remove_prefix(kLineSize);
  }
  return {};
}

// Whether the process that has this lease lives.
Result<bool> IsAlive(const std::string& path) {
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) {
    if (errno == ENOENT) return false;
    return SystemError(errno, "cannot open").Within(path);
  }
  if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0) return false;
  if (errno == EWOULDBLOCK) return true;
  return SystemError(errno, "cannot lock").Within(path);
}

}  // namespace

Result<StoreLock> StoreLock::Shared(const Layout& layout, const std::stop_token& stop) {
  DOLIUM_TRY(UniqueFd fd, OpenLocked(layout, LOCK_SH, stop));
  return StoreLock(std::move(fd));
}
Result<StoreLock> StoreLock::Exclusive(const Layout& layout,
                                       const std::stop_token& stop) {
  DOLIUM_TRY(UniqueFd fd, OpenLocked(layout, LOCK_EX, stop));
  return StoreLock(std::move(fd));
}

Result<std::unique_ptr<Lease>> Lease::Take(const Layout& layout, std::stop_token stop) {
  // Keeps gc from taking the file for one of a dead process before it is locked.
  DOLIUM_TRY(const StoreLock lock, StoreLock::Shared(layout, stop));
  std::string id = RandomName();
  std::string path = fmt::format("{}/{}", layout.leases(), id);
  UniqueFd fd(open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666));
  if (!fd) {
    const int error = errno;
    Error failed = SystemError(error, "cannot make").Within(path);
    if (!IsUnwritable(error)) return failed;
    return std::unique_ptr<Lease>(
        new Lease("", std::move(id), UniqueFd(), std::move(stop), std::move(failed)));
  }
  if (flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    return SystemError(errno, "cannot lock").Within(path);
  }
  return std::unique_ptr<Lease>(
      new Lease(std::move(path), std::move(id), std::move(fd), std::move(stop), {}));
}

Lease::~Lease() {
  if (!path_.empty()) unlink(path_.c_str());
}

Result<void> Lease::Note(Pin kind, const xet::Hash& hash) {
  const std::lock_guard hold(mutex_);
  if (!all_noted_ || !noted_.emplace(kind, hash).second) return {};
  const std::string line =
      fmt::format("{} {}\n", static_cast<char>(kind), ToString(hash));
  auto written = WriteAll(fd_.get(), AsBytes(line));
  if (written) return {};
  const bool is_unwritable = IsUnwritable(errno);
  written = std::move(written).Within(path_);
  if (!is_unwritable) return written;
  all_noted_ = std::move(written);
  return {};
}

Result<void> Lease::CheckNoted() const {
  const std::lock_guard hold(mutex_);
  return all_noted_;
}

Result<LivePins> ReadPins(const Layout& layout, bool clean) {
  LivePins pins;
  DOLIUM_TRY(const auto names, SortedFolder(layout.leases()));
  for (const std::string& name : names) {
    const std::string path = fmt::format("{}/{}", layout.leases(), name);
    DOLIUM_TRY(const bool is_alive, IsAlive(path));
    if (is_alive) {
      pins.leases.insert(name);
      auto read = ReadLease(path, pins);
      // Given up meanwhile: what it was for is done, and has its name.
      if (!read && read.error().code != ErrorCode::kNotFound) return read.error();
    } else if (clean) {
      DOLIUM_TRY([[maybe_unused]] const bool removed, RemoveFile(path));
    }
  }
  if (!clean) return pins;
  DOLIUM_TRY(const auto temporaries, SortedFolder(layout.temporaries()));
  for (const std::string& name : temporaries) {
    if (pins.leases.contains(name.substr(0, name.find('.')))) continue;
    std::error_code error;  // What cannot be removed is tried again by the next gc.
    std::filesystem::remove_all(fmt::format("{}/{}", layout.temporaries(), name), error);
  }
  return pins;
}

}  // namespace dolium::cas
