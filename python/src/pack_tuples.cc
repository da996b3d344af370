// The Python class PackTuples: chosen files of each sample, without objects in between.
#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "dolium/domain/dataset/file_picker.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/guarded.h"
#include "python/src/interrupt.h"
#include "python/src/pack_record.h"
#include "python/src/pack_set.h"
#include "python/src/pack_values.h"

namespace dolium::python {
namespace {

using dataset::FilePicker;
using dataset::PickedFile;
using dataset::PickedSample;

// The name that stands for the sample's key.
constexpr std::string_view kKeyName = "__key__";
// Up to so many files, no memory is taken for what is known of them.
constexpr size_t kFewFiles = 4;

// Contents that are decoded by their types, together, in the places where they stand.
class Decoding {
 public:
  // `content` stands, or will, at `at` of `sequence`: a list, or a new tuple.
  void Add(const PickedFile& file, nb::handle content, nb::object sequence, size_t at) {
    contents_.append(nb::make_tuple(Text(file.header.name),
                                    Text(file.header.content_type),
                                    ShapeObject(file.header), content));
    places_.push_back({std::move(sequence), static_cast<Py_ssize_t>(at)});
  }

  // The first that cannot be decoded is raised.
  void Run() {
    if (places_.empty()) return;
    const nb::list values = nb::cast<nb::list>(
        nb::module_::import_("dolium._decode").attr("decode_or_raise")(contents_));
    for (size_t i = 0; i < places_.size(); ++i) {
      PyObject* const sequence = places_[i].sequence.ptr();
      PyObject* const value = values[i].inc_ref().ptr();
      if (PyList_Check(sequence)) {
        PyList_SetItem(sequence, places_[i].at, value);
      } else {
        PyObject* const content = PyTuple_GET_ITEM(sequence, places_[i].at);
        PyTuple_SET_ITEM(sequence, places_[i].at, value);
        Py_DECREF(content);
      }
    }
  }

 private:
  struct InSequence {
    nb::object sequence;
    Py_ssize_t at;
  };

  nb::list contents_;
  std::vector<InSequence> places_;
};

class PackTuples {
 public:
  // `dataset` is what the tuples are of, for pickling.
  PackTuples(nb::object dataset, const PackSet& set, std::vector<std::string> names,
             bool allows_missing, bool views, bool decodes)
      : dataset_(std::move(dataset)),
        set_(set),
        names_(std::move(names)),
        allows_missing_(allows_missing),
        views_(views),
        decodes_(decodes),
        picker_(set.set(), FileNames(names_)) {
    if (names_.empty()) throw nb::value_error("tuples of no files");
    if (views_ && decodes_) throw nb::value_error("views are not decoded");
    for (const std::string& name : names_) {
      const bool is_key = name == kKeyName;
      places_.push_back(is_key ? kKeySlot : file_count_++);
    }
  }

  const nb::object& dataset() const { return dataset_; }
  const std::vector<std::string>& names() const { return names_; }
  bool allows_missing() const { return allows_missing_; }
  bool views() const { return views_; }
  bool decodes() const { return decodes_; }
  uint64_t size() const { return set_.size(); }
  const PackSet& set() const { return set_; }

  // One sample, as a tuple. Where it does not follow the last one, the processor has to
  // know what comes.
  nb::object Read(uint64_t number, bool follows) const {
    std::array<PickedFile, kFewFiles> few;
    std::vector<PickedFile> many(file_count_ > kFewFiles ? file_count_ : 0);
    const std::span<PickedFile> files =
        many.empty() ? std::span(few).first(file_count_) : std::span(many);
    const PickedSample sample =
        set_.is_local()
            ? Must(picker_.Pick(number, files))
            : Must(WithoutGil(true, [&] { return picker_.Pick(number, files); }));
    if (!follows && !views_) {
      for (const PickedFile& file : files) file.Prefetch();
    }
    const nb::object tuple =
        nb::steal(PyTuple_New(static_cast<Py_ssize_t>(names_.size())));
    if (!tuple.is_valid()) throw nb::python_error();
    Decoding decoding;
    for (size_t i = 0; i < names_.size(); ++i) {
      nb::object value;
      if (places_[i] == kKeySlot) {
        value = Text(sample.key);
      } else {
        const PickedFile& file = files[places_[i]];
        value = NewValue(file, i, sample);
        if (NeedsContent(file)) Fill(file, value);
        if (decodes_ && file.is_there()) decoding.Add(file, value, tuple, i);
      }
      PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), value.release().ptr());
    }
    decoding.Run();
    return tuple;
  }

