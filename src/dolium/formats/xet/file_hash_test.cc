#include "dolium/formats/xet/file_hash.h"

#include <sys/stat.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/formats/xet/testing/vectors.h"

namespace dolium::xet {
namespace {

using ::testing::HasSubstr;

class HashFileTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, BytesView bytes) const {
    std::string path = folder_.path() + "/" + name;
    std::ofstream(path, std::ios::binary) << AsText(bytes);
    return path;
  }

  TemporaryFolder folder_;
};

std::string HexOf(const Sha256Value& value) { return ToString(Sha256Field(value)); }

TEST_F(HashFileTest, GivesTheNamesOfTheVectors) {
  const auto name_of = [&](BytesView bytes) {
    return ToString(HashFile(Write("f", bytes)).value().hash);
  };
  EXPECT_EQ(name_of(Text("Hello World!")),
            "a9dae0ad88b060bdd7e7c87abdcf95b132c95a0414b06d4f6beb68d287b87165");
  EXPECT_EQ(name_of(SplitMix(0, 1000000)),
            "3d17b2d7d64a0e011b6717a52d9a16bd2c3f05b743fa8adf52a7d75dafab6d89");
  EXPECT_EQ(name_of(Repeated(59, 1000000)),
            "53f845640fcd1c7440befff65bd93434c83a30c6559a705597d61f2ef64e2f88");
  EXPECT_EQ(name_of({}), std::string(64, '0'));
}

TEST_F(HashFileTest, GivesTheSameHoweverItReads) {
  // Several windows; the first ends within a chunk, whose bytes go on in the next.
  const ByteVector data = SplitMix(5, 70000001);
  const std::string path = Write("large", data);
  FileHasher stream(/*with_sha256=*/true);
  for (size_t at = 0; at < data.size(); at += 70001) {
    stream.Write(BytesView(data).subspan(at, std::min<size_t>(70001, data.size() - at)));
  }
  const HashedFile expected = stream.Finish();
  EXPECT_EQ(expected.hash, FileHash(ChunkAndHash(data, {.jobs = 1}).value()));
  EXPECT_EQ(expected.size, data.size());
  for (const size_t jobs : {1U, 2U, 5U}) {
    const auto hashed = HashFile(path, {.with_sha256 = true, .jobs = jobs});
    ASSERT_TRUE(hashed) << hashed.error().message;
    EXPECT_EQ(hashed->hash, expected.hash);
    EXPECT_EQ(hashed->size, data.size());
    EXPECT_EQ(hashed->sha256, expected.sha256);
  }
}

TEST_F(HashFileTest, GivesSha256Beside) {
  const auto hashed =
      HashFile(Write("f", Text("Hello World!")), {.with_sha256 = true}).value();
  EXPECT_EQ(HexOf(hashed.sha256.value()),
            "7f83b1657ff1fc53b92dc18148a1d65dfc2d4b1fa3d677284addd200126d9069");
  EXPECT_EQ(HexOf(HashFile(Write("e", {}), {.with_sha256 = true}).value().sha256.value()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_FALSE(HashFile(Write("f", Text("Hello World!"))).value().sha256);
}

TEST_F(HashFileTest, TakesSalt) {
  const std::string path = Write("f", Text("Hello World!"));
  const Hash salt = ChunkHash(Text("salt"));
  EXPECT_EQ(HashFile(path, {.salt = salt}).value().hash,
            FileHashOfRoot(ChunkHash(Text("Hello World!")), salt));
  EXPECT_TRUE(HashFile(Write("e", {}), {.salt = salt}).value().hash.is_zero());
}

TEST_F(HashFileTest, ReadsPipes) {
  const std::string path = folder_.path() + "/pipe";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  const ByteVector data = SplitMix(1, 500000);
  const std::jthread writer(
      [&] { std::ofstream(path, std::ios::binary) << AsText(data); });
  const auto hashed = HashFile(path);
  ASSERT_TRUE(hashed) << hashed.error().message;
  EXPECT_EQ(hashed->hash, FileHash(ChunkAndHash(data).value()));
}

TEST_F(HashFileTest, NamesWhatItCannotRead) {
  const auto absent = HashFile(folder_.path() + "/absent");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(absent.error().message, HasSubstr("/absent"));
  const auto folder = HashFile(folder_.path());
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr(folder_.path()));
}

TEST_F(HashFileTest, HashesManyEachWithItsOwnResult) {
  std::vector<std::string> paths;
  std::vector<ByteVector> contents;
  for (size_t i = 0; i < 70; ++i) {
    contents.push_back(SplitMix(i, i % 20 == 7 ? 5000000 + i : i * 1000));
    paths.push_back(Write(std::to_string(i), contents.back()));
  }
  paths[33] = folder_.path() + "/absent";
  const auto hashed = HashFiles(paths, {.jobs = 3});
  ASSERT_EQ(hashed.size(), paths.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    if (i == 33) {
      EXPECT_FALSE(hashed[i]);
      continue;
    }
    ASSERT_TRUE(hashed[i]) << hashed[i].error().message;
    EXPECT_EQ(hashed[i]->hash, FileHash(ChunkAndHash(contents[i]).value()));
    EXPECT_EQ(hashed[i]->size, contents[i].size());
  }
}

TEST_F(HashFileTest, SaysIfAFileBecameShorterMeanwhile) {
  constexpr size_t kSize = size_t{40} << 20;
  const std::string file = Write("shrinking", Repeated(120, kSize));
  std::jthread other([&](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::filesystem::resize_file(file, 0);
      std::filesystem::resize_file(file, kSize);
    }
  });
  while (true) {
    const auto hashed = HashFile(file);
    if (hashed) continue;
    EXPECT_EQ(hashed.error().code, ErrorCode::kConflict);
    EXPECT_EQ(hashed.error().message, file + ": became shorter while it was read");
    break;
  }
}

TEST_F(HashFileTest, StopsWhenItIsTold) {
  std::stop_source stop;
  stop.request_stop();
  const HashFileOptions options{.with_sha256 = true, .stop = stop.get_token()};
  for (const size_t size : {1000U, 9000000U}) {
    const auto hashed = HashFile(Write("f", SplitMix(2, size)), options);
    ASSERT_FALSE(hashed);
    EXPECT_EQ(hashed.error().code, ErrorCode::kCancelled);
  }
}

}  // namespace
}  // namespace dolium::xet
