#include "dolium/bytes/cache_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/base/xxh64.h"
#include "dolium/bytes/atomic_file.h"
#include "dolium/bytes/folder.h"
#include "dolium/bytes/store.h"

namespace dolium {
namespace {

constexpr std::string_view kCacheName = "dolium-cache-1";
constexpr const char* kUsageName = "usage";
constexpr std::string_view kCacheMagic = "dolcach1";
constexpr size_t kCacheDigestAt = 16;
constexpr size_t kCacheHeader = 48;
// What a file takes beside its bytes, about: many tiny ones are not free.
constexpr uint64_t kCacheFileCost = 512;
// A time that is this old is brought up to date when the value is used.
constexpr time_t kCacheUseSeconds = 60;

using CacheDigest = std::array<std::byte, 32>;

CacheDigest DigestOf(std::string_view key) {
  CacheDigest digest;
  unsigned length = 0;
  EVP_Digest(key.data(), key.size(), reinterpret_cast<unsigned char*>(digest.data()),
             &length, EVP_sha256(), nullptr);
  return digest;
}

// `ab/cdef...`, relative to the folder of the cache.
std::string CachePathOf(const CacheDigest& digest) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string path;
  for (const std::byte byte : digest) {
    if (path.size() == 2) path += '/';
    path += kDigits[std::to_integer<size_t>(byte >> 4)];
    path += kDigits[std::to_integer<size_t>(byte & std::byte{15})];
  }
  return path;
}

uint64_t CostOf(uint64_t size) { return size + kCacheFileCost; }

bool ReadFully(int fd, MutableBytes into) {
  size_t done = 0;
  while (done < into.size()) {
    const ssize_t got = RetryOnSignal([&] {
      return pread(fd, into.data() + done, into.size() - done, static_cast<off_t>(done));
    });
    if (got <= 0) return false;
    done += static_cast<size_t>(got);
  }
  return true;
}

bool IsFolderName(std::string_view name) {
  return name.size() == 2 && name.find_first_not_of("0123456789abcdef") == name.npos;
}

// The names in a folder.
std::vector<std::string> NamesIn(int folder) {
  std::vector<std::string> names;
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* const entries = copy < 0 ? nullptr : fdopendir(copy);
  if (entries == nullptr) {
    if (copy >= 0) close(copy);
    return names;
  }
  while (const dirent* const entry = readdir(entries)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  closedir(entries);
  return names;
}

// The lock of `usage`. A forked child that has the descriptor too must not keep it.
class UsageLock {
 public:
  explicit UsageLock(int folder)
      : file_(
            openat(folder, kUsageName, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600)) {
    if (file_ && RetryOnSignal([&] { return flock(file_.get(), LOCK_EX); }) != 0) {
      file_.Close();
    }
  }
  ~UsageLock() {
    if (file_) flock(file_.get(), LOCK_UN);
  }
  UsageLock(const UsageLock&) = delete;
  UsageLock& operator=(const UsageLock&) = delete;

  explicit operator bool() const { return static_cast<bool>(file_); }

  // nullopt if it was never counted, or is damaged.
  std::optional<uint64_t> Read() const {
    struct stat status{};
    std::byte bytes[8];
    if (fstat(file_.get(), &status) != 0 || status.st_size != sizeof bytes ||
        !ReadFully(file_.get(), bytes)) {
      return std::nullopt;
    }
    return LoadLE<uint64_t>(bytes);
  }
  bool Write(uint64_t sum) const {
    std::byte bytes[8];
    StoreLE<uint64_t>(bytes, sum);
    return pwrite(file_.get(), bytes, sizeof bytes, 0) == sizeof bytes;
  }

 private:
  UniqueFd file_;
};

}  // namespace

Result<std::shared_ptr<CacheFolder>> CacheFolder::Open(const std::string& path,
                                                       uint64_t limit) {
  const auto open = [&]() -> Result<UniqueFd> {
    DOLIUM_TRY(const UniqueFd parent, MakeFolder(AT_FDCWD, path, /*sync=*/false));
    const std::string name(kCacheName);
    if (mkdirat(parent.get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
      return SystemError(errno, "cannot make the folder of the cache");
    }
    UniqueFd folder(openat(parent.get(), name.c_str(),
                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!folder) return SystemError(errno, "cannot open the folder of the cache");
    struct stat status{};
    if (fstat(folder.get(), &status) != 0) return SystemError(errno, "cannot look up");
    if (status.st_uid != geteuid()) {
      return InvalidArgument(
          fmt::format("{} belongs to user {}, not to {}; name another folder", kCacheName,
                      status.st_uid, geteuid()));
    }
    if ((status.st_mode & 0777) != 0700 && fchmod(folder.get(), 0700) != 0) {
      return SystemError(errno, "cannot make the cache private");
    }
    return folder;
  };
  auto folder = open();
  if (!folder) return std::move(folder).error().Within(path);
  return std::shared_ptr<CacheFolder>(new CacheFolder(path, limit, *std::move(folder)));
}

std::optional<Bytes> CacheFolder::Get(std::string_view key) const {
  const CacheDigest digest = DigestOf(key);
  const std::string path = CachePathOf(digest);
  // What lies there may be anything, a FIFO without a writer too.
  const UniqueFd file(openat(folder_.get(), path.c_str(),
                             O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  struct stat status{};
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return std::nullopt;
  }
  const auto size = static_cast<uint64_t>(status.st_size);
  // A value is never larger than the limit: what is there may be anything.
  const bool is_possible = size >= kCacheHeader && size <= limit_;
  if (is_possible) {
    Buffer buffer(static_cast<size_t>(size));
    const BytesView all = buffer.view();
    if (ReadFully(file.get(), buffer.view()) &&
        AsText(all.first(kCacheMagic.size())) == kCacheMagic &&
        Equal(all.subspan(kCacheDigestAt, digest.size()), digest) &&
        LoadLE<uint64_t>(all.data() + kCacheMagic.size()) ==
            Xxh64(all.subspan(kCacheDigestAt))) {
      if (status.st_mtime + kCacheUseSeconds < time(nullptr)) {
        futimens(file.get(), nullptr);
      }
      return std::move(buffer).Share().Slice(kCacheHeader,
                                             static_cast<size_t>(size) - kCacheHeader);
    }
  }
  // The next value of this key takes its place; until then it would be read again.
  unlinkat(folder_.get(), path.c_str(), 0);
  return std::nullopt;
}

bool CacheFolder::Has(std::string_view key) const {
  return faccessat(folder_.get(), CachePathOf(DigestOf(key)).c_str(), F_OK, 0) == 0;
}

void CacheFolder::Put(std::string_view key, BytesView value) {
  const uint64_t cost = CostOf(kCacheHeader + value.size());
  if (cost > limit_ / 8) return;
  const CacheDigest digest = DigestOf(key);
  const std::string path = CachePathOf(digest);
  ByteVector header(kCacheHeader);
  std::ranges::copy(AsBytes(kCacheMagic), header.begin());
  std::ranges::copy(digest, header.begin() + kCacheDigestAt);
  Xxh64Stream checksum;
  checksum.Add(BytesView(header).subspan(kCacheDigestAt));
  checksum.Add(value);
  StoreLE<uint64_t>(header.data() + kCacheMagic.size(), checksum.value());

  const UsageLock lock(folder_.get());
  if (!lock) return;
  std::optional<uint64_t> sum = lock.Read();
  if (!sum || *sum > limit_ || cost > limit_ - *sum) {
    // Somewhat more than is needed now, so that it is not needed each time.
    sum = DeleteDownTo(limit_ - limit_ / 8);
  }
  if (*sum > limit_ - cost || !lock.Write(*sum + cost)) return;
  const std::string prefix = path.substr(0, 2);
  if (mkdirat(folder_.get(), prefix.c_str(), 0700) != 0 && errno != EEXIST) return;
  const auto folder = OpenFolder(folder_.get(), prefix);
  if (!folder) return;
  const std::string name(BaseName(path));
  struct stat replaced{};
  const bool replaces =
      fstatat(folder->get(), name.c_str(), &replaced, AT_SYMLINK_NOFOLLOW) == 0;
  auto file = AtomicFile::Create(folder->get(), "", 0600);
  // Not synced: what a crash of the machine tears fails its checksum.
  if (!file || !file->Append(header) || !file->Append(value) || !file->Rename(name)) {
    return;  // The sum is too high now, which the next count puts right.
  }
  if (replaces) {
    *sum -= std::min(*sum, CostOf(static_cast<uint64_t>(replaced.st_size)));
    lock.Write(*sum + cost);
  }
}

void CacheFolder::Remove(std::string_view key) {
  unlinkat(folder_.get(), CachePathOf(DigestOf(key)).c_str(), 0);
}

uint64_t CacheFolder::DeleteDownTo(uint64_t wanted) {
  struct Value {
    timespec used;
    uint64_t cost;
    std::string path;
  };
  std::vector<Value> values;
  uint64_t sum = 0;
  for (const std::string& prefix : NamesIn(folder_.get())) {
    if (!IsFolderName(prefix)) continue;
    const auto folder = OpenFolder(folder_.get(), prefix);
    if (!folder) continue;
    for (const std::string& name : NamesIn(folder->get())) {
      // Values are written under the lock that is held here: its writer was killed.
      if (IsTemporaryName(name)) unlinkat(folder->get(), name.c_str(), 0);
      struct stat status{};
      if (fstatat(folder->get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 ||
          !S_ISREG(status.st_mode)) {
        continue;
      }
      const uint64_t cost = CostOf(static_cast<uint64_t>(status.st_size));
      sum += cost;
      values.push_back({status.st_mtim, cost, JoinPath(prefix, name)});
    }
  }
  std::ranges::sort(values, [](const Value& a, const Value& b) {
    return std::pair(a.used.tv_sec, a.used.tv_nsec) <
           std::pair(b.used.tv_sec, b.used.tv_nsec);
  });
  for (const Value& value : values) {
    if (sum <= wanted) break;
    if (unlinkat(folder_.get(), value.path.c_str(), 0) == 0 || errno == ENOENT) {
      sum -= value.cost;
    }
  }
  return sum;
}

}  // namespace dolium
