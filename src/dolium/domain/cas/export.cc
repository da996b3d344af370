#include "dolium/domain/cas/export.h"

#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "dolium/bytes/file_store.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/version_files.h"
#include "dolium/domain/cas/xorb_seal.h"
#include "dolium/formats/xet/merkle.h"
#include "dolium/formats/xet/xorb_footer.h"
#include "dolium/formats/xet/xorb_stream.h"

namespace dolium::cas {
namespace {

constexpr size_t kCopyBytes = size_t{1} << 20;

// The SHA-256 of those of `files` of which any shard has one: of several shards that list
// a file, not all need have it.
Result<std::map<xet::Hash, xet::Hash>> FindDigests(const CasStore& store,
                                                   std::span<const xet::Hash> files) {
  const std::set<xet::Hash> wanted(files.begin(), files.end());
  std::map<xet::Hash, xet::Hash> digests;
  DOLIUM_TRY(const auto names, store.catalog()->ShardNames());
  for (const xet::Hash& name : names) {
    const auto shard = store.catalog()->Shard(name);
    if (!shard && !IsDamagedShard(shard.error())) return shard.error();
    if (!shard || !*shard) continue;
    // What a shard that is damaged says up to there is as good as any other.
    [[maybe_unused]] const auto scanned =
        (*shard)->view.Scan({.file = [&](const xet::FileBlock& file) -> Result<void> {
          const auto digest = file.sha256();
          if (digest && wanted.contains(file.hash()))
            digests.emplace(file.hash(), *digest);
          return {};
        }});
  }
  return digests;
}

}  // namespace

xet::XorbInfo ShardInfoOf(const xet::XorbIndex& index) {
  xet::XorbInfo info;
  info.hash = index.hash;
  info.stored_bytes = index.record_ends.back();
  for (size_t i = 0; i < index.size(); ++i) {
    info.chunks.push_back({index.chunks[i], static_cast<uint32_t>(index.raw_offset(i)),
                           static_cast<uint32_t>(index.raw_size(i)), 0});
  }
  return info;
}

Result<xet::FileInfo> ShardInfoOf(const CasStore& store, const StoredFile& file) {
  DOLIUM_TRY_VOID(file.CheckHash());
  xet::FileInfo info;
  info.hash = file.hash();
  info.is_verified = true;
  info.terms = file.terms();
  if (file.sha256()) info.sha256 = xet::Sha256Field(*file.sha256());
  for (const xet::Term& term : info.terms) {
    DOLIUM_TRY(const auto xorb, store.xorbs()->Get(term.xorb));
    info.verification.push_back(xet::TermHash(
        std::span(xorb->index.chunks).subspan(term.first, term.end - term.first)));
  }
  return info;
}

Result<ExportList> ListExport(const CasStore& store,
                              std::span<const Reference> references, Lease& lease) {
  std::vector<Version> versions;
  for (const Reference& reference : references) {
    DOLIUM_TRY(auto version, store.Find(reference));
    versions.push_back(std::move(version));
  }
  if (references.empty()) {
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
  ExportList list;
  std::set<xet::Hash> xorbs;
  for (const xet::Hash& hash : files) {
    if (lease.stop().stop_requested()) return Cancelled();
    if (hash.is_zero()) continue;
    DOLIUM_TRY(const auto file, store.OpenCovered(hash));
    for (const xet::Term& term : file->terms()) xorbs.insert(term.xorb);
    list.bytes += file->size();
    list.files.push_back(hash);
  }
  list.xorbs.assign(xorbs.begin(), xorbs.end());
  return list;
}

std::string ExportedXorbPath(const std::string& folder, const xet::Hash& xorb) {
  return fmt::format("{}/{}.xorb", folder, ToString(xorb));
}

Result<bool> ExportXorb(const CasStore& store, Lease& lease, const xet::Hash& hash,
                        const std::string& folder, bool force) {
  {
    DOLIUM_TRY(const StoreLock lock, StoreLock::Shared(store.layout(), lease.stop()));
    const Layout& layout = store.layout();
    DOLIUM_TRY(const bool is_there, layout.objects().IsThere(layout.xorb(hash)));
    if (is_there) DOLIUM_TRY_VOID(lease.Note(Pin::kXorb, hash));
  }
  DOLIUM_TRY(const auto xorb, store.xorbs()->Get(hash));
  const std::string path = ExportedXorbPath(folder, hash);
  DOLIUM_TRY(const auto target, FileStore::Open());
  DOLIUM_TRY(const auto there, target->Stat(path));
  if (there) {
    const auto object = ReadWholeFile(path, xet::kMaxXorbObject);
    if (!object && !IsDamage(object.error())) return object.error();
    const auto same =
        object ? VerifyXorb(*object, &hash) : Result<xet::XorbIndex>(object.error());
    if (same) return false;
    if (!force) {
      return Exists(fmt::format("{}: is there, and is not the xorb: {}", path,
                                same.error().message))
          .WithHint(Hint::kReplace);
    }
  }
  DOLIUM_TRY(const auto writer, target->Begin(path));
  const uint64_t size =
      xorb->index.record_ends.back() + xet::XorbFooterBytes(xorb->index.size());
  xet::XorbStream stream;
  ByteVector segment;
  for (uint64_t offset = 0; offset < size; offset += segment.size()) {
    if (lease.stop().stop_requested()) return Cancelled();
    segment.resize(std::min<uint64_t>(kCopyBytes, size - offset));
    DOLIUM_TRY_VOID(xorb->object.Read(offset, segment).Within(xorb->path));
    DOLIUM_TRY_VOID(stream.Write(segment).Within(xorb->path));
    DOLIUM_TRY_VOID(writer->Append(segment));
  }
  DOLIUM_TRY(const xet::XorbIndex index, stream.Finish().Within(xorb->path));
  if (index.hash != hash) {
    return Corrupt(
        fmt::format("{}: xorb has the hash {}", xorb->path, ToString(index.hash)));
  }
  DOLIUM_TRY([[maybe_unused]] const auto made, writer->Commit(Precondition::None()));
  return true;
}

Result<ByteVector> MakeExportShard(const CasStore& store, Lease& lease,
                                   std::span<const xet::Hash> files, bool is_upload) {
  DOLIUM_TRY(const auto digests, FindDigests(store, files));
  std::vector<xet::FileInfo> infos;
  std::map<xet::Hash, xet::XorbInfo> xorbs;
  for (const xet::Hash& hash : files) {
    if (lease.stop().stop_requested()) return Cancelled();
    DOLIUM_TRY(const auto file, store.OpenFile(hash, lease));
    DOLIUM_TRY(auto info, ShardInfoOf(store, *file));
    if (const auto found = digests.find(hash); found != digests.end()) {
      info.sha256 = found->second;
    }
    if (is_upload && !info.sha256) {
      DOLIUM_TRY(const Sha256Value digest, file->ComputeSha256(0, lease.stop()));
      info.sha256 = xet::Sha256Field(digest);
    }
    for (const xet::Term& term : info.terms) {
      if (xorbs.contains(term.xorb)) continue;
      DOLIUM_TRY(const auto xorb, store.xorbs()->Get(term.xorb));
      xorbs.emplace(term.xorb, ShardInfoOf(xorb->index));
    }
    infos.push_back(std::move(info));
  }
  std::vector<xet::XorbInfo> listed;
  listed.reserve(xorbs.size());
  for (auto& [hash, info] : xorbs) listed.push_back(std::move(info));
  return xet::WriteShard(std::move(infos), std::move(listed),
                         {.with_footer = !is_upload, .mark_file_starts = true});
}

}  // namespace dolium::cas
