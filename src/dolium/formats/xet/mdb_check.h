// Checking a shard for all that it can be wrong about.
#pragma once

#include <optional>

#include "dolium/base/result.h"
#include "dolium/formats/xet/mdb_reader.h"
#include "dolium/formats/xet/mdb_records.h"

namespace dolium::xet {

// Everything that can be checked without the xorbs themselves: structure and sums; tables
// against records; terms of xorbs that are described here, and, unless the shard is
// keyed, their verification, the names of xorbs, and those of files all of whose xorbs
// are described (made without salt). The first contradiction is the error. Holds some
// bytes for each xorb.
//
// Terms may share chunks, so that a small shard can list files without end.
// kUnsupported if all terms have many times more chunks than the shard has records.
Result<void> CheckShard(const ShardView& shard);

// kCorrupt unless the chunks of a xorb give its name. Not for keyed shards.
Result<void> CheckXorbName(const XorbBlock& xorb);

// What a shard without the footer that its header announces has to say for itself (see
// ShardHeader): kCorrupt if it holds nothing, or if hashes of its chunks seem to be
// keyed, since the key is in the footer. `first` is its first xorb, if it has one.
Result<void> CheckUpload(bool has_files, const std::optional<XorbBlock>& first);
// That its last record, `bookend`, can be nothing else, such as the end of a footer.
Result<void> CheckLastBookend(BytesView bookend);

}  // namespace dolium::xet
