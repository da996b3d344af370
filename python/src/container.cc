#include "python/src/container.h"

#include <utility>

#include "dolium/formats/builtin.h"
#include "dolium/ops/read_key.h"
#include "python/src/arguments.h"
#include "python/src/chunk_reads.h"
#include "python/src/errors.h"
#include "python/src/interrupt.h"

namespace dolium::python {
namespace {

Result<std::unique_ptr<Source>> Open(const OpenArguments& arguments) {
  DOLIUM_TRY(const Location location, ParseLocation(arguments.location));
  return OpenSource(BuiltinFormats(), location,
                    {.format = arguments.format, .open = arguments.options});
}

}  // namespace

PyContainer::PyContainer(OpenArguments arguments) : arguments_(std::move(arguments)) {
  source_ = Must(WithoutGil(/*is_remote=*/true, [&] { return Open(arguments_); }));
  container_ =
      Must(WithoutGil(/*is_remote=*/true, [&] { return source_->MutableEntries(); }));
  is_remote_ = !IsLocal(container_->folder());
  chunks_ = ChunkReader::Of(*container_);
}

std::string PyContainer::Key(nb::handle key) const {
  return chunks_ ? std::to_string(ChunkId(key)) : KeyText(key);
}

nb::object PyContainer::KeyObject(std::string_view key) const {
  return KeyToPython(key, chunks_.has_value());
}

nb::object PyContainer::Get(nb::handle key) const {
  if (chunks_ && !is_remote_) return ReadChunk(*chunks_, ChunkId(key));
  const std::string text = Key(key);
  const auto data = Must(
      WithoutGil(is_remote_, [&] { return ReadKey(*container_, text, /*raw=*/false); }));
  if (!data) return {};
  return CopyToPython(data->value);
}

nb::list PyContainer::GetMany(nb::handle keys) const {
  if (chunks_ && !is_remote_) return ReadChunks(*chunks_, ChunkIds(keys));
  std::vector<std::string> texts;
  if (chunks_) {
    for (const uint64_t id : ChunkIds(keys)) texts.push_back(std::to_string(id));
  } else {
    for (const nb::handle key : nb::iter(keys)) texts.push_back(Key(key));
  }

  const auto values =
      Must(WithoutGil(is_remote_, [&] { return ReadKeys(*container_, texts); }));
  nb::list list;
  for (const std::optional<Bytes>& value : values) {
    if (value) {
      list.append(CopyToPython(*value));
    } else {
      list.append(nb::none());
    }
  }
  return list;
}

bool PyContainer::Contains(nb::handle key) const { return Find(key).has_value(); }

std::optional<Entry> PyContainer::Find(nb::handle key) const {
  const std::string text = Key(key);
  return Must(WithoutGil(is_remote_, [&] { return FindCurrent(*container_, text); }));
}

nb::object PyContainer::Read(nb::handle key, bool raw, bool preceding) const {
  const std::string text = Key(key);
  const auto data =
      Must(WithoutGil(is_remote_, [&] { return ReadKey(*container_, text, raw); }));
  if (!data) {
    PyErr_SetObject(PyExc_KeyError, key.ptr());
    throw nb::python_error();
  }
  nb::bytes value = CopyToPython(data->value);
  if (!preceding) return value;
  return nb::make_tuple(std::move(value), CopyToPython(data->preceding));
}

std::unique_ptr<EntryIterator> PyContainer::Iterate(EntryIterator::Gives gives) const {
  return std::make_unique<EntryIterator>(container_, chunks_.has_value(), gives);
}

uint64_t PyContainer::Count() const {
  uint64_t count = 0;
  Result<void> result;
  const std::stop_source stop;
  RunInterruptible(stop, [&] {
    result = Scan(*container_, {.entry =
                                    [&](const Entry&) {
                                      ++count;
                                      return !stop.stop_requested();
                                    },
                                .damage = {}});
  });
  Must(result);
  return count;
}

bool PyContainer::IsEmpty() const {
  bool empty = true;
  Must(WithoutGil(is_remote_, [&] {
    return Scan(*container_, {.entry =
                                  [&](const Entry&) {
                                    empty = false;
                                    return false;
                                  },
                              .damage = {}});
  }));
  return empty;
}

void PyContainer::Apply(const std::vector<Change>& changes) {
  Result<void> result;
  const std::stop_source stop;
  RunInterruptible(stop, [&] {
    const std::lock_guard lock(applying_);
    result = container_->Apply(changes, {.progress = {}, .stop = stop.get_token()});
  });
  Must(result, Absent::kEntry);
}

}  // namespace dolium::python
