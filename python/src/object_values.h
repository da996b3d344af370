// What the bindings of meshes and skeletons share: arrays, ids, and objects that come
// from Python one after another.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "dolium/ops/objects/object_export.h"
#include "dolium/ops/objects/object_import.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"
#include "python/src/reports.h"

namespace dolium::python {

namespace nb = nanobind;

// A vector as an array that owns it; `columns` of 0 make it one of one dimension.
template <typename T, typename Row>
nb::object ArrayFrom(std::vector<Row> rows, size_t columns) {
  auto* const kept = new std::vector<Row>(std::move(rows));
  const nb::capsule owner(
      kept, [](void* p) noexcept { delete static_cast<std::vector<Row>*>(p); });
  const size_t shape[] = {kept->size(), columns};
  return nb::cast(nb::ndarray<nb::numpy, T>(reinterpret_cast<T*>(kept->data()),
                                            columns == 0 ? 1 : 2, shape, owner));
}

// The rows of an array of numbers, C-contiguous, which Python made so. Needs the GIL.
template <typename T, size_t kColumns>
std::vector<std::array<T, kColumns>> RowsOf(nb::handle array) {
  using Rows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
  const auto rows = nb::cast<Rows>(array);
  if (rows.shape(1) != kColumns) throw nb::value_error("an array of another width");
  std::vector<std::array<T, kColumns>> out(rows.shape(0));
  std::copy_n(rows.data(), out.size() * kColumns, reinterpret_cast<T*>(out.data()));
  return out;
}

// What becomes of a new folder: "unsharded", "sharded" or "legacy".
NewObjectsOptions NewObjectsFrom(const std::string& storage, unsigned bits,
                                 bool keep_types, bool register_in_volume, bool force,
                                 size_t jobs, uint64_t memory);

// The objects of a Python iterator, for a writer that works without the GIL. What Python
// raises stops that, and is raised again by Check().
template <typename T>
class PythonSupply {
 public:
  using Convert = std::function<std::pair<uint64_t, T>(nb::handle item)>;
  PythonSupply(nb::handle objects, Convert convert)
      : iterator_(nb::iter(objects)), convert_(std::move(convert)) {}

  // Refers to *this. Takes the GIL for each.
  ObjectSupply<T> function() {
    return [this]() -> Result<std::optional<std::pair<uint64_t, T>>> {
      const nb::gil_scoped_acquire acquire;
      try {
        PyObject* const item = PyIter_Next(iterator_.ptr());
        if (item == nullptr) {
          if (PyErr_Occurred() != nullptr) throw nb::python_error();
          return std::nullopt;
        }
        return std::optional(convert_(nb::steal(item)));
      } catch (nb::python_error& error) {
        raised_.emplace(std::move(error));
      } catch (const std::exception& error) {
        message_ = error.what();
      }
      return Cancelled();
    };
  }

  // Raises what Python raised. Needs the GIL.
  void Check() {
    if (raised_) {
      raised_->restore();
      throw nb::python_error();
    }
    if (message_) throw nb::value_error(message_->c_str());
  }

 private:
  nb::iterator iterator_;
  Convert convert_;
  std::optional<nb::python_error> raised_;
  std::optional<std::string> message_;
};

// A writer's work with what Python supplies, on a thread of its own.
template <typename T>
nb::object RunWriter(PythonSupply<T>& supply, NewObjectsOptions options,
                     nb::object progress,
                     const std::function<Result<WriteSummary>(
                         const ObjectSupply<T>&, const NewObjectsOptions&)>& write) {
  const std::stop_source stop;
  ProgressCall call(std::move(progress), stop);
  options.progress = call.function();
  options.writer.stop = stop.get_token();
  Result<WriteSummary> written = WriteSummary();
  RunInterruptible(stop, [&] { written = write(supply.function(), options); });
  supply.Check();
  call.Check();
  return ToPython(Must(std::move(written)));
}

// An export to a folder: counts and findings as a dict.
nb::dict RunExport(size_t jobs, bool force, nb::object progress,
                   const std::function<Result<ExportObjectsReport>(
                       const ExportObjectsOptions&, const FindingVisitor&)>& work);

// Twelve numbers; None is the identity.
objects::Transform TransformFrom(nb::handle transform);

}  // namespace dolium::python
