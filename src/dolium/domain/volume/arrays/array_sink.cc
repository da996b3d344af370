#include "dolium/domain/volume/arrays/array_sink.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/domain/volume/arrays/axes.h"
#include "dolium/domain/volume/arrays/npy_header.h"
#include "dolium/domain/volume/arrays/number_type.h"
#include "dolium/domain/volume/arrays/strided.h"
#include "dolium/domain/volume/arrays/suffix.h"
#include "dolium/domain/volume/arrays/target_file.h"
#include "dolium/domain/volume/arrays/tiff_library.h"
#include "dolium/domain/volume/voxel_view.h"

namespace dolium::volume {
namespace {

// Rows are put together to strips of about this size.
constexpr int64_t kStripBytes = int64_t{1} << 20;
// A classic TIFF has offsets of 32 bits; directories and tables take some of them.
constexpr uint64_t kClassicTiffBytes = uint64_t{4'000'000'000};
constexpr uint64_t kDirectoryBytes = 512;
constexpr uint64_t kStripEntryBytes = 16;

// The numbers as they are, in any order of the axes, after a header or none.
class PlainSink final : public ArraySink {
 public:
  // `axes` from the fastest to the slowest.
  PlainSink(const ArrayShape& shape, const std::array<size_t, 4>& axes,
            std::unique_ptr<TargetFile> file, uint64_t header_bytes)
      : ArraySink(shape),
        axes_(axes),
        file_(std::move(file)),
        header_bytes_(header_bytes) {}

 private:
  Strides StridesOf(const ArrayShape& shape) const {
    const std::array<int64_t, 4> extents = ExtentsOf(shape);
    Strides strides{};
    auto step = static_cast<int64_t>(SizeOf(shape.type));
    for (const size_t axis : axes_) {
      strides[axis] = step;
      step *= extents[axis];
    }
    return strides;
  }

  static std::array<int64_t, 4> ExtentsOf(const ArrayShape& shape) {
    return {shape.size[0], shape.size[1], shape.size[2], shape.channels};
  }

  // Axes that are faster than z are complete in a slab, so that what it has of them, and
  // of z, is one run in the file. There is a run for each place along the slower axes.
  Result<void> Write(int64_t z, int64_t depth, BytesView slab) override {
    const ArrayShape part = {
        {shape().size[0], shape().size[1], depth}, shape().channels, shape().type};
    const Strides packed = StridesOf(part);
    Buffer turned(packed == DenseStrides(part) ? 0 : slab.size());
    if (!turned.view().empty()) {
      CopyVoxels(VoxelView::Dense(part, slab.data()),
                 MutableVoxelView{turned.view().data(), part, packed});
      slab = turned.view();
    }
    const Strides strides = StridesOf(shape());
    const std::array<int64_t, 4> extents = ExtentsOf(part);
    const auto run = static_cast<size_t>(strides[2] * depth);
    std::array<int64_t, 4> at = {0, 0, z, 0};
    for (size_t from = 0; from < slab.size(); from += run) {
      uint64_t to = header_bytes_;
      for (size_t axis = 0; axis < at.size(); ++axis) {
        to += static_cast<uint64_t>(at[axis] * strides[axis]);
      }
      DOLIUM_TRY_VOID(file_->WriteAt(to, slab.subspan(from, run)));
      const auto slower = std::ranges::find(axes_, size_t{2}) + 1;
      for (const size_t axis : std::span(slower, axes_.end())) {
        if (++at[axis] < extents[axis]) break;
        at[axis] = 0;
      }
    }
    return {};
  }
  Result<void> Commit() override { return file_->Commit(); }

  const std::array<size_t, 4> axes_;
  const std::unique_ptr<TargetFile> file_;
  const uint64_t header_bytes_;
};

bool IsFloat(DataType type) { return type == DataType::kFloat32; }

bool IsSigned(DataType type) {
  return type == DataType::kInt8 || type == DataType::kInt16 || type == DataType::kInt32;
}

class TiffSink final : public ArraySink {
 public:
  static Result<std::unique_ptr<ArraySink>> Begin(const std::string& path,
                                                  const ArrayShape& shape,
                                                  const ArraySinkOptions& options) {
    if (shape.size[0] > INT32_MAX || shape.size[1] > INT32_MAX ||
        shape.channels > UINT16_MAX) {
      return Unsupported(
          fmt::format("{}: {}x{} pixels of {} samples are more than a TIFF page can have",
                      path, shape.size[0], shape.size[1], shape.channels));
    }
    DOLIUM_TRY(auto file, TargetFile::Create(path, options.force));
    std::unique_ptr<TiffSink> sink(
        new TiffSink(shape, path, options.deflate, std::move(file)));
    const bool big = sink->MaxBytes() > kClassicTiffBytes;
    sink->handle_ =
        OpenTiffHandle(sink->file_->fd(), big ? "w8l" : "wl", sink->messages_);
    if (!sink->handle_) return sink->Failure("cannot begin a TIFF file");
    return sink;
  }

 private:
  TiffSink(const ArrayShape& shape, std::string path, bool deflate,
           std::unique_ptr<TargetFile> file)
      : ArraySink(shape),
        path_(std::move(path)),
        deflate_(deflate),
        row_bytes_(shape.size[0] * shape.channels *
                   static_cast<int64_t>(SizeOf(shape.type))),
        strip_rows_(std::clamp<int64_t>(kStripBytes / row_bytes_, 1, shape.size[1])),
        file_(std::move(file)) {}

  uint64_t MaxBytes() const {
    const int64_t strips = (shape().size[1] + strip_rows_ - 1) / strip_rows_;
    const uint64_t overhead =
        kDirectoryBytes + kStripEntryBytes * static_cast<uint64_t>(strips);
    return *shape().bytes() + overhead * static_cast<uint64_t>(shape().size[2]);
  }

  Error Failure(std::string_view action) const {
    return messages_.ToError(ErrorCode::kIo, fmt::format("{}: {}", path_, action));
  }

  Result<void> Write(int64_t, int64_t depth, BytesView slab) override {
    for (int64_t page = 0; page < depth; ++page) {
      SetTags();
      DOLIUM_TRY_VOID(WriteStrips(page, depth, slab));
      if (TIFFWriteDirectory(handle_.get()) == 0) return Failure("cannot write");
    }
    return {};
  }

  void SetTags() {
    TIFF* const tiff = handle_.get();
    const DataType type = shape().type;
    const int channels = static_cast<int>(shape().channels);
    const bool colours = (channels == 3 || channels == 4) &&
                         (type == DataType::kUint8 || type == DataType::kUint16);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, static_cast<uint32_t>(shape().size[0]));
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, static_cast<uint32_t>(shape().size[1]));
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, channels);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, static_cast<int>(8 * SizeOf(type)));
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT,
                 IsFloat(type)    ? SAMPLEFORMAT_IEEEFP
                 : IsSigned(type) ? SAMPLEFORMAT_INT
                                  : SAMPLEFORMAT_UINT);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC,
                 colours ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, static_cast<uint32_t>(strip_rows_));
    const int extra = channels - (colours ? 3 : 1);
    if (extra > 0) {
      const std::vector<uint16_t> meanings(
          static_cast<size_t>(extra),
          colours ? EXTRASAMPLE_UNASSALPHA : EXTRASAMPLE_UNSPECIFIED);
      TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, extra, meanings.data());
    }
    if (deflate_) {
      TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
      // Differences of neighbours pay for images; larger integers are mostly labels.
      if (SizeOf(type) <= 2) {
        TIFFSetField(tiff, TIFFTAG_PREDICTOR, PREDICTOR_HORIZONTAL);
      }
    } else {
      TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_NONE);
    }
  }

  Result<void> WriteStrips(int64_t page, int64_t depth, BytesView slab) {
    const size_t number_size = SizeOf(shape().type);
    const auto from =
        DenseBoxStrides(number_size, {shape().size[0], shape().size[1], depth});
    const int64_t size = static_cast<int64_t>(number_size);
    Buffer strip(static_cast<size_t>(strip_rows_ * row_bytes_));
    uint32_t index = 0;
    for (int64_t y = 0; y < shape().size[1]; y += strip_rows_, ++index) {
      const int64_t rows = std::min(strip_rows_, shape().size[1] - y);
      CopyStrided({number_size, false}, slab.data() + page * from[2] + y * from[1],
                  strip.view().data(),
                  {{{shape().size[0], from[0], size * shape().channels},
                    {rows, from[1], row_bytes_},
                    {1, 0, 0},
                    {shape().channels, from[3], size}}});
      const tmsize_t bytes = rows * row_bytes_;
      if (TIFFWriteEncodedStrip(handle_.get(), index, strip.view().data(), bytes) !=
          bytes) {
        return Failure("cannot write");
      }
    }
    return {};
  }

  Result<void> Commit() override {
    handle_.reset();
    if (!messages_.empty()) return Failure("cannot write");
    return file_->Commit();
  }

  const std::string path_;
  const bool deflate_;
  const int64_t row_bytes_;
  const int64_t strip_rows_;
  const std::unique_ptr<TargetFile> file_;
  TiffMessages messages_;
  TiffHandle handle_;
};

}  // namespace

