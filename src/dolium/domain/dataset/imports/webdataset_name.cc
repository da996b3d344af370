#include "dolium/domain/dataset/imports/webdataset_name.h"

#include <fmt/format.h>

namespace dolium::dataset {

using shardpack::MetadataFormat;

std::string_view MetadataFileName(MetadataFormat format) {
  switch (format) {
    case MetadataFormat::kNone:
      return "";
    case MetadataFormat::kJson:
      return "__metadata__.json";
    case MetadataFormat::kMsgPack:
      return "__metadata__.msgpack";
    case MetadataFormat::kCbor:
      return "__metadata__.cbor";
    case MetadataFormat::kOpaque:
      break;
  }
  return "__metadata__.bin";  // a format that is not known is opaque
}

std::optional<MetadataFormat> MetadataOfFileName(std::string_view name) {
  for (const auto format : {MetadataFormat::kJson, MetadataFormat::kMsgPack,
                            MetadataFormat::kCbor, MetadataFormat::kOpaque}) {
    if (name == MetadataFileName(format)) return format;
  }
  return std::nullopt;
}

std::optional<StemAndRest> SplitAtFirstDot(std::string_view path) {
  const size_t base = path.rfind('/') + 1;  // 0 without a slash
  const size_t dot = path.find('.', base);
  if (dot == std::string_view::npos) return std::nullopt;
  // Readers want some text without a dot, from the beginning of a part of the path: for
  // "a/.b" they go back to "a/".
  for (size_t i = dot; i > 0 && path[i - 1] != '.'; --i) {
    if (i == 1 || path[i - 2] == '/') {
      return StemAndRest{path.substr(0, dot), path.substr(dot + 1)};
    }
  }
  return std::nullopt;
}

std::string LowerCase(std::string_view name) {
  std::string own(name);
  for (char& c : own) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return own;
}

bool IsWebDatasetMeta(std::string_view path) {
  const size_t slash = path.find('/');
  const std::string_view first = path.substr(0, slash);
  if (!first.starts_with("__") || !first.ends_with("__")) return false;
  return slash == std::string_view::npos || first.size() >= 4;
}

Result<std::string> WebDatasetPath(std::string_view key, std::string_view name,
                                   std::string_view dot_replacement) {
  std::string path(key);
  const size_t base = path.rfind('/') + 1;
  for (size_t i = base; !dot_replacement.empty() && i < path.size(); ++i) {
    if (path[i] != '.') continue;
    path.replace(i, 1, dot_replacement);
    i += dot_replacement.size() - 1;
  }
  const size_t stem = path.size();
  path.append(1, '.').append(name);
  const auto split = SplitAtFirstDot(path);
  if (split && split->stem.size() == stem && !name.empty() &&
      name.find('/') == std::string_view::npos && !IsWebDatasetMeta(path)) {
    return path;
  }
  return InvalidArgument(fmt::format(
      "sample \"{}\", file \"{}\": would not be found again as \"{}\" in a WebDataset "
      "archive, where the key ends at the first dot after the last slash, and names like "
      "__this__ are passed",
      key, name, path));
}

}  // namespace dolium::dataset
