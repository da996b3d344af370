#include "python/src/pack_record.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>

#include "python/src/arguments.h"
#include "python/src/bindings.h"
#include "python/src/errors.h"
#include "python/src/formats/shardpack.h"
#include "python/src/guarded.h"
#include "python/src/interrupt.h"
#include "python/src/pack_values.h"

namespace dolium::python {
namespace {

using dataset::LoadedSample;
using shardpack::EntryHeader;

// An entry, which keeps its record alive.
struct PyEntry {
  nb::object owner;
  const PyRecord* record;
  size_t index;  // in sample.files()

  LoadedSample::FileRef file() const { return record->sample.files()[index]; }
  const EntryHeader& header() const { return record->sample.header(file()); }
};

// Iterates entries of a damaged record: those that can be reached, then the error.
struct DamagedEntries {
  nb::list entries;
  size_t next = 0;
  Error error;
};

Error InPart(Error error, const dataset::SamplePart& part) {
  return std::move(error).Within(
      fmt::format("{}: record {}", part.shard->Describe(), part.number));
}

// The first damage that keeps files from being reached, with its shard and record.
std::optional<Error> DamageOf(const LoadedSample& sample) {
  for (const dataset::SamplePart& part : sample.parts()) {
    if (part.record.damage()) return InPart(*part.record.damage(), part);
  }
  return std::nullopt;
}

Error InEntry(Error error, const dataset::SamplePart& part, const EntryHeader& header) {
  return InPart(std::move(error).Within(
                    fmt::format("\"{}\": entry \"{}\"", part.record.key(), header.name)),
                part);
}

// Whether a file may be decoded at all: to be asked before memory is taken.
Result<void> CheckAllowed(const LoadedSample& sample, LoadedSample::FileRef file) {
  const dataset::SamplePart& part = sample.parts()[file.part];
  DOLIUM_TRY(const auto options, part.shard->content_options());
  auto allowed = shardpack::CheckLimits(sample.header(file), options);
  if (allowed) return {};
  return InEntry(std::move(allowed).error(), part, sample.header(file));
}

// Decodes one file into a new bytes object.
nb::object Content(const LoadedSample& sample, LoadedSample::FileRef file) {
  const EntryHeader& header = sample.header(file);
  Must(CheckAllowed(sample, file));
  nb::object object = NewBytes(header.raw_size);
  const MutableBytes into = BytesOf(object);
  if (header.raw_size < kBytesWorthTheGil) {
    Must(sample.ContentInto(file, into));
  } else {
    Must(WithoutGil([&] { return sample.ContentInto(file, into); }));
  }
  return object;
}

nb::object Data(const PyRecord& record, size_t index) {
  if (!record.loaded.empty()) return record.loaded[index];
  return Content(record.sample, record.sample.files()[index]);
}

void CheckDamage(const LoadedSample& sample) {
  if (const auto damage = DamageOf(sample)) Raise(*damage);
}

// `value` is made of what a shard's map shows: an error if that may be zeros by now.
nb::object Checked(nb::object value, const LoadedSample& sample) {
  Must(sample.CheckMaps());
  return value;
}

std::optional<size_t> IndexOf(const LoadedSample& sample, std::string_view name) {
  for (size_t i = 0; i < sample.files().size(); ++i) {
    if (sample.header(sample.files()[i]).name == name) return i;
  }
  return std::nullopt;
}

// --- contents

// The content without a copy if it is stored as it is, unchecked as the headers are
// enough to find it; else decoded and checked.
nb::object View(const PyEntry& entry, bool check) {
  const LoadedSample& sample = entry.record->sample;
  const EntryHeader& header = entry.header();
  if (check || header.codec != 0 || header.is_chunked() || header.segment) {
    return MemoryView(Must(WithoutGil([&] { return sample.Content(entry.file()); })));
  }
  return MemoryView(sample.parts()[entry.file().part].record.Stored(header));
}

nb::object Part(const PyEntry& entry, uint64_t offset, uint64_t length) {
  const LoadedSample& sample = entry.record->sample;
  const Bytes bytes = Must(
      WithoutGil([&] { return sample.ContentRange(entry.file(), {offset, length}); }));
  return Checked(CopyToPython(bytes), sample);
}

// --- metadata

nb::object MetadataObject(const shardpack::Metadata& metadata,
                          const LoadedSample& sample) {
  if (metadata.format == shardpack::MetadataFormat::kNone) return nb::none();
  return nb::module_::import_("dolium._decode")
      .attr("metadata")(static_cast<int>(metadata.format),
                        Checked(CopyToPython(metadata.bytes), sample));
}

// What metadata are encoded as, as Metadata of the package shardpack names it.
nb::object FormatObject(const shardpack::Metadata& metadata) {
  switch (metadata.format) {
    case shardpack::MetadataFormat::kNone:
      break;
    case shardpack::MetadataFormat::kJson:
      return nb::str("json");
    case shardpack::MetadataFormat::kMsgPack:
      return nb::str("msgpack");
    case shardpack::MetadataFormat::kOpaque:
      return nb::str("opaque");
    case shardpack::MetadataFormat::kCbor:
      return nb::str("cbor");
  }
  return nb::none();
}

auto ExtrasOf(const PyEntry& entry) {
  auto extras = shardpack::ParseExtras(entry.header());
  const dataset::SamplePart& part = entry.record->sample.parts()[entry.file().part];
  Must(part.shard->CheckMap());
  if (extras) return *std::move(extras);
  Raise(InEntry(std::move(extras).error(), part, entry.header()));
}

nb::object ShapeOf(const shardpack::EntryExtras& extras) {
  if (!extras.array) return nb::none();
  nb::list lengths;
  for (const uint64_t length : extras.array->lengths) lengths.append(length);
  return nb::make_tuple(Text(extras.array->dtype), nb::tuple(lengths));
}

// `self` is the object that holds `record`.
nb::object EntryObject(nb::handle self, const PyRecord& record, size_t index) {
  return nb::cast(PyEntry{nb::borrow(self), &record, index}, nb::rv_policy::move);
}

nb::object FileEntries(nb::handle self) {
  const PyRecord& record = Instance<PyRecord>(self);
  nb::list entries;
  for (size_t i = 0; i < record.sample.files().size(); ++i) {
    entries.append(EntryObject(self, record, i));
  }
  if (const auto damage = DamageOf(record.sample)) {
    return nb::cast(DamagedEntries{std::move(entries), 0, *damage}, nb::rv_policy::move);
  }
  return entries;
}

nb::object GetEntry(nb::handle self, std::string_view name, bool must) {
  const PyRecord& record = Instance<PyRecord>(self);
  const auto index = IndexOf(record.sample, name);
  if (index) return EntryObject(self, record, *index);
  Must(record.sample.CheckMaps());
  CheckDamage(record.sample);
  if (must) {
    Raise(NotFound(fmt::format("{}: record {}: \"{}\": no entry \"{}\"",
                               record.sample.parts().front().shard->Describe(),
                               record.sample.parts().front().number, record.sample.key(),
                               name)),
          Absent::kEntry);
  }
  return nb::none();
}

nb::dict AsDict(const PyRecord& record) {
  CheckDamage(record.sample);
  nb::dict all;
  for (size_t i = 0; i < record.sample.files().size(); ++i) {
    all[Text(record.sample.header(record.sample.files()[i]).name)] = Data(record, i);
  }
  Must(record.sample.CheckMaps());
  return all;
}

void BindEntry(nb::module_& module) {
  nb::class_<PyEntry>(module, "PackEntry", "One file of a sample.")
      .def_prop_ro("name",
                   [](const PyEntry& e) {
                     return Checked(Text(e.header().name), e.record->sample);
                   })
      .def_prop_ro("content_type",
                   [](const PyEntry& e) {
                     const auto type = e.header().content_type;
                     return Checked(
                         Text(type.empty() ? "application/octet-stream" : type),
                         e.record->sample);
                   })
      .def_prop_ro("data", [](const PyEntry& e) { return Data(*e.record, e.index); })
      .def("view", &View, nb::arg("check") = false)
      .def("read", &Part, nb::arg("offset"), nb::arg("length"))
      .def_prop_ro("size", [](const PyEntry& e) { return e.header().raw_size; })
      .def_prop_ro("stored_size", [](const PyEntry& e) { return e.header().stored_size; })
      .def_prop_ro("codec", [](const PyEntry& e) { return CodecText(e.header().codec); })
      .def_prop_ro("crc32c",
                   [](const PyEntry& e) -> std::optional<uint32_t> {
                     if (e.file().segments > 1) return std::nullopt;
                     return e.header().crc32c;
                   })
      .def_prop_ro("is_chunked", [](const PyEntry& e) { return e.header().is_chunked(); })
      .def_prop_ro("array", [](const PyEntry& e) { return ShapeOf(ExtrasOf(e)); })
      .def_prop_ro("metadata",
                   [](const PyEntry& e) {
                     return MetadataObject(ExtrasOf(e).metadata, e.record->sample);
                   })
      .def_prop_ro("metadata_format",
                   [](const PyEntry& e) { return FormatObject(ExtrasOf(e).metadata); })
      .def_prop_ro("mtime", [](const PyEntry& e) { return ExtrasOf(e).modified; })
      .def_prop_ro("mode", [](const PyEntry& e) { return ExtrasOf(e).mode; })
      .def_prop_ro("record", [](const PyEntry& e) { return e.owner; })
      .def("numpy",
           [](nb::handle self) {
             return nb::module_::import_("dolium._decode").attr("array")(self);
           })
      .def("decode",
           [](nb::handle self) {
             return nb::module_::import_("dolium._decode").attr("decode")(self);
           })
      .def("__repr__", [](const PyEntry& e) {
        return Text(fmt::format("<shardpack.Entry \"{}\" ({}, {} bytes) of \"{}\">",
                                e.header().name, e.header().content_type,
                                e.header().raw_size, e.record->sample.key()));
      });
  nb::class_<DamagedEntries>(module, "_DamagedEntries")
      .def("__iter__", [](nb::handle self) { return nb::borrow(self); })
      .def("__next__", [](DamagedEntries& self) -> nb::object {
        if (self.next == self.entries.size()) Raise(self.error);
        return self.entries[self.next++];
      });
}

}  // namespace

nb::object ShapeObject(const EntryHeader& header) {
  return ShapeOf(Must(shardpack::ParseExtras(header)));
}

nb::object RecordObject(LoadedSample sample) {
  return nb::cast(PyRecord{std::move(sample)}, nb::rv_policy::move);
}

nb::list LoadedRecords(std::vector<Result<LoadedSample>> samples, bool keep_errors,
                       size_t jobs) {
  KeepMemoryOfBatches();
  // First the places for all contents, which need the GIL.
  std::vector<std::vector<nb::object>> objects(samples.size());
  std::vector<std::optional<Error>> errors(samples.size());
  uint64_t bytes = 0;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (!samples[i]) {
      errors[i] = std::move(samples[i]).error();
      continue;
    }
    const LoadedSample& sample = *samples[i];
    errors[i] = DamageOf(sample);
    if (errors[i]) continue;
    objects[i].reserve(sample.files().size());
    for (const LoadedSample::FileRef file : sample.files()) {
      auto allowed = CheckAllowed(sample, file);
      if (!allowed) {
        errors[i] = std::move(allowed).error();
        break;
      }
      objects[i].push_back(NewBytes(sample.header(file).raw_size));
      bytes += sample.header(file).raw_size;
    }
  }
  FillOnThreads(samples.size(), bytes, jobs, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      if (errors[i]) continue;
      for (size_t j = 0; j < objects[i].size() && !errors[i]; ++j) {
        auto done =
            samples[i]->ContentInto(samples[i]->files()[j], BytesOf(objects[i][j]));
        if (!done) errors[i] = std::move(done).error();
      }
    }
  });
  nb::list records;
  for (size_t i = 0; i < samples.size(); ++i) {
    if (errors[i]) {
      if (!keep_errors) Raise(*errors[i]);
      records.append(ErrorObject(*errors[i]));
      continue;
    }
    records.append(nb::cast(PyRecord{*std::move(samples[i]), std::move(objects[i])},
                            nb::rv_policy::move));
  }
  return records;
}

