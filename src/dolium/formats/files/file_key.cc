#include "dolium/formats/files/file_key.h"

#include <fmt/format.h>

#include "dolium/base/stable_hash.h"
#include "dolium/container/unfinished.h"

namespace dolium::files {
namespace {

// What stores put into the names of their temporaries.
constexpr std::string_view kTemporaryMark = ".dolium-tmp-";

// Why a key cannot have this as one of its names; empty if it can.
std::string_view NameObjection(std::string_view name) {
  if (name.empty()) return "it has an empty name";
  if (name == "." || name == "..") return "it has \".\" or \"..\" in it";
  if (IsBookkeeping(name)) return "names that start with .dolium are reserved";
  if (name.find(kTemporaryMark) != std::string_view::npos) {
    return "names with .dolium-tmp- in them are reserved";
  }
  return {};
}

std::string_view Objection(std::string_view key) {
  if (key.empty()) return "it is empty";
  if (key.find('\0') != std::string_view::npos) return "it contains a NUL";
  if (key.ends_with(kPrecedingSuffix)) return "names that end in .preceding are reserved";
  for (size_t begin = 0;;) {
    const size_t end = key.find('/', begin);
    const std::string_view objection = NameObjection(key.substr(begin, end - begin));
    if (!objection.empty() || end == std::string_view::npos) return objection;
    begin = end + 1;
  }
}

}  // namespace

Result<void> CheckKey(std::string_view key) {
  const std::string_view objection = Objection(key);
  if (objection.empty()) return {};
  return InvalidArgument(
      fmt::format("key \"{}\" cannot be a file name: {}", key, objection));
}

uint64_t PartOfKey(std::string_view key) { return StableHash(key) % kParts; }

std::string PrecedingName(std::string_view key) {
  return std::string(key).append(kPrecedingSuffix);
}

}  // namespace dolium::files
