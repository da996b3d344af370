#include "dolium/domain/dataset/imports/folder_listing.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "dolium/bytes/folder.h"
#include "dolium/bytes/folder_swap.h"
#include "dolium/bytes/store.h"
#include "dolium/domain/dataset/imports/open_beneath.h"
#include "dolium/domain/dataset/imports/webdataset_name.h"

namespace dolium::dataset {
namespace {

constexpr size_t kReadBytes = size_t{256} << 10;
constexpr uint64_t kMostNameBytes = uint64_t{1} << 46;
constexpr uint64_t kMostDirectories = UINT32_MAX;
constexpr size_t kFilesOfClass = 16;
constexpr size_t kComparedGroups = 64;

unsigned char TypeOfMode(mode_t mode) {
  if (S_ISREG(mode)) return DT_REG;
  if (S_ISDIR(mode)) return DT_DIR;
  return S_ISLNK(mode) ? DT_LNK : DT_SOCK;
}

}  // namespace

// Walks the tree.
class FolderListing::Lister {
 public:
  Lister(int root, std::string_view path, bool skip_links, FolderListing& listing)
      : root_(root), path_(path), skip_links_(skip_links), out_(listing) {}

  Result<void> Run() {
    out_.directories_.push_back({});
    // The list grows while it is walked.
    for (size_t i = 0; i < out_.directories_.size(); ++i) {
      DOLIUM_TRY_VOID(List(static_cast<uint32_t>(i)));
    }
    return {};
  }

 private:
  Result<void> List(uint32_t directory) {
    const std::string path = out_.directories_[directory].path;
    auto opened = OpenFolder(root_, path);
    if (!opened) return std::move(opened).error().Within(JoinPath(path_, path));
    while (true) {
      const ssize_t got = getdents64(opened->get(), buffer_.get(), kReadBytes);
      if (got < 0) {
        return SystemError(errno, "cannot list the folder").Within(JoinPath(path_, path));
      }
      if (got == 0) return {};
      for (size_t at = 0; at < static_cast<size_t>(got);) {
        // The kernel aligns entries as the structure wants it.
        const auto* entry = reinterpret_cast<const dirent64*>(buffer_.get() + at);
        at += entry->d_reclen;
        DOLIUM_TRY_VOID(Add(directory, opened->get(), entry->d_name, entry->d_type));
      }
    }
  }

