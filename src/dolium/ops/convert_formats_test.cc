// Conversions between the formats of this build.
#include <fstream>
#include <map>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include "dolium/container/read_entry.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/convert.h"
#include "dolium/ops/testing/convert_fixture.h"

namespace dolium {
namespace {

using Texts = std::map<std::string, std::string>;

class ConvertFormatsTest : public testing::Test {
 protected:
  void SetUp() override {
    std::mt19937_64 random(3);
    fs::create_directory(Path("files"));
    for (int i = 0; i < 300; ++i) {
      const std::string key = std::to_string(random() >> (random() % 60));
      std::string value(random() % 3000, '\0');
      for (char& c : value) c = static_cast<char>(random() % 7);
      std::ofstream(Path("files/" + key), std::ios::binary) << value;
      values_[key] = value;
    }
  }

  std::string Path(const std::string& name) const { return folder_.path() + "/" + name; }

  ConvertReport Run(const std::string& from, const std::string& to,
                    const std::string& format, const std::string& spec = "") {
    ConvertRequest request;
    request.source = Path(from);
    request.target = Path(to);
    request.target_format = format;
    if (!spec.empty()) request.target_spec = spec;
    RunOptions options;
    options.writer.jobs = 2;
    return Must(Convert(BuiltinFormats(), request, options));
  }

  Texts Read(const std::string& name) const {
    const Location location = Must(ParseLocation(Path(name)));
    const auto container = Must(OpenContainer(BuiltinFormats(), location, "", {}));
    Texts values;
    ScanVisitor visitor;
    visitor.entry = [&](const Entry& entry) {
      const EntryData data = Must(ReadEntry(container->store(), entry));
      values[entry.key] = std::string(AsText(data.value));
      return true;
    };
    Must(Scan(*container, visitor));
    return values;
  }

  const TemporaryFolder folder_{QuickFolder()};
  Texts values_;
};

TEST_F(ConvertFormatsTest, ValuesSurviveTheWayThroughShardsAndBack) {
  const ConvertReport sharded = Run("files", "sharded", "neuroglancer");
  EXPECT_EQ(sharded.written.entries, values_.size());
  EXPECT_EQ(Read("sharded"), values_);

  // Resharding: other hash, codecs and bits.
  const std::string spec = R"({"@type": "neuroglancer_uint64_sharded_v1",
      "preshift_bits": 2, "hash": "murmurhash3_x86_128", "minishard_bits": 2,
      "shard_bits": 3, "minishard_index_encoding": "gzip", "data_encoding": "gzip"})";
  const ConvertReport resharded = Run("sharded", "resharded", "", spec);
  EXPECT_EQ(resharded.written.entries, values_.size());
  EXPECT_EQ(resharded.parts, 8u);
  EXPECT_EQ(Read("resharded"), values_);

  const ConvertReport back = Run("resharded", "back", "files");
  EXPECT_EQ(back.written.entries, values_.size());
  EXPECT_EQ(Read("back"), values_);
  EXPECT_FALSE(fs::exists(Path("back/.dolium-plan")));
  EXPECT_FALSE(fs::exists(Path("back/.dolium-unfinished")));
}

}  // namespace
}  // namespace dolium
