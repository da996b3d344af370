#include "dolium/formats/xet/mdb_stream.h"

#include <algorithm>

#include <fmt/format.h>

#include "dolium/formats/xet/mdb_check.h"

namespace dolium::xet {

Result<void> CheckSameVerification(std::optional<bool>& so_far, const FileBlock& file) {
  if (so_far && *so_far != file.has_verification()) {
    return Corrupt(fmt::format("file {} has {} verification, files before it have {}",
                               ToString(file.hash()), *so_far ? "no" : "a",
                               *so_far ? "one" : "none"));
  }
  so_far = file.has_verification();
  return {};
}

Result<uint64_t> ShardStream::WantedSize(BytesView from) const {
  if (part_ == Part::kHeader || from.size() < kRecordSize || IsBookend(from)) {
    return kRecordSize;
  }
  uint64_t size = 0;
  if (part_ == Part::kFiles) {
    DOLIUM_TRY(size, FileBlockSize(from));
  } else {
    size = XorbBlockSize(from);
  }
  if (size > block_limit_) {
    return Corrupt(
        fmt::format("{} {} says it has {} bytes of records, at most {} expected",
                    part_ == Part::kFiles ? "file" : "xorb",
                    ToString(Hash::Load(from.data())), size, block_limit_));
  }
  return size;
}

Result<void> ShardStream::Take(BytesView block) {
  position_ += block.size();
  const bool ends = part_ != Part::kHeader && IsBookend(block);
  switch (part_) {
    case Part::kHeader: {
      DOLIUM_TRY(header_, ParseShardHeader(block));
      part_ = Part::kFiles;
      return {};
    }
    case Part::kFiles: {
      if (ends) {
        xorbs_begin_ = position_;
        part_ = Part::kXorbs;
        return {};
      }
      const FileBlock file(block);
      if (is_uniform_) is_uniform_ = CheckSameVerification(is_verified_, file);
      if (header_.footer_size == 0) DOLIUM_TRY_VOID(is_uniform_);
      if (visitor_.file) return visitor_.file(file);
      return {};
    }
    case Part::kXorbs:
      if (header_.footer_size != 0 && position_ == xorbs_begin_ + block.size()) {
        is_upload_ = CheckUpload(is_verified_.has_value(),
                                 ends ? std::nullopt : std::optional(XorbBlock(block)));
      }
      if (ends) {
        if (header_.footer_size != 0 && is_upload_) is_upload_ = CheckLastBookend(block);
        xorbs_end_ = position_;
        part_ = Part::kRest;
        return {};
      }
      if (visitor_.xorb) return visitor_.xorb(XorbBlock(block));
      return {};
    case Part::kRest:
      break;
  }
  return {};
}

Result<void> ShardStream::Write(BytesView segment) {
  while (part_ != Part::kRest && !segment.empty()) {
    if (pending_.empty()) {
      DOLIUM_TRY(const uint64_t size, WantedSize(segment));
      if (size <= segment.size()) {
        DOLIUM_TRY_VOID(Take(segment.first(static_cast<size_t>(size))));
        segment = segment.subspan(static_cast<size_t>(size));
        continue;
      }
    }
    DOLIUM_TRY(const uint64_t wanted, WantedSize(pending_));
    const auto more =
        static_cast<size_t>(std::min<uint64_t>(wanted - pending_.size(), segment.size()));
    Append(pending_, segment.first(more));
    segment = segment.subspan(more);
    DOLIUM_TRY(const uint64_t now_wanted, WantedSize(pending_));
    if (pending_.size() == now_wanted) {
      DOLIUM_TRY_VOID(Take(pending_));
      pending_.clear();
    }
  }
  if (part_ != Part::kRest || segment.empty()) return {};
  // Tables pass by; a footer is the last that comes.
  position_ += segment.size();
  if (segment.size() >= kShardFooterSize) {
    pending_.clear();
    segment = segment.last(kShardFooterSize);
  } else if (pending_.size() + segment.size() > kShardFooterSize) {
    const size_t keep = kShardFooterSize - segment.size();
    pending_.erase(pending_.begin(), pending_.end() - static_cast<ptrdiff_t>(keep));
  }
  Append(pending_, segment);
  return {};
}

Result<std::optional<ShardFooter>> ShardStream::Finish() {
  if (part_ != Part::kRest) {
    return Corrupt(fmt::format("shard ends at {}, before the end of its {}",
                               position_ + pending_.size(),
                               part_ == Part::kHeader  ? "header"
                               : part_ == Part::kFiles ? "files"
                                                       : "xorbs"));
  }
  if (position_ == xorbs_end_) {
    DOLIUM_TRY_VOID(is_upload_);
    DOLIUM_TRY_VOID(is_uniform_);
    return std::nullopt;
  }
  if (header_.footer_size == 0) {
    return Corrupt(fmt::format("{} bytes follow a shard that says it has no footer",
                               position_ - xorbs_end_));
  }
  if (pending_.size() < kShardFooterSize) {
    return Corrupt(fmt::format("shard footer has {} bytes, {} expected", pending_.size(),
                               kShardFooterSize));
  }
  DOLIUM_TRY(const ShardFooter footer, ParseShardFooter(pending_, position_));
  if (footer.xorb_info != xorbs_begin_ || footer.xorbs_end() != xorbs_end_) {
    return Corrupt(
        fmt::format("shard footer says xorbs lie in [{}, {}), found in [{}, {})",
                    footer.xorb_info, footer.xorbs_end(), xorbs_begin_, xorbs_end_));
  }
  return footer;
}

}  // namespace dolium::xet
