#include "dolium/domain/cas/xorb_cache.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/formats/xet/xorb_record.h"

namespace dolium::cas {
namespace {

// What is read at first: the footer of most xorbs.
constexpr uint64_t kUsualFooter = 65536;

Result<xet::XorbIndex> ReadFooter(const OpenedObject& object, const xet::Hash& name) {
  const uint64_t size = object.size();
  ByteVector last(std::min(size, kUsualFooter));
  DOLIUM_TRY_VOID(object.Read(size - last.size(), last));
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
    DOLIUM_TRY_VOID(object.Read(size - footer, last));
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

Result<OpenedXorb> OpenXorb(const Objects& objects, const std::string& object,
                            const xet::Hash& name) {
  const std::string context = fmt::format("xorb {}", ToString(name));
  auto opened = objects.Open(object);
  if (!opened) {
    if (opened.error().code == ErrorCode::kNotFound) {
      return NotFound(fmt::format("{}: is not in the store", context));
    }
    return std::move(opened).error();
  }
  DOLIUM_TRY(auto index, ReadFooter(*opened, name).Within(context));
  return OpenedXorb{objects.Describe(object), *std::move(opened), std::move(index),
                    false};
}

Result<std::shared_ptr<const OpenedXorb>> XorbCache::Get(const xet::Hash& hash) {
  if (auto known = opened_.Get(hash); known && !known->is_quarantined) return known;
  auto found = OpenXorb(layout_.objects(), layout_.xorb(hash), hash);
  if (!found && found.error().code == ErrorCode::kNotFound) {
    for (const std::string& path : layout_.quarantined_xorb(hash)) {
      auto there = OpenXorb(layout_.objects(), path, hash);
      if (!there && there.error().code == ErrorCode::kNotFound) continue;
      if (there) there->is_quarantined = true;
      found = std::move(there);
      break;
    }
  }
  DOLIUM_TRY(auto opened, std::move(found));
  auto xorb = std::make_shared<const OpenedXorb>(std::move(opened));
  opened_.Put(hash, xorb, xorb->index.size());
  return xorb;
}

}  // namespace dolium::cas
