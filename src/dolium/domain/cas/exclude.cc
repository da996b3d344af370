#include "dolium/domain/cas/exclude.h"

#include <fnmatch.h>

#include <algorithm>

#include <fmt/format.h>

#include "dolium/domain/cas/files.h"

namespace dolium::cas {
namespace {

constexpr uint64_t kExcludeFileLimit = uint64_t{64} << 20;
constexpr std::string_view kAnyFolders = "**";

using Names = std::span<const std::string>;

std::vector<std::string> SplitPath(std::string_view path) {
  std::vector<std::string> names;
  while (!path.empty()) {
    const size_t slash = std::min(path.find('/'), path.size());
    if (slash > 0) names.emplace_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return names;
}

// Whether all of `pattern` stands for all of `names`. For each pattern up to some `**`,
// the first place where it fits is as good as any other, so nothing is tried twice.
bool MatchNames(Names pattern, Names names) {
  size_t at = 0;
  size_t name = 0;
  size_t retry_at = SIZE_MAX;  // behind the last `**`
  size_t retry_name = 0;
  while (name < names.size()) {
    if (at < pattern.size() && pattern[at] == kAnyFolders) {
      retry_at = ++at;
      retry_name = name;
    } else if (at < pattern.size() &&
               fnmatch(pattern[at].c_str(), names[name].c_str(), 0) == 0) {
      ++at;
      ++name;
    } else if (retry_at != SIZE_MAX) {
      at = retry_at;
      name = ++retry_name;
    } else {
      return false;
    }
  }
  return std::all_of(pattern.begin() + static_cast<ptrdiff_t>(at), pattern.end(),
                     [](const std::string& rest) { return rest == kAnyFolders; });
}

}  // namespace

Result<ExcludePatterns> ExcludePatterns::Parse(std::span<const std::string> patterns) {
  ExcludePatterns parsed;
  for (const std::string& text : patterns) {
    if (text.starts_with('!')) {
      return InvalidArgument(fmt::format(
          "pattern \"{}\": exclusions cannot be taken back; [!] stands for the character",
          text));
    }
    Pattern pattern{SplitPath(text), text.starts_with('/'), text.ends_with('/'), text};
    if (pattern.names.empty() || text.find('\0') != std::string::npos ||
        std::ranges::any_of(pattern.names, [](const std::string& name) {
          return name == "." || name == "..";
        })) {
      return InvalidArgument(fmt::format("pattern \"{}\": matches nothing", text));
    }
    if (!pattern.is_anchored) pattern.names.insert(pattern.names.begin(), "**");
    parsed.patterns_.push_back(std::move(pattern));
  }
  return parsed;
}

bool ExcludePatterns::Match(std::string_view path, bool is_folder) {
  if (patterns_.empty()) return false;
  const std::vector<std::string> names = SplitPath(path);
  bool has_matched = false;
  // All of them: each is to be known as one that matches.
  for (Pattern& pattern : patterns_) {
    if (pattern.folders_only && !is_folder) continue;
    if (!MatchNames(pattern.names, names)) continue;
    pattern.has_matched = has_matched = true;
  }
  return has_matched;
}

std::vector<std::string> ExcludePatterns::Unmatched() const {
  std::vector<std::string> unmatched;
  for (const Pattern& pattern : patterns_) {
    if (!pattern.has_matched) unmatched.push_back(pattern.text);
  }
  return unmatched;
}

Result<std::vector<std::string>> ReadExcludeFile(const std::string& path) {
  DOLIUM_TRY(const ByteVector bytes, ReadWholeFile(path, kExcludeFileLimit));
  std::vector<std::string> patterns;
  std::string_view text = AsText(bytes);
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty() && !line.starts_with('#')) patterns.emplace_back(line);
  }
  return patterns;
}

}  // namespace dolium::cas
