// PackTarget: where a verb puts the one file that it makes: a file, or, of `-`, standard
// output.
//
// What goes to standard output is made in a temporary folder and sent when it is
// complete, so that a reader gets it whole or nothing. Lines of results go to standard
// error then.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/context.h"
#include "dolium/base/result.h"

namespace dolium::cli {

class PackTarget {
 public:
  // `name`: of what is made, if it is for standard output. kInvalidArgument then for
  // options by which there are several files, or none yet, which `others` adds to.
  static Result<PackTarget> Make(const Context& context, std::string target,
                                 std::string_view name,
                                 std::span<const std::string_view> others = {});
  ~PackTarget();
  PackTarget(PackTarget&& other) noexcept;
  PackTarget& operator=(PackTarget&&) = delete;

  bool is_pipe() const { return !folder_.empty(); }
  // What the verb is to write.
  const std::string& path() const { return path_; }
  // What messages call it.
  std::string name() const { return is_pipe() ? "-" : path_; }
  // `text` with that for the path.
  std::string Named(std::string text) const;
  Error Named(Error error) const;

  // Sends what was made, if it is for standard output.
  Result<void> Send(const Context& context) const;

 private:
  PackTarget(std::string path, std::string folder);

  std::string path_;
  std::string folder_;  // temporary; empty: none
};

}  // namespace dolium::cli
