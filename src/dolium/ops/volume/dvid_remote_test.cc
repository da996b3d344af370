// Exports behind a server that cannot list: found by their spec, and read with few
// requests.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/http_test_server.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/container/testing/must.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/builtin.h"
#include "dolium/formats/dvid/testing/blocks.h"
#include "dolium/ops/list.h"
#include "dolium/ops/source/source.h"
#include "dolium/ops/volume/dvid_write.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium::volume {
namespace {

using testing::HasSubstr;

class RemoteExportTest : public testing::Test {
 protected:
  RemoteExportTest() {
    for (const dvid::Key& key : std::vector<dvid::Key>{{0, 0, 0}, {1, 1, 0}, {5, 2, 3}}) {
      blocks_.push_back({key, dvid::TestVoxels(static_cast<uint64_t>(key[0]), 40)});
    }
    dvid::WriteTestShard(At("made/s0/0_0_0.arrow"), blocks_);
    DvidWriteRequest write;
    write.source = Text("made");
    write.target = Text("export");
    write.shard_side = 192;
    Must(WriteDvidExport(write, {}));
  }

  Location At(const std::string& name) const { return Must(ParseLocation(Text(name))); }
  std::string Text(const std::string& name) const { return folder_.path() + "/" + name; }
  std::string Url(const std::string& name) const { return server_.origin() + "/" + name; }

  std::map<std::string, std::string> Files(const std::string& name) const {
    std::map<std::string, std::string> files;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(Text(name))) {
      if (!entry.is_regular_file()) continue;
      const Location file = Must(ParseLocation(entry.path().string()));
      files[entry.path().lexically_relative(Text(name))] =
          std::string(AsText(Must(file.store->ReadWhole(file.path, 1 << 30)).bytes));
    }
    return files;
  }

  void Serve(const std::string& name) {
    for (const auto& [file, bytes] : Files(name)) {
      server_.Put("/" + name + "/" + file, {bytes, "\"1\"", "", ""});
    }
  }

  std::vector<dvid::TestBlock> blocks_;
  HttpTestServer server_;
  const TemporaryFolder folder_;
};

TEST_F(RemoteExportTest, ABlockOfAShardTakesFewRequests) {
  Serve("made");
  const auto source = Must(
      OpenSource(BuiltinFormats(), Must(ParseLocation(Url("made/s0/0_0_0.arrow"))), {}));
  const Container* const entries = Must(source->entries());
  const EntryData data = Must(Cat(*entries, "1_1_0", /*raw=*/false));
  EXPECT_TRUE(Equal(data.value, dvid::EncodeBlock(dvid::kTestGrid, blocks_[1].voxels)));
  std::vector<std::string> asked;
  for (const ServedRequest& request : server_.requests()) {
    asked.push_back(request.method + " " + request.target + " " +
                    request.header("range"));
  }
  // Nobody looks for what else it could be.
  EXPECT_LE(asked.size(), 6U) << testing::PrintToString(asked);
  const auto of_shard = [](const std::string& request) {
    return request.find("0_0_0.arrow ") != std::string::npos;
  };
  // What it is; its end, its begin; the row, with index and payload.
  EXPECT_EQ(std::ranges::count_if(asked, of_shard), 4) << testing::PrintToString(asked);
}

TEST_F(RemoteExportTest, IsOpenedByItsSpec) {
  Serve("export");
  const auto source = Must(
      OpenSource(BuiltinFormats(), Must(ParseLocation(Url("export/spec.json"))), {}));
  EXPECT_EQ(source->kind(), "DVID export");
  const Container* const entries = Must(source->entries());
  std::vector<std::string> keys;
  ScanVisitor visitor;
  visitor.entry = [&](const Entry& entry) {
    keys.push_back(entry.key);
    return true;
  };
  Must(List(*entries, visitor));
  EXPECT_THAT(keys, testing::UnorderedElementsAre("s0/0_0_0", "s0/1_1_0", "s0/5_2_3"));

  for (const std::string& name : {Url("export"), Url("export/spec.json"), Text("export"),
                                  Text("export/spec.json")}) {
    TranscodeRequest request;
    request.source = name;
    request.target = Text("copy");
    Must(RunPlan(BuiltinFormats(), Must(PlanTranscode(request)), {}));
    const auto copy = Files("copy");
    if (name == Url("export")) std::filesystem::rename(Text("copy"), Text("first"));
    EXPECT_TRUE(copy == Files("first")) << name;
    std::filesystem::remove_all(Text("copy"));
  }
  EXPECT_EQ(Must(Must(Volume::Open(At("first"))).OpenScale(0))->bounds().end,
            (Vec3{384, 192, 256}));
}

TEST_F(RemoteExportTest, SaysWhatASpecLacks) {
  server_.Put("/open/spec.json",
              {R"({"scales": [{"size": [64, 64, 64]}]})", "\"1\"", "", ""});
  const auto open =
      OpenSource(BuiltinFormats(), Must(ParseLocation(Url("open/spec.json"))), {});
  const auto entries = open ? (*open)->entries() : Result<const Container*>(open.error());
  ASSERT_FALSE(entries);
  EXPECT_EQ(entries.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(entries.error().message,
              HasSubstr("the spec does not say how large shards are"));
}

}  // namespace
}  // namespace dolium::volume
