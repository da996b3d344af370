#include "dolium/domain/volume/arrays/array_source.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "dolium/bytes/location.h"
#include "dolium/domain/volume/arrays/hdf5_array.h"
#include "dolium/domain/volume/arrays/number_array.h"
#include "dolium/domain/volume/arrays/slice_folder.h"
#include "dolium/domain/volume/arrays/strided.h"
#include "dolium/domain/volume/arrays/strided_array.h"
#include "dolium/domain/volume/arrays/suffix.h"
#include "dolium/domain/volume/arrays/tiff_stack.h"

namespace dolium::volume {
namespace {

// Numbers that are read before they are converted.
constexpr int64_t kStepBytes = int64_t{32} << 20;

class Source final : public ArraySource {
 public:
  Source(std::string name, std::unique_ptr<NumberArray> array, DataType type)
      : name_(std::move(name)),
        array_(std::move(array)),
        shape_{array_->shape().size, array_->shape().channels, type} {}

  const ArrayShape& shape() const override { return shape_; }
  bool reads_whole_pages() const override { return array_->reads_whole_pages(); }
  std::string Fingerprint() const override {
    return fmt::format("{}, {} by {} of {} as {}", array_->Fingerprint(),
                       ToString(shape_.size), shape_.channels,
                       ToString(array_->shape().type), ToString(shape_.type));
  }

  Result<void> Read(const Box& box, MutableBytes into) const override {
    const ArrayShape wanted = {box.size(), shape_.channels, shape_.type};
    if (box.empty() || !Box{{0, 0, 0}, shape_.size}.Contains(box)) {
      return InvalidArgument(fmt::format("{}: box {} is not within the array's {} voxels",
                                         name_, ToString(box), ToString(shape_.size)));
    }
    if (wanted.bytes() != into.size()) {
      return InvalidArgument(
          fmt::format("{}: {} bytes for box {}", name_, into.size(), ToString(box)));
    }
    return ReadConverted(box, into).Within(name_);
  }

 private:
  Result<void> ReadConverted(const Box& box, MutableBytes into) const {
    const NumberType from = array_->shape().type;
    if (from == ToNumberType(shape_.type)) return array_->ReadNumbers(box, into);
    if (SizeOf(from) == SizeOf(shape_.type)) {
      DOLIUM_TRY_VOID(array_->ReadNumbers(box, into));
      return Convert(box, into, box, into);
    }
    // By slabs along z; a page that is too large for a step is one.
    const Vec3 size = box.size();
    const int64_t page =
        size[0] * size[1] * shape_.channels * static_cast<int64_t>(SizeOf(from));
    const int64_t depth = std::clamp<int64_t>(kStepBytes / page, 1, size[2]);
    Buffer buffer(static_cast<size_t>(page * depth));
    for (Box slab = box; slab.begin[2] < box.end[2]; slab.begin[2] = slab.end[2]) {
      slab.end[2] = std::min(slab.begin[2] + depth, box.end[2]);
      const MutableBytes numbers =
          buffer.view().first(static_cast<size_t>(page * slab.size()[2]));
      DOLIUM_TRY_VOID(array_->ReadNumbers(slab, numbers));
      DOLIUM_TRY_VOID(Convert(slab, numbers, box, into));
    }
    return {};
  }

  // Converts the numbers of `slab` to their place in `into`, which is for `box`.
  Result<void> Convert(const Box& slab, BytesView numbers, const Box& box,
                       MutableBytes into) const {
    const NumberType from = array_->shape().type;
    const Vec3 size = slab.size();
    const auto in = DenseBoxStrides(SizeOf(from), size);
    const auto out = DenseBoxStrides(SizeOf(shape_.type), box.size());
    const size_t count = static_cast<size_t>(size[0] * size[1] * size[2]);
    for (int64_t channel = 0; channel < shape_.channels; ++channel) {
      const std::byte* const source = numbers.data() + channel * in[3];
      std::byte* const target =
          into.data() + channel * out[3] + (slab.begin[2] - box.begin[2]) * out[2];
      const size_t done = ConvertNumbers(from, source, shape_.type, target, count);
      if (done == count) continue;
      const int64_t at = static_cast<int64_t>(done);
      const Vec3 voxel = {slab.begin[0] + at % size[0],
                          slab.begin[1] + at / size[0] % size[1],
                          slab.begin[2] + at / size[0] / size[1]};
      return Unsupported(fmt::format(
          "voxel {}, channel {}: {} does not fit {}", ToString(voxel), channel,
          NumberText(from, source + done * SizeOf(from)), ToString(shape_.type)));
    }
    return {};
  }

