#include "dolium/bytes/cached_store.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/bytes/default_cache.h"
#include "dolium/bytes/location.h"
#include "dolium/bytes/memory_store.h"
#include "dolium/bytes/testing/http_test_server.h"
#include "dolium/bytes/testing/object_store_double.h"
#include "dolium/bytes/testing/store_suite.h"
#include "dolium/bytes/testing/temporary_folder.h"

namespace dolium {
namespace {

namespace fs = std::filesystem;
using std::chrono::hours;
using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr uint64_t kKiB = 1024;

std::shared_ptr<Store> SuiteStore(milliseconds max_age) {
  struct Held {
    TemporaryFolder folder;
    std::shared_ptr<CachedStore> store;
  };
  auto held = std::make_shared<Held>();
  CacheOptions options;
  options.folder = held->folder.path();
  options.max_age = max_age;
  held->store = *CachedStore::Open(std::make_shared<MemoryStore>(), "memory", options);
  return {held, held->store.get()};
}

INSTANTIATE_TEST_SUITE_P(
    Cached, StoreSuite,
    testing::Values(MakeStoreCase("AskedEachTime", [] { return SuiteStore({}); }),
                    MakeStoreCase("AskedOnce", [] { return SuiteStore(hours(1)); })),
    StoreCaseName);

// Bytes that show where they are from.
std::string TextOf(uint64_t seed, size_t size) {
  std::string text(size, '\0');
  std::mt19937_64 random(seed);
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

// Files below `folder` that hold values.
std::vector<fs::path> ValuesIn(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code ignored;
  for (auto at = fs::recursive_directory_iterator(folder, ignored);
       at != fs::recursive_directory_iterator(); at.increment(ignored)) {
    if (at->is_regular_file(ignored) && at->path().filename() != "usage") {
      files.push_back(at->path());
    }
  }
  return files;
}

uint64_t BytesIn(const std::string& folder) {
  uint64_t sum = 0;
  for (const fs::path& file : ValuesIn(folder)) {
    std::error_code ignored;
    const uint64_t size = fs::file_size(file, ignored);
    if (!ignored) sum += size;
  }
  return sum;
}

class CachedStoreTest : public testing::Test {
 protected:
  void SetUp() override {
    options_.folder = folder_.path() + "/cache";
    options_.limit = 64 << 20;
    options_.max_age = milliseconds(0);
    Put("o", text_);
    Reopen();
  }
  void Put(std::string_view object, std::string_view text) {
    ASSERT_TRUE(server_->Put(object, AsBytes(text), Precondition::None()));
  }
  // As another process would.
  void Reopen() {
    auto store = CachedStore::Open(server_, "https://host?token=secret", options_);
    ASSERT_TRUE(store) << store.error().message;
    store_ = *store;
  }
  void Break() {
    server_->set_fault_hook([](auto, auto) { return ObjectService::Fault::kRefused; });
  }
  std::string Read(uint64_t offset, uint64_t length,
                   const ReadOptions& options = {}) const {
    const auto bytes = store_->ReadRange("o", {offset, length}, options);
    if (!bytes) return "error: " + bytes.error().message;
    return std::string(AsText(*bytes));
  }
  // How many calls of the server `work` takes.
  uint64_t Calls(const std::function<void()>& work) const {
    const uint64_t before = server_->calls();
    work();
    return server_->calls() - before;
  }

  TemporaryFolder folder_;
  const std::string text_ = TextOf(1, 1'000'000);
  std::shared_ptr<ObjectStoreDouble> server_ = std::make_shared<ObjectStoreDouble>();
  CacheOptions options_;
  std::shared_ptr<CachedStore> store_;
};

TEST_F(CachedStoreTest, ReadsWhatIsKeptWithoutTheServer) {
  options_.max_age = hours(1);
  Reopen();
  EXPECT_EQ(Read(70'000, 5000), text_.substr(70'000, 5000));
  EXPECT_EQ(Calls([&] { EXPECT_EQ(Read(66'000, 64'000), text_.substr(66'000, 64'000)); }),
            0U);
  // Another process asks once whether it is the same still.
  Reopen();
  EXPECT_EQ(Calls([&] {
              EXPECT_EQ(Read(66'000, 64'000), text_.substr(66'000, 64'000));
              EXPECT_EQ(Read(65'536, 10), text_.substr(65'536, 10));
            }),
            1U);
  // The last block is shorter.
  EXPECT_EQ(Read(999'990, 10), text_.substr(999'990));
  EXPECT_EQ(Calls([&] { EXPECT_EQ(Read(999'000, 1000), text_.substr(999'000)); }), 0U);
}

TEST_F(CachedStoreTest, FetchesTheBlocksOfASmallReadAndNoMore) {
  uint64_t fetched = 0;
  class Watched final : public Store {
   public:
    Watched(std::shared_ptr<Store> store, uint64_t& fetched)
        : store_(std::move(store)), fetched_(fetched) {}
    std::string Describe(std::string_view o) const override {
      return store_->Describe(o);
    }
    Result<std::optional<ObjectInfo>> Stat(std::string_view o) const override {
      return store_->Stat(o);
    }
    Result<void> List(std::string_view f, const ListVisitor& v) const override {
      return store_->List(f, v);
    }
    Result<ObjectInfo> ReadInto(std::string_view o, std::span<const ReadSlice> slices,
                                const ReadOptions& options) const override {
      for (const ReadSlice& slice : slices) fetched_ += slice.into.size();
      return store_->ReadInto(o, slices, options);
    }
    Result<WholeObject> ReadWhole(std::string_view o, uint64_t limit) const override {
      return store_->ReadWhole(o, limit);
    }
    Result<std::unique_ptr<ObjectWriter>> Begin(std::string_view o) override {
      return store_->Begin(o);
    }
    Result<void> Remove(std::string_view o, const Precondition& p) override {
      return store_->Remove(o, p);
    }

   private:
    const std::shared_ptr<Store> store_;
    uint64_t& fetched_;
  };
  store_ = *CachedStore::Open(std::make_shared<Watched>(server_, fetched), "x", options_);
  EXPECT_EQ(Read(100, 4096), text_.substr(100, 4096));
  EXPECT_EQ(fetched, 64 * kKiB);
  EXPECT_EQ(Read(65'530, 10), text_.substr(65'530, 10));
  EXPECT_EQ(fetched, 128 * kKiB);
}

TEST_F(CachedStoreTest, DeliversOneGenerationWhenTheServerHasAnother) {
  const Generation first = (*store_->Stat("o"))->generation;
  EXPECT_EQ(Read(0, 100'000), text_.substr(0, 100'000));
  const std::string other = TextOf(2, 1'000'000);
  Put("o", other);
  // Asked each time: the old blocks are there, and not served.
  EXPECT_EQ(Read(0, 200'000), other.substr(0, 200'000));
  EXPECT_THAT(Read(0, 10, {first}), HasSubstr("changed since"));
  // Not asked for an hour: what is fetched beside old blocks shows that it is another.
  options_.max_age = hours(1);
  Reopen();
  EXPECT_EQ(Read(0, 100'000), other.substr(0, 100'000));
  const Generation second = (*store_->Stat("o"))->generation;
  Put("o", text_);
  EXPECT_EQ(Read(0, 100'000), other.substr(0, 100'000));
  EXPECT_THAT(Read(0, 400'000, {second}), HasSubstr("changed since"));
  EXPECT_EQ(Read(0, 400'000), text_.substr(0, 400'000));
  // An object that grew is not taken for too short.
  Put("o", text_ + other);
  EXPECT_EQ(Read(1'500'000, 100), other.substr(500'000, 100));
}

TEST_F(CachedStoreTest, KeepsWholeObjectsAndTails) {
  Put("info", "{}");
  for (int i = 0; i < 2; ++i) {
    const auto whole = store_->ReadWhole("info", 100);
    ASSERT_TRUE(whole) << whole.error().message;
    EXPECT_EQ(AsText(whole->bytes), "{}");
  }
  EXPECT_EQ(store_->ReadWhole("info", 1).error().code, ErrorCode::kCorrupt);
  Put("info", "{1}");
  EXPECT_EQ(AsText(store_->ReadWhole("info", 100)->bytes), "{1}");

  const auto cold = store_->ReadSuffix("o", 70'000);
  ASSERT_TRUE(cold) << cold.error().message;
  EXPECT_EQ(AsText(cold->bytes), text_.substr(930'000));
  EXPECT_EQ(cold->info.size, 1'000'000U);
  options_.max_age = hours(1);
  Reopen();
  EXPECT_EQ(Calls([&] {
              const auto warm = store_->ReadSuffix("o", 70'000);
              ASSERT_TRUE(warm) << warm.error().message;
              EXPECT_EQ(AsText(warm->bytes), text_.substr(930'000));
            }),
            1U);
}

TEST_F(CachedStoreTest, SaysThatTheServerIsAway) {
  EXPECT_EQ(Read(0, 10), text_.substr(0, 10));
  Break();
  const auto read = store_->ReadRange("o", {0, 10});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kUnavailable);
}

TEST_F(CachedStoreTest, ServesWhatItKeepsOffline) {
  Put("info", "{}");
  EXPECT_EQ(Read(0, 100'000), text_.substr(0, 100'000));
  ASSERT_TRUE(store_->ReadWhole("info", 100));
  EXPECT_FALSE(store_->Stat("absent")->has_value());
  EXPECT_EQ(store_->ReadWhole("gone", 10).error().code, ErrorCode::kNotFound);
  Break();
  options_.offline = true;
  Reopen();
  EXPECT_EQ(Calls([&] {
              EXPECT_EQ(Read(1000, 90'000), text_.substr(1000, 90'000));
              EXPECT_EQ(AsText(store_->ReadWhole("info", 100)->bytes), "{}");
              EXPECT_EQ((*store_->Stat("o"))->size, 1'000'000U);
              EXPECT_EQ((*store_->Stat("info"))->size, 2U);
              EXPECT_FALSE(store_->Stat("absent")->has_value());
              EXPECT_EQ(store_->ReadWhole("gone", 10).error().code, ErrorCode::kNotFound);
              EXPECT_THAT(Read(100'000, 100'000),
                          HasSubstr(fmt::format("bytes [131072, 196608) are not in the "
                                                "cache {}, which is used offline",
                                                options_.folder)));
              EXPECT_THAT(Read(999'999, 2), HasSubstr("end past the object"));
              const auto never = store_->Stat("never");
              ASSERT_FALSE(never);
              EXPECT_EQ(never.error().code, ErrorCode::kUnavailable);
            }),
            0U);
}

TEST_F(CachedStoreTest, NeverServesAFileThatIsNotWhatWasWritten) {
  for (int damage = 0; damage < 5; ++damage) {
    EXPECT_EQ(Read(0, 200'000), text_.substr(0, 200'000));
    const auto files = ValuesIn(options_.folder);
    ASSERT_GE(files.size(), 4U);
    for (const fs::path& file : files) {
      const auto size = static_cast<std::streamoff>(fs::file_size(file));
      if (damage == 0 || damage == 1) {  // a flipped byte, in the value or the header
        std::fstream open(file, std::ios::in | std::ios::out | std::ios::binary);
        open.seekg(damage == 0 ? size / 2 : 3);
        const char byte = static_cast<char>(open.get() ^ 1);
        open.seekp(damage == 0 ? size / 2 : 3);
        open.put(byte);
      } else if (damage == 2) {  // cut short
        fs::resize_file(file, static_cast<uintmax_t>(size / 2));
      } else if (damage == 3) {  // longer
        std::ofstream(file, std::ios::app) << "more";
      } else if (file != files.front()) {  // another's
        fs::copy_file(files.front(), file, fs::copy_options::overwrite_existing);
      }
    }
    EXPECT_EQ(Read(0, 200'000), text_.substr(0, 200'000)) << damage;
  }
}

TEST_F(CachedStoreTest, DoesNotWaitForAFifoInTheCache) {
  EXPECT_EQ(Read(0, 200'000), text_.substr(0, 200'000));
  const auto files = ValuesIn(options_.folder);
  ASSERT_GE(files.size(), 4U);
  for (const fs::path& file : files) {
    fs::remove(file);
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  }
  EXPECT_EQ(Read(0, 200'000), text_.substr(0, 200'000));
  // New values took the place of what could not be read.
  EXPECT_EQ(ValuesIn(options_.folder), files);
}

TEST_F(CachedStoreTest, IsPrivateAndNamesNothing) {
  options_.folder = folder_.path() + "/shared";
  fs::create_directory(options_.folder);
  std::ofstream(options_.folder + "/mine") << "x";
  Reopen();
  EXPECT_EQ(Read(0, 10), text_.substr(0, 10));
  struct stat status{};
  ASSERT_EQ(stat((options_.folder + "/dolium-cache-1").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
  EXPECT_TRUE(fs::exists(options_.folder + "/mine"));
  for (const fs::path& file : ValuesIn(options_.folder + "/dolium-cache-1")) {
    EXPECT_EQ(file.filename().string().size(), 62U) << file;
    EXPECT_THAT(file.string(), testing::Not(HasSubstr("secret")));
    std::ifstream open(file);
    const std::string bytes{std::istreambuf_iterator<char>(open), {}};
    EXPECT_THAT(bytes, testing::Not(HasSubstr("secret")));
  }
  // What was open to others is closed.
  fs::permissions(options_.folder + "/dolium-cache-1", fs::perms::all);
  Reopen();
  ASSERT_EQ(stat((options_.folder + "/dolium-cache-1").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700U);
}

TEST_F(CachedStoreTest, DropsWhatWasNotUsedForLongestWithinTheLimit) {
  options_.limit = 1 << 20;
  options_.max_age = hours(1);
  Reopen();
  EXPECT_EQ(Read(0, 10), text_.substr(0, 10));
  // Old, but the next use renews it.
  for (const fs::path& file : ValuesIn(options_.folder)) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - hours(1));
  }
  EXPECT_EQ(Read(200'000, 10), text_.substr(200'000, 10));
  EXPECT_EQ(Read(0, 10), text_.substr(0, 10));
  // Of the three, only what is known of the object was not looked at again.
  EXPECT_EQ(std::ranges::count_if(ValuesIn(options_.folder),
                                  [](const fs::path& file) {
                                    return fs::last_write_time(file) <
                                           fs::file_time_type::clock::now() -
                                               std::chrono::minutes(30);
                                  }),
            1);
  Put("large", TextOf(3, 4'000'000));
  for (uint64_t at = 0; at < 4'000'000; at += 100'000) {
    ASSERT_TRUE(store_->ReadRange("large", {at, 50'000}));
    ASSERT_LE(BytesIn(options_.folder), options_.limit);
  }
  EXPECT_GT(BytesIn(options_.folder), options_.limit / 2);
  // A sum that somebody damaged is counted again.
  std::ofstream(options_.folder + "/dolium-cache-1/usage") << "?";
  ASSERT_TRUE(store_->ReadRange("large", {0, 4'000'000}));
  EXPECT_LE(BytesIn(options_.folder), options_.limit);
}

// Reads at random until the end, and checks what it gets.
int ReadAtRandom(const CachedStore& store, const std::string& text, uint64_t seed,
                 int reads) {
  std::mt19937_64 random(seed);
  for (int i = 0; i < reads; ++i) {
    const uint64_t offset = random() % (text.size() - 200'000);
    const uint64_t length = random() % 200'000;
    const auto bytes = store.ReadRange("o", {offset, length});
    if (!bytes || AsText(*bytes) != std::string_view(text).substr(offset, length)) {
      return 1;
    }
  }
  return 0;
}

TEST_F(CachedStoreTest, HoldsItsLimitAmongProcesses) {
  options_.limit = 2 << 20;
  const std::string large = TextOf(4, 8'000'000);
  Put("o", large);
  Reopen();
  std::vector<pid_t> children;
  for (uint64_t seed = 0; seed < 4; ++seed) {
    const pid_t child = fork();
    if (child == 0) _exit(ReadAtRandom(*store_, large, seed, 150));
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = -1;
    while (waitpid(child, &status, WNOHANG) == 0) {
      EXPECT_LE(BytesIn(options_.folder), options_.limit);
      std::this_thread::sleep_for(milliseconds(5));
    }
    EXPECT_EQ(status, 0);
  }
  EXPECT_LE(BytesIn(options_.folder), options_.limit);
  EXPECT_GT(BytesIn(options_.folder), options_.limit / 2);
}

TEST_F(CachedStoreTest, IsWholeAfterKills) {
  options_.limit = 2 << 20;
  const std::string large = TextOf(5, 8'000'000);
  Put("o", large);
  Reopen();
  for (uint64_t round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) _exit(ReadAtRandom(*store_, large, round, 1 << 30));
    std::this_thread::sleep_for(milliseconds(round * 3));
    ASSERT_EQ(kill(child, SIGKILL), 0);
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status));
  }
  Reopen();
  EXPECT_EQ(ReadAtRandom(*store_, large, 99, 100), 0);
  EXPECT_LE(BytesIn(options_.folder), options_.limit);
  // What killed writers left is gone as soon as room is made.
  for (const fs::path& file : ValuesIn(options_.folder)) {
    EXPECT_THAT(file.filename().string(), testing::Not(HasSubstr("dolium-tmp")));
  }
}

TEST(ParseCacheOptions, TakesAFolderALimitAndOffline) {
  EXPECT_EQ(ParseCacheOptions("/ssd/cache")->folder, "/ssd/cache");
  EXPECT_EQ(ParseCacheOptions("/ssd/cache")->limit, CacheOptions::kDefaultLimit);
  const auto all = ParseCacheOptions("a,b,20GB,offline");
  ASSERT_TRUE(all) << all.error().message;
  EXPECT_EQ(all->folder, "a,b");
  EXPECT_EQ(all->limit, 20'000'000'000U);
  EXPECT_TRUE(all->offline);
  EXPECT_EQ(ParseCacheOptions("a,b")->folder, "a,b");
  EXPECT_TRUE(ParseCacheOptions("a,offline")->offline);
  for (const std::string_view bad : {"", ",5GB", ",offline", "a,10"}) {
    const auto parsed = ParseCacheOptions(bad);
    ASSERT_FALSE(parsed) << bad;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(parsed.error().message, HasSubstr(fmt::format("cache \"{}\"", bad)));
  }
}

TEST(DefaultCache, StandsBehindRemoteLocations) {
  setenv("no_proxy", "*", 1);
  TemporaryFolder folder;
  auto server = std::make_unique<HttpTestServer>();
  const std::string origin = server->origin();
  const std::string text = TextOf(6, 300'000);
  server->Put("/seg/a", {text, "\"one\"", "", ""});
  const auto read = [&] {
    const auto location = ParseLocation(origin + "/seg/a?token=secret");
    if (!location) return "error: " + location.error().message;
    const auto bytes = location->store->ReadRange(location->path, {1000, 100'000});
    return bytes ? std::string(AsText(*bytes)) : "error: " + bytes.error().message;
  };
  setenv("DOLIUM_CACHE", (folder.path() + "/by variable,1").c_str(), 1);
  EXPECT_THAT(read(), HasSubstr("DOLIUM_CACHE: cache \""));
  setenv("DOLIUM_CACHE", (folder.path() + "/by variable").c_str(), 1);
  EXPECT_EQ(read(), text.substr(1000, 100'000));
  const size_t requests = server->requests().size();
  EXPECT_EQ(read(), text.substr(1000, 100'000));
  EXPECT_EQ(server->requests().size(), requests + 1);
  EXPECT_EQ(server->requests().back().method, "HEAD");
  {
    CacheOptions options;
    options.folder = folder.path() + "/scoped";
    const CacheScope scope(options);
    EXPECT_EQ(read(), text.substr(1000, 100'000));
    EXPECT_FALSE(ValuesIn(options.folder).empty());
  }
  // The server is away; what was read is not.
  server.reset();
  setenv("DOLIUM_CACHE", (folder.path() + "/by variable,offline").c_str(), 1);
  EXPECT_EQ(read(), text.substr(1000, 100'000));
  // What the process sets wins, until it is taken back.
  CacheOptions empty;
  empty.folder = folder.path() + "/empty";
  empty.offline = true;
  SetDefaultCache(empty);
  EXPECT_THAT(read(), HasSubstr("offline"));
  SetDefaultCache(std::nullopt);
  EXPECT_EQ(read(), text.substr(1000, 100'000));
  unsetenv("DOLIUM_CACHE");
}

}  // namespace
}  // namespace dolium
