// StatCache: which files the last put of a name read, and what it found, so that the next
// one need not read those again that have not changed.
//
// A cache beside the truth (seen/<name>): without it, all files are read. It names the
// manifest that the put made. A row says in which state a file had which hash; the state
// is device, inode, size and the times of the last change to bytes and to the file
// itself, which nobody can set.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/domain/cas/files.h"
#include "dolium/domain/cas/layout.h"

namespace dolium::cas {

// What the file of a name ends with for puts whose chunks end with entries: other cuts
// give other hashes. No escaped name has it.
inline constexpr std::string_view kSeenAligned = "%aligned";

// Rows of a put go to the disk as they come, so that memory does not grow with them. One
// thread at a time.
class StatCache {
 public:
  // What an earlier put left, or nothing. `lease` is for the temporary.
  static StatCache Load(const Layout& layout, std::string_view lease,
                        std::string_view name, bool is_aligned);
  StatCache(StatCache&&) = default;

  // The manifest of that put, which has all files that can be found; zero without one.
  const xet::Hash& tree() const { return tree_; }

  // The hash of a file in this state, if it was seen in it.
  std::optional<xet::Hash> Find(const std::string& path, const struct stat& status) const;

  // Notes a file of this put. One that changed so lately that a further change might not
  // show in its times is left out.
  void Add(const std::string& path, const struct stat& status, const xet::Hash& hash);

  // Puts what was noted in place of what was loaded. `tree` is the manifest of this put.
  Result<void> Save(const xet::Hash& tree);

 private:
  static constexpr size_t kHeaderSize = xet::Hash::kSize;
  static constexpr size_t kRowSize = 2 * xet::Hash::kSize + 5 * sizeof(uint64_t);

  StatCache(Layout layout, std::string_view lease)
      : layout_(std::move(layout)), lease_(lease) {}
  Result<void> Flush();

  Layout layout_;
  std::string lease_;
  std::string path_;
  int64_t begun_ = 0;
  xet::Hash tree_;
  Bytes loaded_;  // the manifest, then rows in order of their paths' hashes
  BytesView rows_;
  std::optional<NewFile> file_;  // the same of this put, not in order
  ByteVector noted_;             // its end
  Result<void> status_;          // of writing it
};

}  // namespace dolium::cas
