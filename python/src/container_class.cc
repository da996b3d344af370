#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/bulk_work.h"
#include "python/src/container.h"
#include "python/src/errors.h"
#include "python/src/formats/neuroglancer.h"
#include "python/src/guarded.h"
#include "python/src/interrupt.h"
#include "python/src/reports.h"

namespace dolium::python {
namespace {

const uint64_t kDefaultCacheBytes = OpenOptions().cache_bytes;
constexpr const char* kXorbs = "xorbs";

// --- slots: faster than methods, which nanobind finds by the types of their arguments
// --------

PyContainer& Self(PyObject* self) { return Constructed<PyContainer>(self); }

[[noreturn]] void RaiseAbsent(nb::handle key) {
  PyErr_SetObject(PyExc_KeyError, key.ptr());
  throw nb::python_error();
}

PyObject* GetItem(PyObject* self, PyObject* key) {
  return Guarded<PyObject*>(nullptr, [&] {
    nb::object value = Self(self).Get(key);
    if (!value.is_valid()) RaiseAbsent(key);
    return value.release().ptr();
  });
}

Change Put(const PyContainer& container, nb::handle key, nb::handle data,
           nb::handle preceding) {
  Change change;
  change.key = container.Key(key);
  change.value = Bytes::Copy(BorrowedBytes(data).view());
  if (preceding.is_valid())
    change.preceding = Bytes::Copy(BorrowedBytes(preceding).view());
  return change;
}

Change Removal(const PyContainer& container, nb::handle key) {
  return {.key = container.Key(key), .value = std::nullopt, .preceding = {}};
}

int SetItem(PyObject* self, PyObject* key, PyObject* value) {
  return Guarded(-1, [&] {
    PyContainer& container = Self(self);
    container.Apply({value == nullptr ? Removal(container, key)
                                      : Put(container, key, value, nb::handle())});
    return 0;
  });
}

int ContainsItem(PyObject* self, PyObject* key) {
  return Guarded(-1, [&] { return Self(self).Contains(key) ? 1 : 0; });
}

// Slots of a type are plain pointers.
template <typename Function>
void* Slot(Function* function) {
  return reinterpret_cast<void*>(function);
}

// --- methods
// ---------------------------------------------------------------------------------

nb::object Get(const PyContainer& self, nb::handle key, const nb::object& fallback) {
  nb::object value = self.Get(key);
  return value.is_valid() ? value : fallback;
}

nb::object FindEntry(const PyContainer& self, nb::handle key) {
  const auto entry = self.Find(key);
  if (!entry) return nb::none();
  return ToPython(self.container().store(), *entry, self.KeyObject(entry->key));
}

void PutOne(PyContainer& self, nb::handle key, nb::handle data, nb::handle preceding) {
  self.Apply({Put(self, key, data, preceding)});
}

void Update(PyContainer& self, nb::handle items) {
  const nb::object pairs =
      nb::hasattr(items, "items") ? items.attr("items")() : nb::borrow(items);
  std::vector<Change> changes;
  for (const nb::handle pair : nb::iter(pairs)) {
    if (nb::len(pair) != 2) throw nb::value_error("expected pairs of key and value");
    changes.push_back(Put(self, nb::object(pair[0]), nb::object(pair[1]), nb::handle()));
  }
  self.Apply(changes);
}

void Remove(PyContainer& self, nb::handle keys) {
  std::vector<Change> changes;
  if (PyUnicode_Check(keys.ptr()) || PyIndex_Check(keys.ptr())) {
    changes.push_back(Removal(self, keys));
  } else {
    for (const nb::handle key : nb::iter(keys)) changes.push_back(Removal(self, key));
  }
  self.Apply(changes);
}

nb::object VerifyAll(const PyContainer& self, bool quick, bool deep, double sample,
                     uint64_t seed, bool strict, size_t jobs, nb::object progress) {
  VerifyOptions wanted{
      .depth = DepthOf(quick, deep), .sample = sample, .seed = seed, .jobs = jobs};
  wanted.report_missing = strict;
  return RunVerify(std::move(wanted), std::move(progress),
                   [&](const VerifyOptions& options, const FindingVisitor& visitor) {
                     return self.source().Check(options, visitor);
                   });
}

nb::object StatsOfAll(const PyContainer& self, size_t jobs, nb::object progress) {
  return RunStats(jobs, std::move(progress), [&](const StatsOptions& options) {
    return self.source().CountSizes(options);
  });
}

nb::dict Info(const PyContainer& self) {
  nb::dict info;
  for (const auto& [name, value] : self.container().properties()) {
    info[name.c_str()] = PropertyObject(value);
  }
  return info;
}

nb::object Sharding(const PyContainer& self) {
  return self.chunks() ? ShardingToPython(self.chunks()->sharding()) : nb::none();
}

nb::str Repr(const PyContainer& self) {
  return nb::str("<dolium.Container {!r}, format {!r}>")
      .format(NameText(self.container().location().Describe()),
              nb::str(std::string(self.container().format_name()).c_str()));
}

// For pickle.
nb::tuple Reduce(nb::handle self) {
  const OpenArguments& arguments = Instance<PyContainer>(self).arguments();
  const auto optional = [](const std::optional<std::string>& text) -> nb::object {
    return text ? nb::object(NameText(*text)) : nb::none();
  };
  const auto& parameters = arguments.options.parameters;
  const auto xorbs = parameters.find(kXorbs);
  return nb::make_tuple(
      self.type(),
      nb::make_tuple(NameText(arguments.location), optional(arguments.options.spec),
                     arguments.format.empty() ? nb::object(nb::none())
                                              : nb::object(NameText(arguments.format)),
                     arguments.options.allow_unfinished, arguments.options.cache_bytes,
                     xorbs == parameters.end() ? nb::object(nb::none())
                                               : nb::object(NameText(xorbs->second)),
                     CacheTo(arguments.cache)));
}

void Init(PyContainer* self, nb::handle location, nb::handle spec,
          const std::optional<std::string>& format, bool unfinished, uint64_t cache_bytes,
          nb::handle xorbs, nb::handle cache, nb::handle sharding) {
  OpenArguments arguments;
  arguments.location = LocationText(location);
  arguments.format = format.value_or("");
  arguments.options.spec = SpecText(EitherOf(spec, "spec", sharding, "sharding"));
  arguments.options.allow_unfinished = unfinished;
  arguments.options.cache_bytes = cache_bytes;
  if (!xorbs.is_none()) arguments.options.parameters[kXorbs] = LocationText(xorbs);
  arguments.cache = CacheFrom(cache);
  const CacheFor scope(arguments.cache);
  new (self) PyContainer(std::move(arguments));
}

// What the module's own open() gives of the location.
nb::object OpenedBy(const PyContainer& self, const char* module) {
  const std::string location = self.container().location().Describe();
  return nb::module_::import_(module).attr("open")(NameText(location));
}

}  // namespace

void BindContainer(nb::module_& module) {
  BindIterators(module);
  static const PyType_Slot slots[] = {{Py_mp_subscript, Slot(GetItem)},
                                      {Py_mp_ass_subscript, Slot(SetItem)},
                                      {Py_sq_contains, Slot(ContainsItem)},
                                      {0, nullptr}};
  nb::class_<PyContainer>(
      module, "Container", nb::type_slots(slots),
      "A set of entries, as a mapping from keys to bytes: what dolium.open() gives. Keys "
      "are "
      "ints for chunks (str is taken as well), else str. Any thread may use it.")
      .def("__init__", Init, nb::arg("location"), nb::arg("spec") = nb::none(),
           nb::arg("format") = nb::none(), nb::arg("unfinished") = false,
           nb::arg("cache_bytes") = kDefaultCacheBytes, nb::arg("xorbs") = nb::none(),
           nb::arg("cache") = nb::none(), nb::arg("sharding") = nb::none())
      .def("get", Get, nb::arg("key"), nb::arg("default") = nb::none(),
           "The value of a key, or the default.")
      .def("get_many", &PyContainer::GetMany, nb::arg("keys"),
           "The values of many keys, read together; None for those that are absent.")
      .def("find", FindEntry, nb::arg("key"),
           "Where an entry lies and what it takes; None if it is absent.")
      .def("read", &PyContainer::Read, nb::arg("key"), nb::kw_only(),
           nb::arg("raw") = false, nb::arg("preceding") = false,
           "The value of a key, decoded or (raw) as stored; with `preceding`, a pair of "
           "it "
           "and the bytes that precede it.")
      .def("put", PutOne, nb::arg("key"), nb::arg("data"), nb::kw_only(),
           nb::arg("preceding") = nb::bytes(""),
           "Adds or replaces an entry: an atomic rewrite of the shard that holds it.")
      .def("update", Update, nb::arg("items"),
           "Adds or replaces the entries of a mapping, or pairs of key and value. Each "
           "object they touch is rewritten once, atomically.")
      .def("remove", Remove, nb::arg("keys"),
           "Removes one key or many. KeyError, before anything is changed, if one is "
           "absent.")
      .def(
          "keys",
          [](const PyContainer& self) {
            return self.Iterate(EntryIterator::Gives::kKeys);
          },
          "An iterator over the keys, in storage order.")
      .def(
          "items",
          [](const PyContainer& self) {
            return self.Iterate(EntryIterator::Gives::kItems);
          },
          "An iterator over pairs of key and value, in storage order; reads ahead.")
      .def("__iter__",
           [](const PyContainer& self) {
             return self.Iterate(EntryIterator::Gives::kKeys);
           })
      .def("__len__", &PyContainer::Count, "Counts the entries, by a scan of the index.")
      .def("__bool__", [](const PyContainer& self) { return !self.IsEmpty(); })
      .def("verify", VerifyAll, nb::kw_only(), nb::arg("quick") = false,
           nb::arg("deep") = false, nb::arg("sample") = 1.0, nb::arg("seed") = 0,
           nb::arg("strict") = false, nb::arg("jobs") = 0,
           nb::arg("progress") = nb::none(),
           "Checks all that is there: the index, and every entry, or (quick) none, or a "
           "random part of them; the voxels of a volume, the objects of a cas store. "
           "Damage is reported, not raised. The same as dolium.verify().")
      .def("stats", StatsOfAll, nb::kw_only(), nb::arg("jobs") = 0,
           nb::arg("progress") = nb::none(), "Counts and sizes, from the index alone.")
      .def(
          "meshes", [](const PyContainer& self) { return OpenedBy(self, "dolium.mesh"); },
          "The meshes of the folder: what dolium.mesh.open() gives.")
      .def(
          "skeletons",
          [](const PyContainer& self) { return OpenedBy(self, "dolium.skeleton"); },
          "The skeletons of the folder: what dolium.skeleton.open() gives.")
      .def_prop_ro("info", Info, "What the format says of the set.")
      .def_prop_ro("format",
                   [](const PyContainer& self) {
                     return std::string(self.container().format_name());
                   })
      .def_prop_ro("location",
                   [](const PyContainer& self) {
                     return NameText(self.container().location().Describe());
                   })
      .def_prop_ro("sharding", Sharding,
                   nb::sig("def sharding(self) -> ShardingSpec | None"),
                   "The ShardingSpec; None for other formats.")
      .def("__repr__", Repr)
      .def("__reduce__", Reduce);
}

}  // namespace dolium::python
