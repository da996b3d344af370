// TiffFile: a TIFF open in libtiff, whose messages become our errors.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "dolium/base/result.h"
#include "dolium/domain/volume/arrays/input_file.h"
#include "dolium/domain/volume/arrays/page.h"
#include "dolium/domain/volume/arrays/tiff_library.h"

namespace dolium::volume {

// One thread at a time. Stands at one directory, that is, one page; at first, at the
// first.
class TiffFile {
 public:
  static Result<std::unique_ptr<TiffFile>> Open(const std::string& path);
  TiffFile(const TiffFile&) = delete;
  TiffFile& operator=(const TiffFile&) = delete;

  // Goes to the next directory; false if this is the last one.
  Result<bool> Next();
  // Goes to the directory at `offset`, from an earlier directory_offset().
  Result<void> GoTo(uint64_t offset);
  uint64_t directory_offset() const { return directory_offset_; }

  // Whether the page is a small copy of another, for overviews.
  bool IsReducedImage() const;

  // kUnsupported if the page has no numbers that a volume could: bilevel, complex,
  // colours by a palette, ...
  Result<PageShape> Describe();

  // As ArraySource's, for this page.
  bool reads_whole_pages() const;

  // Reads a part of the page. Precondition: Describe() gave `shape`, and the window is
  // within.
  Result<void> Read(const PageShape& shape, const PageWindow& window);

  // ImageJ writes stacks over 4 GiB as one directory, with the numbers of all pages right
  // behind each other. Then this is their number, as the description has it; else 1.
  struct Hyperstack {
    int64_t pages = 1;
    uint64_t offset = 0;
    bool big_endian = false;
  };
  Hyperstack DescribeHyperstack(const PageShape& shape);

  // What ImageJ's description says that the pages are. They go by channel, then by slice,
  // then by frame. All 1 if there is no such description.
  struct ImageJPages {
    int64_t channels = 1;
    int64_t slices = 1;
    int64_t frames = 1;
  };
  ImageJPages DescribeImageJPages() const;

 private:
  explicit TiffFile(InputFile file) : file_(std::move(file)) {}

  // ImageJ's description of the file; empty if there is none.
  std::string_view ImageJDescription() const;
  bool IsPlainStrips() const;
  Result<void> ReadPlainStrips(const PageShape& shape, const PageWindow& window);
  Result<void> ReadStrips(const PageShape& shape, const PageWindow& window);
  Result<void> ReadTiles(const PageShape& shape, const PageWindow& window);
  // kCorrupt or kUnsupported if a strip or tile would unpack to too much.
  Result<void> CheckStrile(uint32_t strile, uint64_t unpacked);

  InputFile file_;
  TiffMessages messages_;
  TiffHandle handle_;
  TIFF* tiff_ = nullptr;  // handle_'s
  uint64_t directory_offset_ = 0;
};

}  // namespace dolium::volume
