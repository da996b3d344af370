#include "python/src/chunk_reads.h"

#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "dolium/base/parallel.h"
#include "python/src/arguments.h"
#include "python/src/errors.h"

namespace dolium::python {
namespace {

// A chunk up to this size is read into memory of the thread's own and then copied: one
// turn without the GIL instead of two, each of which may have to wait to get it back.
constexpr size_t kScratchBytes = size_t{64} << 10;

// Encoded batches whose values take less are not worth threads.
constexpr size_t kChunkBytesWorthThreads = size_t{1} << 20;

constexpr size_t kBytesWorthPopulating = size_t{128} << 10;

// Memory of the thread's own, for what is soon copied or decoded elsewhere.
class Scratch {
 public:
  MutableBytes First(size_t size) {
    if (!bytes_) bytes_.reset(new std::byte[kScratchBytes]);
    return {bytes_.get(), size};
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
};

thread_local Scratch stored_scratch;
thread_local Scratch value_scratch;

// One chunk on its way: what could be done without the GIL.
struct Reading {
  std::optional<ChunkRef> chunk;
  std::optional<BytesView> value;  // complete, in value_scratch
  BytesView stored;                // else, if it is encoded: in stored_scratch or `large`
  std::optional<Buffer> large;
  std::optional<Bytes> decoded;  // else, if its size was not known
};

// Finds a chunk, and reads it as far as that needs no bytes object.
Result<Reading> Begin(const ChunkReader& reader, uint64_t id) {
  Reading reading;
  DOLIUM_TRY(reading.chunk, reader.Locate(id));
  if (!reading.chunk) return reading;
  const ChunkRef& chunk = *reading.chunk;
  const auto length = static_cast<size_t>(chunk.range.length);
  if (reader.is_raw()) {
    if (length > kScratchBytes) return reading;
    const MutableBytes place = value_scratch.First(length);
    DOLIUM_TRY_VOID(reader.Read(chunk, place));
    reading.value = place;
    return reading;
  }
  const MutableBytes place = length <= kScratchBytes
                                 ? stored_scratch.First(length)
                                 : reading.large.emplace(length).view();
  DOLIUM_TRY_VOID(reader.Read(chunk, place));
  reading.stored = place;
  const auto size = reader.SizeOf(place);
  if (size && *size > kScratchBytes) return reading;
  if (size) {
    const MutableBytes value = value_scratch.First(static_cast<size_t>(*size));
    DOLIUM_TRY(const bool fits, reader.DecodeInto(id, chunk, place, value));
    if (fits) {
      reading.value = value;
      return reading;
    }
  }
  DOLIUM_TRY(reading.decoded, reader.Decode(id, chunk, place));
  return reading;
}

// Fills a bytes object with the rest of the work; nullopt if the value has another size.
Result<std::optional<nb::object>> End(const ChunkReader& reader, const Reading& reading,
                                      uint64_t id) {
  nb::object object =
      NewBytes(reader.is_raw() ? reading.chunk->range.length
                               : reader.SizeOf(reading.stored).value_or(0));
  const MutableBytes place = BytesOf(object);
  const nb::gil_scoped_release release;
  if (reader.is_raw()) {
    DOLIUM_TRY_VOID(reader.Read(*reading.chunk, place));
    return object;
  }
  DOLIUM_TRY(const bool fits,
             reader.DecodeInto(id, *reading.chunk, reading.stored, place));
  if (!fits) return std::nullopt;
  return object;
}

// A null object if it is not there; kConflict or kNotFound if its shard was replaced
// meanwhile.
Result<nb::object> ReadOnce(const ChunkReader& reader, uint64_t id) {
  Result<Reading> reading = Reading();
  {
    const nb::gil_scoped_release release;
    reading = Begin(reader, id);
  }
  if (!reading) return std::move(reading).error();
  if (!reading->chunk) return nb::object();
  if (reading->value) return nb::object(CopyToPython(*reading->value));
  if (reading->decoded) return nb::object(CopyToPython(*reading->decoded));
  DOLIUM_TRY(auto object, End(reader, *reading, id));
  if (object) return *std::move(object);
  // More than one gzip member, say.
  DOLIUM_TRY(const Bytes value, reader.Decode(id, *reading->chunk, reading->stored));
  return nb::object(CopyToPython(value));
}

// A batch on its way.
struct Batch {
  std::vector<size_t> slots;  // in the list
  std::vector<ChunkRef> chunks;
  std::vector<nb::object> objects;   // bytes objects, or null
  std::vector<MutableBytes> places;  // of the objects, or empty
};

Result<void> Locate(const ChunkReader& reader, std::span<const uint64_t> ids,
                    Batch& batch) {
  batch.slots.reserve(ids.size());
  batch.chunks.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    DOLIUM_TRY(auto chunk, reader.Locate(ids[i]));
    if (!chunk) continue;
    batch.slots.push_back(i);
    batch.chunks.push_back(*std::move(chunk));
  }
  return {};
}

void AddObject(Batch& batch, std::optional<uint64_t> size) {
  if (size) {
    batch.places.push_back(BytesOf(batch.objects.emplace_back(NewBytes(*size))));
  } else {
    batch.objects.emplace_back();
    batch.places.emplace_back();
  }
}

// Has the kernel put pages under large new objects, many at a time: far cheaper than one
// fault for each page when it is written to.
void Populate(std::span<const MutableBytes> places) {
  std::vector<MutableBytes> large;
  for (const MutableBytes place : places) {
    if (place.size() >= kBytesWorthPopulating) large.push_back(place);
  }
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  std::ignore = ParallelFor(large.size(), 0, [&](size_t i) -> Result<void> {
    // Whole pages of it: a large one has some.
    const size_t before =
        (page - reinterpret_cast<uintptr_t>(large[i].data()) % page) % page;
    const size_t length = (large[i].size() - before) / page * page;
    // Where the kernel does not know this (before 5.14), faults do it.
    madvise(large[i].data() + before, length, MADV_POPULATE_WRITE);
    return {};
  });
}

// The stored bytes of a batch, one after the other.
class StoredBatch {
 public:
  static Result<StoredBatch> Read(const ChunkReader& reader, const Batch& batch) {
    size_t bytes = 0;
    for (const ChunkRef& chunk : batch.chunks) {
      bytes += static_cast<size_t>(chunk.range.length);
    }
    StoredBatch stored(bytes);
    MutableBytes rest = stored.buffer_.view();
    for (const ChunkRef& chunk : batch.chunks) {
      const auto length = static_cast<size_t>(chunk.range.length);
      stored.views_.push_back(rest.first(length));
      rest = rest.subspan(length);
    }
    DOLIUM_TRY_VOID(reader.Read(batch.chunks, stored.views_));
    return stored;
  }

