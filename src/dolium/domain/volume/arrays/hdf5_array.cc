#include "dolium/domain/volume/arrays/hdf5_array.h"

#include <hdf5.h>

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "dolium/base/bytes.h"
#include "dolium/domain/volume/arrays/axes.h"
#include "dolium/domain/volume/arrays/input_file.h"
#include "dolium/domain/volume/arrays/strided.h"

namespace dolium::volume {
namespace {

// What one step of a read holds that changes the order of dimensions.
constexpr uint64_t kHdf5StepBytes = uint64_t{32} << 20;
constexpr uint64_t kMaxHdf5ChunkBytes = uint64_t{1} << 30;
constexpr size_t kCacheBytes = size_t{64} << 20;
constexpr size_t kCacheSlots = 12'421;  // a prime, well over the chunks that fit
constexpr double kCachePreemption = 0.75;
constexpr size_t kMaxListed = 20;

// While it lives, this thread alone uses the library, which prints nothing.
class Hdf5Lock {
 public:
  Hdf5Lock() : lock_(Mutex()) {
    H5Eget_auto2(H5E_DEFAULT, &print_, &print_data_);
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  }
  ~Hdf5Lock() { H5Eset_auto2(H5E_DEFAULT, print_, print_data_); }
  Hdf5Lock(const Hdf5Lock&) = delete;
  Hdf5Lock& operator=(const Hdf5Lock&) = delete;

 private:
  static std::mutex& Mutex() {
    static std::mutex mutex;
    return mutex;
  }

