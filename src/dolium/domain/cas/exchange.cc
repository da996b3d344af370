#include "dolium/domain/cas/exchange.h"

#include <set>

#include <fmt/format.h>

#include "dolium/base/crc32c.h"
#include "dolium/domain/cas/export.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/put.h"
#include "dolium/domain/cas/xorb_seal.h"
#include "dolium/formats/xet/mdb_check.h"
#include "dolium/formats/xet/mdb_writer.h"
#include "dolium/formats/xet/xorb_footer.h"
#include "dolium/formats/xet/xorb_stream.h"

namespace dolium::cas {
namespace {

// Where a folder of others has a xorb; empty if it has not.
Result<std::string> FindXorb(const std::string& folder, const xet::Hash& hash) {
  const std::string text = ToString(hash);
  for (const std::string& path :
       {fmt::format("{}/{}.xorb", folder, text), fmt::format("{}/{}", folder, text),
        fmt::format("{}/default.{}", folder, text),
        fmt::format("{}/{}/{}.xorb", folder, text.substr(0, 2), text)}) {
    DOLIUM_TRY(const auto status, StatusOf(path));
    if (status) return path;
  }
  return "";
}

// Whether the store has a xorb, all of which is good.
Result<bool> HasXorb(const Layout& layout, const xet::Hash& hash) {
  const auto object = layout.objects().Load(layout.xorb(hash));
  if (!object && object.error().code == ErrorCode::kNotFound) return false;
  if (!object) return object.error();
  return VerifyXorb(*object, &hash).has_value();
}

// Brings a xorb into the store, after a check of all of it, and notes it. One that is
// there and is damaged is replaced.
Result<bool> TakeXorb(const CasStore& store, Lease& lease, const xet::Hash& hash,
                      const ImportOptions& options) {
  const Layout& layout = store.layout();
  {
    DOLIUM_TRY(const StoreLock lock, StoreLock::Shared(layout));
    DOLIUM_TRY(const bool is_there, layout.objects().IsThere(layout.xorb(hash)));
    if (is_there) DOLIUM_TRY_VOID(lease.Note(Pin::kXorb, hash));
  }
  DOLIUM_TRY(const bool is_there, HasXorb(layout, hash));
  if (is_there) return false;
  std::string path;
  if (!options.xorbs.empty()) {
    DOLIUM_TRY(path, FindXorb(options.xorbs, hash));
  }
  if (path.empty()) {
    const std::string nor =
        options.xorbs.empty() ? "" : fmt::format(", nor in {}", options.xorbs);
    return NotFound(fmt::format("xorb {}: is not in the store, or damaged{}",
                                ToString(hash), nor))
        .WithHint(options.xorbs.empty() ? Hint::kGiveXorbs : Hint::kNone);
  }
  DOLIUM_TRY(const ByteVector object, ReadWholeFile(path, xet::kMaxXorbObject));
  DOLIUM_TRY(const xet::XorbIndex index, VerifyXorb(object, &hash).Within(path));
  const BytesView records = BytesView(object).first(index.record_ends.back());
  DOLIUM_TRY(NewFile file, NewFile::Create(layout, lease.id()));
  DOLIUM_TRY_VOID(file.Append(records));
  ByteVector footer;
  AppendXorbFooter(index, footer);
  SealFooter(footer, Crc32c(records));
  DOLIUM_TRY_VOID(file.Append(footer));
  DOLIUM_TRY_VOID(layout.objects().MakeFolder(layout.xorb_folder(hash)));
  DOLIUM_TRY(StagedObject staged,
             layout.objects().Stage(std::move(file), layout.xorb(hash)));
  {
    DOLIUM_TRY(const StoreLock lock, StoreLock::Shared(layout));
    DOLIUM_TRY_VOID(lease.Note(Pin::kXorb, hash));
    DOLIUM_TRY_VOID(staged.Appear());
  }
  store.xorbs()->Forget(hash);
  DOLIUM_TRY_VOID(staged.Settle());
  return true;
}

}  // namespace

Result<Version> ImportShard(const CasStore& store, const std::string& path,
                            const ImportOptions& options, ExchangeReport& report) {
  DOLIUM_TRY_VOID(CheckName(options.name));
  DOLIUM_TRY(const auto lease, store.TakeLease());
  DOLIUM_TRY(ByteVector whole, ReadWholeFile(path, xet::kMaxShardObject));
  const Bytes bytes = Bytes::FromVector(std::move(whole));
  DOLIUM_TRY(const auto view, xet::ShardView::Open(bytes).Within(path));
  if (!view.key().is_zero()) {
    return Unsupported(fmt::format("{}: its hashes are keyed", path));
  }
  DOLIUM_TRY_VOID(CheckShard(view).Within(path));
  const auto shard =
      std::make_shared<const MappedShard>(MappedShard{xet::Hash(), bytes, view});

  // Xorbs first.
  std::set<xet::Hash> wanted;
  std::vector<xet::FileBlock> blocks;
  xet::ShardVisitor visitor;
  visitor.file = [&](const xet::FileBlock& block) -> Result<void> {
    for (size_t i = 0; i < block.size(); ++i) wanted.insert(block.term(i).xorb);
    blocks.push_back(block);
    return {};
  };
  DOLIUM_TRY_VOID(view.Scan(visitor).Within(path));
  std::vector<xet::XorbInfo> xorbs;
  for (const xet::Hash& hash : wanted) {
    if (options.stop.stop_requested()) return Cancelled();
    DOLIUM_TRY(const bool was_copied,
               TakeXorb(store, *lease, hash, options).Within(path));
    DOLIUM_TRY(const auto xorb, store.xorbs()->Get(hash));
    xorbs.push_back(ShardInfoOf(xorb->index));
    ++report.xorbs;
    if (was_copied) ++report.copied_xorbs;
  }
  std::vector<xet::FileInfo> files;
  Version version;
  version.name = options.name;
  version.kind = VersionKind::kPaths;
  std::string manifest;
  for (const xet::FileBlock& block : blocks) {
    DOLIUM_TRY(const auto file,
               StoredFile::Open(block.hash(), FoundFile{shard, block}, store.xorbs()));
    DOLIUM_TRY(auto info, ShardInfoOf(store, *file).Within(path));
    DOLIUM_TRY_VOID(file->CheckSha256(0, options.stop).Within(path));
    files.push_back(std::move(info));
    ManifestEntry entry;
    entry.path = ToString(block.hash());
    entry.mode = 0644;
    entry.modified = NowNanoseconds();
    entry.size = file->size();
    entry.hash = block.hash();
    manifest += FormatEntry(entry);
    ++report.files;
    report.bytes += file->size();
  }
  DOLIUM_TRY(const ByteVector written, xet::WriteShard(std::move(files), std::move(xorbs),
                                                       {.mark_file_starts = true}));
  const xet::Hash name = xet::ChunkHash(written);
  DOLIUM_TRY(NewFile file, NewFile::Create(store.layout(), lease->id()));
  DOLIUM_TRY_VOID(file.Append(written));
  DOLIUM_TRY(StagedObject staged,
             store.layout().objects().Stage(std::move(file), store.layout().shard(name)));
  {
    DOLIUM_TRY(const StoreLock lock, StoreLock::Shared(store.layout()));
    DOLIUM_TRY_VOID(lease->Note(Pin::kShard, name));
    DOLIUM_TRY_VOID(staged.Appear());
  }
  DOLIUM_TRY_VOID(staged.Settle());
  store.catalog()->Forget(name);
  // The index learns of the shard by the put that follows.
  DOLIUM_TRY(NewFile list, NewFile::Create(store.layout(), lease->id()));
  DOLIUM_TRY_VOID(list.Append(AsBytes(manifest)));
  version.totals.files = report.files;
  version.totals.bytes = report.bytes;
  PutOptions put;
  put.name = options.name;
  version.host = HostName();
  put.stop = options.stop;
  return PutManifest(store, *lease, list.path(), std::move(version), put);
}

}  // namespace dolium::cas
