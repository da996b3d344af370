#include "dolium/domain/cas/xorb_cache.h"

#include <sys/stat.h>

#include <algorithm>

#include <fmt/format.h>

#include "dolium/domain/cas/files.h"
#include "dolium/formats/xet/xorb_record.h"

namespace dolium::cas {
namespace {

constexpr size_t kMostFiles = 128;
constexpr size_t kMostChunks = size_t{1} << 20;  // 40 bytes each
// What is read at first: the footer of most xorbs.
constexpr uint64_t kUsualFooter = 65536;

Result<xet::XorbIndex> ReadFooter(int fd, const xet::Hash& name) {
  struct stat status{};
  if (fstat(fd, &status) != 0) return SystemError(errno, "cannot look");
  const auto size = static_cast<uint64_t>(status.st_size);
  ByteVector last(std::min(size, kUsualFooter));
  DOLIUM_TRY_VOID(ReadAt(fd, size - last.size(), last));
  if (last.size() < xet::kXorbFooterLengthSize) {
    return Corrupt(fmt::format("{} bytes, too few for a footer", size));
  }
  DOLIUM_TRY(const uint64_t footer, xet::FooterBytesOf(last, size));
  if (constexpr uint64_t kMost = xet::XorbFooterBytes(xet::kMaxXorbChunks);
      footer > kMost) {
    return Corrupt(
        fmt::format("a footer of {} bytes, expected at most {}", footer, kMost));
  }
  if (footer > last.size()) {
    last.resize(footer);
    DOLIUM_TRY_VOID(ReadAt(fd, size - footer, last));
  }
  DOLIUM_TRY(auto index,
             xet::ParseXorbFooter(BytesView(last).last(footer), size - footer));
  if (index.raw_ends.empty()) return Corrupt("its footer lacks the sizes of chunks");
  if (index.hash != name) {
    return Corrupt(fmt::format("its footer names it {}", ToString(index.hash)));
  }
  DOLIUM_TRY_VOID(CheckXorbHash(index, name));
  return index;
}

}  // namespace

Result<OpenedXorb> OpenXorbFile(const std::string& path, const xet::Hash& name) {
  const std::string context = fmt::format("xorb {}", ToString(name));
  auto fd = OpenForReading(path);
  if (!fd) {
    if (fd.error().code == ErrorCode::kNotFound) {
      return NotFound(fmt::format("{}: is not in the store", context));
    }
    return std::move(fd).error();
  }
  DOLIUM_TRY(auto index, ReadFooter(fd->get(), name).Within(context));
  return OpenedXorb{path, *std::move(fd), std::move(index), false};
}

Result<std::shared_ptr<const OpenedXorb>> XorbCache::Get(const xet::Hash& hash) {
  {
    const std::lock_guard hold(mutex_);
    if (const auto found = known_.find(hash); found != known_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      if (!order_.front()->is_quarantined) return order_.front();
    }
  }
  auto found = OpenXorbFile(layout_.xorb(hash), hash);
  if (!found && found.error().code == ErrorCode::kNotFound) {
    for (const std::string& path : layout_.quarantined_xorb(hash)) {
      auto there = OpenXorbFile(path, hash);
      if (!there && there.error().code == ErrorCode::kNotFound) continue;
      if (there) there->is_quarantined = true;
      found = std::move(there);
      break;
    }
  }
  DOLIUM_TRY(auto opened, std::move(found));
  auto xorb = std::make_shared<const OpenedXorb>(std::move(opened));
  const std::lock_guard hold(mutex_);
  if (const auto known = known_.find(hash); known != known_.end()) {
    if ((*known->second)->is_quarantined == xorb->is_quarantined) return *known->second;
    *known->second = xorb;  // Equal in all but where it is.
    return xorb;
  }
  order_.push_front(xorb);
  known_[hash] = order_.begin();
  chunks_ += xorb->index.size();
  while (order_.size() > 1 && (order_.size() > kMostFiles || chunks_ > kMostChunks)) {
    chunks_ -= order_.back()->index.size();
    known_.erase(order_.back()->index.hash);
    order_.pop_back();
  }
  return xorb;
}

void XorbCache::Forget(const xet::Hash& hash) {
  const std::lock_guard hold(mutex_);
  const auto found = known_.find(hash);
  if (found == known_.end()) return;
  chunks_ -= (*found->second)->index.size();
  order_.erase(found->second);
  known_.erase(found);
}

}  // namespace dolium::cas