  const std::lock_guard<std::mutex> lock_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

// An identifier of the library. Made and ended under a Hdf5Lock.
class Hdf5Id {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Id() = default;
  Hdf5Id(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Id(Hdf5Id&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Id& operator=(Hdf5Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Id() { Reset(); }

  hid_t get() const { return id_; }
  explicit operator bool() const { return id_ >= 0; }
  void Reset() {
    if (id_ >= 0) close_(id_);
    id_ = H5I_INVALID_HID;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

// `action` and where the library's trouble began.
Error Failure(ErrorCode code, std::string action) {
  std::string cause;
  H5Ewalk2(
      H5E_DEFAULT, H5E_WALK_UPWARD,
      [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
        auto* text = static_cast<std::string*>(out);
        if (text->empty() && error->desc != nullptr) *text = error->desc;
        return 0;
      },
      &cause);
  if (!cause.empty()) action += fmt::format(": {}", cause);
  return {code, std::move(action)};
}

struct FoundDataset {
  std::string name;
  std::vector<uint64_t> sizes;
};

Result<std::vector<uint64_t>> SizesOf(hid_t dataset) {
  const Hdf5Id space(H5Dget_space(dataset), &H5Sclose);
  const int rank = space ? H5Sget_simple_extent_ndims(space.get()) : -1;
  if (rank < 0) return Failure(ErrorCode::kCorrupt, "the dataset has no dimensions");
  std::vector<hsize_t> sizes(static_cast<size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
  return std::vector<uint64_t>(sizes.begin(), sizes.end());
}

// All datasets of 3 or 4 dimensions.
Result<std::vector<FoundDataset>> FindDatasets(hid_t file) {
  std::vector<FoundDataset> found;
  const H5L_iterate_t visit = [](hid_t root, const char* name, const H5L_info_t* link,
                                 void* out) -> herr_t {
    if (link->type != H5L_TYPE_HARD) return 0;
    const Hdf5Id object(H5Oopen(root, name, H5P_DEFAULT), &H5Oclose);
    if (!object || H5Iget_type(object.get()) != H5I_DATASET) return 0;
    const auto sizes = SizesOf(object.get());
    if (!sizes || sizes->size() < 3 || sizes->size() > 4) return 0;
    static_cast<std::vector<FoundDataset>*>(out)->push_back({name, *sizes});
    return 0;
  };
  if (H5Lvisit(file, H5_INDEX_NAME, H5_ITER_INC, visit, &found) < 0) {
    return Failure(ErrorCode::kCorrupt, "cannot look for datasets");
  }
  return found;
}

Result<std::string> ChooseDataset(hid_t file) {
  DOLIUM_TRY(const auto found, FindDatasets(file));
  if (found.size() == 1) return found[0].name;
  if (found.empty()) return NotFound("no dataset of 3 or 4 dimensions");
  std::string names;
  for (size_t i = 0; i < found.size() && i < kMaxListed; ++i) {
    names += fmt::format("{}{} ({})", i == 0 ? "" : ", ", found[i].name,
                         fmt::join(found[i].sizes, "x"));
  }
  if (found.size() > kMaxListed) names += ", ...";
  return InvalidArgument(
      fmt::format("{} datasets, which of them? {}", found.size(), names));
}

// h5py stores booleans so.
bool IsBoolean(hid_t type) {
  if (H5Tget_nmembers(type) != 2) return false;
  bool known = true;
  for (unsigned i = 0; i < 2; ++i) {
    char* const name = H5Tget_member_name(type, i);
    known = known && name != nullptr &&
            (std::string_view(name) == "FALSE" || std::string_view(name) == "TRUE");
    H5free_memory(name);
  }
  return known;
}

Result<NumberType> TypeOf(hid_t dataset) {
  const Hdf5Id type(H5Dget_type(dataset), &H5Tclose);
  if (!type) return Failure(ErrorCode::kCorrupt, "the dataset has no type");
  const H5T_class_t kind = H5Tget_class(type.get());
  const size_t size = H5Tget_size(type.get());
  if (kind == H5T_ENUM && size == 1 && IsBoolean(type.get())) return NumberType::kUint8;
  if (kind == H5T_FLOAT && size == 4) return NumberType::kFloat32;
  if (kind == H5T_FLOAT && size == 8) return NumberType::kFloat64;
  if (kind == H5T_INTEGER) {
    const bool is_signed = H5Tget_sign(type.get()) == H5T_SGN_2;
    switch (size) {
      case 1:
        return is_signed ? NumberType::kInt8 : NumberType::kUint8;
      case 2:
        return is_signed ? NumberType::kInt16 : NumberType::kUint16;
      case 4:
        return is_signed ? NumberType::kInt32 : NumberType::kUint32;
      case 8:
        return is_signed ? NumberType::kInt64 : NumberType::kUint64;
      default:
        break;
    }
  }
  return Unsupported(fmt::format(
      "the dataset has values of {} bytes that are neither integers of 1, 2, 4 or 8 "
      "bytes nor floats of 4 or 8",
      size));
}

hid_t InMemory(NumberType type) {
  switch (type) {
    case NumberType::kUint8:
      return H5T_NATIVE_UINT8;
    case NumberType::kInt8:
      return H5T_NATIVE_INT8;
    case NumberType::kUint16:
      return H5T_NATIVE_UINT16;
    case NumberType::kInt16:
      return H5T_NATIVE_INT16;
    case NumberType::kUint32:
      return H5T_NATIVE_UINT32;
    case NumberType::kInt32:
      return H5T_NATIVE_INT32;
    case NumberType::kUint64:
      return H5T_NATIVE_UINT64;
    case NumberType::kInt64:
      return H5T_NATIVE_INT64;
    case NumberType::kFloat32:
      return H5T_NATIVE_FLOAT;
    case NumberType::kFloat64:
      break;
  }
  return H5T_NATIVE_DOUBLE;
}

// kUnsupported if the library lacks a filter that the chunks went through.
Result<void> CheckFilters(hid_t properties) {
  const int filters = H5Pget_nfilters(properties);
  for (int i = 0; i < filters; ++i) {
    unsigned flags = 0;
    size_t values = 0;
    char name[64] = "";
    const H5Z_filter_t filter =
        H5Pget_filter2(properties, static_cast<unsigned>(i), &flags, &values, nullptr,
                       sizeof name, name, nullptr);
    if (filter < 0) return Failure(ErrorCode::kCorrupt, "a filter cannot be read");
    if (H5Zfilter_avail(filter) <= 0) {
      name[sizeof name - 1] = '\0';
      return Unsupported(fmt::format(
          "its chunks are compressed by filter {} ({}), for which the HDF5 library has "
          "no plugin here",
          filter, name));
    }
  }
  return {};
}

// The sizes of the dataset's chunks; 1 in each dimension if it has none.
Result<std::vector<uint64_t>> ChunkOf(hid_t dataset, size_t rank, size_t number_size) {
  std::vector<uint64_t> out(rank, 1);
  const Hdf5Id properties(H5Dget_create_plist(dataset), &H5Pclose);
  if (!properties) return Failure(ErrorCode::kCorrupt, "the dataset has no layout");
  if (H5Pget_layout(properties.get()) != H5D_CHUNKED) return out;
  DOLIUM_TRY_VOID(CheckFilters(properties.get()));
  std::vector<hsize_t> sizes(rank);
  if (H5Pget_chunk(properties.get(), static_cast<int>(rank), sizes.data()) !=
      static_cast<int>(rank)) {
    return Failure(ErrorCode::kCorrupt, "the dataset's chunks have no sizes");
  }
  uint64_t bytes = number_size;
  for (size_t i = 0; i < rank; ++i) {
    if (sizes[i] == 0 || sizes[i] > kMaxHdf5ChunkBytes / bytes) {
      return Unsupported(
          fmt::format("chunks of {} values are too big", fmt::join(sizes, "x")));
    }
    bytes *= sizes[i];
    out[i] = sizes[i];
  }
  return out;
}

// Some of a dataset, in its own dimensions.
struct Part {
  std::vector<hsize_t> begin;
  std::vector<hsize_t> count;
};

class Hdf5Array final : public NumberArray {
 public:
  // Precondition: under a Hdf5Lock.
  Hdf5Array(Hdf5Id file, Hdf5Id dataset, const AxisMap& map, std::vector<uint64_t> sizes,
            std::vector<uint64_t> chunk, std::string fingerprint)
      : file_(std::move(file)),
        dataset_(std::move(dataset)),
        map_(map),
        sizes_(std::move(sizes)),
        chunk_(std::move(chunk)),
        fingerprint_(std::move(fingerprint)) {}

  ~Hdf5Array() override {
    const Hdf5Lock lock;
    dataset_.Reset();
    file_.Reset();
  }

  const NumberShape& shape() const override { return map_.shape; }
  bool reads_whole_pages() const override { return false; }
  std::string Fingerprint() const override { return fingerprint_; }

  Result<void> ReadNumbers(const Box& box, MutableBytes into) const override {
    Part whole;
    whole.begin.resize(sizes_.size());
    whole.count.resize(sizes_.size());
    for (size_t axis = 0; axis < map_.dimension.size(); ++axis) {
      if (!map_.dimension[axis]) continue;
      const size_t dimension = *map_.dimension[axis];
      const bool channel = axis == kChannelAxis;
      whole.begin[dimension] = channel ? 0 : static_cast<hsize_t>(box.begin[axis]);
      whole.count[dimension] =
          static_cast<hsize_t>(channel ? map_.shape.channels : box.size()[axis]);
    }
    const Hdf5Lock lock;
    if (HasOrderOfArrays()) return ReadPart(whole, into);

    // The library gives the order of the file; the rest is ours.
    const Part step = ChooseStep(whole);
    size_t step_bytes = SizeOf(map_.shape.type);
    for (const hsize_t count : step.count) step_bytes *= static_cast<size_t>(count);
    Buffer buffer(step_bytes);
    Part part = whole;
    return ReadSteps(0, whole, step, part, box, buffer.view(), into);
  }

 private:
  // Whether the last dimension is x, the one before it y, and so on.
  bool HasOrderOfArrays() const {
    size_t next = sizes_.size();
    for (const auto& dimension : map_.dimension) {
      if (dimension && *dimension != --next) return false;
    }
    return true;
  }

  Result<void> ReadPart(const Part& part, MutableBytes into) const {
    const Hdf5Id in_file(H5Dget_space(dataset_.get()), &H5Sclose);
    const Hdf5Id in_memory(
        H5Screate_simple(static_cast<int>(part.count.size()), part.count.data(), nullptr),
        &H5Sclose);
    if (!in_file || !in_memory ||
        H5Sselect_hyperslab(in_file.get(), H5S_SELECT_SET, part.begin.data(), nullptr,
                            part.count.data(), nullptr) < 0 ||
        H5Dread(dataset_.get(), InMemory(map_.shape.type), in_memory.get(), in_file.get(),
                H5P_DEFAULT, into.data()) < 0) {
      return Failure(ErrorCode::kCorrupt,
                     fmt::format("cannot read {} values at {}",
                                 fmt::join(part.count, "x"), fmt::join(part.begin, ",")));
    }
    return {};
  }

  // Sizes of the parts in which a box is read: whole in the fastest dimensions, and at
  // least a chunk in the others, as memory allows.
  Part ChooseStep(const Part& whole) const {
    Part step = whole;
    uint64_t bytes = SizeOf(map_.shape.type);
    for (const hsize_t count : whole.count) bytes *= count;
    for (size_t i = 0; i < step.count.size() && bytes > kHdf5StepBytes; ++i) {
      bytes /= step.count[i];
      const uint64_t fitting = std::max<uint64_t>(1, kHdf5StepBytes / bytes);
      const uint64_t chunks = std::max<uint64_t>(1, fitting / chunk_[i]);
      step.count[i] = std::min<hsize_t>(step.count[i], chunks * chunk_[i]);
      bytes *= step.count[i];
    }
    return step;
  }

  // Reads the parts of `part` from dimension `i` on.
  Result<void> ReadSteps(size_t i, const Part& whole, const Part& step, Part& part,
                         const Box& box, MutableBytes buffer, MutableBytes into) const {
    if (i == part.count.size()) return ReadAndTurn(part, box, buffer, into);
    const hsize_t end = whole.begin[i] + whole.count[i];
    for (hsize_t begin = whole.begin[i]; begin < end;) {
      // Up to a boundary between chunks, so that none is read twice.
      const hsize_t boundary = begin / chunk_[i] * chunk_[i] + step.count[i];
      part.begin[i] = begin;
      part.count[i] = step.count[i] == whole.count[i]
                          ? whole.count[i]
                          : std::min<hsize_t>(end, boundary) - begin;
      DOLIUM_TRY_VOID(ReadSteps(i + 1, whole, step, part, box, buffer, into));
      begin += part.count[i];
    }
    return {};
  }

  Result<void> ReadAndTurn(const Part& part, const Box& box, MutableBytes buffer,
                           MutableBytes into) const {
    DOLIUM_TRY_VOID(ReadPart(part, buffer));
    const size_t number_size = SizeOf(map_.shape.type);
    const std::vector<uint64_t> counts(part.count.begin(), part.count.end());
    const auto from = DenseStrides(map_, counts, /*c_order=*/true);
    const auto to = DenseBoxStrides(number_size, box.size());
    StridedBox copy;
    std::byte* target = into.data();
    for (size_t axis = 0; axis < copy.size(); ++axis) {
      if (!map_.dimension[axis]) continue;
      const size_t dimension = *map_.dimension[axis];
      copy[axis] = {static_cast<int64_t>(counts[dimension]), from[axis], to[axis]};
      const int64_t begin = axis == kChannelAxis ? 0 : box.begin[axis];
      target += (static_cast<int64_t>(part.begin[dimension]) - begin) * to[axis];
    }
    CopyStrided({number_size, false}, buffer.data(), target, copy);
    return {};
  }

  Hdf5Id file_;
  Hdf5Id dataset_;
  const AxisMap map_;
  const std::vector<uint64_t> sizes_;
  const std::vector<uint64_t> chunk_;
  const std::string fingerprint_;
};

}  // namespace

Result<std::unique_ptr<NumberArray>> OpenHdf5(const std::string& path,
                                              const std::optional<std::string>& dataset,
                                              const std::optional<std::string>& axes) {
  DOLIUM_TRY(const InputFile input, InputFile::Open(path));
  const Hdf5Lock lock;
  const Hdf5Id file_access(H5Pcreate(H5P_FILE_ACCESS), &H5Pclose);
  // We only read: no lock on the file, which some file systems do not have.
  H5Pset_file_locking(file_access.get(), false, true);
  Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, file_access.get()), &H5Fclose);
  if (!file) return Failure(ErrorCode::kCorrupt, "not an HDF5 file, or damaged");

  std::string name;
  if (dataset) {
    name = *dataset;
  } else {
    DOLIUM_TRY(name, ChooseDataset(file.get()));
  }
  const Hdf5Id access(H5Pcreate(H5P_DATASET_ACCESS), &H5Pclose);
  H5Pset_chunk_cache(access.get(), kCacheSlots, kCacheBytes, kCachePreemption);
  Hdf5Id opened(H5Dopen2(file.get(), name.c_str(), access.get()), &H5Dclose);
  if (!opened) {
    return Failure(ErrorCode::kNotFound, fmt::format("no dataset {}", name));
  }
  DOLIUM_TRY(const NumberType type, TypeOf(opened.get()).Within(name));
  DOLIUM_TRY(std::vector<uint64_t> sizes, SizesOf(opened.get()).Within(name));
  DOLIUM_TRY(const AxisMap map, MapAxes(axes, sizes, type).Within(name));
  DOLIUM_TRY(std::vector<uint64_t> chunk,
             ChunkOf(opened.get(), sizes.size(), SizeOf(type)).Within(name));
  std::string fingerprint = fmt::format("{}, dataset {}, axes {}", input.Mark(), name,
                                        axes.value_or("by default"));
  return std::make_unique<Hdf5Array>(std::move(file), std::move(opened), map,
                                     std::move(sizes), std::move(chunk),
                                     std::move(fingerprint));
}

}  // namespace dolium::volume
