#include "dolium/domain/cas/stored_file.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dolium/base/endian.h"
#include "dolium/domain/cas/restore.h"
#include "dolium/domain/cas/testing/store_fixture.h"

namespace dolium::cas {
namespace {

using testing::HasSubstr;

class StoredFileTest : public StoreTest {
 protected:
  // The one file in a folder of the store.
  std::string Only(std::string_view folder) const {
    std::string found;
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(path(folder))) {
      if (!entry.is_regular_file()) continue;
      EXPECT_EQ(found, "");
      found = entry.path();
    }
    return found;
  }
};

// One flipped bit in the number of its terms must not make it an empty file.
TEST_F(StoredFileTest, IsNotEmptyBecauseAShardHasNoTerms) {
  const Version version = PutText("file", "hello");
  store_.reset();
  const std::string shard = Only("store/shards");
  std::string bytes = ReadText(shard);
  ASSERT_EQ(bytes[48 + 36], 1);
  bytes[48 + 36] = 0;
  WriteText(shard, bytes);
  store_ = Reopen();
  const auto lease = *store_->TakeLease();
  const auto opened = store_->OpenFile(version.hash, *lease);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(opened.error().message, HasSubstr("no terms"));
}

// A footer is believed up to the largest that a xorb can have, not up to the file's size.
TEST_F(StoredFileTest, IsNotReadFromAXorbWithAnEndlessFooter) {
  const Version version = PutText("file", RandomText(100'000, 1));
  store_.reset();
  const std::string xorb = Only("store/xorbs");
  constexpr uint32_t kFooter = uint32_t{3} << 30;
  std::filesystem::resize_file(xorb, uint64_t{4} << 30);
  std::string end(4, '\0');
  StoreLE(reinterpret_cast<std::byte*>(end.data()), kFooter);
  {
    std::fstream file(xorb, std::ios::binary | std::ios::in | std::ios::out);
    file.seekp((int64_t{4} << 30) - 4);
    file << end;
  }
  store_ = Reopen();
  const auto restored = Restore(*store_, version, path("out"), {});
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, ErrorCode::kCorrupt);
  EXPECT_THAT(restored.error().message, HasSubstr("a footer of 3221225476 bytes"));
}

}  // namespace
}  // namespace dolium::cas