  BytesView operator[](size_t i) const { return views_[i]; }

 private:
  explicit StoredBatch(size_t bytes) : buffer_(bytes) {}

  Buffer buffer_;
  std::vector<MutableBytes> views_;
};

nb::list ListOfNone(size_t size) {
  PyObject* const list = PyList_New(static_cast<Py_ssize_t>(size));
  if (list == nullptr) throw nb::python_error();
  for (size_t i = 0; i < size; ++i) {
    Py_INCREF(Py_None);
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), Py_None);
  }
  return nb::steal<nb::list>(list);
}

void SetSlot(const nb::list& list, size_t slot, nb::object item) {
  PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(slot), item.release().ptr());
}

Result<void> ReadRawBatch(const ChunkReader& reader, Batch& batch) {
  for (const ChunkRef& chunk : batch.chunks) AddObject(batch, chunk.range.length);
  const nb::gil_scoped_release release;
  Populate(batch.places);
  return reader.Read(batch.chunks, batch.places);
}

Result<void> ReadEncodedBatch(const ChunkReader& reader, std::span<const uint64_t> ids,
                              Batch& batch) {
  Result<StoredBatch> stored = Corrupt("");
  {
    const nb::gil_scoped_release release;
    stored = StoredBatch::Read(reader, batch);
  }
  if (!stored) return std::move(stored).error();
  uint64_t bytes = 0;
  for (size_t i = 0; i < batch.chunks.size(); ++i) {
    AddObject(batch, reader.SizeOf((*stored)[i]));
    bytes += batch.places.back().size();
  }
  // Values of another size than was claimed.
  std::vector<std::optional<Bytes>> others(batch.chunks.size());
  {
    const nb::gil_scoped_release release;
    Populate(batch.places);
    const size_t jobs = bytes < kChunkBytesWorthThreads ? 1 : 0;
    DOLIUM_TRY_VOID(ParallelFor(others.size(), jobs, [&](size_t i) -> Result<void> {
      const uint64_t id = ids[batch.slots[i]];
      const ChunkRef& chunk = batch.chunks[i];
      if (batch.objects[i].is_valid()) {
        DOLIUM_TRY(const bool fits,
                   reader.DecodeInto(id, chunk, (*stored)[i], batch.places[i]));
        if (fits) return {};
      }
      DOLIUM_TRY(others[i], reader.Decode(id, chunk, (*stored)[i]));
      return {};
    }));
  }
  for (size_t i = 0; i < others.size(); ++i) {
    if (others[i]) batch.objects[i] = CopyToPython(*others[i]);
  }
  return {};
}

// Fills the list; kConflict or kNotFound if a shard was replaced meanwhile.
Result<void> ReadBatch(const ChunkReader& reader, std::span<const uint64_t> ids,
                       const nb::list& list) {
  Batch batch;
  Result<void> done;
  {
    const nb::gil_scoped_release release;
    done = Locate(reader, ids, batch);
  }
  if (!done) return done;
  batch.objects.reserve(batch.chunks.size());
  batch.places.reserve(batch.chunks.size());
  done = reader.is_raw() ? ReadRawBatch(reader, batch)
                         : ReadEncodedBatch(reader, ids, batch);
  if (!done) return done;
  for (size_t i = 0; i < batch.objects.size(); ++i) {
    SetSlot(list, batch.slots[i], std::move(batch.objects[i]));
  }
  return {};
}

}  // namespace

nb::object ReadChunk(const ChunkReader& reader, uint64_t id) {
  auto value = reader.ReadCurrent(id, [&] { return ReadOnce(reader, id); });
  if (!value) Raise(value.error());
  return *std::move(value);
}

nb::list ReadChunks(const ChunkReader& reader, std::span<const uint64_t> ids) {
  nb::list list = ListOfNone(ids.size());
  const auto read_one = [&](size_t i) -> Result<void> {
    DOLIUM_TRY(nb::object value, ReadOnce(reader, ids[i]));
    SetSlot(list, i, value.is_valid() ? std::move(value) : nb::none());
    return {};
  };
  const Result<void> done =
      reader.ReadEachCurrent(ids, [&] { return ReadBatch(reader, ids, list); }, read_one);
  if (!done) Raise(done.error());
  return list;
}

}  // namespace dolium::python
