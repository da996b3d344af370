#include "dolium/domain/dataset/content_types.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <unordered_map>

namespace dolium::dataset {
namespace {

constexpr std::string_view kUnknown = "application/octet-stream";

struct Row {
  std::string_view extension;
  std::string_view type;
};

// Of several extensions for a type, the usual one comes first.
constexpr Row kRows[] = {
    {"jpg", "image/jpeg"},
    {"jpeg", "image/jpeg"},
    {"png", "image/png"},
    {"webp", "image/webp"},
    {"gif", "image/gif"},
    {"bmp", "image/bmp"},
    {"tif", "image/tiff"},
    {"tiff", "image/tiff"},
    {"avif", "image/avif"},
    {"heic", "image/heic"},
    {"jxl", "image/jxl"},
    {"jp2", "image/jp2"},
    {"svg", "image/svg+xml"},
    {"exr", "image/x-exr"},
    {"pbm", "image/x-portable-bitmap"},
    {"pgm", "image/x-portable-graymap"},
    {"ppm", "image/x-portable-pixmap"},
    {"json", "application/json"},
    {"jsn", "application/json"},
    {"jsonl", "application/jsonl"},
    {"ndjson", "application/jsonl"},
    {"geojson", "application/geo+json"},
    {"msgpack", "application/msgpack"},
    {"mp", "application/msgpack"},
    {"msg", "application/msgpack"},
    {"cbor", "application/cbor"},
    {"npy", "application/x-npy"},
    {"npz", "application/x-npz"},
    {"pkl", "application/x-pickle"},
    {"pickle", "application/x-pickle"},
    {"pyd", "application/x-pickle"},
    {"pth", "application/x-pytorch"},
    {"pt", "application/x-pytorch"},
    {"safetensors", "application/x-safetensors"},
    {"h5", "application/x-hdf5"},
    {"hdf5", "application/x-hdf5"},
    {"mat", "application/x-matlab-data"},
    {"arrow", "application/vnd.apache.arrow.file"},
    {"parquet", "application/vnd.apache.parquet"},
    {"pb", "application/protobuf"},
    {"txt", "text/plain"},
    {"text", "text/plain"},
    {"transcript", "text/plain"},
    {"caption", "text/plain"},
    {"cls", "text/plain"},
    {"cls2", "text/plain"},
    {"class", "text/plain"},
    {"count", "text/plain"},
    {"index", "text/plain"},
    {"inx", "text/plain"},
    {"id", "text/plain"},
    {"csv", "text/csv"},
    {"tsv", "text/tab-separated-values"},
    {"md", "text/markdown"},
    {"html", "text/html"},
    {"htm", "text/html"},
    {"xml", "application/xml"},
    {"yaml", "application/yaml"},
    {"yml", "application/yaml"},
    {"toml", "application/toml"},
    {"pdf", "application/pdf"},
    {"wav", "audio/wav"},
    {"mp3", "audio/mpeg"},
    {"flac", "audio/flac"},
    {"ogg", "audio/ogg"},
    {"oga", "audio/ogg"},
    {"opus", "audio/opus"},
    {"m4a", "audio/mp4"},
    {"aac", "audio/aac"},
    {"mp4", "video/mp4"},
    {"m4v", "video/mp4"},
    {"mov", "video/quicktime"},
    {"avi", "video/x-msvideo"},
    {"mkv", "video/x-matroska"},
    {"webm", "video/webm"},
    {"ogv", "video/ogg"},
    {"mpg", "video/mpeg"},
    {"mpeg", "video/mpeg"},
    {"ts", "video/mp2t"},
    {"ply", "model/x-ply"},
    {"obj", "model/obj"},
    {"stl", "model/stl"},
    {"glb", "model/gltf-binary"},
    {"gltf", "model/gltf+json"},
    {"pcd", "application/x-pcd"},
    {"tar", "application/x-tar"},
    {"zip", "application/zip"},
    {"gz", "application/gzip"},
    {"tgz", "application/gzip"},
    {"zst", "application/zstd"},
    {"bz2", "application/x-bzip2"},
    {"xz", "application/x-xz"},
    {"lz4", "application/x-lz4"},
    {"7z", "application/x-7z-compressed"},
    {"br", "application/x-brotli"},
    {"bin", kUnknown},
};

constexpr std::string_view kCompressed[] = {
    "image/jpeg",
    "image/png",
    "image/webp",
    "image/gif",
    "image/avif",
    "image/heic",
    "image/jxl",
    "image/jp2",
    "application/x-npz",
    "application/x-pytorch",
    "application/vnd.apache.parquet",
    "application/pdf",
    "audio/mpeg",
    "audio/flac",
    "audio/ogg",
    "audio/opus",
    "audio/mp4",
    "audio/aac",
    "video/mp4",
    "video/quicktime",
    "video/x-msvideo",
    "video/x-matroska",
    "video/webm",
    "video/ogg",
    "video/mpeg",
    "video/mp2t",
    "application/zip",
    "application/gzip",
    "application/zstd",
    "application/x-bzip2",
    "application/x-xz",
    "application/x-lz4",
    "application/x-7z-compressed",
    "application/x-brotli",
};

struct Mark {
  size_t offset;
  std::string_view bytes;
  std::string_view type;
};

using namespace std::string_view_literals;  // Marks have NUL bytes in them.

constexpr Mark kMarks[] = {
    {0, "\xff\xd8\xff"sv, "image/jpeg"},
    {0, "\x89PNG\r\n\x1a\n"sv, "image/png"},
    {8, "WEBP"sv, "image/webp"},
    {0, "GIF8"sv, "image/gif"},
    {0, "II*\0"sv, "image/tiff"},
    {0, "MM\0*"sv, "image/tiff"},
    {0, "\x93NUMPY"sv, "application/x-npy"},
    {0, "PK\x03\x04"sv, "application/zip"},
    {0, "\x1f\x8b\x08"sv, "application/gzip"},
    {0, "\x28\xb5\x2f\xfd"sv, "application/zstd"},
    {8, "WAVE"sv, "audio/wav"},
    {0, "fLaC"sv, "audio/flac"},
    {4, "ftyp"sv, "video/mp4"},
};

constexpr size_t kLongestExtension = 16;

std::string_view WithoutParameters(std::string_view content_type) {
  content_type = content_type.substr(0, content_type.find(';'));
  while (content_type.ends_with(' ')) content_type.remove_suffix(1);
  return content_type;
}

template <std::string_view Row::* From, std::string_view Row::* To>
const auto& Table() {
  static const auto* const table = [] {
    auto* made = new std::unordered_map<std::string_view, std::string_view>;
    for (const Row& row : kRows) made->emplace(row.*From, row.*To);
    return made;
  }();
  return *table;
}

template <std::string_view Row::* From, std::string_view Row::* To>
std::string_view LookUp(std::string_view key) {
  const auto& table = Table<From, To>();
  const auto found = table.find(key);
  return found == table.end() ? std::string_view() : found->second;
}

}  // namespace

std::string_view ContentTypeOfName(std::string_view name) {
  name = name.substr(name.find_last_of("./") + 1);
  if (name.size() > kLongestExtension) return {};
  std::array<char, kLongestExtension> lower{};
  std::transform(name.begin(), name.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return LookUp<&Row::extension, &Row::type>({lower.data(), name.size()});
}

std::string_view ContentTypeOfBytes(BytesView data) {
  const std::string_view head = AsText(data.first(std::min<size_t>(data.size(), 16)));
  for (const Mark& mark : kMarks) {
    if (head.size() >= mark.offset && head.substr(mark.offset).starts_with(mark.bytes)) {
      return mark.type;
    }
  }
  return {};
}

std::string_view GuessContentType(std::string_view name, BytesView data) {
  std::string_view type = ContentTypeOfName(name);
  if (type.empty()) type = ContentTypeOfBytes(data);
  return type.empty() ? kUnknown : type;
}

std::string_view UsualExtension(std::string_view content_type) {
  return LookUp<&Row::type, &Row::extension>(WithoutParameters(content_type));
}

bool IsAlreadyCompressed(std::string_view content_type) {
  return std::ranges::find(kCompressed, WithoutParameters(content_type)) !=
         std::end(kCompressed);
}

}  // namespace dolium::dataset
