#include <functional>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/formats/neuroglancer.h"
#include "python/src/interrupt.h"
#include "python/src/reports.h"
#include "python/src/set_writing.h"

namespace dolium::python {
namespace {

const uint64_t kDefaultWriterMemory = WriterOptions().memory;

// How many chunks are added between two calls of a progress function.
constexpr uint64_t kBetweenCalls = 256;

struct SetArguments {
  nb::handle location;
  nb::handle spec;
  bool force = false;
  uint64_t memory = 0;
  size_t jobs = 0;
  nb::handle info;
  nb::handle spill_folder;
};

std::unique_ptr<SetWriting> BeginSet(const SetArguments& arguments) {
  WriteRequest request;
  request.target = LocationText(arguments.location);
  request.format = "neuroglancer";
  request.create.spec = SetDescription(arguments.spec, arguments.info);
  request.force = arguments.force;
  WriterOptions options;
  options.memory = arguments.memory;
  options.jobs = arguments.jobs;
  if (!arguments.spill_folder.is_none()) {
    options.spill_folder = LocationText(arguments.spill_folder);
  }
  return std::make_unique<SetWriting>(request, std::move(options));
}

// The Python class ShardedWriter.
class PyShardedWriter {
 public:
  explicit PyShardedWriter(std::unique_ptr<SetWriting> set) : set_(std::move(set)) {}

  void Add(nb::handle id, nb::handle data, nb::handle preceding) {
    const BorrowedBytes value(data);
    if (!preceding.is_valid()) return set_->Add(ChunkId(id), value.view(), {});
    set_->Add(ChunkId(id), value.view(), BorrowedBytes(preceding).view());
  }

  nb::object Finish() {
    summary_ = ToPython(set_->Finish());
    return summary_;
  }

  void Abandon() { set_->Abandon(); }

  bool Exit(nb::handle exception_type) {
    if (!exception_type.is_none()) {
      Abandon();
    } else if (set_->is_open()) {
      Finish();
    }
    return false;
  }

  nb::object summary() const { return summary_; }

 private:
  std::unique_ptr<SetWriting> set_;
  nb::object summary_ = nb::none();
};

// One element of `items`: a pair or triple.
void AddItem(SetWriting& set, nb::handle item) {
  PyObject* const tuple = item.ptr();
  nb::object sequence;
  if (!PyTuple_Check(tuple)) {
    PyObject* const made = PySequence_Tuple(tuple);
    if (made == nullptr) throw nb::python_error();
    sequence = nb::steal(made);
  }
  PyObject* const members = sequence.is_valid() ? sequence.ptr() : tuple;
  const Py_ssize_t size = PyTuple_GET_SIZE(members);
  if (size != 2 && size != 3) {
    throw nb::value_error(
        fmt::format("expected (id, value) or (id, value, preceding), not {} members",
                    size)
            .c_str());
  }
  const uint64_t id = ChunkId(PyTuple_GET_ITEM(members, 0));
  const BorrowedBytes value(PyTuple_GET_ITEM(members, 1));
  if (size == 2) return set.Add(id, value.view(), {});
  set.Add(id, value.view(), BorrowedBytes(PyTuple_GET_ITEM(members, 2)).view());
}

void AddItems(SetWriting& set, nb::handle items, const ProgressFunction& progress,
              ProgressCall& call) {
  const nb::object pairs =
      nb::isinstance<nb::dict>(items) ? items.attr("items")() : nb::borrow(items);
  const Py_ssize_t hint = PyObject_LengthHint(pairs.ptr(), 0);
  if (hint < 0) throw nb::python_error();
  const auto total = static_cast<uint64_t>(hint);
  for (const nb::handle item : nb::iter(pairs)) {
    AddItem(set, item);
    if (progress && set.entries() % kBetweenCalls == 0) {
      progress({set.entries(), total, set.bytes()});
      call.Check();
    }
  }
}

class Buffer2D {
 public:
  explicit Buffer2D(nb::handle object) {
    if (!PyObject_CheckBuffer(object.ptr())) return;
    if (PyObject_GetBuffer(object.ptr(), &buffer_, PyBUF_C_CONTIGUOUS) != 0) {
      throw nb::python_error();
    }
    has_buffer_ = true;
  }
  ~Buffer2D() {
    if (has_buffer_) PyBuffer_Release(&buffer_);
  }
  Buffer2D(const Buffer2D&) = delete;
  Buffer2D& operator=(const Buffer2D&) = delete;

  bool is_rows() const { return has_buffer_ && buffer_.ndim == 2; }
  size_t rows() const { return static_cast<size_t>(buffer_.shape[0]); }
  size_t row_bytes() const {
    return static_cast<size_t>(buffer_.shape[1] * buffer_.itemsize);
  }
  const std::byte* data() const { return static_cast<const std::byte*>(buffer_.buf); }