  // Several: a tuple of lists, one for each name. Contents are decoded on threads, but
  // for those that views need decoded.
  nb::object ReadMany(const std::vector<uint64_t>& numbers) const {
    KeepMemoryOfBatches();
    std::vector<PickedFile> files(numbers.size() * file_count_);
    const auto samples = Must(
        WithoutGil(!set_.is_local(), [&] { return picker_.PickMany(numbers, files); }));
    const nb::object columns =
        nb::steal(PyTuple_New(static_cast<Py_ssize_t>(names_.size())));
    if (!columns.is_valid()) throw nb::python_error();
    std::vector<MutableBytes> into(files.size());
    Decoding decoding;
    uint64_t bytes = 0;
    for (size_t i = 0; i < names_.size(); ++i) {
      PyObject* const column = PyList_New(static_cast<Py_ssize_t>(numbers.size()));
      if (column == nullptr) throw nb::python_error();
      PyTuple_SET_ITEM(columns.ptr(), static_cast<Py_ssize_t>(i), column);
      for (size_t j = 0; j < numbers.size(); ++j) {
        nb::object value;
        if (places_[i] == kKeySlot) {
          value = Text(samples[j].key);
        } else {
          const size_t at = j * file_count_ + places_[i];
          value = NewValue(files[at], i, samples[j]);
          if (NeedsContent(files[at])) {
            into[at] = BytesOf(value);
            bytes += into[at].size();
          }
          if (decodes_ && files[at].is_there()) {
            decoding.Add(files[at], value, nb::borrow(column), j);
          }
        }
        PyList_SET_ITEM(column, static_cast<Py_ssize_t>(j), value.release().ptr());
      }
    }
    std::vector<std::optional<Error>> errors(files.size());
    FillOnThreads(files.size(), bytes, 0, [&](size_t begin, size_t end) {
      for (size_t at = begin; at < end; ++at) {
        if (at + 1 < end && into[at + 1].data() != nullptr) files[at + 1].Prefetch();
        if (into[at].data() == nullptr) continue;
        auto done = files[at].ContentInto(into[at]);
        if (!done) errors[at] = std::move(done).error();
      }
    });
    for (const auto& error : errors) {
      if (error) Raise(*error);
    }
    decoding.Run();
    return columns;
  }

  void Prefetch(uint64_t number) const {
    if (set_.is_local() && number < size()) picker_.Prefetch(number);
  }

 private:
  static constexpr size_t kKeySlot = SIZE_MAX;

  static std::vector<std::string> FileNames(const std::vector<std::string>& names) {
    std::vector<std::string> files;
    std::ranges::copy_if(names, std::back_inserter(files),
                         [](const std::string& name) { return name != kKeyName; });
    return files;
  }

  // Whether the value that NewValue gives has still to be filled.
  bool NeedsContent(const PickedFile& file) const { return !views_ && file.is_there(); }

  // What stands in the tuple for a file: bytes to be filled, or a view, or None.
  nb::object NewValue(const PickedFile& file, size_t name,
                      const PickedSample& sample) const {
    if (!file.is_there()) {
      if (allows_missing_) return nb::none();
      Raise(NotFound(fmt::format("{}: record {}: \"{}\": no entry \"{}\"",
                                 file.shard->Describe(), file.record, sample.key,
                                 names_[name])),
            Absent::kEntry);
    }
    Must(file.CheckLimits());
    if (!views_) return NewBytes(file.header.raw_size);
    if (file.is_plain()) {
      std::shared_ptr<const void> owner = sample.owner;
      if (owner == nullptr) owner = set_.set();
      return MemoryView({std::move(owner), file.stored});
    }
    Buffer buffer(static_cast<size_t>(file.header.raw_size));
    Must(WithoutGil([&] { return file.ContentInto(buffer.view()); }));
    return MemoryView(std::move(buffer).Share());
  }

  static void Fill(const PickedFile& file, nb::handle value) {
    const MutableBytes into = BytesOf(value);
    if (into.size() < kBytesWorthTheGil) {
      Must(file.ContentInto(into));
    } else {
      Must(WithoutGil([&] { return file.ContentInto(into); }));
    }
  }

  nb::object dataset_;
  PackSet set_;
  std::vector<std::string> names_;
  bool allows_missing_;
  bool views_;
  bool decodes_;
  FilePicker picker_;
  std::vector<size_t> places_;  // for each name: which of the files, or kKeySlot
  size_t file_count_ = 0;
};

