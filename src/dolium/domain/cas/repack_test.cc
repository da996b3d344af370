#include "dolium/domain/cas/repack.h"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/domain/cas/check.h"
#include "dolium/domain/cas/collect.h"
#include "dolium/domain/cas/restore.h"
#include "dolium/domain/cas/testing/store_fixture.h"

namespace dolium::cas {
namespace {

using std::chrono::seconds;
using testing::IsEmpty;

// A version of many files, of which another has a few.
class RepackTest : public StoreTest {
 protected:
  static constexpr uint64_t kFiles = 80;
  static constexpr uint64_t kSize = 250'000;

  void SetUp() override {
    StoreTest::SetUp();
    for (uint64_t i = 0; i < kFiles; ++i) {
      WriteText(path(fmt::format("all/{}", i)), RandomText(kSize, i));
    }
    for (const uint64_t i : {3, 40}) {
      WriteText(path(fmt::format("few/{}", i)), RandomText(kSize, i));
    }
    PutFolder("all");
    few_ = PutFolder("few");
    ASSERT_EQ(few_.totals.new_bytes < kSize, true);  // the manifest alone
    ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("all")));
  }
  Version PutFolder(const std::string& name) {
    PutOptions options;
    options.name = name;
    const auto version = Put(*store_, {path(name)}, options);
    EXPECT_TRUE(version) << version.error().message;
    return version ? *version : Version();
  }
  CollectReport Collect(CollectOptions options = {.grace = seconds(0)}) {
    const auto report = CollectGarbage(*store_, options);
    EXPECT_TRUE(report) << report.error().message;
    return report ? *report : CollectReport();
  }
  std::vector<std::string> Findings() {
    std::vector<std::string> findings;
    const auto report =
        CheckStore(*Reopen(), {.deep = true}, [&](const Finding& finding) {
          findings.push_back(finding.kind + " " + finding.message);
        });
    EXPECT_TRUE(report) << report.error().message;
    return findings;
  }
  uint64_t XorbBytes() {
    uint64_t bytes = 0;
    for (const auto& [name, text] : FilesBelow(path("store/xorbs"))) bytes += text.size();
    return bytes;
  }
  void ExpectFewRestores() {
    std::filesystem::remove_all(path("out"));
    const auto restored = Restore(*Reopen(), few_, path("out"), {});
    ASSERT_TRUE(restored) << restored.error().message;
    EXPECT_EQ(FilesBelow(path("out")), FilesBelow(path("few")));
  }

  Version few_;
};

TEST_F(RepackTest, LeavesLittleMoreThanWhatIsNeeded) {
  EXPECT_GT(XorbBytes(), kFiles * kSize);
  const uint64_t before = XorbBytes();
  const CollectReport dry = Collect({.grace = seconds(0), .dry_run = true});
  EXPECT_EQ(dry.repacked_xorbs, 1u);
  EXPECT_EQ(XorbBytes(), before);
  const CollectReport report = Collect();
  EXPECT_EQ(report.repacked_xorbs, 1u);
  EXPECT_EQ(report.removed_bytes, dry.removed_bytes);
  EXPECT_LT(XorbBytes(), 2 * kSize + 20'000);
  EXPECT_EQ(before - XorbBytes(), report.removed_bytes - report.copied_bytes);
  EXPECT_THAT(Findings(), IsEmpty());
  ExpectFewRestores();
  // Where chunks are now, a put finds them, in this process and in others.
  EXPECT_EQ(PutFolder("few").totals.new_bytes, 0u);
  store_ = Reopen();
  EXPECT_EQ(PutFolder("few").totals.new_bytes, 0u);
  EXPECT_EQ(Collect().repacked_xorbs, 0u);
}

TEST_F(RepackTest, JoinsWhatIsNeededOfSeveralXorbs) {
  for (uint64_t i = 0; i < 10; ++i) {
    WriteText(path(fmt::format("more/{}", i)), RandomText(kSize, 1000 + i));
  }
  PutFolder("more");
  WriteText(path("few/more"), RandomText(kSize, 1004));
  few_ = PutFolder("few");
  ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("more")));
  ASSERT_TRUE(RemoveVersions(store_->layout(), *ParseReference("few@1")));
  EXPECT_EQ(Collect().repacked_xorbs, 2u);
  // One for the files, one for the manifest.
  EXPECT_EQ(FilesBelow(path("store/xorbs")).size(), 2u);
  EXPECT_THAT(Findings(), IsEmpty());
  ExpectFewRestores();
}