 private:
  Py_buffer buffer_{};
  bool has_buffer_ = false;
};

void CheckCounts(size_t ids, size_t values) {
  if (ids == values) return;
  throw nb::value_error(fmt::format("{} ids but {} values", ids, values).c_str());
}

void AddColumns(SetWriting& set, nb::handle ids, nb::handle values,
                const ProgressFunction& progress, ProgressCall& call) {
  const std::vector<uint64_t> numbers = ChunkIds(ids);
  const Buffer2D array(values);
  if (array.is_rows()) {
    CheckCounts(numbers.size(), array.rows());
    SetWriting::Report report;
    if (progress) {
      report = [&](uint64_t entries, uint64_t bytes) {
        progress({entries, numbers.size(), bytes});
      };
    }
    set.AddRows(numbers, array.data(), array.row_bytes(), report);
    return call.Check();
  }
  CheckCounts(numbers.size(), nb::len(values));
  size_t next = 0;
  for (const nb::handle value : nb::iter(values)) {
    if (next == numbers.size()) throw nb::value_error("values grew while they were read");
    set.Add(numbers[next++], BorrowedBytes(value).view(), {});
    if (progress && set.entries() % kBetweenCalls == 0) {
      progress({set.entries(), numbers.size(), set.bytes()});
      call.Check();
    }
  }
}

nb::object WriteSharded(nb::handle location, nb::handle spec, nb::handle items,
                        nb::handle ids, nb::handle values, bool force, uint64_t memory,
                        size_t jobs, nb::handle info, nb::handle spill_folder,
                        nb::object progress) {
  const bool columns = !ids.is_none() || !values.is_none();
  if (columns == !items.is_none() || ids.is_none() != values.is_none()) {
    throw nb::type_error("write_sharded takes either items, or both ids and values");
  }
  const auto set = BeginSet({location, spec, force, memory, jobs, info, spill_folder});
  ProgressCall call(std::move(progress), set->stop());
  const ProgressFunction report = call.function();
  if (columns) {
    AddColumns(*set, ids, values, report, call);
  } else {
    AddItems(*set, items, report, call);
  }
  const uint64_t entries = set->entries();
  const uint64_t bytes = set->bytes();
  const WriteSummary summary = set->Finish();
  if (report) report({entries, entries, bytes});
  call.Check();
  return ToPython(summary);
}

}  // namespace

void BindShardedWriter(nb::module_& module) {
  nb::class_<PyShardedWriter>(
      module, "ShardedWriter",
      "Writes a sharded set, chunks in any order, in bounded memory. A context manager: "
      "the "
      "set is complete when the block ends, and stays unfinished if it raises.")
      .def(
          "__init__",
          [](PyShardedWriter* self, nb::handle location, nb::handle spec, bool force,
             uint64_t memory, size_t jobs, nb::handle info, nb::handle spill_folder) {
            new (self) PyShardedWriter(
                BeginSet({location, spec, force, memory, jobs, info, spill_folder}));
          },
          nb::arg("location"), nb::arg("spec").none(), nb::kw_only(),
          nb::arg("force") = false, nb::arg("memory") = kDefaultWriterMemory,
          nb::arg("jobs") = 0, nb::arg("info") = nb::none(),
          nb::arg("spill_folder") = nb::none())
      .def(
          "add", &PyShardedWriter::Add, nb::arg("id"), nb::arg("data"),
          nb::arg("preceding") = nb::bytes(""),
          "Adds a chunk. The bytes are copied; `preceding` is written right before them, "
          "never encoded.")
      .def("finish", &PyShardedWriter::Finish, "Completes the set.")
      .def("abandon", &PyShardedWriter::Abandon, "Gives up; the set stays unfinished.")
      .def("__enter__", [](nb::handle self) { return nb::borrow(self); })
      .def(
          "__exit__",
          [](PyShardedWriter& self, nb::handle type, nb::handle, nb::handle) {
            return self.Exit(type);
          },
          nb::arg("exc_type").none(), nb::arg("exc_value").none(),
          nb::arg("traceback").none())
      .def_prop_ro("summary", &PyShardedWriter::summary,
                   "What finish() returned; None before.");

  module.def(
      "write_sharded", WriteSharded, nb::arg("location"), nb::arg("spec").none(),
      nb::arg("items") = nb::none(), nb::kw_only(), nb::arg("ids") = nb::none(),
      nb::arg("values") = nb::none(), nb::arg("force") = false,
      nb::arg("memory") = kDefaultWriterMemory, nb::arg("jobs") = 0,
      nb::arg("info") = nb::none(), nb::arg("spill_folder") = nb::none(),
      nb::arg("progress") = nb::none(),
      "Writes a sharded set from a dict, from any iterable of (id, bytes) or (id, "
      "bytes, preceding), or from `ids` and `values` (a two-dimensional array: one "
      "row each; or a sequence).");
}

}  // namespace dolium::python
