// Annotations: arrays of numpy in and out, as buffers; python/dolium/annotations.py makes
// structured arrays of them.
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dolium/ops/annotation/annotation_set.h"
#include "dolium/ops/source/capabilities.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"

namespace dolium::python {
namespace {

using annotation::AnnotationTable;

// A contiguous array of numbers that a Python object lends out.
template <typename T>
class BorrowedNumbers {
 public:
  explicit BorrowedNumbers(nb::handle object) : bytes_(object) {
    if (bytes_.view().size() % sizeof(T) != 0) {
      throw nb::value_error("an array of other numbers than expected");
    }
    numbers_.resize(bytes_.view().size() / sizeof(T));
    // Arrays need not be aligned.
    if (!numbers_.empty()) {
      std::memcpy(numbers_.data(), bytes_.view().data(), bytes_.view().size());
    }
  }

  std::span<const T> view() const { return numbers_; }

 private:
  BorrowedBytes bytes_;
  std::vector<T> numbers_;
};

template <typename T>
nb::bytes BytesOfNumbers(const std::vector<T>& numbers) {
  return CopyToPython(std::as_bytes(std::span(numbers)));
}

nb::tuple TableToPython(const AnnotationTable& table) {
  nb::list related;
  for (const annotation::RelatedIds& one : table.related()) {
    related.append(nb::make_tuple(BytesOfNumbers(one.ids), BytesOfNumbers(one.ends)));
  }
  return nb::make_tuple(BytesOfNumbers(table.ids()), BytesOfNumbers(table.geometry()),
                        BytesOfNumbers(table.ends()), CopyToPython(table.properties()),
                        related);
}

std::vector<size_t> OffsetsOf(const annotation::AnnotationInfo& info,
                              const annotation::RecordLayout& layout) {
  std::vector<size_t> offsets;
  offsets.reserve(info.properties.size());
  for (size_t p = 0; p < info.properties.size(); ++p) offsets.push_back(layout.offset(p));
  return offsets;
}

// The ranges [end of the one before, end) that `ends` cuts `numbers` into.
template <typename T>
std::vector<std::span<const T>> CutAt(std::span<const T> numbers,
                                      std::span<const uint64_t> ends, size_t count) {
  if (ends.size() != count) {
    throw nb::value_error("as many ends as annotations are expected");
  }
  std::vector<std::span<const T>> parts;
  parts.reserve(count);
  uint64_t begin = 0;
  for (const uint64_t end : ends) {
    if (end < begin || end > numbers.size()) {
      throw nb::value_error("ends that do not ascend, or end past the array");
    }
    parts.push_back(numbers.subspan(begin, end - begin));
    begin = end;
  }
  return parts;
}

class PythonAnnotationWriter {
 public:
  PythonAnnotationWriter(nb::handle target, const std::string& schema, bool force,
                         bool unsharded, const std::string& encoding,
                         uint64_t shard_bytes, uint64_t limit, uint64_t seed,
                         uint64_t memory, size_t jobs) {
    annotation::AnnotationWriteOptions options;
    options.unsharded = unsharded;
    options.encoding = Must(neuroglancer::ParseEncoding("encoding", encoding));
    options.shard_bytes = shard_bytes;
    options.limit = limit;
    options.seed = seed;
    options.writer.memory = memory;
    options.writer.jobs = jobs;
    options.writer.stop = stop_.get_token();
    options.progress = [this](const Progress& progress) {
      if (report_) report_(progress);
    };
    annotation::AnnotationInfo info = Must(annotation::ParseAnnotationInfo(schema));
    const bool has_bounds = info.lower_bound != info.upper_bound;
    annotation::AnnotationSchema wanted{.type = info.type,
                                        .dimensions = info.dimensions,
                                        .properties = info.properties,
                                        .relationships = info.relationships};
    if (has_bounds) {
      wanted.lower_bound = info.lower_bound;
      wanted.upper_bound = info.upper_bound;
    }
    const Location location = Must(ParseLocation(LocationText(target)));
    set_ = Must(WithoutGil([&]() -> Result<std::unique_ptr<AnnotationSetWriter>> {
      DOLIUM_TRY(auto draft, AnnotationSetWriter::BeginFolder(location, force));
      return AnnotationSetWriter::Begin(std::move(draft), wanted, options);
    }));
  }

