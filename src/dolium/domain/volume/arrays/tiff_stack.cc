#include "dolium/domain/volume/arrays/tiff_stack.h"

#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/checked_math.h"
#include "dolium/domain/volume/arrays/axes.h"
#include "dolium/domain/volume/arrays/input_file.h"
#include "dolium/domain/volume/arrays/page.h"
#include "dolium/domain/volume/arrays/strided.h"
#include "dolium/domain/volume/arrays/strided_array.h"
#include "dolium/domain/volume/arrays/tiff_file.h"

namespace dolium::volume {
namespace {

// Open files kept for the next reads.
constexpr size_t kMaxIdle = 32;

// Goes to the first page that is no reduced image; false if there is none.
Result<bool> SkipReduced(TiffFile& file) {
  while (file.IsReducedImage()) {
    DOLIUM_TRY(const bool more, file.Next());
    if (!more) return false;
  }
  return true;
}

// Of how many channels, one page each, the pages of a stack are; they follow each other,
// then comes the next z. 1 if pages are not by channel: all that are in a page are
// samples. kUnsupported if ImageJ says that the pages are something else.
// Precondition: the file is at its first page.
Result<int64_t> PagesPerZ(const TiffFile& file, const PageShape& page, int64_t pages) {
  // A lone page is what it is: others may have kept the description of a stack for it.
  if (pages == 1) return 1;
  const TiffFile::ImageJPages says = file.DescribeImageJPages();
  if (says.frames > 1) {
    return Unsupported(
        fmt::format("ImageJ's description says {} frames, and a volume has one point in "
                    "time; save each frame by itself, or, if they are z, as slices",
                    says.frames));
  }
  if (says.channels <= 1) return 1;
  if (page.channels > 1) {
    return Unsupported(
        fmt::format("ImageJ's description says {} channels, and each page has {} samples",
                    says.channels, page.channels));
  }
  if (pages % says.channels != 0 || pages / says.channels != says.slices) {
    return Unsupported(
        fmt::format("ImageJ's description says {} channels of {} slices, and there are "
                    "{} pages",
                    says.channels, says.slices, pages));
  }
  return says.channels;
}

// Pages of a stack as an array, `per_z` of them to a z.
NumberShape StackShape(const PageShape& page, int64_t pages, int64_t per_z) {
  return {{page.width, page.height, pages / per_z}, page.channels * per_z, page.type};
}

class TiffStack final : public NumberArray {
 public:
  TiffStack(std::string path, std::string mark, const PageShape& page,
            std::vector<uint64_t> directories, int64_t per_z, bool whole_pages,
            std::unique_ptr<TiffFile> file)
      : path_(std::move(path)),
        mark_(std::move(mark)),
        page_(page),
        directories_(std::move(directories)),
        per_z_(per_z),
        whole_pages_(whole_pages),
        shape_(StackShape(page, static_cast<int64_t>(directories_.size()), per_z)) {
    idle_.push_back(std::move(file));
  }

  const NumberShape& shape() const override { return shape_; }
  bool reads_whole_pages() const override { return whole_pages_; }
  std::string Fingerprint() const override { return mark_; }

  Result<void> ReadNumbers(const Box& box, MutableBytes into) const override {
    DOLIUM_TRY(std::unique_ptr<TiffFile> file, Take());
    const Vec3 size = box.size();
    const auto strides = DenseBoxStrides(SizeOf(shape_.type), size);
    PageWindow window = {box.begin[0], box.begin[1], size[0],   size[1],
                         into.data(),  strides[1],   strides[3]};
    for (int64_t page = box.begin[2] * per_z_; page < box.end[2] * per_z_; ++page) {
      window.to = into.data() + (page / per_z_ - box.begin[2]) * strides[2] +
                  page % per_z_ * strides[3];
      DOLIUM_TRY_VOID(ReadPage(*file, page, window).Within(fmt::format("page {}", page)));
    }
    GiveBack(std::move(file));
    return {};
  }

 private:
  Result<void> ReadPage(TiffFile& file, int64_t page, const PageWindow& window) const {
    DOLIUM_TRY_VOID(file.GoTo(directories_[static_cast<size_t>(page)]));
    DOLIUM_TRY(const PageShape found, file.Describe());
    DOLIUM_TRY_VOID(CheckSamePage(found, page_));
    return file.Read(page_, window);
  }

  Result<std::unique_ptr<TiffFile>> Take() const {
    {
      const std::lock_guard lock(mutex_);
      if (!idle_.empty()) {
        auto file = std::move(idle_.back());
        idle_.pop_back();
        return file;
      }
    }
    return TiffFile::Open(path_);
  }

  void GiveBack(std::unique_ptr<TiffFile> file) const {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < kMaxIdle) idle_.push_back(std::move(file));
  }

