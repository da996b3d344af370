// XorbFile: a xorb that is being written.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/layout.h"
#include "dolium/domain/cas/lease.h"
#include "dolium/formats/xet/mdb_records.h"
#include "dolium/formats/xet/xorb_footer.h"

namespace dolium::cas {

// Destroyed before Publish(), it leaves nothing. One thread at a time.
class XorbFile {
 public:
  static Result<XorbFile> Create(const Layout& layout, std::string_view lease);

  // Appends records of chunks.
  Result<void> Append(BytesView records);

  // Ends it with the footer, and gives it its name, noted in the lease and durable.
  // `index` is what was appended.
  Result<void> Publish(const Layout& layout, Lease& lease, const xet::XorbIndex& index);

 private:
  explicit XorbFile(NewFile file) : file_(std::move(file)) {}

  NewFile file_;
  uint32_t checksum_ = 0;
};

// What a shard says of a xorb.
xet::XorbInfo ShardInfoOf(const xet::Hash& hash, const std::vector<xet::Hash>& chunks,
                          const std::vector<uint32_t>& raw_ends, uint32_t stored);

}  // namespace dolium::cas
