#include "dolium/bytes/testing/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace dolium {

TemporaryFolder::TemporaryFolder(std::string_view parent) : path_(parent) {
  if (path_.empty()) {
    const char* const set = std::getenv("TMPDIR");
    path_ = set != nullptr && *set != '\0' ? set : "/tmp";
  }
  path_ += "/dolium-test-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) {
    std::fprintf(stderr, "%s: cannot make a test folder: %s\n", path_.c_str(),
                 std::strerror(errno));
    std::abort();
  }
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace dolium
