// What of a store goes elsewhere: xorbs as files, and a shard that lists files and xorbs.
//
// The steps of an export, which ops/cas/cas_export.h puts together.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/cas/store.h"
#include "dolium/formats/xet/mdb_writer.h"

namespace dolium::cas {

// What a shard says of a xorb and of a file, the latter with verification made from the
// xorbs, and with the SHA-256 that the store has of it.
xet::XorbInfo ShardInfoOf(const xet::XorbIndex& index);
Result<xet::FileInfo> ShardInfoOf(const CasStore& store, const StoredFile& file);

struct ExportList {
  std::vector<xet::Hash> files;  // in order; manifests of folders, too
  std::vector<xet::Hash> xorbs;  // that they need, in order
  uint64_t bytes = 0;            // of files
};
// What the versions that `references` name hold, or all if there are none.
Result<ExportList> ListExport(const CasStore& store,
                              std::span<const Reference> references, Lease& lease);

std::string ExportedXorbPath(const std::string& folder, const xet::Hash& xorb);

// Copies a xorb to its name in a local folder and checks all of it on the way; false if
// it is there already, which is checked too. What is there and is something else is
// kExists; with `force` it is replaced.
Result<bool> ExportXorb(const CasStore& store, Lease& lease, const xet::Hash& xorb,
                        const std::string& folder, bool force);

// The bytes of the shard that lists these files and their xorbs. An upload has no footer,
// and a SHA-256 of every file: those that the store has not are computed.
Result<ByteVector> MakeExportShard(const CasStore& store, Lease& lease,
                                   std::span<const xet::Hash> files, bool is_upload);

}  // namespace dolium::cas
