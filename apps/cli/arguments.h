// Arguments: what the user typed after a verb, checked against the verb's table of
// options.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/verbs.h"
#include "dolium/base/result.h"

namespace dolium::cli {

class Arguments {
 public:
  bool Has(std::string_view option) const;
  // The value of an option; sizes are in bytes, as decimal text.
  std::optional<std::string> Get(std::string_view option) const;
  // The words of an option of kind kPairs, kFiles or kTexts, wherever they were given.
  std::vector<std::string> GetAll(std::string_view option) const;
  // Precondition: an option of kind kNumber or kSize.
  uint64_t Number(std::string_view option, uint64_t fallback) const;

  // What a verb with one source writes: the argument at that position, the last, or
  // --output; nullopt without either. kInvalidArgument for both.
  Result<std::optional<std::string>> Target(size_t position) const;

  const std::vector<std::string>& positionals() const { return positionals_; }
  const std::string& operator[](size_t index) const { return positionals_[index]; }

 private:
  friend Result<Arguments> ParseArguments(const Verb& verb,
                                          std::span<const std::string> arguments);
  std::map<std::string, std::string, std::less<>> options_;
  std::map<std::string, std::vector<std::string>, std::less<>> words_;
  std::vector<std::string> positionals_;
};

// Every verb also knows -h, --help; with it, the number of arguments does not matter. All
// errors are kInvalidArgument and end with what to try instead.
Result<Arguments> ParseArguments(const Verb& verb,
                                 std::span<const std::string> arguments);

// The candidate that `word` is probably a slip of; empty if none is close.
std::string_view Nearest(std::string_view word,
                         std::span<const std::string_view> candidates);

}  // namespace dolium::cli
