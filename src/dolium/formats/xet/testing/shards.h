// Shards to test with: those of testdata/vectors.json, and what they hold.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/formats/xet/mdb_records.h"
#include "dolium/formats/xet/mdb_writer.h"

namespace dolium::xet {

// A shard of the vectors by name: "upload", "full", "keyed", "minimal upload", "minimal
// full", "empty".
ByteVector ShardVector(const std::string& name);
std::vector<std::string> ShardVectorNames();

// What "upload" and "full" hold, in the order of no shard.
std::vector<FileInfo> FilesOfShardVector();
std::vector<XorbInfo> XorbsOfShardVector();

// The same shard with the footer that knows of no tables: no tables, and bytes 24 to 71
// zero. Precondition: `shard` has a footer.
ByteVector WithoutTables(BytesView shard);

// A xorb of some chunks, by default one to seven, made up from `number`; and a file of
// the first of them.
XorbInfo MadeUpXorb(uint64_t number);
XorbInfo MadeUpXorb(uint64_t number, size_t chunks);
FileInfo MadeUpFile(uint64_t number);

}  // namespace dolium::xet
