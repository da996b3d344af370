// Shards that come into a store and go out of it.
#include "dolium/domain/cas/exchange.h"

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/bytes/file_store.h"
#include "dolium/domain/cas/check.h"
#include "dolium/domain/cas/collect.h"
#include "dolium/domain/cas/export.h"
#include "dolium/domain/cas/testing/export_shard.h"
#include "dolium/domain/cas/testing/store_fixture.h"
#include "dolium/formats/xet/mdb_check.h"

namespace dolium::cas {
namespace {

using testing::HasSubstr;

class ExchangeTest : public StoreTest {
 protected:
  // The shard of all that is in a store.
  static ByteVector ShardOf(const CasStore& store, bool is_upload) {
    const auto lease = store.TakeLease().value();
    const ExportList list = ListExport(store, {}, *lease).value();
    auto shard = MakeExportShard(store, *lease, list.files, is_upload);
    EXPECT_TRUE(shard) << shard.error().message;
    return shard ? *std::move(shard) : ByteVector();
  }

  // Another store, with the files of a shard.
  Result<Version> Import(BytesView shard, const std::string& store) {
    WriteText(path("in.mdb"), AsText(shard));
    const std::string folder = path(store);
    if (!std::filesystem::exists(folder)) {
      EXPECT_TRUE(InitStore(folder));
    }
    ExchangeReport report;
    return ImportShard(*CasStore::Open(folder).value(), path("in.mdb"),
                       {.name = "in", .xorbs = path("xorbs")}, report);
  }

  static Sha256Value DigestOf(std::string_view text) {
    Sha256 digest;
    digest.Update(AsBytes(text));
    return digest.Finish();
  }

