#include "python/src/pack_set.h"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include "dolium/container/json.h"
#include "dolium/domain/dataset/sample_set.h"
#include "dolium/ops/source/capabilities.h"
#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/formats/shardpack.h"
#include "python/src/guarded.h"
#include "python/src/interrupt.h"
#include "python/src/pack_record.h"

namespace dolium::python {
namespace {

using dataset::LoadedSample;
using dataset::SampleSet;

dataset::Nonmatch ParseNonmatch(std::string_view text) {
  if (text == "error") return dataset::Nonmatch::kError;
  if (text == "skip") return dataset::Nonmatch::kSkip;
  if (text == "none") return dataset::Nonmatch::kNone;
  throw nb::value_error("nonmatch is \"error\", \"skip\" or \"none\"");
}

std::vector<std::string> References(nb::handle references) {
  std::vector<std::string> texts;
  if (nb::isinstance<nb::list>(references) || nb::isinstance<nb::tuple>(references)) {
    for (const nb::handle reference : references) {
      texts.push_back(LocationText(reference));
    }
  } else {
    texts.push_back(LocationText(references));
  }
  return texts;
}

}  // namespace

uint64_t PackSet::Number(int64_t number) const {
  const auto count = static_cast<int64_t>(size());
  const int64_t from_front = number < 0 ? number + count : number;
  if (from_front < 0 || from_front >= count) {
    throw nb::index_error(fmt::format("sample {} of a set of {}", number, count).c_str());
  }
  return static_cast<uint64_t>(from_front);
}

std::vector<uint64_t> PackSet::Numbers(nb::handle numbers) const {
  std::vector<uint64_t> wanted;
  for (const nb::handle number : nb::iter(nb::borrow(numbers))) {
    const Py_ssize_t value = PyNumber_AsSsize_t(number.ptr(), PyExc_IndexError);
    if (value == -1 && PyErr_Occurred() != nullptr) throw nb::python_error();
    wanted.push_back(Number(value));
  }
  return wanted;
}

nb::object PackSet::Read(int64_t number) const {
  const uint64_t wanted = Number(number);
  if (is_local_) return RecordObject(Must(set_->Read(wanted)));
  return RecordObject(Must(WithoutGil(true, [&] { return set_->Read(wanted); })));
}

nb::list PackSet::ReadMany(nb::handle numbers, bool keep_errors, size_t jobs) const {
  const std::vector<uint64_t> wanted = Numbers(numbers);
  auto samples = is_local_ ? set_->ReadMany(wanted)
                           : WithoutGil(true, [&] { return set_->ReadMany(wanted); });
  return LoadedRecords(std::move(samples), keep_errors, jobs);
}

std::optional<uint64_t> PackSet::Find(std::string_view key) const {
  return Must(WithoutGil(!is_local_, [&] { return set_->Find(key); }));
}

std::shared_ptr<const shardpack::Shard> PackSet::Shard(size_t index) const {
  if (index >= set_->shard_count()) {
    throw nb::index_error(
        fmt::format("shard {} of {}", index, set_->shard_count()).c_str());
  }
  return Must(WithoutGil(!is_local_, [&] { return set_->shard(index); }));
}

nb::object PackSet::ReadAt(size_t shard_index, uint64_t offset) const {
  const auto shard = Shard(shard_index);
  const auto number = shard->NumberAt(offset);
  if (!number) {
    Raise(InvalidArgument(
        fmt::format("{}: no record begins at {}", shard->Describe(), offset)));
  }
  auto record = Must(WithoutGil(!is_local_, [&] { return shard->Read(*number); }));
  return RecordObject(LoadedSample({shard, *number, std::move(record)}));
}

nb::list PackSet::Keys(uint64_t begin, uint64_t end) const {
  std::vector<std::string> keys;
  Must(WithoutGil(!is_local_, [&] {
    return set_->VisitKeys([&](uint64_t number, std::string_view key) {
      if (number >= begin && number < end) keys.emplace_back(key);
      return number + 1 < end;
    });
  }));
  nb::list list;
  for (const std::string& key : keys) list.append(MessageText(key));
  return list;
}

namespace {

// The samples of a mapped set in order.
class PackRecords {
 public:
  explicit PackRecords(std::shared_ptr<const SampleSet> set) : set_(std::move(set)) {}

  nb::object Next() {
    if (next_ == set_->size()) throw nb::stop_iteration();
    return RecordObject(Must(set_->Read(next_++)));
  }

 private:
  std::shared_ptr<const SampleSet> set_;
  uint64_t next_ = 0;
};

// What Dataset of the package shardpack is made of: numbers go straight to the set, all
// else to methods that Python adds.
class PackDataset {
 public:
  explicit PackDataset(nb::object set)
      : set_(std::move(set)),
        own_(nb::isinstance<PackSet>(set_) ? &Instance<PackSet>(set_) : nullptr) {}

  const nb::object& set() const { return set_; }
  const PackSet* own() const { return own_; }

