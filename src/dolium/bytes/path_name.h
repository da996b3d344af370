// PathName: an object's name as system calls want it, without a heap allocation.
#pragma once

#include <linux/limits.h>

#include <cstring>
#include <string_view>

namespace dolium {

// The empty name means the directory that names are relative to.
class PathName {
 public:
  explicit PathName(std::string_view path) {
    if (path.empty()) path = ".";
    valid_ = path.size() < sizeof text_ && path.find('\0') == std::string_view::npos;
    if (!valid_) path = "";
    std::memcpy(text_, path.data(), path.size());
    text_[path.size()] = '\0';
  }

  // False for a name that no file can have: too long, or with a NUL in it.
  bool valid() const { return valid_; }
  const char* c_str() const { return text_; }

 private:
  bool valid_;
  char text_[PATH_MAX];
};

}  // namespace dolium
