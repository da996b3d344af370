// Sets and sources that come through a pipe.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "dolium/base/result.h"

namespace dolium::cli {

// The path of what a verb is to read: `reference` itself, or, of `-`, a path by which
// this process reads standard input at any place. What comes through a pipe is kept in an
// unnamed temporary file, as long as the process lives: disk space, not memory.
Result<std::string> PackInput(const std::string& reference);

// The paths of all that a verb is to read. What comes through a pipe goes by the name
// that the user gave it, `-`, in all that is shown.
class PackInputs {
 public:
  static Result<PackInputs> Open(std::vector<std::string> references);

  const std::vector<std::string>& paths() const { return paths_; }

  // The same text or error with `-` for the path at its beginning.
  std::string Named(std::string text) const;
  Error Named(Error error) const;

 private:
  PackInputs(std::vector<std::string> references, std::vector<std::string> paths)
      : references_(std::move(references)), paths_(std::move(paths)) {}

  std::vector<std::string> references_;
  std::vector<std::string> paths_;
};

}  // namespace dolium::cli