  static xet::FileBlock OnlyFile(BytesView shard) {
    return xet::ShardView::Open(shard)->files().Next().value().value();
  }
};

// Runs `work` again and again while the files are cut short, each many times during each
// run, and are made whole again. Files of others may be: a map of one would end the
// process.
void WhileCutShort(const std::vector<std::string>& files,
                   const std::function<void()>& work) {
  std::vector<std::string> texts;
  for (const std::string& file : files) texts.push_back(ReadText(file));
  std::atomic<bool> is_over = false;
  std::thread cutter([&] {
    for (size_t i = 0; !is_over; i = (i + 1) % files.size()) {
      std::filesystem::resize_file(files[i], 0);
      WriteText(files[i], texts[i]);
      // So that runs also come to their end.
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
  });
  for (int run = 0; run < 20; ++run) work();
  is_over = true;
  cutter.join();
}

TEST_F(ExchangeTest, ImportsWhatIsCutShortAsDamaged) {
  const std::string text = RandomText(4'000'000, 31);
  PutText("file", text);
  ASSERT_TRUE(ExportShard(*store_, path("in.mdb"), path("xorbs")));
  std::vector<std::string> files = {path("in.mdb")};
  for (const auto& [name, bytes] : FilesBelow(path("xorbs"))) {
    files.push_back(path("xorbs/") + name);
  }
  int number = 0;
  WhileCutShort(files, [&] {
    const std::string store = path("store" + std::to_string(++number));
    ASSERT_TRUE(InitStore(store));
    ExchangeReport report;
    const auto opened = CasStore::Open(store).value();
    const auto imported = ImportShard(*opened, path("in.mdb"),
                                      {.name = "in", .xorbs = path("xorbs")}, report);
    if (!imported) {
      EXPECT_EQ(imported.error().code, ErrorCode::kCorrupt) << imported.error().message;
    }
  });
}

TEST_F(ExchangeTest, AnExportedXorbThatIsCutShortIsNotTheXorb) {
  PutText("file", RandomText(4'000'000, 32));
  ASSERT_TRUE(ExportShard(*store_, path("out.mdb"), path("xorbs")));
  const auto xorbs = FilesBelow(path("xorbs"));
  ASSERT_EQ(xorbs.size(), 1U);
  WhileCutShort({path("xorbs/") + xorbs.begin()->first}, [&] {
    const auto again = ExportShard(*store_, path("out.mdb"), path("xorbs"));
    if (!again) {
      EXPECT_EQ(again.error().code, ErrorCode::kExists) << again.error().message;
    }
  });
}

TEST_F(ExchangeTest, AnUploadHasTheSha256OfEveryFileAndNoFooter) {
  const std::string text = RandomText(300000, 1);
  const Version version = PutText("file", text);
  const ByteVector upload = ShardOf(*store_, true);
  const auto view = xet::ShardView::Open(upload).value();
  EXPECT_FALSE(view.footer());
  EXPECT_TRUE(CheckShard(view));
  const xet::FileBlock file = OnlyFile(upload);
  EXPECT_EQ(file.hash(), version.hash);
  ASSERT_TRUE(file.sha256());
  EXPECT_EQ(xet::Sha256Digest(*file.sha256()), DigestOf(text));
  EXPECT_TRUE(file.has_verification());
  // The chunk that the file begins with may be asked for.
  const auto xorb = view.xorbs().Next().value().value();
  for (size_t i = 0; i < xorb.size(); ++i) {
    EXPECT_EQ(xorb.chunk(i).flags, i == 0 ? xet::kGloballyEligible : 0) << i;
  }
}

TEST_F(ExchangeTest, AnUploadWhoseHeaderAnnouncesAFooterIsImported) {
  const std::string text = RandomText(300000, 1);
  const Version version = PutText("file", text);
  ASSERT_TRUE(ExportShard(*store_, path("out.mdb"), path("xorbs")));
  ByteVector upload = ShardOf(*store_, true);
  StoreLE(upload.data() + 40, xet::kShardFooterSize);
  const auto imported = Import(upload, "other");
  ASSERT_TRUE(imported) << imported.error().message;
  const auto other = CasStore::Open(path("other")).value();
  const auto lease = other->TakeLease().value();
  const auto file = other->OpenFile(version.hash, *lease);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ((*file)->size(), text.size());
  // Cut short, it is no upload.
  const auto cut = Import(BytesView(upload).first(upload.size() - 48), "third");
  EXPECT_THAT(cut.error().message, HasSubstr("is it complete?"));
}

TEST_F(ExchangeTest, TheSha256IsKeptByImportGcAndExport) {
  const std::string text = RandomText(300000, 1);
  PutText("file", text);
  ASSERT_TRUE(ExportShard(*store_, path("out.mdb"), path("xorbs")));
  EXPECT_FALSE(OnlyFile(ShardOf(*store_, false)).has_metadata());
  ASSERT_TRUE(Import(ShardOf(*store_, true), "other"));
  auto other = CasStore::Open(path("other")).value();
  const auto kept = [&] {
    const ByteVector shard = ShardOf(*other, false);
    std::optional<Sha256Value> found;
    EXPECT_TRUE(xet::ShardView::Open(shard)->Scan(
        {.file = [&](const xet::FileBlock& file) -> Result<void> {
          if (file.sha256()) found = xet::Sha256Digest(*file.sha256());
          return {};
        }}));
    return found;
  };
  EXPECT_EQ(kept(), DigestOf(text));
  CollectOptions collect;
  collect.grace = std::chrono::seconds(0);
  ASSERT_TRUE(CollectGarbage(*other, collect));
  other = CasStore::Open(path("other")).value();
  EXPECT_EQ(kept(), DigestOf(text));
}

// A put that comes first lists the file without a digest.
TEST_F(ExchangeTest, TheSha256IsFoundWhicheverShardHasIt) {
  const std::string text = RandomText(300000, 1);
  PutText("file", text);
  ASSERT_TRUE(ExportShard(*store_, path("out.mdb"), path("xorbs")));
  WriteText(path("in.mdb"), AsText(ShardOf(*store_, true)));
  ExchangeReport report;
  ASSERT_TRUE(ImportShard(*Reopen(), path("in.mdb"), {.name = "in"}, report));
  const ByteVector shard = ShardOf(*Reopen(), false);
  bool is_found = false;
  ASSERT_TRUE(xet::ShardView::Open(shard)->Scan(
      {.file = [&](const xet::FileBlock& file) -> Result<void> {
        is_found |= file.sha256() && xet::Sha256Digest(*file.sha256()) == DigestOf(text);
        return {};
      }}));
  EXPECT_TRUE(is_found);
}

TEST_F(ExchangeTest, AWrongSha256IsRefusedAndFound) {
  PutText("file", RandomText(300000, 1));
  ASSERT_TRUE(ExportShard(*store_, path("out.mdb"), path("xorbs")));
  ByteVector upload = ShardOf(*store_, true);
  const xet::FileBlock file = OnlyFile(upload);
  const size_t at = 48 + (1 + 2 * file.size()) * xet::kRecordSize;
  upload[at] ^= std::byte{1};
  const auto imported = Import(upload, "other");
  EXPECT_THAT(imported.error().message, HasSubstr("its SHA-256 is "));
  EXPECT_EQ(imported.error().code, ErrorCode::kCorrupt);
  // One that got into a store all the same.
  ByteVector shard = ShardOf(*store_, false);
  std::vector<xet::FileInfo> files = {xet::InfoOf(OnlyFile(shard))};
  files[0].sha256 = OnlyFile(upload).sha256();
  const auto view = xet::ShardView::Open(shard).value();
  const std::vector<xet::XorbInfo> xorbs = {xet::InfoOf(*view.xorbs().Next().value())};
  const ByteVector wrong = xet::WriteShard(files, xorbs, {}).value();
  for (const auto& [name, bytes] : FilesBelow(path("store/shards"))) {
    std::filesystem::remove(path("store/shards/") + name);
  }
  WriteText(path("store/shards/") + ToString(xet::ChunkHash(wrong)) + ".mdb",
            AsText(wrong));
  std::vector<Finding> findings;
  const auto check = [&](bool deep) {
    findings.clear();
    CheckOptions options;
    options.deep = deep;
    return CheckStore(*Reopen(), options,
                      [&](const Finding& finding) { findings.push_back(finding); });
  };
  ASSERT_TRUE(check(false));
  EXPECT_TRUE(findings.empty());
  ASSERT_TRUE(check(true));
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].kind, "damaged_file");
  EXPECT_THAT(findings[0].message, HasSubstr("its SHA-256 is "));
}

}  // namespace
}  // namespace dolium::cas
