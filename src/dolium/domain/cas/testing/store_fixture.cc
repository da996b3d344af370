#include "dolium/domain/cas/testing/store_fixture.h"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include <fmt/format.h>

#include "dolium/domain/cas/layout.h"
#include "dolium/domain/cas/restore.h"

namespace dolium::cas {

std::string RandomText(size_t size, uint64_t seed) {
  std::mt19937_64 source(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>(source() >> 56);
  return text;
}

void WriteText(const std::string& path, std::string_view text) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  std::ofstream file(path, std::ios::binary);
  file.write(text.data(), static_cast<std::streamsize>(text.size()));
  ASSERT_TRUE(file.flush()) << path;
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::map<std::string, std::string> Snapshot(const std::string& folder) {
  std::map<std::string, std::string> all;
  const auto add = [&](const std::filesystem::path& path) {
    struct stat status{};
    EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
    std::string text = fmt::format("{:o} {}.{:09} ", status.st_mode,
                                   status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    if (S_ISLNK(status.st_mode)) {
      text += std::filesystem::read_symlink(path).string();
    } else if (S_ISREG(status.st_mode)) {
      text += ReadText(path.string());
    }
    all[path.lexically_relative(folder).string()] = text;
  };
  add(folder);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    add(entry.path());
  }
  return all;
}

std::map<std::string, std::string> FilesBelow(const std::string& folder) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    all[entry.path().lexically_relative(folder).string()] =
        ReadText(entry.path().string());
  }
  return all;
}

void StoreTest::SetUp() {
  const auto made = InitStore(path("store"));
  ASSERT_TRUE(made) << made.error().message;
  store_ = Reopen();
}

std::shared_ptr<CasStore> StoreTest::Reopen() const {
  auto store = CasStore::Open(path("store"));
  EXPECT_TRUE(store) << store.error().message;
  return *store;
}

Version StoreTest::PutText(std::string_view name, std::string_view text,
                           PutOptions options) {
  const std::string file = path(fmt::format("in/{}", name));
  WriteText(file, text);
  options.name = name;
  const auto version = Put(*store_, {file}, options);
  EXPECT_TRUE(version) << version.error().message;
  return version ? *version : Version();
}

std::string StoreTest::GetText(const Version& version) {
  const std::string out = path("out-file");
  const auto report = Restore(*store_, version, out, {.force = true});
  EXPECT_TRUE(report) << report.error().message;
  return report ? ReadText(out) : "";
}

}  // namespace dolium::cas
