#include "python/src/volume_requests.h"

#include <vector>

#include <fmt/format.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/arguments.h"
#include "python/src/errors.h"
#include "python/src/formats/neuroglancer.h"
#include "python/src/wishes.h"

namespace dolium::python {
namespace {

using volume::Encoding;
using volume::EncodingSpec;
using volume::Vec3;
using volume::VolumeType;

[[noreturn]] void RaiseUnknown(const char* what, const std::string& name,
                               const char* expected) {
  throw nb::value_error(
      fmt::format("no {} '{}', expected {}", what, name, expected).c_str());
}

// The settings that belong to some encodings only.
void SetEncoder(const nb::dict& options, EncodingSpec& spec) {
  const auto setting = [&](const char* name, bool fits, int& value) {
    const auto wish = Wish<int>(options, name);
    if (!wish) return;
    if (!fits) {
      throw nb::value_error(fmt::format("{}: the encoding {} has no such setting", name,
                                        ToString(spec.encoding))
                                .c_str());
    }
    value = *wish;
  };
  const bool is_jpeg = spec.encoding == Encoding::kJpeg;
  const bool is_jxl = spec.encoding == Encoding::kJxl;
  setting("quality", is_jpeg || is_jxl, is_jxl ? spec.jxl_quality : spec.jpeg_quality);
  setting("png_level", spec.encoding == Encoding::kPng, spec.png_level);
  setting("effort", is_jxl, spec.jxl_effort);
  if (const auto block_size = Wish<Vec3>(options, "block_size")) {
    if (spec.encoding != Encoding::kCompressedSegmentation) {
      throw nb::value_error(fmt::format("block_size: the encoding {} has no such setting",
                                        ToString(spec.encoding))
                                .c_str());
    }
    spec.block_size = *block_size;
  }
}

std::optional<EncodingSpec> EncodingOf(const nb::dict& options) {
  const auto name = Wish<std::string>(options, "encoding");
  if (!name) {
    for (const char* setting : {"block_size", "quality", "png_level", "effort"}) {
      if (!Wish(options, setting).is_valid()) continue;
      throw nb::value_error(
          fmt::format("{}: a setting of an encoding, but none is named", setting)
              .c_str());
    }
    return std::nullopt;
  }
  const auto encoding = volume::ParseEncoding(*name);
  if (!encoding) {
    RaiseUnknown("encoding", *name,
                 "raw, jpeg, png, jxl, compressed_segmentation or compresso");
  }
  EncodingSpec spec;
  spec.encoding = *encoding;
  SetEncoder(options, spec);
  return spec;
}

}  // namespace

volume::DataType DataTypeNamed(const std::string& name) {
  const auto type = volume::ParseDataType(name);
  if (!type) {
    RaiseUnknown("data type", name,
                 "uint8, int8, uint16, int16, uint32, int32, uint64 or float32");
  }
  return *type;
}

std::optional<VolumeType> VolumeTypeNamed(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  for (const VolumeType type : {VolumeType::kImage, VolumeType::kSegmentation}) {
    if (*name == ToString(type)) return type;
  }
  RaiseUnknown("volume type", *name, "image or segmentation");
}

volume::StorageRequest StorageOf(const nb::dict& options) {
  volume::StorageRequest storage;
  storage.chunk_size = Wish<Vec3>(options, "chunk_size");
  storage.encoding = EncodingOf(options);
  storage.sharded = ShardedOf(options).value_or(true);
  storage.stored_shard_bytes = Wish<uint64_t>(options, "shard_size");
  // Of a volume without voxels, there is nothing to estimate it by.
  storage.shard_bytes = storage.stored_shard_bytes.value_or(storage.shard_bytes);
  if (const auto gzip = Wish<bool>(options, "gzip_files")) {
    storage.wrapper = *gzip ? volume::Wrapper::kGzip : volume::Wrapper::kNone;
  }
  const nb::object sharding = Wish(options, "to_spec");
  if (sharding.is_valid()) {
    storage.sharding = ShardingFrom(sharding);
    if (storage.stored_shard_bytes) {
      throw nb::value_error("shard_size means nothing with to_spec");
    }
  }
  return storage;
}

std::optional<bool> ShardedOf(const nb::dict& options) {
  const auto sharded = Wish<bool>(options, "sharded");
  const char* for_shards = sharded == true ? "sharded=True" : nullptr;
  for (const char* name : {"shard_size", "to_spec"}) {
    if (Wish(options, name).is_valid()) for_shards = name;
  }
  const char* for_files = sharded == false ? "sharded=False" : nullptr;
  if (Wish<bool>(options, "gzip_files").value_or(false)) for_files = "gzip_files";
  if (for_shards != nullptr && for_files != nullptr) {
    throw nb::value_error(
        fmt::format("{} contradicts {}", for_files, for_shards).c_str());
  }
  if (for_shards == nullptr && for_files == nullptr) return std::nullopt;
  return for_shards != nullptr;
}

volume::PyramidRequest PyramidOf(const nb::dict& options) {
  volume::PyramidRequest pyramid;
  pyramid.scales = Wish<size_t>(options, "scales");
  pyramid.factor = Wish<Vec3>(options, "factor");
  if (const auto name = Wish<std::string>(options, "method")) {
    pyramid.method = volume::ParseDownsampleMethod(*name);
    if (!pyramid.method) RaiseUnknown("method", *name, "average, mode or stride");
  }
  pyramid.ignore_zero = Wish<bool>(options, "ignore_zero").value_or(false);
  return pyramid;
}

volume::ArraySourceRequest ArrayOf(const nb::dict& options) {
  volume::ArraySourceRequest request;
  request.path = LocationText(options["path"]);
  request.dataset = Wish<std::string>(options, "dataset");
  request.axes = Wish<std::string>(options, "axes");
  if (const auto name = Wish<std::string>(options, "data_type")) {
    request.type = DataTypeNamed(*name);
  }
  const auto shape = Wish<std::vector<int64_t>>(options, "shape");
  if (!shape) return request;
  volume::RawLayout layout;
  layout.shape = *shape;
  const std::string name = Wish<std::string>(options, "dtype").value_or("");
  const auto type = volume::ParseNumberType(name);
  if (!type)
    RaiseUnknown("number type", name, "uint8 to uint64, int8 to int64 or a float");
  layout.type = *type;
  layout.offset = Wish<uint64_t>(options, "byte_offset");
  layout.big_endian = Wish<bool>(options, "big_endian").value_or(false);
  layout.c_order = Wish<bool>(options, "c_order").value_or(false);
  request.raw = std::move(layout);
  return request;
}

}  // namespace dolium::python