  void Add(nb::handle ids, nb::handle geometry, nb::handle ends, nb::handle properties,
           const nb::list& related) {
    CheckOpen();
    annotation::AnnotationWriter& writer = set_->writer();
    const annotation::RecordLayout& layout = writer.layout();
    const BorrowedNumbers<uint64_t> numbers(ids);
    const size_t count = numbers.view().size();
    const BorrowedNumbers<float> coordinates(geometry);
    const BorrowedBytes values(properties);
    if (values.view().size() != count * layout.property_bytes()) {
      throw nb::value_error("as many properties as annotations are expected");
    }
    std::vector<std::span<const float>> shapes;
    const size_t stride = layout.geometry_size();
    if (stride == 0) {
      const BorrowedNumbers<uint64_t> limits(ends);
      shapes = CutAt(coordinates.view(), limits.view(), count);
    } else if (coordinates.view().size() != count * stride) {
      throw nb::value_error("as many coordinates as annotations are expected");
    }
    std::vector<std::unique_ptr<BorrowedNumbers<uint64_t>>> kept;
    std::vector<std::vector<std::span<const uint64_t>>> lists;
    for (const nb::handle one : related) {
      const auto pair = nb::cast<nb::tuple>(one);
      kept.push_back(std::make_unique<BorrowedNumbers<uint64_t>>(pair[0]));
      const BorrowedNumbers<uint64_t> limits(pair[1]);
      lists.push_back(CutAt(kept.back()->view(), limits.view(), count));
    }
    Must(WithoutGil([&]() -> Result<void> {
      std::vector<std::span<const uint64_t>> of_one(lists.size());
      for (size_t i = 0; i < count; ++i) {
        for (size_t r = 0; r < lists.size(); ++r) of_one[r] = lists[r][i];
        const auto shape =
            stride == 0 ? shapes[i] : coordinates.view().subspan(i * stride, stride);
        const auto bytes =
            values.view().subspan(i * layout.property_bytes(), layout.property_bytes());
        DOLIUM_TRY_VOID(writer.Add({numbers.view()[i], shape, bytes}, of_one));
      }
      return {};
    }));
  }

  nb::dict Finish(nb::object progress) {
    CheckOpen();
    ProgressCall call(std::move(progress), stop_);
    report_ = call.function();
    Result<annotation::AnnotationSummary> done = annotation::AnnotationSummary();
    RunInterruptible(stop_, [&] {
      done = set_->Finish();
      set_.reset();
    });
    report_ = {};
    call.Check();
    const annotation::AnnotationSummary summary = Must(std::move(done));
    nb::dict out;
    out["annotations"] = summary.annotations;
    out["levels"] = summary.levels;
    out["objects"] = summary.written.objects;
    out["stored_bytes"] = summary.written.stored_bytes;
    return out;
  }

  // Drops what was written, unless it is complete.
  void Close() {
    WithoutGil([&] {
      set_.reset();
      return 0;
    });
  }

  std::vector<size_t> offsets() const {
    CheckOpen();
    return OffsetsOf(set_->writer().info(), set_->writer().layout());
  }
  size_t property_bytes() const {
    CheckOpen();
    return set_->writer().layout().property_bytes();
  }

 private:
  void CheckOpen() const {
    if (set_ == nullptr) throw nb::value_error("the writer is closed");
  }

  std::stop_source stop_;
  ProgressFunction report_;
  std::unique_ptr<AnnotationSetWriter> set_;
};

class PythonAnnotations {
 public:
  explicit PythonAnnotations(nb::handle location) {
    const Location at = Must(ParseLocation(LocationText(location)));
    is_remote_ = !IsLocal(at);
    source_ = Must(WithoutGil(is_remote_, [&] { return OpenAnnotations(at); }));
  }