// The tuples in order.
struct TupleIterator {
  nb::object owner;
  const PackTuples* tuples;
  uint64_t next = 0;

  // Null at the end.
  nb::object Next() {
    if (next == tuples->size()) return {};
    nb::object tuple = tuples->Read(next++, /*follows=*/true);
    tuples->Prefetch(next + 1);
    return tuple;
  }
};

// Arrays that hold one number may say that they can be an index, and so do others.
bool IsNumber(nb::handle index) {
  if (!PyIndex_Check(index.ptr())) return false;
  return !nb::hasattr(index, "ndim") || nb::cast<int>(index.attr("ndim")) == 0;
}

nb::object GetTuple(const PackTuples& self, nb::handle index) {
  if (PyLong_CheckExact(index.ptr())) {
    const long long number = PyLong_AsLongLong(index.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw nb::index_error("a number that no set is large enough for");
    }
    return self.Read(self.set().Number(number), /*follows=*/false);
  }
  if (PySlice_Check(index.ptr())) {
    const auto [begin, end, step, count] =
        nb::borrow<nb::slice>(index).compute(static_cast<size_t>(self.size()));
    std::vector<uint64_t> numbers;
    numbers.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      numbers.push_back(static_cast<uint64_t>(begin + static_cast<Py_ssize_t>(i) * step));
    }
    return self.ReadMany(numbers);
  }
  if (IsNumber(index)) {
    const Py_ssize_t number = PyNumber_AsSsize_t(index.ptr(), PyExc_IndexError);
    if (number == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return self.Read(self.set().Number(number), /*follows=*/false);
  }
  return self.ReadMany(self.set().Numbers(index));
}

// What Python calls for self[index] and for the next tuple: straight, since the way by a
// function object takes as long as all else that a small sample needs.
PyObject* Subscript(PyObject* self, PyObject* index) {
  return Guarded<PyObject*>(nullptr, [&] {
    return GetTuple(Constructed<PackTuples>(self), index).release().ptr();
  });
}

// What reversed() asks for.
PyObject* Item(PyObject* self, Py_ssize_t index) {
  return Guarded<PyObject*>(nullptr, [&] {
    const PackTuples& tuples = Constructed<PackTuples>(self);
    return tuples.Read(tuples.set().Number(index), /*follows=*/false).release().ptr();
  });
}

PyObject* NextTuple(PyObject* self) {
  return Guarded<PyObject*>(
      nullptr, [&] { return Constructed<TupleIterator>(self).Next().release().ptr(); });
}

PyObject* SelfTuples(PyObject* self) { return Py_NewRef(self); }

PyType_Slot tuples_slots[] = {
    {Py_mp_subscript, reinterpret_cast<void*>(Subscript)},
    {Py_sq_item, reinterpret_cast<void*>(Item)},
    {0, nullptr},
};
PyType_Slot iterator_slots[] = {
    {Py_tp_iter, reinterpret_cast<void*>(SelfTuples)},
    {Py_tp_iternext, reinterpret_cast<void*>(NextTuple)},
    {0, nullptr},
};

}  // namespace

void BindPackTuples(nb::module_& module) {
  nb::class_<PackTuples>(module, "PackTuples", "Chosen files of each sample.",
                         nb::type_slots(tuples_slots), nb::is_final())
      .def(nb::init<nb::object, const PackSet&, std::vector<std::string>, bool, bool,
                    bool>(),
           nb::arg("dataset"), nb::arg("set"), nb::arg("names"),
           nb::arg("allows_missing") = false, nb::arg("views") = false,
           nb::arg("decodes") = false)
      .def("__len__", &PackTuples::size)
      .def("__iter__",
           [](nb::handle self) {
             return TupleIterator{nb::borrow(self), &Instance<PackTuples>(self)};
           })
      .def_prop_ro("names", &PackTuples::names)
      .def_prop_ro("recipe",
                   [](const PackTuples& self) {
                     return nb::make_tuple(self.dataset(), self.names(),
                                           self.allows_missing(), self.views(),
                                           self.decodes());
                   })
      .def("__repr__", [](const PackTuples& self) {
        return MessageText(fmt::format("<shardpack.Tuples ({}) of {} samples>",
                                       fmt::join(self.names(), ", "), self.size()));
      });
  nb::class_<TupleIterator>(module, "PackTupleIterator", "Tuples, in order.",
                            nb::type_slots(iterator_slots), nb::is_final());
}

}  // namespace dolium::python