  Result<void> Add(uint32_t directory, int fd, const char* c_name, unsigned char type) {
    const std::string_view name = c_name;
    if (name == "." || name == ".." || IsInternalName(name)) return {};
    if (type == DT_UNKNOWN) {
      struct stat status{};
      if (fstatat(fd, c_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        if (errno == ENOENT) return {};
        return SystemError(errno, "cannot look up")
            .Within(JoinPath(JoinPath(path_, out_.directories_[directory].path), name));
      }
      type = TypeOfMode(status.st_mode);
    }
    if (type == DT_DIR) {
      // That of a job which writes beside its own source.
      if (name.ends_with(kFreshSuffix)) return {};
      if (out_.directories_.size() == kMostDirectories) {
        return Unsupported(fmt::format("{}: too many directories", path_));
      }
      out_.directories_[directory].has_directories = true;
      std::string path = JoinPath(out_.directories_[directory].path, name);
      out_.directories_.push_back({.path = std::move(path)});
      return {};
    }
    const bool is_link = type == DT_LNK;
    if (is_link) {
      DOLIUM_TRY(const bool take, IsFileBehindLink(directory, name));
      if (!take) return {};
    } else if (type != DT_REG) {
      out_.specials_.Add(JoinPath(out_.directories_[directory].path, name));
      return {};
    }
    if (out_.names_.size() > kMostNameBytes) {
      return Unsupported(fmt::format("{}: too many files", path_));
    }
    out_.directories_[directory].has_files = true;
    File file{};
    file.name_at = out_.names_.size() & ((uint64_t{1} << 47) - 1);
    file.name_length = name.size() & 0xffff;
    file.is_link = is_link ? 1 : 0;
    file.directory = directory;
    out_.names_.append(name);
    out_.files_.push_back(file);
    return {};
  }

  Result<bool> IsFileBehindLink(uint32_t directory, std::string_view name) {
    const std::string path = JoinPath(out_.directories_[directory].path, name);
    auto file = OpenBeneath(root_, path, O_PATH);
    struct stat status{};
    if (file && fstat(file->get(), &status) == 0 && !S_ISDIR(status.st_mode)) {
      if (!S_ISREG(status.st_mode)) out_.specials_.Add(path);
      return S_ISREG(status.st_mode);
    }
    if (skip_links_) {
      out_.links_.Add(path);
      return false;
    }
    if (!file) return std::move(file).error().Within(fmt::format("{}: link", path_));
    return InvalidArgument(
        fmt::format("{}: {}: a link to a folder, which is not followed", path_, path));
  }

  const int root_;
  const std::string_view path_;
  const bool skip_links_;
  FolderListing& out_;
  const std::unique_ptr<char[]> buffer_{new char[kReadBytes]};
};

Result<FolderListing> FolderListing::List(int root, std::string_view path,
                                          const Options& options) {
  FolderListing listing;
  listing.grouping_ = options.grouping;
  DOLIUM_TRY_VOID(Lister(root, path, options.skip_links, listing).Run());
  DOLIUM_TRY_VOID(listing.ChooseGrouping(path));
  if (listing.grouping_ == Grouping::kStem) DOLIUM_TRY_VOID(listing.CutStems(path));
  listing.Sort();
  listing.MakeGroups();
  return listing;
}

Result<void> FolderListing::ChooseGrouping(std::string_view path) {
  const Directory& root = directories_.front();
  if (grouping_ == Grouping::kDirectory && root.has_files) {
    return InvalidArgument(
        fmt::format("{}: has files directly in it, and grouping by directory has no name "
                    "for a sample "
                    "of them; group by stem, or by a manifest",
                    path));
  }
  if (grouping_ != Grouping::kAuto) return {};
  is_chosen_ = true;
  if (!root.has_directories) {
    grouping_ = Grouping::kStem;
    return {};
  }
  for (const Directory& directory : directories_) {
    if (!directory.has_files || !directory.has_directories) continue;
    return InvalidArgument(fmt::format(
        "{}: {} holds both files and directories, so that it is not clear what a sample "
        "is; group by dir (all files of a directory) or by stem (files equal up to the "
        "first dot of their names)",
        path, directory.path.empty() ? "it" : directory.path));
  }
  grouping_ = Grouping::kDirectory;
  return {};
}

Result<void> FolderListing::CutStems(std::string_view path) {
  std::erase_if(files_, [&](const File& file) {
    if (!Name(file).starts_with('.')) return false;
    hidden_.Add(JoinPath(directories_[file.directory].path, Name(file)));
    return true;
  });
  for (File& file : files_) {
    const auto split = SplitAtFirstDot(Name(file));
    if (!split || split->rest.empty()) {
      return InvalidArgument(fmt::format(
          "{}: {}: nothing after a dot, which would be the file's name in its sample; "
          "group by dir, or by a manifest",
          path, JoinPath(directories_[file.directory].path, Name(file))));
    }
    file.stem_length = static_cast<uint32_t>(split->stem.size());
  }
  return {};
}

void FolderListing::Sort() {
  // Directories in the order of their paths first: most trees are in order then, once
  // their directories are.
  std::vector<uint32_t> order(directories_.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(
      order, {}, [&](uint32_t i) -> const std::string& { return directories_[i].path; });
  std::vector<uint32_t> rank(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  const auto compare_names = [&](const File& a, const File& b) {
    if (const int stems = Stem(a).compare(Stem(b)); stems != 0) return stems < 0;
    return Name(a) < Name(b);
  };
  std::ranges::sort(files_, [&](const File& a, const File& b) {
    if (a.directory != b.directory) return rank[a.directory] < rank[b.directory];
    return compare_names(a, b);
  });
  if (grouping_ != Grouping::kStem) return;
  // Keys of a directory may lie between those of another: "a", "a-b/c", "a/b".
  const auto compare_keys = [&](const File& a, const File& b) {
    if (a.directory == b.directory) return compare_names(a, b);
    return StemKey(a) < StemKey(b);
  };
  bool in_order = true;
  for (size_t i = 1; i < files_.size() && in_order; ++i) {
    in_order = files_[i - 1].directory == files_[i].directory ||
               compare_keys(files_[i - 1], files_[i]);
  }
  if (!in_order) std::ranges::stable_sort(files_, compare_keys);
}

bool FolderListing::LooksLikeClasses() const {
  if (grouping_ != Grouping::kDirectory || files_.size() == groups_.size()) return false;
  if (files_.size() >= kFilesOfClass * groups_.size()) return true;
  std::set<std::string_view> names;
  for (const Group& group :
       std::span(groups_).first(std::min(groups_.size(), kComparedGroups))) {
    for (size_t i = group.first; i < group.first + group.count; ++i) {
      if (!names.insert(Name(files_[i])).second) return false;
    }
  }
  return groups_.size() > 1;
}

std::optional<GroupingChoice> FolderListing::choice() const {
  if (!is_chosen_) return std::nullopt;
  return GroupingChoice{grouping_, LooksLikeClasses()};
}

void FolderListing::MakeGroups() {
  for (size_t i = 0; i < files_.size(); ++i) {
    const bool same = !groups_.empty() &&
                      files_[i - 1].directory == files_[i].directory &&
                      Stem(files_[i - 1]) == Stem(files_[i]);
    if (!same) groups_.push_back({i, 0});
    ++groups_.back().count;
  }
}

std::string FolderListing::StemKey(const File& file) const {
  return JoinPath(directories_[file.directory].path, Stem(file));
}

std::string FolderListing::Key(const Group& group) const {
  const File& file = files_[group.first];
  return grouping_ == Grouping::kStem ? StemKey(file) : directories_[file.directory].path;
}

std::string_view FolderListing::EntryName(size_t file) const {
  const std::string_view name = Name(files_[file]);
  return grouping_ == Grouping::kStem ? name.substr(files_[file].stem_length + 1) : name;
}

std::string FolderListing::Path(size_t file) const {
  return JoinPath(directories_[files_[file].directory].path, Name(files_[file]));
}

}  // namespace dolium::dataset
