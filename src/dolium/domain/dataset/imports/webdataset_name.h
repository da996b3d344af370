// How WebDataset turns the names of files into keys and names of a sample, and back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/formats/shardpack/sample.h"

namespace dolium::dataset {

struct StemAndRest {
  std::string_view stem;  // the path up to the first dot of its base name
  std::string_view rest;  // what follows that dot

  friend bool operator==(const StemAndRest&, const StemAndRest&) = default;
};

// "a.b/c.seg.png" -> "a.b/c", "seg.png". nullopt for a name without a dot in its last
// part, or with nothing before it.
std::optional<StemAndRest> SplitAtFirstDot(std::string_view path);

// Names of files as readers take them: A to Z in lower case.
std::string LowerCase(std::string_view name);

// Whether readers pass this file: it, or the folder at its top, is named `__like_this__`.
bool IsWebDatasetMeta(std::string_view path);

// The path in an archive from which a reader gets this key and name again.
// kInvalidArgument if there is none. Dots in the last part of the key become
// `dot_replacement`, unless that is empty.
Result<std::string> WebDatasetPath(std::string_view key, std::string_view name,
                                   std::string_view dot_replacement);

// The file that holds the metadata of a sample: `__metadata__.json`, `.msgpack`, `.cbor`
// or
// `.bin`. Empty for kNone.
std::string_view MetadataFileName(shardpack::MetadataFormat format);
// The format of metadata in a file of this name; nullopt if it is another file.
std::optional<shardpack::MetadataFormat> MetadataOfFileName(std::string_view name);

}  // namespace dolium::dataset
