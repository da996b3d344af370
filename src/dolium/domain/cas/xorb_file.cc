#include "dolium/domain/cas/xorb_file.h"

#include "dolium/base/crc32c.h"
#include "dolium/domain/cas/xorb_seal.h"

namespace dolium::cas {

Result<XorbFile> XorbFile::Create(const Layout& layout, std::string_view lease) {
  DOLIUM_TRY(NewFile file, NewFile::Create(layout, lease));
  return XorbFile(std::move(file));
}

Result<void> XorbFile::Append(BytesView records) {
  checksum_ = Crc32c(records, checksum_);
  return file_.Append(records);
}

Result<void> XorbFile::Publish(const Layout& layout, Lease& lease,
                               const xet::XorbIndex& index) {
  ByteVector footer;
  AppendXorbFooter(index, footer);
  SealFooter(footer, checksum_);
  DOLIUM_TRY_VOID(file_.Append(footer));
  DOLIUM_TRY(StagedObject object,
             layout.objects().Stage(std::move(file_), layout.xorb(index.hash)));
  DOLIUM_TRY_VOID(layout.objects().MakeFolder(layout.xorb_folder(index.hash)));
  {
    DOLIUM_TRY(const StoreLock lock, StoreLock::Shared(layout, lease.stop()));
    DOLIUM_TRY_VOID(lease.Note(Pin::kXorb, index.hash));
    DOLIUM_TRY_VOID(object.Appear());
  }
  return object.Settle();
}

xet::XorbInfo ShardInfoOf(const xet::Hash& hash, const std::vector<xet::Hash>& chunks,
                          const std::vector<uint32_t>& raw_ends, uint32_t stored) {
  xet::XorbInfo info;
  info.hash = hash;
  info.stored_bytes = stored;
  uint32_t begin = 0;
  for (size_t i = 0; i < chunks.size(); ++i) {
    info.chunks.push_back({chunks[i], begin, raw_ends[i] - begin, 0});
    begin = raw_ends[i];
  }
  return info;
}

}  // namespace dolium::cas
