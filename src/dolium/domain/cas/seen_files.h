// SeenFiles: which files the last put of a name read, and what it found, so that the next
// one need not read those again that have not changed.
//
// A cache beside the truth (seen/<name>): without it, all files are read. A row says in
// which state a file had which hash; the state is device, inode, size and the times of
// the last change to bytes and to the file itself, which nobody can set.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/cas/layout.h"

namespace dolium::cas {

// What the file of a name ends with for puts whose chunks end with entries: other cuts
// give other hashes. No escaped name has it.
inline constexpr std::string_view kSeenAligned = "%aligned";

// One thread at a time.
class SeenFiles {
 public:
  // What an earlier put left, or nothing.
  static SeenFiles Load(const Layout& layout, std::string_view name, bool is_aligned);

  // The hash of a file in this state, if it was seen in it.
  std::optional<xet::Hash> Find(const std::string& path, const struct stat& status) const;

  // Notes a file of this put. One that changed so lately that a further change might not
  // show in its times is left out.
  void Add(const std::string& path, const struct stat& status, const xet::Hash& hash);

  // Puts what was noted in place of what was loaded.
  Result<void> Save(const Layout& layout, std::string_view lease) const;

 private:
  struct Row {
    xet::Hash path;
    std::array<uint64_t, 5> state{};
    xet::Hash hash;
  };
  static constexpr size_t kRowSize = 2 * xet::Hash::kSize + 5 * sizeof(uint64_t);

  std::string path_;
  int64_t begun_ = 0;
  Bytes loaded_;  // rows, in order of their paths' hashes
  std::vector<Row> noted_;
};

}  // namespace dolium::cas