  std::string info() const { return annotation::ToJson(source_->info()); }
  std::vector<size_t> offsets() const {
    return OffsetsOf(source_->info(), source_->layout());
  }
  size_t property_bytes() const { return source_->layout().property_bytes(); }

  nb::bytes Ids() const {
    return BytesOfNumbers(
        Must(WithoutGil(is_remote_, [&] { return source_->ListIds(); })));
  }
  nb::tuple Get(nb::handle ids, size_t jobs) const {
    const std::vector<uint64_t> numbers = ChunkIds(ids);
    return TableToPython(Must(WithoutGil(
        is_remote_, [&] { return source_->GetMany(numbers, {.jobs = jobs}); })));
  }
  nb::tuple Query(std::vector<double> lower, std::vector<double> upper, size_t levels,
                  size_t jobs) const {
    const annotation::AnnotationSource::BoxQuery query = {
        .region = {std::move(lower), std::move(upper)},
        .levels = levels,
        .read = {.jobs = jobs}};
    return TableToPython(
        Must(WithoutGil(is_remote_, [&] { return source_->Query(query); })));
  }
  nb::tuple Related(const std::string& relationship, uint64_t id) const {
    return TableToPython(
        Must(WithoutGil(is_remote_, [&] { return source_->Related(relationship, id); })));
  }

 private:
  bool is_remote_ = false;
  std::shared_ptr<const annotation::AnnotationSource> source_;
};

}  // namespace

void BindAnnotations(nb::module_& module) {
  nb::class_<PythonAnnotationWriter>(module, "AnnotationWriter",
                                     "Writes a folder of annotations.")
      .def(nb::init<nb::handle, const std::string&, bool, bool, const std::string&,
                    uint64_t, uint64_t, uint64_t, uint64_t, size_t>(),
           nb::arg("target"), nb::arg("schema"), nb::arg("force"), nb::arg("unsharded"),
           nb::arg("encoding"), nb::arg("shard_bytes"), nb::arg("limit"), nb::arg("seed"),
           nb::arg("memory"), nb::arg("jobs"))
      .def("add", &PythonAnnotationWriter::Add, nb::arg("ids"), nb::arg("geometry"),
           nb::arg("ends").none(), nb::arg("properties"), nb::arg("related"),
           "Adds annotations, of contiguous arrays.")
      .def("finish", &PythonAnnotationWriter::Finish, nb::arg("progress").none(),
           "Writes all indexes; the folder appears.")
      .def("close", &PythonAnnotationWriter::Close, "Drops what is not finished.")
      .def("offsets", &PythonAnnotationWriter::offsets,
           "Where properties are in a record.")
      .def("property_bytes", &PythonAnnotationWriter::property_bytes,
           "Bytes of the properties of a record.");
  nb::class_<PythonAnnotations>(module, "AnnotationReader",
                                "Reads a folder of annotations.")
      .def(nb::init<nb::handle>(), nb::arg("location"))
      .def("info", &PythonAnnotations::info, "The info, as JSON.")
      .def("offsets", &PythonAnnotations::offsets, "Where properties are in a record.")
      .def("property_bytes", &PythonAnnotations::property_bytes,
           "Bytes of the properties of a record.")
      .def("ids", &PythonAnnotations::Ids, "All ids, ascending.")
      .def("get", &PythonAnnotations::Get, nb::arg("ids"), nb::arg("jobs"),
           "Those with these ids.")
      .def("query", &PythonAnnotations::Query, nb::arg("lower"), nb::arg("upper"),
           nb::arg("levels"), nb::arg("jobs"), "Those that meet a box.")
      .def("related", &PythonAnnotations::Related, nb::arg("relationship"), nb::arg("id"),
           "Those related to an id.");
}

}  // namespace dolium::python