  const std::string path_;
  const std::string mark_;
  const PageShape page_;
  const std::vector<uint64_t> directories_;  // one for each page
  const int64_t per_z_;                      // pages
  const bool whole_pages_;
  const NumberShape shape_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<TiffFile>> idle_;  // libtiff's are for one thread
};

// nullptr if the file is no such stack.
Result<std::unique_ptr<NumberArray>> OpenHyperstack(const std::string& path,
                                                    TiffFile& file,
                                                    const PageShape& page) {
  const TiffFile::Hyperstack stack = file.DescribeHyperstack(page);
  if (stack.pages == 1) return std::unique_ptr<NumberArray>();
  DOLIUM_TRY(const int64_t per_z, PagesPerZ(file, page, stack.pages));
  const NumberShape shape = StackShape(page, stack.pages, per_z);
  DOLIUM_TRY_VOID(CheckShape(shape));
  DOLIUM_TRY(InputFile input, InputFile::Open(path));
  const uint64_t bytes =
      static_cast<uint64_t>(page.bytes()) * static_cast<uint64_t>(stack.pages);
  const auto end = CheckedAdd(stack.offset, bytes);
  if (!end || *end > input.size()) {
    return Corrupt(
        fmt::format("ImageJ's description says {} images of {}, and the file has one "
                    "directory and {} bytes",
                    stack.pages, ToString(page), input.size()));
  }
  const int64_t size = static_cast<int64_t>(SizeOf(page.type));
  const int64_t pixel = size * page.channels;
  // Channels are samples of a page, or pages.
  const int64_t channel = per_z == 1 ? size : page.bytes();
  return std::make_unique<StridedArray>(
      std::move(input), shape,
      StridedLayout{stack.offset,
                    {pixel, pixel * page.width, page.bytes() * per_z, channel},
                    stack.big_endian});
}

Result<PageShape> DescribeTiff(const std::string& path) {
  DOLIUM_TRY(const auto file, TiffFile::Open(path));
  DOLIUM_TRY(const bool any, SkipReduced(*file));
  if (!any) return Corrupt("no page but reduced images");
  DOLIUM_TRY(const PageShape shape, file->Describe());
  DOLIUM_TRY(const bool another, file->Next());
  if (another) {
    DOLIUM_TRY(const bool full, SkipReduced(*file));
    if (full) return Unsupported("has several pages; files in a folder must have one");
  }
  return shape;
}

Result<void> ReadTiff(const std::string& path, const PageShape& shape,
                      const PageWindow& window) {
  DOLIUM_TRY(const auto file, TiffFile::Open(path));
  DOLIUM_TRY_VOID(SkipReduced(*file));
  DOLIUM_TRY(const PageShape found, file->Describe());
  DOLIUM_TRY_VOID(CheckSamePage(found, shape));
  return file->Read(shape, window);
}

Result<bool> TiffReadsWholePages(const std::string& path) {
  DOLIUM_TRY(const auto file, TiffFile::Open(path));
  DOLIUM_TRY_VOID(SkipReduced(*file));
  return file->reads_whole_pages();
}

}  // namespace

const PageFormat kTiffPages = {"TIFF", &DescribeTiff, &ReadTiff, &TiffReadsWholePages};

Result<std::unique_ptr<NumberArray>> OpenTiffStack(const std::string& path) {
  DOLIUM_TRY(const InputFile input, InputFile::Open(path));
  DOLIUM_TRY(auto file, TiffFile::Open(path));
  PageShape first;
  bool whole_pages = false;
  std::vector<uint64_t> directories;
  while (true) {
    DOLIUM_TRY(const bool full, SkipReduced(*file));
    if (!full) break;
    const std::string number = fmt::format("page {}", directories.size());
    DOLIUM_TRY(const PageShape page, file->Describe().Within(number));
    if (directories.empty()) {
      first = page;
      whole_pages = file->reads_whole_pages();
    }
    DOLIUM_TRY_VOID(CheckSamePage(page, first).Within(number));
    directories.push_back(file->directory_offset());
    const auto more = file->Next();
    if (!more) return more.error().Within(fmt::format("page {}", directories.size()));
    if (!*more) break;
  }
  if (directories.empty()) return Corrupt("no page but reduced images");
  DOLIUM_TRY_VOID(file->GoTo(directories[0]));
  if (directories.size() == 1) {
    DOLIUM_TRY(auto hyperstack, OpenHyperstack(path, *file, first));
    if (hyperstack) return hyperstack;
  }
  DOLIUM_TRY(const int64_t per_z,
             PagesPerZ(*file, first, static_cast<int64_t>(directories.size())));
  auto stack =
      std::make_unique<TiffStack>(path, input.Mark(), first, std::move(directories),
                                  per_z, whole_pages, std::move(file));
  DOLIUM_TRY_VOID(CheckShape(stack->shape()));
  return stack;
}

}  // namespace dolium::volume
