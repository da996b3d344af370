// A whole export at once, for tests.
#pragma once

#include <string>

#include "dolium/bytes/file_store.h"
#include "dolium/domain/cas/exchange.h"
#include "dolium/domain/cas/export.h"

namespace dolium::cas {

inline Result<ExchangeReport> ExportShard(const CasStore& store, const std::string& path,
                                          const std::string& xorbs, bool force = false) {
  DOLIUM_TRY(const auto lease, store.TakeLease());
  DOLIUM_TRY(const ExportList list, ListExport(store, {}, *lease));
  ExchangeReport report{list.files.size(), list.xorbs.size(), 0, list.bytes};
  for (const xet::Hash& xorb : list.xorbs) {
    DOLIUM_TRY(const bool copied, ExportXorb(store, *lease, xorb, xorbs, force));
    report.copied_xorbs += copied ? 1 : 0;
  }
  DOLIUM_TRY(const ByteVector shard, MakeExportShard(store, *lease, list.files, false));
  DOLIUM_TRY(const auto target, FileStore::Open());
  DOLIUM_TRY([[maybe_unused]] const auto made,
             target->Put(path, shard, Precondition::None()));
  return report;
}

}  // namespace dolium::cas
