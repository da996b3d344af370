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

class TiffStack final : public NumberArray {
 public:
  TiffStack(std::string path, std::string mark, const PageShape& page,
            std::vector<uint64_t> directories, bool whole_pages,
            std::unique_ptr<TiffFile> file)
      : path_(std::move(path)),
        mark_(std::move(mark)),
        page_(page),
        directories_(std::move(directories)),
        whole_pages_(whole_pages),
        shape_{{page.width, page.height, static_cast<int64_t>(directories_.size())},
               page.channels,
               page.type} {
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
    for (int64_t z = box.begin[2]; z < box.end[2]; ++z, window.to += strides[2]) {
      DOLIUM_TRY_VOID(ReadPage(*file, z, window).Within(fmt::format("page {}", z)));
    }
    GiveBack(std::move(file));
    return {};
  }

 private:
  Result<void> ReadPage(TiffFile& file, int64_t z, const PageWindow& window) const {
    DOLIUM_TRY_VOID(file.GoTo(directories_[static_cast<size_t>(z)]));
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
  const std::vector<uint64_t> directories_;  // one for each z
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
  const NumberShape shape = {
      {page.width, page.height, stack.pages}, page.channels, page.type};
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
  return std::make_unique<StridedArray>(
      std::move(input), shape,
      StridedLayout{stack.offset,
                    {pixel, pixel * page.width, pixel * page.width * page.height, size},
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
  if (directories.size() == 1) {
    DOLIUM_TRY_VOID(file->GoTo(directories[0]));
    DOLIUM_TRY(auto hyperstack, OpenHyperstack(path, *file, first));
    if (hyperstack) return hyperstack;
  }
  auto stack = std::make_unique<TiffStack>(
      path, input.Mark(), first, std::move(directories), whole_pages, std::move(file));
  DOLIUM_TRY_VOID(CheckShape(stack->shape()));
  return stack;
}

}  // namespace dolium::volume
