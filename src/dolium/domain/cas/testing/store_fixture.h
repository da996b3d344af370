// What tests of stores share: a store in a temporary folder, and files with contents that
// are the same every time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "dolium/base/bytes.h"
#include "dolium/bytes/testing/temporary_folder.h"
#include "dolium/domain/cas/put.h"
#include "dolium/domain/cas/store.h"

namespace dolium::cas {

std::string RandomText(size_t size, uint64_t seed);
void WriteText(const std::string& path, std::string_view text);
std::string ReadText(const std::string& path);

// All below a folder: path -> type, mode, time and contents.
std::map<std::string, std::string> Snapshot(const std::string& folder);
// Names and bytes of all files below a folder.
std::map<std::string, std::string> FilesBelow(const std::string& folder);

class StoreTest : public testing::Test {
 protected:
  void SetUp() override;

  std::string path(std::string_view name) const {
    return folder_.path() + "/" + std::string(name);
  }
  // Opens it again: nothing is remembered.
  std::shared_ptr<CasStore> Reopen() const;
  // Puts `text` as the file `name` under the same name.
  Version PutText(std::string_view name, std::string_view text, PutOptions options = {});
  std::string GetText(const Version& version);

  TemporaryFolder folder_;
  std::shared_ptr<CasStore> store_;
};

}  // namespace dolium::cas