void BindPackRecord(nb::module_& module) {
  nb::class_<PyRecord>(module, "PackRecord", "One sample: a key and files.")
      .def_prop_ro(
          "key",
          [](const PyRecord& r) { return Checked(Text(r.sample.key()), r.sample); })
      .def_prop_ro(
          "metadata",
          [](const PyRecord& r) { return MetadataObject(r.sample.metadata(), r.sample); })
      .def_prop_ro("metadata_format",
                   [](const PyRecord& r) { return FormatObject(r.sample.metadata()); })
      .def_prop_ro("shard",
                   [](const PyRecord& r) {
                     return NameText(r.sample.parts().front().shard->Describe());
                   })
      .def_prop_ro("number",
                   [](const PyRecord& r) { return r.sample.parts().front().number; })
      .def_prop_ro("offset",
                   [](const PyRecord& r) {
                     const auto& part = r.sample.parts().front();
                     return part.shard->offset(part.number);
                   })
      .def_prop_ro("is_tombstone",
                   [](const PyRecord& r) {
                     return r.sample.parts().front().record.is_tombstone();
                   })
      .def_prop_ro("nbytes",
                   [](const PyRecord& r) {
                     uint64_t bytes = 0;
                     for (const auto file : r.sample.files()) {
                       bytes += r.sample.header(file).raw_size;
                     }
                     return bytes;
                   })
      .def("file_entries", &FileEntries)
      .def("names",
           [](const PyRecord& r) {
             nb::list names;
             for (const auto file : r.sample.files()) {
               names.append(Text(r.sample.header(file).name));
             }
             return Checked(std::move(names), r.sample);
           })
      .def("as_dict", &AsDict)
      .def(
          "get",
          [](nb::handle self, std::string_view name) {
            return GetEntry(self, name, false);
          },
          nb::arg("name"))
      .def(
          "__getitem__",
          [](nb::handle self, std::string_view name) {
            return GetEntry(self, name, true);
          },
          nb::arg("name"))
      .def(
          "__contains__",
          [](const PyRecord& r, std::string_view name) {
            return r.sample.Find(name).has_value();
          },
          nb::arg("name"))
      .def("__len__", [](const PyRecord& r) { return r.sample.files().size(); })
      .def("__iter__", [](nb::handle self) { return nb::iter(FileEntries(self)); })
      .def("__repr__", [](const PyRecord& r) {
        return Text(fmt::format("<shardpack.Record \"{}\" of {} files>", r.sample.key(),
                                r.sample.files().size()));
      });
  BindEntry(module);
}

}  // namespace dolium::python
