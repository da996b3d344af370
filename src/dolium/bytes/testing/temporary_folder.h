// TemporaryFolder: a directory for one test, removed with everything in it at the end.
#pragma once

#include <string>
#include <string_view>

namespace dolium {

class TemporaryFolder {
 public:
  // Below $TMPDIR or /tmp, or below `parent` if one is given.
  explicit TemporaryFolder(std::string_view parent = "");
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace dolium