Result<std::unique_ptr<ArraySink>> ArraySink::Begin(const std::string& path,
                                                    const ArrayShape& shape,
                                                    const ArraySinkOptions& options) {
  const std::string suffix = LowerSuffix(path);
  if (std::ranges::min(shape.size) < 1 || shape.channels < 1) {
    return InvalidArgument(
        fmt::format("{}: {} voxels of {} channels, expected 1 or more of each", path,
                    ToString(shape.size), shape.channels));
  }
  if (!shape.bytes() || *shape.bytes() > INT64_MAX) {
    return InvalidArgument(fmt::format("{}: {} voxels of {} channels are too many", path,
                                       ToString(shape.size), shape.channels));
  }
  if (options.c_order && suffix != ".raw") {
    return InvalidArgument(
        fmt::format("{}: an order of numbers is of use for .raw", path));
  }
  if (suffix == ".tif" || suffix == ".tiff") {
    if (options.axes) {
      return InvalidArgument(fmt::format(
          "{}: an order of axes is of no use for TIFF: columns are x, rows y, pages z",
          path));
    }
    return TiffSink::Begin(path, shape, options);
  }
  if (suffix != ".npy" && suffix != ".raw") {
    return InvalidArgument(
        fmt::format("{}: the suffix is none of .npy, .tif, .tiff, .raw", path));
  }
  const bool is_npy = suffix == ".npy";
  const bool c_order =
      is_npy ? options.axes && options.axes->ends_with('x') : options.c_order;
  DOLIUM_TRY(const FileAxes axes, OrderAxes(options.axes, shape, c_order).Within(path));
  const std::string header =
      is_npy ? MakeNpyHeader(ToNumberType(shape.type), axes.sizes, !c_order) : "";
  DOLIUM_TRY(auto file, TargetFile::Create(path, options.force));
  DOLIUM_TRY_VOID(file->WriteAt(0, AsBytes(header)));
  return std::make_unique<PlainSink>(shape, axes.by_speed, std::move(file),
                                     header.size());
}

Result<void> ArraySink::Append(int64_t depth, BytesView slab) {
  const ArrayShape part = {
      {shape_.size[0], shape_.size[1], depth}, shape_.channels, shape_.type};
  if (depth < 1 || depth > shape_.size[2] - next_ || part.bytes() != slab.size()) {
    return InvalidArgument(fmt::format(
        "{} pages in {} bytes, where pages {} to {} of {}x{} voxels are to "
        "come",
        depth, slab.size(), next_, shape_.size[2], shape_.size[0], shape_.size[1]));
  }
  DOLIUM_TRY_VOID(Write(next_, depth, slab));
  next_ += depth;
  return {};
}

Result<void> ArraySink::Finish() {
  if (next_ != shape_.size[2]) {
    return InvalidArgument(
        fmt::format("{} of {} pages were written", next_, shape_.size[2]));
  }
  return Commit();
}

}  // namespace dolium::volume
