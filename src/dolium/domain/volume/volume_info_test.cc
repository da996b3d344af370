#include "dolium/domain/volume/volume_info.h"

#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "dolium/domain/volume/grid.h"

namespace dolium::volume {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

// The info that TensorStore's tests begin with.
json ValidInfo() {
  return {{"@type", "neuroglancer_multiscale_volume"},
          {"num_channels", 1},
          {"type", "segmentation"},
          {"data_type", "uint8"},
          {"scales",
           {{{"chunk_sizes", {{64, 65, 66}}},
             {"encoding", "raw"},
             {"key", "8_8_8"},
             {"resolution", {5, 6, 7}},
             {"size", {6446, 6643, 8090}},
             {"voxel_offset", {2, 4, 6}}}}}};
}

json Sharding() {
  return {{"@type", "neuroglancer_uint64_sharded_v1"},
          {"preshift_bits", 9},
          {"hash", "identity"},
          {"minishard_bits", 6},
          {"shard_bits", 15}};
}

VolumeInfo Parse(const json& info) {
  auto parsed = ParseVolumeInfo(info.dump());
  EXPECT_TRUE(parsed) << parsed.error().message;
  return parsed ? *parsed : VolumeInfo();
}

std::string ErrorOf(const json& info) {
  const auto parsed = ParseVolumeInfo(info.dump());
  if (parsed) return "no error";
  const bool is_another = parsed.error().message.starts_with("@type: found neuro");
  EXPECT_EQ(parsed.error().code,
            is_another ? ErrorCode::kInvalidArgument : ErrorCode::kCorrupt);
  return parsed.error().message;
}

// The valid info with one member changed.
json With(const char* pointer, json value) {
  json info = ValidInfo();
  info[json::json_pointer(pointer)] = std::move(value);
  return info;
}
json Without(const char* object, const char* member) {
  json info = ValidInfo();
  info[json::json_pointer(object)].erase(member);
  return info;
}

std::string Read(const std::string& name) {
  std::ifstream file(DOLIUM_SOURCE_DIR "/src/dolium/domain/volume/testdata/info/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(ParseVolumeInfo, ReadsEveryMember) {
  json root = ValidInfo();
  root["mesh"] = "m";
  root["skeletons"] = "s";
  root["segment_properties"] = "p";
  root["scales"][0]["sharding"] = Sharding();
  root["scales"][0]["hidden"] = true;
  root["scales"][0]["resolution"][2] = 30.5;
  const VolumeInfo info = Parse(root);
  EXPECT_EQ(info.type, VolumeType::kSegmentation);
  EXPECT_EQ(info.data_type, DataType::kUint8);
  EXPECT_EQ(info.num_channels, 1);
  EXPECT_EQ(info.mesh, "m");
  EXPECT_EQ(info.skeletons, "s");
  EXPECT_EQ(info.segment_properties, "p");
  EXPECT_EQ(info.redirect, std::nullopt);
  EXPECT_THAT(info.extra, IsEmpty());
  ASSERT_EQ(info.scales.size(), 1u);
  const ScaleInfo& scale = info.scales[0];
  EXPECT_EQ(scale.key, "8_8_8");
  EXPECT_EQ(scale.size, (Vec3{6446, 6643, 8090}));
  EXPECT_EQ(scale.resolution, (Resolution{5, 6, 30.5}));
  EXPECT_EQ(scale.voxel_offset, (Vec3{2, 4, 6}));
  EXPECT_THAT(scale.chunk_sizes, ElementsAre(Vec3{64, 65, 66}));
  EXPECT_EQ(scale.encoding, EncodingSpec{});
  ASSERT_TRUE(scale.sharding);
  EXPECT_EQ(scale.sharding->minishard_bits, 6u);
  EXPECT_TRUE(scale.hidden);
  EXPECT_THAT(scale.extra, IsEmpty());
  EXPECT_EQ(scale.bounds(), (Box{{2, 4, 6}, {6448, 6647, 8096}}));
}

TEST(ParseVolumeInfo, ReadsTheSettingsOfEveryEncoding) {
  const auto encoding = [](const json& members) {
    json info = ValidInfo();
    info["scales"][0].update(members);
    return Parse(info).scales[0].encoding;
  };
  EXPECT_EQ(encoding({{"encoding", "jpeg"}, {"jpeg_quality", 90}}),
            (EncodingSpec{.encoding = Encoding::kJpeg, .jpeg_quality = 90}));
  EXPECT_EQ(encoding({{"encoding", "png"}, {"png_level", 9.0}}),
            (EncodingSpec{.encoding = Encoding::kPng, .png_level = 9}));
  EXPECT_EQ(encoding({{"encoding", "jxl"},
                      {"jxl_quality", 90},
                      {"jxl_effort", 3},
                      {"jxl_decodingspeed", 4}}),
            (EncodingSpec{.encoding = Encoding::kJxl,
                          .jxl_quality = 90,
                          .jxl_effort = 3,
                          .jxl_decoding_speed = 4}));
  EXPECT_EQ(encoding({{"encoding", "compressed_segmentation"},
                      {"compressed_segmentation_block_size", {8, 4, 1}}}),
            (EncodingSpec{.encoding = Encoding::kCompressedSegmentation,
                          .block_size = {8, 4, 1}}));
  EXPECT_EQ(encoding({{"encoding", "compresso"}}),
            EncodingSpec{.encoding = Encoding::kCompresso});
}

TEST(ParseVolumeInfo, MovesSettingsOfJxlIntoOurRange) {
  // cloud-volume takes these; quality from 100 on means lossless.
  json info = ValidInfo();
  info["scales"][0].update({{"encoding", "jxl"},
                            {"jxl_quality", 101.5},
                            {"jxl_effort", 10},
                            {"jxl_decodingspeed", -1e300}});
  const EncodingSpec encoding = Parse(info).scales[0].encoding;
  EXPECT_EQ(encoding.jxl_quality, 100);
  EXPECT_EQ(encoding.jxl_effort, 9);
  EXPECT_EQ(encoding.jxl_decoding_speed, 0);
}

TEST(ParseVolumeInfo, IgnoresCaseAndTheFormOfNumbers) {
  json root = ValidInfo();
  root["type"] = "IMAGE";
  root["data_type"] = "UInt64";
  root["num_channels"] = 2.0;
  root["scales"][0]["encoding"] = "Compressed_Segmentation";
  root["scales"][0]["compressed_segmentation_block_size"] = {8.0, 8, 8};
  root["scales"][0]["size"] = {64.0, 65, 66.0};
  root["scales"][0]["chunk_sizes"] = {{64.0, 64.0, 64.0}};
  root["scales"][0]["voxel_offset"] = {-1.0, 0.0, -0.0};
  root["scales"][0]["sharding"] = Sharding();
  root["scales"][0]["sharding"]["shard_bits"] = 15.0;
  const VolumeInfo info = Parse(root);
  EXPECT_EQ(info.type, VolumeType::kImage);
  EXPECT_EQ(info.data_type, DataType::kUint64);
  EXPECT_EQ(info.num_channels, 2);
  EXPECT_EQ(info.scales[0].encoding.encoding, Encoding::kCompressedSegmentation);
  EXPECT_EQ(info.scales[0].size, (Vec3{64, 65, 66}));
  EXPECT_EQ(info.scales[0].voxel_offset, (Vec3{-1, 0, 0}));
  EXPECT_EQ(info.scales[0].sharding->shard_bits, 15u);
}

TEST(ParseVolumeInfo, TakesNullForAnOptionalMemberAndNeverWritesIt) {
  json root = ValidInfo();
  for (const char* member :
       {"@type", "mesh", "skeletons", "segment_properties", "redirect"}) {
    root[member] = nullptr;
  }
  for (const char* member : {"sharding", "voxel_offset", "hidden", "png_level",
                             "compressed_segmentation_block_size"}) {
    root["scales"][0][member] = nullptr;
  }
  const VolumeInfo info = Parse(root);
  EXPECT_EQ(info.mesh, std::nullopt);
  EXPECT_EQ(info.scales[0].sharding, std::nullopt);
  EXPECT_EQ(info.scales[0].voxel_offset, (Vec3{0, 0, 0}));
  EXPECT_THAT(ToJson(info), testing::Not(HasSubstr("null")));
}

TEST(ParseVolumeInfo, KeepsUnknownMembers) {
  json root = ValidInfo();
  root["zoom"] = {{"a", {1, 2.5, nullptr}}};
  root["scales"][0]["rois"] = {{0, 0, 0, 1, 1, 1}};
  const VolumeInfo info = Parse(root);
  EXPECT_THAT(info.extra, ElementsAre(Pair("zoom", R"({"a":[1,2.5,null]})")));
  EXPECT_THAT(info.scales[0].extra, ElementsAre(Pair("rois", "[[0,0,0,1,1,1]]")));
  const json written = json::parse(ToJson(info));
  EXPECT_EQ(written["zoom"], root["zoom"]);
  EXPECT_EQ(written["scales"][0]["rois"], root["scales"][0]["rois"]);
}

TEST(ParseVolumeInfo, TakesWhatTensorStoreTakes) {
  Parse(Without("", "@type"));
  EXPECT_EQ(Parse(Without("/scales/0", "voxel_offset")).scales[0].voxel_offset,
            (Vec3{0, 0, 0}));
  EXPECT_EQ(Parse(With("/scales/0/size", {0, 1, 1})).scales[0].size, (Vec3{0, 1, 1}));
}

TEST(ParseVolumeInfo, NamesTheMemberThatIsMissing) {
  for (const char* member : {"num_channels", "type", "scales", "data_type"}) {
    EXPECT_EQ(ErrorOf(Without("", member)), std::string(member) + ": is missing");
  }
  for (const char* member : {"chunk_sizes", "encoding", "key", "resolution", "size"}) {
    EXPECT_EQ(ErrorOf(Without("/scales/0", member)),
              "scales[0]." + std::string(member) + ": is missing");
  }
  EXPECT_EQ(ErrorOf(With("/scales/0/encoding", "compressed_segmentation")),
            "scales[0].compressed_segmentation_block_size: is missing");
}

TEST(ParseVolumeInfo, NamesTheMemberThatIsOfTheWrongType) {
  EXPECT_EQ(ErrorOf(3), "found 3, expected an object");
  EXPECT_EQ(ErrorOf(With("/num_channels", nullptr)),
            "num_channels: found null, expected an integer below 2^63");
  EXPECT_EQ(ErrorOf(With("/type", 1)), "type: found 1, expected a string");
  EXPECT_EQ(ErrorOf(With("/type", "invalid")),
            "type: found \"invalid\", expected image, segmentation or unknown");
  EXPECT_EQ(ErrorOf(With("/data_type", "int64")),
            "data_type: found \"int64\", expected uint8, int8, uint16, int16, uint32, "
            "int32, uint64 or float32");
  EXPECT_EQ(ErrorOf(With("/scales", "x")), "scales: found \"x\", expected an array");
  EXPECT_EQ(ErrorOf(With("/mesh", 1)), "mesh: found 1, expected a string");
  EXPECT_EQ(ErrorOf(With("/scales/1", 7)), "scales[1]: found 7, expected an object");
  EXPECT_EQ(ErrorOf(With("/scales/0/size", {1, 2})),
            "scales[0].size: found [1,2], expected three integers");
  EXPECT_EQ(ErrorOf(With("/scales/0/size/1", 2.5)),
            "scales[0].size[1]: found 2.5, expected an integer below 2^63");
  EXPECT_EQ(ErrorOf(With("/scales/0/resolution", {1, 2})),
            "scales[0].resolution: found [1,2], expected three numbers");
  EXPECT_EQ(ErrorOf(With("/scales/0/resolution/2", "8")),
            "scales[0].resolution[2]: found \"8\", expected a number");
  EXPECT_EQ(ErrorOf(With("/scales/0/voxel_offset", {1, 2})),
            "scales[0].voxel_offset: found [1,2], expected three integers");
  EXPECT_EQ(ErrorOf(With("/scales/0/chunk_sizes", 64)),
            "scales[0].chunk_sizes: found 64, expected an array of chunk sizes");
  EXPECT_EQ(ErrorOf(With("/scales/0/chunk_sizes", {64, 64, 64})),
            "scales[0].chunk_sizes[0]: found 64, expected three integers");
  EXPECT_EQ(ErrorOf(With("/scales/0/encoding", "invalid")),
            "scales[0].encoding: found \"invalid\", expected raw, jpeg, png, jxl, "
            "compressed_segmentation or compresso");
  EXPECT_EQ(ErrorOf(With("/scales/0/hidden", 0)),
            "scales[0].hidden: found 0, expected true or false");
  EXPECT_EQ(ErrorOf(With("/scales/0/sharding", 1)),
            "scales[0]: sharding: found number, expected an object");
  json sharding = Sharding();
  sharding["hash"] = "md5";
  EXPECT_THAT(ErrorOf(With("/scales/0/sharding", sharding)),
              HasSubstr("scales[0]: sharding: \"hash\" is \"md5\""));
}

TEST(ParseVolumeInfo, ShowsNoMoreThanTheBeginningOfWhatItFound) {
  const std::string error = ErrorOf(With("/scales/0/size", std::string(100'000, 'x')));
  EXPECT_LT(error.size(), 150u);
  EXPECT_THAT(error, HasSubstr("xxx..., expected three integers"));
}

TEST(ParseVolumeInfo, SaysWhatAnInfoOfAnotherKindIs) {
  EXPECT_EQ(ErrorOf({{"@type", "neuroglancer_skeletons"}}),
            "@type: found neuroglancer_skeletons, that is skeletons, expected "
            "neuroglancer_multiscale_volume");
  EXPECT_THAT(ErrorOf({{"@type", "neuroglancer_multilod_draco"}}),
              HasSubstr("that is multi-resolution meshes"));
  EXPECT_THAT(ErrorOf({{"@type", "neuroglancer_annotations_v1"}}),
              HasSubstr("that is annotations"));
  EXPECT_THAT(ErrorOf({{"@type", "invalid"}}), HasSubstr("@type: found \"invalid\""));
}

TEST(ParseVolumeInfo, NeedsNothingBesideARedirect) {
  const VolumeInfo info = Parse({{"redirect", "precomputed://https://host/other"}});
  EXPECT_EQ(info.redirect, "precomputed://https://host/other");
  EXPECT_THAT(info.scales, IsEmpty());
  EXPECT_EQ(Parse(json::parse(ToJson(info))), info);
}

TEST(ParseVolumeInfo, RefusesNumbersOutOfTheirRange) {
  EXPECT_EQ(ErrorOf(With("/num_channels", 0)),
            "num_channels: found 0, expected an integer from 1");
  EXPECT_EQ(ErrorOf(With("/scales", json::array())),
            "scales: found none, expected at least one");
  EXPECT_EQ(ErrorOf(With("/scales/0/size", {-1, 2, 7})),
            "scales[0].size[0]: found -1, expected an integer from 0 to "
            "4611686018427387902");
  EXPECT_EQ(ErrorOf(With("/scales/0/resolution/1", 0)),
            "scales[0].resolution[1]: found 0, expected a number greater than 0");
  EXPECT_EQ(ErrorOf(With("/scales/0/resolution/1", -4.5)),
            "scales[0].resolution[1]: found -4.5, expected a number greater than 0");
  EXPECT_EQ(ErrorOf(With("/scales/0/chunk_sizes", json::array())),
            "scales[0].chunk_sizes: found none, expected at least one");
  EXPECT_EQ(ErrorOf(With("/scales/0/chunk_sizes/1", {64, 0, 64})),
            "scales[0].chunk_sizes[1]: chunks of 64,0,64, expected sizes from 1");
  json jpeg = With("/scales/0/encoding", "jpeg");
  jpeg["scales"][0]["jpeg_quality"] = 101;
  EXPECT_EQ(ErrorOf(jpeg),
            "scales[0].jpeg_quality: found 101, expected an integer from 0 to 100");
  json png = With("/scales/0/encoding", "png");
  png["scales"][0]["png_level"] = -1;
  EXPECT_EQ(ErrorOf(png),
            "scales[0].png_level: found -1, expected an integer from 0 to 9");
  json blocks = With("/scales/0/encoding", "compressed_segmentation");
  blocks["scales"][0]["compressed_segmentation_block_size"] = {8, 0, 8};
  EXPECT_THAT(ErrorOf(blocks),
              HasSubstr("scales[0].compressed_segmentation_block_size: found 8,0,8"));
  blocks["scales"][0]["compressed_segmentation_block_size"] = {1 << 20, 1 << 20, 1 << 20};
  EXPECT_THAT(ErrorOf(blocks), HasSubstr("at most 2147483648 voxels"));
}

TEST(ParseVolumeInfo, RefusesAbsurdSizes) {
  const uint64_t two_63 = uint64_t{1} << 63;
  const int64_t max = std::numeric_limits<int64_t>::max();
  const int64_t min = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(ErrorOf(With("/scales/0/size/0", two_63)),
            "scales[0].size[0]: found 9223372036854775808, expected an integer below "
            "2^63");
  EXPECT_THAT(ErrorOf(With("/scales/0/size/0", 1e300)), HasSubstr("found 1e+300"));
  EXPECT_THAT(ErrorOf(With("/scales/0/size/0", max)), HasSubstr("scales[0].size[0]"));
  EXPECT_THAT(ErrorOf(With("/scales/0/voxel_offset/1", max)),
              HasSubstr("scales[0].voxel_offset[1]: found 9223372036854775807"));
  EXPECT_THAT(ErrorOf(With("/scales/0/voxel_offset/1", min)),
              HasSubstr("scales[0].voxel_offset[1]"));
  EXPECT_THAT(ErrorOf(With("/scales/0/voxel_offset/0", kMaxCoordinate)),
              HasSubstr("with the size 6446 added at most 4611686018427387902"));
  const json huge =
      json::array({kMaxCoordinate - 9, kMaxCoordinate - 9, kMaxCoordinate - 9});
  EXPECT_THAT(ErrorOf(With("/scales/0/size", huge)),
              HasSubstr("scales[0].chunk_sizes[0]: "));
  json chunk = With("/scales/0/size", huge);
  chunk["scales"][0]["chunk_sizes"][0] = huge;
  EXPECT_THAT(ErrorOf(chunk), HasSubstr("expected less than 2^64 bytes"));
  EXPECT_THAT(ErrorOf(With("/num_channels", max)),
              HasSubstr("with 9223372036854775807 channels of uint8"));
}

TEST(ParseVolumeInfo, CountsOnlyTheVoxelsThatAChunkHas) {
  const int64_t max = std::numeric_limits<int64_t>::max();
  const VolumeInfo info = Parse(With("/scales/0/chunk_sizes/0", {max, max, max}));
  EXPECT_THAT(info.scales[0].chunk_sizes, ElementsAre(Vec3{max, max, max}));
}

TEST(ParseVolumeInfo, AllowsAShardedScaleOneChunkSizeAnd64Bits) {
  json two = With("/scales/0/sharding", Sharding());
  two["scales"][0]["chunk_sizes"] = {{64, 64, 64}, {32, 32, 32}};
  EXPECT_EQ(ErrorOf(two),
            "scales[0].chunk_sizes: found 2 sizes, expected one, because the scale is "
            "sharded");
  // 63 bits of cells, but 22 + 22 + 22 of coordinates.
  json wide = With("/scales/0/sharding", Sharding());
  const int64_t size = (int64_t{1} << 21) + 1;
  wide["scales"][0]["size"] = {size, size, size};
  wide["scales"][0]["chunk_sizes"] = {{1, 1, 1}};
  EXPECT_THAT(ErrorOf(wide), HasSubstr("scales[0].chunk_sizes[0]: a grid of "
                                       "2097153,2097153,2097153 chunks needs 66 bits"));
  wide["scales"][0].erase("sharding");
  Parse(wide);
}

TEST(ParseVolumeInfo, RefusesWhatIsNotJson) {
  const auto parsed = ParseVolumeInfo("{");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().message, "not valid JSON");
}

// Made by TensorStore 0.1.86: two scales, sharded, resolutions as floats.
TEST(ParseVolumeInfo, ReadsWhatTensorStoreWrote) {
  const auto info = ParseVolumeInfo(Read("tensorstore.json"));
  ASSERT_TRUE(info) << info.error().message;
  ASSERT_EQ(info->scales.size(), 2u);
  EXPECT_EQ(info->scales[0].key, "8_8_30.5");
  EXPECT_EQ(info->scales[0].key, DefaultScaleKey(info->scales[0].resolution));
  EXPECT_EQ(info->scales[1].bounds(), (Box{{-2, -1, 3}, {498, 449, 73}}));
  EXPECT_THAT(CheckVolumeInfo(*info), IsEmpty());
  json expected = json::parse(Read("tensorstore.json"));
  EXPECT_EQ(json::parse(ToJson(*info)), expected);
}

// Made by cloud-volume 12.15.2, with scales added by add_scale() and `rois` as igneous
// has it.
TEST(ParseVolumeInfo, ReadsWhatCloudVolumeWrote) {
  const auto info = ParseVolumeInfo(Read("cloud_volume.json"));
  ASSERT_TRUE(info) << info.error().message;
  ASSERT_EQ(info->scales.size(), 3u);
  EXPECT_THAT(info->scales[0].extra, ElementsAre(Pair("rois", "[[3,0,7,100,100,97]]")));
  json expected = json::parse(Read("cloud_volume.json"));
  expected["@type"] = "neuroglancer_multiscale_volume";
  EXPECT_EQ(json::parse(ToJson(*info)), expected);
}

TEST(CheckUsable, RefusesOnlyTheScalesThatCannotBeUsed) {
  const auto info = ParseVolumeInfo(Read("cloud_volume.json"));
  ASSERT_TRUE(info) << info.error().message;
  EXPECT_TRUE(CheckUsable(*info, info->scales[0]));
  EXPECT_TRUE(CheckUsable(*info, info->scales[1]));
  EXPECT_EQ(info->scales[2].foreign_encoding, "fpzip");
  const auto usable = CheckUsable(*info, info->scales[2]);
  ASSERT_FALSE(usable);
  EXPECT_EQ(usable.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(usable.error().message,
            "the encoding fpzip is cloud-volume's own and is not supported");
  json root = With("/data_type", "float32");
  root["scales"][0]["encoding"] = "jpeg";
  const VolumeInfo jpeg = Parse(root);
  EXPECT_FALSE(CheckUsable(jpeg, jpeg.scales[0]));
}

TEST(ToJson, IsSortedAndLeavesOutWhatSaysNothing) {
  VolumeInfo info;
  info.type = VolumeType::kImage;
  info.scales.push_back({.key = "k",
                         .size = {1, 2, 3},
                         .resolution = {4, 4.5, 1e6},
                         .chunk_sizes = {{64, 64, 64}},
                         .encoding = {.encoding = Encoding::kJpeg, .jpeg_quality = 80}});
  EXPECT_EQ(ToJson(info), R"({
  "@type": "neuroglancer_multiscale_volume",
  "data_type": "uint8",
  "num_channels": 1,
  "scales": [
    {
      "chunk_sizes": [
        [
          64,
          64,
          64
        ]
      ],
      "encoding": "jpeg",
      "jpeg_quality": 80,
      "key": "k",
      "resolution": [
        4,
        4.5,
        1000000
      ],
      "size": [
        1,
        2,
        3
      ],
      "voxel_offset": [
        0,
        0,
        0
      ]
    }
  ],
  "type": "image"
}
)");
}

TEST(ToJson, IsReadBackEqual) {
  json root = ValidInfo();
  root["redirect"] = "r";
  root["mesh"] = "\u00e9\n";
  root["more"] = {1, 18446744073709551615u, 1e-9};
  root["scales"][0]["sharding"] = Sharding();
  root["scales"][0]["hidden"] = true;
  root["scales"][0]["resolution"] = {0.1, 1e-300, 9007199254740993.0};
  root["scales"][0]["png_level"] = 3;
  for (const char* encoding :
       {"raw", "jpeg", "png", "jxl", "compresso", "zfpc", "compressed_segmentation"}) {
    root["scales"][0]["encoding"] = encoding;
    root["scales"][0]["compressed_segmentation_block_size"] = {8, 8, 4};
    const VolumeInfo info = Parse(root);
    EXPECT_EQ(Parse(json::parse(ToJson(info))), info) << encoding;
  }
}

TEST(ToJson, DropsExtraMembersThatCameToMeanSomething) {
  VolumeInfo info = Parse(With("/scales/0/png_level", 3));
  EXPECT_THAT(info.scales[0].extra, ElementsAre(Pair("png_level", "3")));
  info.scales[0].encoding.encoding = Encoding::kPng;
  info.extra["data_type"] = "5";
  info.extra["broken"] = "{";
  const VolumeInfo again = Parse(json::parse(ToJson(info)));
  EXPECT_EQ(again.scales[0].encoding.png_level, EncodingSpec{}.png_level);
  EXPECT_THAT(again.extra, IsEmpty());
}

TEST(ResolveScaleKey, ResolvesByTextAsTensorStoreDoes) {
  const auto local = ParseLocation("a/b/c");
  ASSERT_TRUE(local);
  EXPECT_EQ(ResolveScaleKey(*local, "d").path, "a/b/c/d");
  EXPECT_EQ(ResolveScaleKey(*local, "../d").path, "a/b/d");
  EXPECT_EQ(ResolveScaleKey(*local, "../../d").path, "a/d");
  EXPECT_EQ(ResolveScaleKey(*local, "../../../d").path, "d");
  EXPECT_EQ(ResolveScaleKey(*local, "../../../../d").path, "../d");
  EXPECT_EQ(ResolveScaleKey(*local, "d/e/../f").path, "a/b/c/d/f");
  EXPECT_EQ(ResolveScaleKey({local->store, "/x"}, "../../d").path, "/d");
  EXPECT_EQ(ResolveScaleKey({local->store, "."}, "../d").path, "../d");
}

TEST(ResolveScaleKey, StaysOnTheHost) {
  const auto http = ParseLocation("https://host/a/b?token=x");
  ASSERT_TRUE(http);
  EXPECT_EQ(ResolveScaleKey(*http, "8_8_8").Describe(), "https://host/a/b/8_8_8");
  EXPECT_EQ(ResolveScaleKey(*http, "../8_8_8").Describe(), "https://host/a/8_8_8");
  EXPECT_EQ(ResolveScaleKey(*http, "../../../8_8_8").Describe(), "https://host/8_8_8");
  const auto root = ParseLocation("https://host/");
  ASSERT_TRUE(root);
  EXPECT_EQ(ResolveScaleKey(*root, "k").path, "k");
}

TEST(DefaultScaleKey, HasSixDigits) {
  EXPECT_EQ(DefaultScaleKey({8, 8, 8}), "8_8_8");
  EXPECT_EQ(DefaultScaleKey({4, 4, 32.5}), "4_4_32.5");
  EXPECT_EQ(DefaultScaleKey({0.1, 1e6, 1234567}), "0.1_1e+06_1.23457e+06");
}

}  // namespace
}  // namespace dolium::volume