TEST_F(RepackTest, KeepsWhatIsYoungOrNeverToBeRepacked) {
  const auto before = FilesBelow(path("store/xorbs"));
  EXPECT_EQ(Collect({.grace = std::chrono::hours(1)}).repacked_xorbs, 0u);
  EXPECT_EQ(Collect({.grace = seconds(0), .repack_below = 0}).repacked_xorbs, 0u);
  EXPECT_EQ(Collect({.grace = seconds(0), .repack_below = 2}).repacked_xorbs, 0u);
  EXPECT_EQ(FilesBelow(path("store/xorbs")), before);
}

TEST_F(RepackTest, KeepsWhatALivingReaderReads) {
  auto lease = *store_->TakeLease();
  std::optional<xet::Hash> hash;
  ASSERT_TRUE(
      store_->VisitManifest(few_, *lease, [&](ManifestEntry entry) -> Result<void> {
        if (entry.type == EntryType::kFile) hash = entry.hash;
        return {};
      }));
  const auto file = *store_->OpenCovered(*hash);
  EXPECT_EQ(Collect().repacked_xorbs, 0u);
  ByteVector bytes(kSize);
  ASSERT_TRUE(file->Read(0, bytes));
  EXPECT_THAT(Findings(), IsEmpty());
  lease.reset();
  EXPECT_EQ(Collect().repacked_xorbs, 1u);
  ExpectFewRestores();
}

TEST_F(RepackTest, KeepsWhatALivingPutReliesOn) {
  auto lease = *store_->TakeLease();
  for (const auto& [name, text] : FilesBelow(path("store/xorbs"))) {
    const auto xorb = xet::ParseHash(name.substr(3, 64));
    ASSERT_TRUE(xorb) << name;
    ASSERT_TRUE(lease->Note(Pin::kXorb, *xorb));
  }
  EXPECT_EQ(Collect().repacked_xorbs, 0u);
  lease.reset();
  EXPECT_EQ(Collect().repacked_xorbs, 1u);
}

// A version that came while chunks were copied, and that needs others.
TEST_F(RepackTest, KeepsWhatAnotherVersionNeedsMeanwhile) {
  bool is_put = false;
  CollectOptions options{.grace = seconds(0)};
  WriteText(path("new/file"), RandomText(kSize, 7));
  options.progress = [&](const Progress&) {
    if (!std::exchange(is_put, true)) PutFolder("new");
  };
  EXPECT_EQ(Collect(options).repacked_xorbs, 0u);
  ASSERT_TRUE(is_put);
  EXPECT_THAT(Findings(), IsEmpty());
  EXPECT_EQ(PutFolder("new").totals.new_bytes, 0u);
  ExpectFewRestores();
  EXPECT_EQ(Collect().repacked_xorbs, 1u);
  EXPECT_THAT(Findings(), IsEmpty());
}

TEST_F(RepackTest, DoesNotCopyDamage) {
  for (const auto& [name, text] : FilesBelow(path("store/xorbs"))) {
    if (text.size() < kSize * kFiles) continue;
    std::string damaged = text;
    for (size_t at = 100; at < kSize * kFiles; at += 50'000) damaged[at] ^= 1;
    WriteText(path("store/xorbs/" + name), damaged);
  }
  const auto before = FilesBelow(path("store/xorbs"));
  store_ = Reopen();
  EXPECT_EQ(Collect().repacked_xorbs, 0u);
  EXPECT_EQ(FilesBelow(path("store/xorbs")), before);
}

}  // namespace
}  // namespace dolium::cas
