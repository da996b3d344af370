// FolderListing: the files of a tree, in the order of the samples they belong to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/dataset/imports/left_out.h"
#include "dolium/domain/dataset/imports/options.h"

namespace dolium::dataset {

// Holds names only, packed; a file costs its name and 16 bytes. Const methods may be
// called from many threads.
class FolderListing {
 public:
  struct Group {
    size_t first = 0;  // file number
    size_t count = 0;
  };
  struct Options {
    Grouping grouping = Grouping::kAuto;  // not kManifest
    bool skip_links = false;
  };

  // Lists the folder open as `root` (`path` names it in messages). Directories are read
  // with their entries' types, so that no file is touched. Sockets, pipes and devices are
  // passed, and temporaries of our own writers. Links to files within the folder are
  // files; other links are kInvalidArgument, or passed with skip_links.
  //
  //   kDirectory  the files directly in a directory are a sample. Files in the folder
  //               itself have no directory to name them: kInvalidArgument.
  //   kStem       files of a directory that are equal up to the first dot of their names
  //               are a sample. Hidden files (names that begin with the dot) are passed;
  //               a file without a dot is kInvalidArgument.
  //   kAuto       kStem if the folder holds files alone, kDirectory if every directory
  //               holds either files or directories; else kInvalidArgument, which names
  //               both.
  static Result<FolderListing> List(int root, std::string_view path,
                                    const Options& options);

  // What was chosen, if that was left open.
  std::optional<GroupingChoice> choice() const;

  // What was passed: sockets, pipes and devices; links; hidden files.
  const PassedOver& specials() const { return specials_; }
  const PassedOver& links() const { return links_; }
  const PassedOver& hidden() const { return hidden_; }

  // In the order of the bytes of their keys; a group's files in that of their names.
  const std::vector<Group>& groups() const { return groups_; }
  std::string Key(const Group& group) const;

  size_t size() const { return files_.size(); }
  // The name of a file in its sample, its path from the root, whether it is a link.
  std::string_view EntryName(size_t file) const;
  std::string Path(size_t file) const;
  bool is_link(size_t file) const { return files_[file].is_link; }

 private:
  struct File {
    uint64_t name_at : 47;
    uint64_t is_link : 1;
    uint64_t name_length : 16;
    uint32_t directory;
    uint32_t stem_length;
  };
  struct Directory {
    std::string path;  // from the root, which is ""
    bool has_files = false;
    bool has_directories = false;
  };
  class Lister;

  Result<void> ChooseGrouping(std::string_view path);
  Result<void> CutStems(std::string_view path);
  void Sort();
  void MakeGroups();
  std::string_view Name(const File& file) const {
    return std::string_view(names_).substr(file.name_at, file.name_length);
  }
  std::string_view Stem(const File& file) const {
    return Name(file).substr(0, file.stem_length);
  }
  std::string StemKey(const File& file) const;

  bool LooksLikeClasses() const;

  Grouping grouping_ = Grouping::kAuto;
  bool is_chosen_ = false;  // by us
  std::vector<Directory> directories_;
  std::string names_;
  std::vector<File> files_;
  std::vector<Group> groups_;
  PassedOver specials_;
  PassedOver links_;
  PassedOver hidden_;
};

}  // namespace dolium::dataset