 private:
  nb::object set_;
  const PackSet* own_;  // nullptr: a set that Python made
};

nb::object GetSample(nb::handle self, nb::handle index) {
  const PackDataset& dataset = Instance<PackDataset>(self);
  if (dataset.own() != nullptr && PyLong_CheckExact(index.ptr())) {
    const long long number = PyLong_AsLongLong(index.ptr());
    if (number == -1 && PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      throw nb::index_error("a number that no set is large enough for");
    }
    return dataset.own()->Read(number);
  }
  return self.attr("_get")(index);
}

nb::object Records(nb::handle self) {
  const PackDataset& dataset = Instance<PackDataset>(self);
  if (dataset.own() != nullptr && dataset.own()->is_local()) {
    return nb::cast(PackRecords(dataset.own()->set()), nb::rv_policy::move);
  }
  return self.attr("_records")();
}

std::shared_ptr<const SampleSet> OpenSet(nb::handle references, std::string_view check,
                                         bool map, uint64_t raw_limit,
                                         uint64_t tail_bytes, nb::handle cache) {
  dataset::SetOptions options;
  options.shard.check = ParseCheck(check);
  options.shard.map = map;
  options.shard.raw_limit = raw_limit;
  options.shard.tail_bytes = tail_bytes;
  const std::vector<std::string> texts = References(references);
  const CacheFor scope(CacheFrom(cache));
  return Must(WithoutGil(true, [&] { return OpenSamples(texts, options); }));
}

std::vector<std::shared_ptr<const SampleSet>> SetsOf(const nb::list& sets) {
  std::vector<std::shared_ptr<const SampleSet>> found;
  for (const nb::handle set : sets) found.push_back(nb::cast<PackSet&>(set).set());
  return found;
}

}  // namespace

void BindPackSet(nb::module_& module) {
  nb::class_<PackSet>(module, "PackSet", "Samples by number and key.")
      .def("__len__", &PackSet::size)
      .def("read", &PackSet::Read, nb::arg("number"))
      .def("read_many", &PackSet::ReadMany, nb::arg("numbers"),
           nb::arg("keep_errors") = false, nb::arg("jobs") = 0)
      .def("find", &PackSet::Find, nb::arg("key"))
      .def("keys", &PackSet::Keys, nb::arg("begin"), nb::arg("end"))
      .def("read_at", &PackSet::ReadAt, nb::arg("shard"), nb::arg("offset"))
      .def_prop_ro("shard_count",
                   [](const PackSet& self) { return self.set()->shard_count(); })
      .def(
          "shard_info",
          [](const PackSet& self, size_t index) {
            const auto shard = self.Shard(index);
            nb::dict info;
            info["path"] = NameText(shard->Describe());
            info["records"] = shard->size();
            info["size"] = shard->footer().file_size;
            info["index_offset"] = shard->footer().index_offset;
            info["footer_crc32c"] = shard->footer().crc32c;
            info["generation"] = MessageText(shard->generation().token);
            info["align"] = uint64_t{1} << shard->footer().align_log2;
            info["metadata"] = MessageText(DumpJson(Must(shard->metadata())));
            return info;
          },
          nb::arg("shard"))
      .def(
          "offsets",
          [](const PackSet& self, size_t index) {
            const auto shard = self.Shard(index);
            nb::list offsets;
            for (uint64_t i = 0; i < shard->size(); ++i) offsets.append(shard->offset(i));
            return offsets;
          },
          nb::arg("shard"))
      .def_prop_ro("is_local", &PackSet::is_local)
      .def(
          "keys_digests",
          [](const PackSet& self) {
            nb::list digests;
            for (const auto& extent : WithoutGil([&] { return self.set()->extents(); })) {
              digests.append(extent.keys_digest);
            }
            return digests;
          })
      .def("extents", [](const PackSet& self) {
        nb::list extents;
        for (const auto& extent : WithoutGil([&] { return self.set()->extents(); })) {
          extents.append(nb::make_tuple(extent.records, extent.bytes));
        }
        return extents;
      });
  module.def(
      "pack_open",
      [](nb::handle references, std::string_view check, bool map, uint64_t raw_limit,
         uint64_t tail_bytes, nb::handle cache) {
        return PackSet(OpenSet(references, check, map, raw_limit, tail_bytes, cache));
      },
      nb::arg("references"), nb::arg("check") = "full", nb::arg("map") = true,
      nb::arg("raw_limit") = shardpack::kDefaultRawLimit,
      nb::arg("tail_bytes") = shardpack::ShardOptions().tail_bytes,
      nb::arg("cache") = nb::none());
  module.def(
      "pack_join",
      [](const nb::list& sets, std::string_view nonmatch, bool by_key) {
        const dataset::ColumnOptions options{ParseNonmatch(nonmatch), by_key};
        auto found = SetsOf(sets);
        return PackSet(Must(
            WithoutGil([&] { return dataset::JoinColumns(std::move(found), options); })));
      },
      nb::arg("sets"), nb::arg("nonmatch") = "error", nb::arg("by_key") = false);
  module.def(
      "pack_overlay",
      [](const PackSet& base, const nb::list& layers) {
        auto found = SetsOf(layers);
        return PackSet(Must(
            WithoutGil([&] { return dataset::Overlay(base.set(), std::move(found)); })));
      },
      nb::arg("base"), nb::arg("layers"));

  nb::class_<PackDataset>(module, "PackDataset", "What shardpack.Dataset is made of.")
      .def(nb::init<nb::object>(), nb::arg("set"))
      .def_prop_ro("_set", &PackDataset::set)
      .def("__len__", [](const PackDataset& self) { return nb::len(self.set()); })
      .def("__getitem__", &GetSample, nb::arg("index"))
      .def("__iter__", &Records)
      .def("records", &Records, "All samples, in order.");
  nb::class_<PackRecords>(module, "PackRecords", "The samples of a local set, in order.")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", &PackRecords::Next);
}

}  // namespace dolium::python
