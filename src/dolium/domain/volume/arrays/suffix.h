// Suffixes of file names, by which kinds of files are distinguished.
#pragma once

#include <string>
#include <string_view>

namespace dolium::volume {

// The last dot of the file's name and what follows it, in lower case; empty if it has
// none.
inline std::string LowerSuffix(std::string_view path) {
  const std::string_view name = path.substr(path.find_last_of('/') + 1);
  const size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return "";
  std::string suffix(name.substr(dot));
  for (char& c : suffix) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return suffix;
}

}  // namespace dolium::volume
