#include "dolium/formats/files/file_key.h"

#include <fmt/format.h>

#include "dolium/base/stable_hash.h"
#include "dolium/container/unfinished.h"

namespace dolium::files {
namespace {

// What stores put into the names of their temporaries.
constexpr std::string_view kTemporaryMark = ".dolium-tmp-";

std::string_view Objection(std::string_view key) {
  if (key.empty()) return "it is empty";
  if (key == "." || key == "..") return "it names a folder";
  if (key.find('/') != std::string_view::npos) return "it contains a slash";
  if (key.find('\0') != std::string_view::npos) return "it contains a NUL";
  if (IsBookkeeping(key)) return "names that start with .dolium are reserved";
  if (key.find(kTemporaryMark) != std::string_view::npos) {
    return "names with .dolium-tmp- in them are reserved";
  }
  if (key.ends_with(kPrecedingSuffix)) return "names that end in .preceding are reserved";
  return {};
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
