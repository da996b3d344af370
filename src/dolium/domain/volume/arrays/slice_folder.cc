#include "dolium/domain/volume/arrays/slice_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/base/stable_hash.h"
#include "dolium/bytes/store.h"
#include "dolium/domain/volume/arrays/input_file.h"
#include "dolium/domain/volume/arrays/page.h"
#include "dolium/domain/volume/arrays/strided.h"
#include "dolium/domain/volume/arrays/suffix.h"

namespace dolium::volume {
namespace {

// Files looked at or read at a time, mostly waiting.
constexpr size_t kLooks = 8;

const PageFormat* FormatOf(std::string_view name) {
  const std::string suffix = LowerSuffix(name);
  if (suffix == ".tif" || suffix == ".tiff") return &kTiffPages;
  if (suffix == ".png") return &kPngPages;
  if (suffix == ".jpg" || suffix == ".jpeg") return &kJpegPages;
  return nullptr;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// The run of digits that `text` begins with, without leading zeros; cut off `text`.
std::string_view TakeNumber(std::string_view& text) {
  size_t zeros = 0;
  while (zeros < text.size() && text[zeros] == '0') ++zeros;
  size_t end = zeros;
  while (end < text.size() && IsDigit(text[end])) ++end;
  const std::string_view number = text.substr(zeros, end - zeros);
  text.remove_prefix(end);
  return number;
}

class Slices final : public NumberArray {
 public:
  Slices(const PageFormat& format, std::string folder, std::vector<std::string> names,
         const PageShape& page, bool whole_pages, std::string fingerprint)
      : format_(format),
        folder_(std::move(folder)),
        names_(std::move(names)),
        page_(page),
        whole_pages_(whole_pages),
        fingerprint_(std::move(fingerprint)),
        shape_{{page.width, page.height, static_cast<int64_t>(names_.size())},
               page.channels,
               page.type} {}

  const NumberShape& shape() const override { return shape_; }
  bool reads_whole_pages() const override { return whole_pages_; }
  std::string Fingerprint() const override { return fingerprint_; }

  Result<void> ReadNumbers(const Box& box, MutableBytes into) const override {
    const Vec3 size = box.size();
    const auto strides = DenseBoxStrides(SizeOf(shape_.type), size);
    PageWindow window = {box.begin[0], box.begin[1], size[0],   size[1],
                         into.data(),  strides[1],   strides[3]};
    for (int64_t z = box.begin[2]; z < box.end[2]; ++z, window.to += strides[2]) {
      const std::string& name = names_[static_cast<size_t>(z)];
      DOLIUM_TRY_VOID(format_.read(JoinPath(folder_, name), page_, window).Within(name));
    }
    return {};
  }

 private:
  const PageFormat& format_;
  const std::string folder_;
  const std::vector<std::string> names_;  // one for each z
  const PageShape page_;
  const bool whole_pages_;
  const std::string fingerprint_;
  const NumberShape shape_;
};

Result<std::unique_ptr<NumberArray>> Open(const PageFormat& format, std::string folder,
                                          std::vector<std::string> names) {
  const std::string first_path = JoinPath(folder, names[0]);
  DOLIUM_TRY(const PageShape first, format.describe(first_path).Within(names[0]));
  DOLIUM_TRY(const bool whole_pages,
             format.reads_whole_pages(first_path).Within(names[0]));
  std::vector<uint64_t> marks(names.size());
  const auto look = [&](size_t i) -> Result<void> {
    const std::string path = JoinPath(folder, names[i]);
    DOLIUM_TRY(const InputFile file, InputFile::Open(path));
    marks[i] = StableHash(file.Mark());
    DOLIUM_TRY(const PageShape page, format.describe(path));
    return CheckSamePage(page, first);
  };
  DOLIUM_TRY_VOID(ParallelFor(names.size(), kLooks,
                              [&](size_t i) { return look(i).Within(names[i]); }));
  const std::string_view all(reinterpret_cast<const char*>(marks.data()),
                             marks.size() * sizeof marks[0]);
  std::string fingerprint =
      fmt::format("{}: {} files from {} to {}, names, sizes and times {:016x}", folder,
                  names.size(), names.front(), names.back(), StableHash(all));
  auto slices = std::make_unique<Slices>(format, std::move(folder), std::move(names),
                                         first, whole_pages, std::move(fingerprint));
  DOLIUM_TRY_VOID(CheckShape(slices->shape()));
  return slices;
}

}  // namespace

bool NaturallyLess(std::string_view a, std::string_view b) {
  const std::pair whole(a, b);
  while (!a.empty() && !b.empty()) {
    if (IsDigit(a[0]) && IsDigit(b[0])) {
      const std::string_view number_a = TakeNumber(a);
      const std::string_view number_b = TakeNumber(b);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
      continue;
    }
    if (a[0] != b[0]) return static_cast<uint8_t>(a[0]) < static_cast<uint8_t>(b[0]);
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty();
  return whole.first < whole.second;  // They differ in leading zeros at most.
}

Result<std::unique_ptr<NumberArray>> OpenSliceFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entries(folder, error);
  const PageFormat* format = nullptr;
  std::vector<std::string> names;
  for (; !error && entries != std::filesystem::directory_iterator();
       entries.increment(error)) {
    std::string name = entries->path().filename().string();
    const PageFormat* const found = FormatOf(name);
    std::error_code ignored;
    if (name.starts_with('.') || found == nullptr || entries->is_directory(ignored)) {
      continue;
    }
    if (format != nullptr && format != found) {
      return InvalidArgument(
          fmt::format("has {} files and {} files ({} and {}), which of them?",
                      format->name, found->name, names[0], name));
    }
    format = found;
    names.push_back(std::move(name));
  }
  if (error) return SystemError(error.value(), "cannot list the folder");
  if (format == nullptr) return NotFound("no TIFF, PNG or JPEG file in the folder");
  std::sort(names.begin(), names.end(), NaturallyLess);
  return Open(*format, folder, std::move(names));
}

Result<std::unique_ptr<NumberArray>> OpenSlice(const std::string& path) {
  return Open(*FormatOf(path), ParentPath(path), {std::string(BaseName(path))});
}

}  // namespace dolium::volume
