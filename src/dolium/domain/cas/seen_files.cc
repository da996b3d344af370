#include "dolium/domain/cas/seen_files.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "dolium/base/endian.h"
#include "dolium/domain/cas/files.h"

namespace dolium::cas {
namespace {

// Clocks of file systems are no finer than this, with room to spare.
constexpr int64_t kClockGrain = 100'000'000;

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

SeenFiles SeenFiles::Load(const Layout& layout, std::string_view name, bool is_aligned) {
  SeenFiles seen;
  seen.path_ = fmt::format("{}/{}{}", layout.seen(), EscapeName(name),
                           is_aligned ? kSeenAligned : "");
  seen.begun_ = NowNanoseconds();
  if (auto bytes = MapFile(seen.path_)) seen.loaded_ = *std::move(bytes);
  return seen;
}

std::optional<xet::Hash> SeenFiles::Find(const std::string& path,
                                         const struct stat& status) const {
  const xet::Hash key = KeyOf(path);
  size_t low = 0;
  size_t high = loaded_.size() / kRowSize;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (xet::Hash::Load(loaded_.data() + middle * kRowSize) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low >= loaded_.size() / kRowSize) return std::nullopt;
  const std::byte* const row = loaded_.data() + low * kRowSize;
  if (xet::Hash::Load(row) != key) return std::nullopt;
  const auto state = StateOf(status);
  for (size_t i = 0; i < state.size(); ++i) {
    if (LoadLE<uint64_t>(row + xet::Hash::kSize + 8 * i) != state[i]) return std::nullopt;
  }
  return xet::Hash::Load(row + xet::Hash::kSize + 8 * state.size());
}

void SeenFiles::Add(const std::string& path, const struct stat& status,
                    const xet::Hash& hash) {
  if (static_cast<int64_t>(Nanoseconds(status.st_ctim)) >= begun_ - kClockGrain) return;
  noted_.push_back({KeyOf(path), StateOf(status), hash});
}

Result<void> SeenFiles::Save(const Layout& layout, std::string_view lease) const {
  std::vector<Row> rows = noted_;
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.path < b.path; });
  ByteVector bytes(rows.size() * kRowSize);
  std::byte* at = bytes.data();
  for (const Row& row : rows) {
    std::memcpy(at, row.path.bytes.data(), xet::Hash::kSize);
    at += xet::Hash::kSize;
    for (const uint64_t number : row.state) {
      StoreLE(at, number);
      at += 8;
    }
    std::memcpy(at, row.hash.bytes.data(), xet::Hash::kSize);
    at += xet::Hash::kSize;
  }
  DOLIUM_TRY_VOID(MakeFolderAt(layout.seen()));
  DOLIUM_TRY(NewFile file, NewFile::Create(layout, lease));
  DOLIUM_TRY_VOID(file.Append(bytes));
  return file.Rename(path_);
}

}  // namespace dolium::cas
