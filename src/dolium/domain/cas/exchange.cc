#include "dolium/domain/cas/exchange.h"

#include <fcntl.h>

#include <map>
#include <set>

#include <fmt/format.h>

#include "dolium/base/crc32c.h"
#include "dolium/bytes/file_store.h"
#include "dolium/bytes/folder.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/put.h"
#include "dolium/domain/cas/version_files.h"
#include "dolium/domain/cas/xorb_seal.h"
#include "dolium/formats/xet/mdb_check.h"
#include "dolium/formats/xet/mdb_writer.h"
#include "dolium/formats/xet/merkle.h"
#include "dolium/formats/xet/xorb_stream.h"

namespace dolium::cas {
namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;

xet::XorbInfo InfoOf(const xet::XorbIndex& index) {
  xet::XorbInfo info;
  info.hash = index.hash;
  info.stored_bytes = index.record_ends.back();
  for (size_t i = 0; i < index.size(); ++i) {
    info.chunks.push_back({index.chunks[i], static_cast<uint32_t>(index.raw_offset(i)),
                           static_cast<uint32_t>(index.raw_size(i)), 0});
  }
  return info;
}

// A file as a shard describes it, with verification made from the xorbs.
Result<xet::FileInfo> InfoOf(const CasStore& store, const StoredFile& file) {
  DOLIUM_TRY_VOID(file.CheckHash());
  xet::FileInfo info;
  info.hash = file.hash();
  info.is_verified = true;
  info.terms = file.terms();
  for (const xet::Term& term : info.terms) {
    DOLIUM_TRY(const auto xorb, store.xorbs()->Get(term.xorb));
    info.verification.push_back(xet::TermHash(
        std::span(xorb->index.chunks).subspan(term.first, term.end - term.first)));
  }
  return info;
}

Result<std::set<xet::Hash>> FilesToExport(const CasStore& store,
                                          const CasExportOptions& options, Lease& lease) {
  std::vector<Version> versions;
  for (const Reference& reference : options.references) {
    DOLIUM_TRY(auto version, store.Find(reference));
    versions.push_back(std::move(version));
  }
  if (options.references.empty()) {
    DOLIUM_TRY(const auto names, ListNames(store.layout()));
    for (const std::string& name : names) {
      DOLIUM_TRY(auto all, ListVersions(store.layout(), name));
      versions.insert(versions.end(), all.begin(), all.end());
    }
  }
  std::set<xet::Hash> files;
  for (const Version& version : versions) {
    files.insert(version.hash);
    DOLIUM_TRY(auto own, FilesOf(store, version, lease));
    files.merge(own);
  }
  return files;
}

// Copies a xorb and checks all of it on the way; false if it is there already. What is
// there and is something else is replaced with `force` only.
Result<bool> CopyXorb(const OpenedXorb& xorb, FileStore& target, const std::string& path,
                      bool force) {
  const xet::Hash& name = xorb.index.hash;
  DOLIUM_TRY(const auto there, target.Stat(path));
  if (there) {
    DOLIUM_TRY(const Bytes object, MapFile(path));
    const auto same = VerifyXorb(object, &name);
    if (same) return false;
    if (!force) {
      return Exists(fmt::format("{}: is there, and is not the xorb: {}", path,
                                same.error().message))
          .WithHint(Hint::kReplace);
    }
  }
  DOLIUM_TRY(const auto writer, target.Begin(path));
  const uint64_t size =
      xorb.index.record_ends.back() + xet::XorbFooterBytes(xorb.index.size());
  xet::XorbStream stream;
  ByteVector segment;
  for (uint64_t offset = 0; offset < size; offset += segment.size()) {
    segment.resize(std::min<uint64_t>(kCopyBytes, size - offset));
    DOLIUM_TRY_VOID(xorb.object.Read(offset, segment).Within(xorb.path));
    DOLIUM_TRY_VOID(stream.Write(segment).Within(xorb.path));
    DOLIUM_TRY_VOID(writer->Append(segment));
  }
  DOLIUM_TRY(const xet::XorbIndex index, stream.Finish().Within(xorb.path));
  if (index.hash != name) {
    return Corrupt(
        fmt::format("{}: xorb has the hash {}", xorb.path, ToString(index.hash)));
  }
  DOLIUM_TRY([[maybe_unused]] const auto made, writer->Commit(Precondition::None()));
  return true;
}

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
  DOLIUM_TRY(const Bytes object, MapFile(path));
  DOLIUM_TRY(const xet::XorbIndex index, VerifyXorb(object, &hash).Within(path));
  DOLIUM_TRY(NewFile file, NewFile::Create(layout, lease.id()));
  DOLIUM_TRY_VOID(file.Append(object.view().first(index.record_ends.back())));
  ByteVector footer;
  AppendXorbFooter(index, footer);
  SealFooter(footer, Crc32c(object.view().first(index.record_ends.back())));
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

Result<ExchangeReport> ExportShard(const CasStore& store, const std::string& path,
                                   const CasExportOptions& options) {
  DOLIUM_TRY(const auto lease, store.TakeLease());
  DOLIUM_TRY(const auto hashes, FilesToExport(store, options, *lease));
  DOLIUM_TRY(const auto target, FileStore::Open());
  ExchangeReport report;
  std::vector<xet::FileInfo> files;
  std::map<xet::Hash, xet::XorbInfo> xorbs;
  for (const xet::Hash& hash : hashes) {
    if (options.stop.stop_requested()) return Cancelled();
    if (hash.is_zero()) continue;
    DOLIUM_TRY(const auto file, store.OpenCovered(hash));
    DOLIUM_TRY(auto info, InfoOf(store, *file));
    for (const xet::Term& term : info.terms) {
      if (xorbs.contains(term.xorb)) continue;
      DOLIUM_TRY(const auto xorb, store.xorbs()->Get(term.xorb));
      xorbs.emplace(term.xorb, InfoOf(xorb->index));
      if (options.xorbs.empty()) continue;
      const std::string copy =
          fmt::format("{}/{}.xorb", options.xorbs, ToString(term.xorb));
      DOLIUM_TRY(const bool was_copied, CopyXorb(*xorb, *target, copy, options.force));
      if (was_copied) ++report.copied_xorbs;
    }
    report.bytes += file->size();
    files.push_back(std::move(info));
  }
  report.files = files.size();
  report.xorbs = xorbs.size();
  std::vector<xet::XorbInfo> infos;
  infos.reserve(xorbs.size());
  for (auto& [hash, info] : xorbs) infos.push_back(std::move(info));
  DOLIUM_TRY(const ByteVector bytes,
             xet::WriteShard(std::move(files), std::move(infos), {}));
  DOLIUM_TRY([[maybe_unused]] const auto made,
             target->Put(path, bytes,
                         options.force ? Precondition::None() : Precondition::Absent()));
  return report;
}

Result<Version> ImportShard(const CasStore& store, const std::string& path,
                            const ImportOptions& options, ExchangeReport& report) {
  DOLIUM_TRY_VOID(CheckName(options.name));
  DOLIUM_TRY(const auto lease, store.TakeLease());
  DOLIUM_TRY(const Bytes bytes, MapFile(path));
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
    xorbs.push_back(InfoOf(xorb->index));
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
    DOLIUM_TRY(auto info, InfoOf(store, *file).Within(path));
    info.sha256 = block.sha256();
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
  DOLIUM_TRY(const ByteVector written,
             xet::WriteShard(std::move(files), std::move(xorbs), {}));
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
  put.stop = options.stop;
  return PutManifest(store, *lease, list.path(), std::move(version), put);
}

}  // namespace dolium::cas
