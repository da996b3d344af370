// Samples as JSON: the lines of manifests and of jsonl files.
//
//   {"key": "a/b",
//    "metadata": {"split": "train"},
//    "files": [{"name": "left.jpg", "content_type": "image/jpeg",
//               "path": "img/1.jpg",          in a manifest: where the bytes are
//               "text": "...", "base64": ".." in jsonl: the bytes, one of the two
//               "compression": "zstd",        instead of the writer's
//               "metadata": ...,
//               "modified": 0, "mode": 420,   nanoseconds since 1970; permissions
//               "array": {"dtype": "<f4", "shape": [2, 3]}}]}
//
// `metadata` is any JSON. Metadata of other kinds are `metadata_base64`, with a
// `metadata_format` of "msgpack", "cbor" or "opaque". Only key and files are needed, and
// of a file in a manifest only the path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/formats/shardpack/sample.h"

namespace dolium::dataset {

// What a line of a manifest says. `paths` has one for each file of `sample`, whose data
// are empty; a file without a name or type has them from its path.
struct ManifestLine {
  shardpack::Sample sample;
  std::vector<std::string> paths;
};
Result<ManifestLine> ParseManifestLine(std::string_view text);

// Whether a JSON value is a sample with its files' bytes, as above.
bool IsSampleJson(const nlohmann::json& value);
// Such a sample. kCorrupt if members have wrong types, or base64 is not valid.
Result<shardpack::Sample> ParseSampleJson(const nlohmann::json& value);

// One line, without its end. Bytes are text where the content type says so and they are
// UTF-8. kInvalidArgument for keys and names that are not UTF-8.
Result<std::string> SampleJsonLine(const shardpack::Sample& sample);
// The same for a manifest, with paths in place of bytes.
Result<std::string> ManifestJsonLine(const shardpack::Sample& sample,
                                     const std::vector<std::string>& paths);

}  // namespace dolium::dataset
