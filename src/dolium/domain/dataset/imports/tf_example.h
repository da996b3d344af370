// tf.train.Example: the message that most TFRecord files hold, as files of a sample.
//
//   Example { Features features = 1 }       Features { map<string, Feature> feature = 1 }
//   Feature { BytesList = 1 | FloatList = 2 | Int64List = 3 }   each: repeated value = 1
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/shardpack/sample.h"

namespace dolium::dataset {

// The feature (or column) that a sample's key is kept in.
inline constexpr std::string_view kKeyName = "__key__";

struct ParsedExample {
  std::optional<std::string> key;  // from a feature `__key__` with one value of bytes
  std::vector<shardpack::File> files;
};

// Files come in the order of their names. A bytes feature with one value is the file of
// that name; with several, files `name.0`, `name.1`, ...; with none, no file. Numbers are
// one file: little-endian, with their type ("<f4", "<i8") and count as its array. As
// protobuf has it, unknown fields are passed, and of two features of one name the later
// counts. Files share `record`. kCorrupt if it is not such a message.
Result<ParsedExample> ParseExample(const Bytes& record);

// Whether MakeExample makes a list of numbers of it.
bool IsFeatureArray(const shardpack::ArrayShape& array);

// The reverse. One-dimensional arrays of "<f4" and "<i8" become lists of numbers, all
// else bytes. `key`, if there is one, becomes the feature `__key__`.
ByteVector MakeExample(const std::vector<shardpack::File>& files,
                       std::optional<std::string_view> key);

}  // namespace dolium::dataset
