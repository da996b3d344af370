// Sample: what one record of a ShardPack holds, before it is encoded and after.
//
// A sample has a key and files; a file has a name, a content type and bytes. Both may
// carry metadata. Bytes are shared, never copied: they may lie in a memory map.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "dolium/base/bytes.h"

namespace dolium::shardpack {

// Numbers are those of the file format.
enum class MetadataFormat : uint8_t {
  kNone = 0,
  kJson = 1,
  kMsgPack = 2,
  kOpaque = 3,
  kCbor = 4,
};

struct Metadata {
  MetadataFormat format = MetadataFormat::kNone;
  Bytes bytes = {};
};

// Numbers are those of the file format.
enum class Compression : uint8_t { kNone = 0, kGzip = 1, kLz4 = 2, kZstd = 3 };

// What a file's bytes mean as an array: numpy's name of the type ("<f4"), the lengths.
struct ArrayShape {
  std::string dtype;
  std::vector<uint64_t> lengths;

  friend bool operator==(const ArrayShape&, const ArrayShape&) = default;
};

// Which bytes of a file an entry holds, if not all: the file is cut into segments, one in
// each of several parts of its sample.
struct FileSegment {
  uint64_t offset = 0;
  uint64_t whole_size = 0;

  friend bool operator==(const FileSegment&, const FileSegment&) = default;
};

struct File {
  std::string name;
  std::string content_type = {};  // empty: not known
  Bytes data = {};
  Metadata metadata = {};
  std::optional<int64_t> modified = {};  // nanoseconds since 1970
  std::optional<uint32_t> mode = {};     // POSIX permissions
  std::optional<ArrayShape> array = {};
  std::optional<Compression> compression = {};  // instead of the writer's
  std::optional<FileSegment> segment = {};      // `data` is not all of it
  bool is_aux = false;  // not one of the sample's files, but what reading them needs
};

struct Sample {
  std::string key;
  Metadata metadata = {};
  std::vector<File> files = {};  // names are unique
  bool tombstone = false;        // no files: removes the key from sets below
};

}  // namespace dolium::shardpack
