#include "cli/volume/volume_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/domain/volume/downsample/downsample.h"
#include "dolium/domain/volume/encodings/encoding.h"

namespace dolium::cli {
namespace {

using volume::Encoding;
using volume::Resolution;
using volume::Vec3;

constexpr std::string_view kVectorForm = "three whole numbers such as 64,64,64";

Error BadValue(std::string_view option, std::string_view text, std::string_view form) {
  return InvalidArgument(fmt::format("--{}: \"{}\" is not {}", option, text, form));
}

template <typename T>
std::optional<T> ParseOne(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

// Numbers between commas; nullopt if one of them is none.
template <typename T>
std::optional<std::vector<T>> ParseList(std::string_view text) {
  std::vector<T> numbers;
  for (const std::string_view part : Split(text, ',')) {
    const auto number = ParseOne<T>(part);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

template <typename T>
std::optional<std::array<T, 3>> ParseThree(std::string_view text) {
  const auto list = ParseList<T>(text);
  if (!list || list->size() != 3) return std::nullopt;
  return std::array<T, 3>{(*list)[0], (*list)[1], (*list)[2]};
}

// A number of 0 ... `most`.
Result<void> TakeLevel(const Arguments& arguments, std::string_view option, uint64_t most,
                       int& into) {
  if (!arguments.Has(option)) return {};
  const uint64_t level = arguments.Number(option, 0);
  if (level > most) {
    return InvalidArgument(
        fmt::format("--{}: {} is not a number of 0 to {}", option, level, most));
  }
  into = static_cast<int>(level);
  return {};
}

Result<std::optional<volume::EncodingSpec>> EncodingOptions(const Arguments& arguments) {
  std::optional<volume::EncodingSpec> spec;
  if (const auto name = arguments.Get("encoding")) {
    spec.emplace().encoding = *volume::ParseEncoding(*name);
  }
  const auto needs = [&](std::string_view option, std::string_view names,
                         std::initializer_list<Encoding> encodings) -> Result<void> {
    if (!arguments.Has(option)) return {};
    if (spec && std::ranges::count(encodings, spec->encoding) > 0) return {};
    return InvalidArgument(
        fmt::format("--{} is of use with --encoding {}", option, names));
  };
  DOLIUM_TRY_VOID(needs("quality", "jpeg or jxl", {Encoding::kJpeg, Encoding::kJxl}));
  DOLIUM_TRY_VOID(needs("png-level", "png", {Encoding::kPng}));
  DOLIUM_TRY_VOID(needs("block-size", "compressed_segmentation",
                        {Encoding::kCompressedSegmentation}));
  if (!spec) return spec;
  DOLIUM_TRY_VOID(TakeLevel(
      arguments, "quality", 100,
      spec->encoding == Encoding::kJpeg ? spec->jpeg_quality : spec->jxl_quality));
  DOLIUM_TRY_VOID(TakeLevel(arguments, "png-level", 9, spec->png_level));
  DOLIUM_TRY(const auto block_size, VectorOption(arguments, "block-size", 1));
  spec->block_size = block_size.value_or(spec->block_size);
  return spec;
}

}  // namespace

Result<std::optional<Vec3>> VectorOption(const Arguments& arguments,
                                         std::string_view option, int64_t least) {
  const auto text = arguments.Get(option);
  if (!text) return std::nullopt;
  const auto vector = ParseThree<int64_t>(*text);
  if (!vector) return BadValue(option, *text, kVectorForm);
  if (*std::ranges::min_element(*vector) < least) {
    return InvalidArgument(
        fmt::format("--{}: \"{}\" has a number below {}", option, *text, least));
  }
  return vector;
}

Result<Resolution> ResolutionOption(const Arguments& arguments) {
  const auto text = arguments.Get("resolution");
  if (!text) return Resolution{1, 1, 1};
  const auto resolution = ParseThree<double>(*text);
  if (!resolution || !std::ranges::all_of(*resolution, [](double d) { return d > 0; })) {
    return BadValue("resolution", *text, "three lengths in nanometres such as 8,8,32.5");
  }
  return *resolution;
}

Result<std::vector<int64_t>> ShapeOption(const Arguments& arguments) {
  const std::string text = arguments.Get("shape").value_or("");
  auto shape = ParseList<int64_t>(text);
  if (!shape || shape->size() < 2 || shape->size() > 4) {
    return BadValue("shape", text, "two to four whole numbers such as 512,512,100");
  }
  return *std::move(shape);
}

Result<volume::StorageRequest> StorageOptions(const Context& context) {
  const Arguments& arguments = context.arguments;
  volume::StorageRequest storage;
  DOLIUM_TRY(storage.chunk_size, VectorOption(arguments, "chunk-size", 1));
  DOLIUM_TRY(storage.encoding, EncodingOptions(arguments));
  if (arguments.Has("shard-size")) {
    storage.stored_shard_bytes = arguments.Number("shard-size", 0);
  }
  if (arguments.Has("shard-size") && arguments.Has("to-spec")) {
    return InvalidArgument("--shard-size means nothing with --to-spec");
  }
  // One file for each chunk is plain unless it is to be .gz.
  if (arguments.Has("gzip")) {
    storage.wrapper = volume::Wrapper::kGzip;
  } else if (arguments.Has("unsharded")) {
    storage.wrapper = volume::Wrapper::kNone;
  }
  DOLIUM_TRY(const auto sharding, context.ReadSpec("to-spec"));
  if (sharding) {
    DOLIUM_TRY(storage.sharding,
               volume::ParseSharding(*sharding).Within(*arguments.Get("to-spec")));
  }
  return storage;
}

Result<std::optional<bool>> ShardedOption(const Arguments& arguments) {
  for (const std::string_view option : {"sharded", "shard-size", "to-spec"}) {
    if (!arguments.Has(option)) continue;
    for (const std::string_view other : {"unsharded", "gzip"}) {
      if (!arguments.Has(other)) continue;
      return InvalidArgument(fmt::format("--{} contradicts --{}", other, option));
    }
    return true;
  }
  if (arguments.Has("unsharded") || arguments.Has("gzip")) return false;
  return std::nullopt;
}

std::optional<Resolution> ParseResolution(std::string_view text) {
  return ParseThree<double>(text);
}

std::optional<uint64_t> ParseWholeNumber(std::string_view text) {
  return ParseOne<uint64_t>(text);
}

Result<volume::PyramidRequest> PyramidOptions(const Arguments& arguments) {
  volume::PyramidRequest pyramid;
  if (arguments.Has("scales")) {
    const uint64_t scales = arguments.Number("scales", 0);
    if (scales == 0) return InvalidArgument("--scales: 0 is not a number above 0");
    pyramid.scales = scales;
  }
  DOLIUM_TRY(pyramid.factor, VectorOption(arguments, "factor", 1));
  if (const auto method = arguments.Get("method")) {
    pyramid.method = volume::ParseDownsampleMethod(*method);
  }
  pyramid.ignore_zero = arguments.Has("ignore-zero");
  return pyramid;
}

Result<std::vector<size_t>> ScaleListOption(const Arguments& arguments) {
  const auto text = arguments.Get("scale");
  if (!text) return std::vector<size_t>();
  auto scales = ParseList<size_t>(*text);
  if (!scales)
    return BadValue("scale", *text, "the number of a scale, or some as in 0,2");
  return *std::move(scales);
}

Result<std::optional<size_t>> ScaleOption(const Arguments& arguments,
                                          const volume::VolumeInfo& info) {
  const auto text = arguments.Get("scale");
  if (!text) return std::nullopt;
  if (const auto resolution = ParseThree<double>(*text)) {
    const auto found =
        std::ranges::find(info.scales, *resolution, &volume::ScaleInfo::resolution);
    if (found != info.scales.end()) {
      return static_cast<size_t>(found - info.scales.begin());
    }
    return InvalidArgument(
        fmt::format("--scale: no scale has a resolution of {}", *text));
  }
  const auto index = ParseOne<size_t>(*text);
  if (!index) {
    return BadValue("scale", *text,
                    "the number of a scale, or a resolution as in 8,8,40");
  }
  if (*index >= info.scales.size()) {
    return InvalidArgument(fmt::format("--scale: no scale {}; the last one is {}", *index,
                                       info.scales.size() - 1));
  }
  return index;
}

Result<volume::Box> BoxOption(const Arguments& arguments, const volume::Box& bounds) {
  const auto text = arguments.Get("box");
  if (!text) return bounds;
  const auto bad = [&] {
    return BadValue("box", *text, "a box such as 0:512,0:512,100:164");
  };
  const std::vector<std::string_view> ranges = Split(*text, ',');
  if (ranges.size() != 3) return bad();
  volume::Box box = bounds;
  for (size_t d = 0; d < 3; ++d) {
    const std::vector<std::string_view> ends = Split(ranges[d], ':');
    if (ends.size() != 2) return bad();
    const auto take = [](std::string_view end, int64_t& into) {
      const auto number = ParseOne<int64_t>(end);
      if (number) into = *number;
      return number || end.empty();
    };
    if (!take(ends[0], box.begin[d]) || !take(ends[1], box.end[d])) return bad();
  }
  if (box.empty() || !bounds.Contains(box)) {
    return InvalidArgument(
        fmt::format("--box: {} {} the bounds of the scale, {}", ToString(box),
                    box.empty() ? "is empty; these are" : "leaves", ToString(bounds)));
  }
  return box;
}

std::string ToText(const Resolution& resolution) {
  return fmt::format("{},{},{}", resolution[0], resolution[1], resolution[2]);
}

}  // namespace dolium::cli
