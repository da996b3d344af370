// ExcludePatterns: which paths of a folder are not put into a store.
//
//   *.tmp          what is called so, at any depth
//   build/cache    what has these names, one in the other, at any depth
//   /build         what lies right in the folder that is put
//   cache/         the same as cache, but folders alone
//
// `*`, `?` and `[a-z]` stand for characters of one name, a name `**` for any number of
// folders. What is below a folder that is excluded is excluded with it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"

namespace dolium::cas {

// A value, that notes which patterns have matched anything. One thread at a time.
class ExcludePatterns {
 public:
  // kInvalidArgument for a pattern that can match nothing, and for one that begins with
  // `!`, which elsewhere takes an exclusion back.
  static Result<ExcludePatterns> Parse(std::span<const std::string> patterns);

  bool empty() const { return patterns_.empty(); }

  // Whether a path relative to the folder is excluded by itself, not by one above it.
  bool Match(std::string_view path, bool is_folder);

  // Those that no path has matched so far, as they were given.
  std::vector<std::string> Unmatched() const;

 private:
  struct Pattern {
    std::vector<std::string> names;
    bool is_anchored = false;
    bool folders_only = false;
    std::string text = {};
    bool has_matched = false;
  };
  std::vector<Pattern> patterns_;
};

// The patterns of a file: one on a line; empty lines and those that begin with `#` are
// none.
Result<std::vector<std::string>> ReadExcludeFile(const std::string& path);

}  // namespace dolium::cas
