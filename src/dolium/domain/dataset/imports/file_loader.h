// FileLoader: whole files of a folder, read quickly.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/unique_fd.h"
#include "dolium/domain/dataset/imports/bound_files.h"
#include "dolium/formats/shardpack/sample.h"

namespace dolium::dataset {

// Small files are read into shared blocks, larger ones into memory of their own. None is
// mapped: who cuts a mapped file short ends the process that reads it. One thread at a
// time.
class FileLoader {
 public:
  struct Options {
    bool keep_attributes = false;
    uint64_t max_file_bytes = 0;
  };

  FileLoader(UniqueFd root, std::string root_path, const Options& options)
      : root_(std::move(root)), root_path_(std::move(root_path)), options_(options) {}

  int root() const { return root_.get(); }
  const std::string& root_path() const { return root_path_; }

  // Notes what state a file is in that is to be loaded.
  void Bind(const std::string& path, bool follow);
  BoundFiles& bound() { return bound_; }

  // Fills data (and time and mode, if kept) of `file` from `path`, relative to the root.
  // With `follow`, links are followed within the folder; else a link is an error.
  // kConflict if it changes meanwhile, or is not what the Bind() of that number found.
  Result<void> Load(const std::string& path, bool follow, size_t number,
                    shardpack::File& file);

 private:
  Result<Bytes> ReadSmall(int fd, size_t size);
  Result<void> LoadSteps(const std::string& path, bool follow, size_t number,
                         shardpack::File& file);

  UniqueFd root_;
  std::string root_path_;
  Options options_;
  BoundFiles bound_;
  std::shared_ptr<std::byte[]> block_;
  size_t used_ = 0;  // of the block
};

}  // namespace dolium::dataset