  const std::string name_;
  const std::unique_ptr<NumberArray> array_;
  const ArrayShape shape_;
};

// What parts of a request mean something for a kind of file.
struct Options {
  bool axes = false;
  bool dataset = false;
  bool raw = false;
};

Result<void> CheckOptions(const ArraySourceRequest& request, const Options& known,
                          std::string_view kind) {
  const auto senseless = [kind](std::string_view option) {
    return InvalidArgument(fmt::format("{} means nothing for {}", option, kind));
  };
  if (request.axes && !known.axes) return senseless("an order of axes");
  if (request.dataset && !known.dataset) return senseless("a dataset");
  if (request.raw && !known.raw) return senseless("a layout of raw numbers");
  return {};
}

Result<std::unique_ptr<NumberArray>> OpenNumbers(const std::string& path,
                                                 const ArraySourceRequest& request) {
  struct stat status{};
  if (stat(path.c_str(), &status) != 0) return SystemError(errno, "cannot look up");
  const std::string suffix = LowerSuffix(path);
  if (S_ISDIR(status.st_mode)) {
    DOLIUM_TRY_VOID(CheckOptions(request, {}, "a folder of images"));
    return OpenSliceFolder(path);
  }
  if (suffix == ".npy") {
    DOLIUM_TRY_VOID(CheckOptions(request, {.axes = true}, "a NumPy file"));
    return OpenNpy(path, request.axes);
  }
  if (suffix == ".tif" || suffix == ".tiff") {
    DOLIUM_TRY_VOID(CheckOptions(request, {}, "a TIFF file"));
    return OpenTiffStack(path);
  }
  if (suffix == ".png" || suffix == ".jpg" || suffix == ".jpeg") {
    DOLIUM_TRY_VOID(CheckOptions(request, {}, "an image"));
    return OpenSlice(path);
  }
  if (suffix == ".h5" || suffix == ".hdf5" || suffix == ".hdf") {
    DOLIUM_TRY_VOID(CheckOptions(request, {.axes = true, .dataset = true}, "HDF5"));
    return OpenHdf5(path, request.dataset, request.axes);
  }
  if (request.raw) {
    DOLIUM_TRY_VOID(CheckOptions(request, {.axes = true, .raw = true}, "raw numbers"));
    return OpenRaw(path, *request.raw, request.axes);
  }
  if (suffix == ".raw" || suffix == ".bin" || suffix == ".dat") {
    return InvalidArgument("a file of bare numbers: give their shape and type");
  }
  return Unsupported(
      "no array of a known kind: .npy, .tif, .h5, .png, .jpg, .raw with a shape and "
      "type, or a folder of images");
}

}  // namespace

Result<std::unique_ptr<ArraySource>> OpenArraySource(const ArraySourceRequest& request) {
  DOLIUM_TRY(const Location location, ParseLocation(request.path));
  std::string name = location.Describe();
  DOLIUM_TRY(const auto path, location.store->LocalPath(location.path));
  if (!path) return Unsupported(fmt::format("{}: not a local file", name));
  DOLIUM_TRY(auto numbers, OpenNumbers(*path, request).Within(name));
  DOLIUM_TRY(const DataType type,
             ChooseDataType(numbers->shape().type, request.type).Within(name));
  return std::make_unique<Source>(std::move(name), std::move(numbers), type);
}

}  // namespace dolium::volume
