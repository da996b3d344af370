#include "dolium/domain/cas/stat_cache.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "dolium/base/endian.h"

namespace dolium::cas {
namespace {

// Clocks of file systems are no finer than this, with room to spare.
constexpr int64_t kClockGrain = 100'000'000;
constexpr size_t kBuffer = size_t{256} << 10;

uint64_t Nanoseconds(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 +
         static_cast<uint64_t>(time.tv_nsec);
}

std::array<uint64_t, 5> StateOf(const struct stat& status) {
  return {status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size),
          Nanoseconds(status.st_mtim), Nanoseconds(status.st_ctim)};
}

xet::Hash KeyOf(const std::string& path) {
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error).lexically_normal();
  return xet::ChunkHash(AsBytes(error ? path : absolute.native()));
}

}  // namespace

StatCache StatCache::Load(const Layout& layout, std::string_view lease,
                          std::string_view name, bool is_aligned) {
  StatCache seen(layout, lease);
  seen.path_ = fmt::format("{}/{}{}", layout.seen(), EscapeName(name),
                           is_aligned ? kSeenAligned : "");
  seen.begun_ = NowNanoseconds();
  seen.noted_.resize(kHeaderSize);
  auto bytes = MapFile(seen.path_);
  if (!bytes || bytes->size() % kRowSize != kHeaderSize) return seen;
  seen.loaded_ = *std::move(bytes);
  seen.tree_ = xet::Hash::Load(seen.loaded_.data());
  seen.rows_ = seen.loaded_.view().subspan(kHeaderSize);
  return seen;
}

std::optional<xet::Hash> StatCache::Find(const std::string& path,
                                         const struct stat& status) const {
  const xet::Hash key = KeyOf(path);
  size_t low = 0;
  size_t high = rows_.size() / kRowSize;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (xet::Hash::Load(rows_.data() + middle * kRowSize) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low >= rows_.size() / kRowSize) return std::nullopt;
  const std::byte* const row = rows_.data() + low * kRowSize;
  if (xet::Hash::Load(row) != key) return std::nullopt;
  const auto state = StateOf(status);
  for (size_t i = 0; i < state.size(); ++i) {
    if (LoadLE<uint64_t>(row + xet::Hash::kSize + 8 * i) != state[i]) return std::nullopt;
  }
  return xet::Hash::Load(row + xet::Hash::kSize + 8 * state.size());
}

void StatCache::Add(const std::string& path, const struct stat& status,
                    const xet::Hash& hash) {
  if (static_cast<int64_t>(Nanoseconds(status.st_ctim)) >= begun_ - kClockGrain) return;
  if (!status_) return;
  Append(noted_, KeyOf(path).view());
  for (const uint64_t number : StateOf(status)) {
    noted_.resize(noted_.size() + 8);
    StoreLE(noted_.data() + noted_.size() - 8, number);
  }
  Append(noted_, hash.view());
  if (noted_.size() >= kBuffer) status_ = Flush();
}

Result<void> StatCache::Flush() {
  if (!file_) {
    DOLIUM_TRY(NewFile file, NewFile::Create(layout_, lease_));
    file_.emplace(std::move(file));
  }
  DOLIUM_TRY_VOID(file_->Append(noted_));
  noted_.clear();
  return {};
}

Result<void> StatCache::Save(const xet::Hash& tree) {
  DOLIUM_TRY_VOID(status_);
  DOLIUM_TRY_VOID(Flush());
  // In place, in a map: the rows of millions of files need not fit into memory.
  struct stat status{};
  if (fstat(file_->fd(), &status) != 0) return SystemError(errno, "cannot look");
  const auto size = static_cast<size_t>(status.st_size);
  void* const address =
      mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file_->fd(), 0);
  if (address == MAP_FAILED) return SystemError(errno, "cannot map").Within(path_);
  auto* const header = static_cast<std::byte*>(address);
  std::memcpy(header, tree.view().data(), kHeaderSize);
  using Row = std::array<std::byte, kRowSize>;
  auto* const rows = reinterpret_cast<Row*>(header + kHeaderSize);
  std::sort(rows, rows + (size - kHeaderSize) / kRowSize, [](const Row& a, const Row& b) {
    return xet::Hash::Load(a.data()) < xet::Hash::Load(b.data());
  });
  munmap(address, size);
  DOLIUM_TRY_VOID(MakeFolderAt(layout_.seen()));
  return file_->Rename(path_);
}

}  // namespace dolium::cas
