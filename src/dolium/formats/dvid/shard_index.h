// The index of a shard in all forms that exporters have written: CSV beside it, JSON
// beside it, JSON at its end.
//
//   # schema_size=688                  today's, documented and (with 0) as DVID writes
//   it: x,y,z,offset,size,batch_idx        the first range then includes the schema
//   x,y,z,rec,offset,size,batch_idx    `-offsets.csv` of a version that lived for minutes
//   x,y,z,rec,offset,size              the same, made afterwards
//   x,y,z,rec[,...]                    2025: the number of the record alone
//   {"x_y_z": rec, ...}                before that
//
// CSVs that went through other hands are read as well: with a byte order mark, spaces
// around values, quotes, CRLF, blank lines at the end. Plain functions of text; hostile
// input gives kCorrupt.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/byte_range.h"
#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/dvid/ipc.h"

namespace dolium::dvid {

struct IndexRow {
  Key key = {0, 0, 0};
  uint64_t record = 0;  // counted from the first row of the shard on; unless has_ranges
  ByteRange range;      // of the messages that have it; if has_ranges
  uint32_t row = 0;     // in its batch; if has_ranges
};

struct ShardIndex {
  std::vector<IndexRow> rows;
  bool has_ranges = false;
};

Result<ShardIndex> ParseCsvIndex(std::string_view text);
Result<ShardIndex> ParseJsonIndex(std::string_view text);

// "x_y_z"; nullopt if it is not three decimal numbers of 32 bits, as they are printed.
std::optional<Key> ParseKey(std::string_view text);
std::string ToString(const Key& key);

// The seed's footer: JSON, its length, `CHUNKIDX`. Its own reader has the last two the
// other way round; either is found.
inline constexpr std::string_view kFooterMagic = "CHUNKIDX";
inline constexpr size_t kFooterTail = 16;
// `tail` is the last 16 bytes of an object of `size` bytes. Nullopt if there is no
// footer; kCorrupt if the JSON would begin before the object.
Result<std::optional<ByteRange>> FindFooter(BytesView tail, uint64_t size);

// One index written: as documented, or as DVID itself does it.
enum class CsvForm : uint8_t { kDocumented, kDvid };
std::string CsvText(std::span<const IndexRow> rows, uint64_t schema_bytes, CsvForm form);
// Keys sorted as text; in the order of the seed's example.
std::string JsonText(std::span<const IndexRow> rows);

}  // namespace dolium::dvid
