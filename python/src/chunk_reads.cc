#include "python/src/chunk_reads.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/codec/codec.h"
#include "dolium/container/entry_error.h"
#include "python/src/arguments.h"
#include "python/src/errors.h"

namespace dolium::python {
namespace {

using neuroglancer::ChunkRef;
using neuroglancer::Encoding;
using neuroglancer::ShardReader;

// A chunk up to this size is read into memory of the thread's own and then copied: one
// turn without the GIL instead of two, each of which may have to wait to get it back.
constexpr size_t kScratchBytes = size_t{64} << 10;

// How often a read is begun again because the shard was replaced under it.
constexpr int kAttempts = 64;

// The same for a batch, before its chunks are read one by one.
constexpr int kBatchAttempts = 3;

// Encoded batches below this are not worth threads.
constexpr size_t kBytesWorthThreads = size_t{256} << 10;

bool IsReplaced(const Error& error) {
  return error.code == ErrorCode::kConflict || error.code == ErrorCode::kNotFound;
}

Error AboutChunk(const ShardReader& reader, const ChunkRef& chunk, uint64_t id,
                 Error error) {
  return EntryError(reader.store().Describe(chunk.object->name), std::to_string(id),
                    std::move(error));
}

Result<void> CheckSize(const ShardReader& reader, const ChunkRef& chunk, uint64_t id) {
  if (chunk.range.length <= kDefaultDecodeLimit) return {};
  return AboutChunk(reader, chunk, id,
                    Corrupt(fmt::format("{} bytes, more than the limit of {} bytes",
                                        chunk.range.length, kDefaultDecodeLimit)));
}

Result<Bytes> DecodeChunk(const ShardReader& reader, const ChunkRef& chunk, uint64_t id,
                          const Bytes& stored) {
  auto value = Decode(neuroglancer::CodecsOf(reader.spec().data_encoding), stored,
                      kDefaultDecodeLimit);
  if (!value) return AboutChunk(reader, chunk, id, std::move(value).error());
  return value;
}

MutableBytes Scratch() {
  thread_local const std::unique_ptr<std::byte[]> bytes(new std::byte[kScratchBytes]);
  return {bytes.get(), kScratchBytes};
}

nb::object NewBytes(uint64_t size) {
  PyObject* const object =
      PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size));
  if (object == nullptr) throw nb::python_error();
  return nb::steal(object);
}

MutableBytes BytesOf(nb::handle object) {
  return std::as_writable_bytes(
      std::span(PyBytes_AS_STRING(object.ptr()),
                static_cast<size_t>(PyBytes_GET_SIZE(object.ptr()))));
}

// One chunk on its way: what could be done without the GIL.
struct Reading {
  std::optional<ChunkRef> chunk;
  bool in_scratch = false;       // the value is at the beginning of Scratch()
  std::optional<Bytes> decoded;  // the value, if it was encoded
};

// Finds a chunk, and reads it if that needs no bytes object.
Result<Reading> Begin(const ShardReader& reader, uint64_t id) {
  Reading reading;
  DOLIUM_TRY(reading.chunk, reader.Locate(id));
  if (!reading.chunk) return reading;
  const ChunkRef& chunk = *reading.chunk;
  const auto length = static_cast<size_t>(chunk.range.length);
  DOLIUM_TRY_VOID(CheckSize(reader, chunk, id));
  if (reader.spec().data_encoding != Encoding::kRaw) {
    Buffer stored(length);
    DOLIUM_TRY_VOID(reader.ReadChunk(chunk, stored.view()));
    DOLIUM_TRY(reading.decoded,
               DecodeChunk(reader, chunk, id, std::move(stored).Share()));
  } else if (length <= kScratchBytes) {
    DOLIUM_TRY_VOID(reader.ReadChunk(chunk, Scratch().first(length)));
    reading.in_scratch = true;
  }
  return reading;
}

// Whether all chunks of an object were found in the same generation of it. If not, it was
// replaced while they were being located.
class SameGenerations {
 public:
  bool Add(const ObjectVersion& object) {
    if (last_ == &object) return true;
    last_ = &object;
    const auto [first, is_new] = by_name_.emplace(object.name, &object);
    return is_new || first->second == &object ||
           first->second->generation == object.generation;
  }

 private:
  const ObjectVersion* last_ = nullptr;
  std::unordered_map<std::string_view, const ObjectVersion*> by_name_;
};

// A batch on its way.
struct Batch {
  std::vector<size_t> slots;  // in the list
  std::vector<ChunkRef> chunks;
  std::vector<MutableBytes> places;
};

Result<void> Locate(const ShardReader& reader, std::span<const uint64_t> ids,
                    Batch& batch) {
  SameGenerations generations;
  batch.slots.reserve(ids.size());
  batch.chunks.reserve(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    DOLIUM_TRY(auto chunk, reader.Locate(ids[i]));
    if (!chunk) continue;
    DOLIUM_TRY_VOID(CheckSize(reader, *chunk, ids[i]));
    batch.slots.push_back(i);
    batch.chunks.push_back(*std::move(chunk));
    const ObjectVersion& object = *batch.chunks.back().object;
    if (!generations.Add(object)) {
      return Conflict(reader.store().Describe(object.name) +
                      ": replaced while its chunks were being located");
    }
  }
  return {};
}

// Reads and decodes a batch whose chunks are encoded.
Result<std::vector<Bytes>> ReadEncoded(const ShardReader& reader,
                                       std::span<const uint64_t> ids, Batch& batch) {
  std::vector<Buffer> stored;
  stored.reserve(batch.chunks.size());
  size_t bytes = 0;
  for (const ChunkRef& chunk : batch.chunks) {
    batch.places.push_back(
        stored.emplace_back(static_cast<size_t>(chunk.range.length)).view());
    bytes += batch.places.back().size();
  }
  DOLIUM_TRY_VOID(reader.ReadChunks(batch.chunks, batch.places));
  std::vector<Bytes> values(stored.size());
  const size_t jobs = bytes < kBytesWorthThreads ? 1 : 0;
  DOLIUM_TRY_VOID(ParallelFor(stored.size(), jobs, [&](size_t i) -> Result<void> {
    DOLIUM_TRY(values[i], DecodeChunk(reader, batch.chunks[i], ids[batch.slots[i]],
                                      std::move(stored[i]).Share()));
    return {};
  }));
  return values;
}

nb::list ListOfNone(size_t size) {
  PyObject* const list = PyList_New(static_cast<Py_ssize_t>(size));
  if (list == nullptr) throw nb::python_error();
  for (size_t i = 0; i < size; ++i) {
    Py_INCREF(Py_None);
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), Py_None);
  }
  return nb::steal<nb::list>(list);
}

void SetItem(const nb::list& list, size_t slot, nb::object item) {
  PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(slot), item.release().ptr());
}

// Fills the list; kConflict or kNotFound if a shard was replaced meanwhile.
Result<void> ReadBatch(const ShardReader& reader, std::span<const uint64_t> ids,
                       const nb::list& list) {
  Batch batch;
  Result<void> done;
  if (reader.spec().data_encoding != Encoding::kRaw) {
    std::vector<Bytes> values;
    {
      const nb::gil_scoped_release release;
      done = Locate(reader, ids, batch);
      if (!done) return done;
      auto read = ReadEncoded(reader, ids, batch);
      if (!read) return std::move(read).error();
      values = *std::move(read);
    }
    for (size_t i = 0; i < values.size(); ++i) {
      SetItem(list, batch.slots[i], CopyToPython(values[i]));
    }
    return {};
  }
  {
    const nb::gil_scoped_release release;
    done = Locate(reader, ids, batch);
  }
  if (!done) return done;
  std::vector<nb::object> objects;
  objects.reserve(batch.chunks.size());
  batch.places.reserve(batch.chunks.size());
  for (const ChunkRef& chunk : batch.chunks) {
    batch.places.push_back(BytesOf(objects.emplace_back(NewBytes(chunk.range.length))));
  }
  {
    const nb::gil_scoped_release release;
    done = reader.ReadChunks(batch.chunks, batch.places);
  }
  if (!done) return done;
  for (size_t i = 0; i < objects.size(); ++i) {
    SetItem(list, batch.slots[i], std::move(objects[i]));
  }
  return {};
}

}  // namespace

nb::object ReadChunk(const ShardReader& reader, uint64_t id) {
  for (int attempt = 1;; ++attempt) {
    Result<Reading> reading = Reading();
    {
      const nb::gil_scoped_release release;
      reading = Begin(reader, id);
    }
    Result<void> done;
    if (reading) {
      if (!reading->chunk) return {};
      const auto length = static_cast<size_t>(reading->chunk->range.length);
      if (reading->in_scratch) return CopyToPython(Scratch().first(length));
      if (reading->decoded) return CopyToPython(*reading->decoded);
      nb::object object = NewBytes(length);
      {
        const MutableBytes place = BytesOf(object);
        const nb::gil_scoped_release release;
        done = reader.ReadChunk(*reading->chunk, place);
      }
      if (done) return object;
    } else {
      done = std::move(reading).error();
    }
    if (!IsReplaced(done.error()) || attempt == kAttempts) Raise(done.error());
    reader.Forget(id);
  }
}

nb::list ReadChunks(const ShardReader& reader, std::span<const uint64_t> ids) {
  nb::list list = ListOfNone(ids.size());
  for (int attempt = 0; attempt < kBatchAttempts; ++attempt) {
    const Result<void> done = ReadBatch(reader, ids, list);
    if (done) return list;
    if (!IsReplaced(done.error())) Raise(done.error());
    for (const uint64_t id : ids) reader.Forget(id);
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    nb::object value = ReadChunk(reader, ids[i]);
    SetItem(list, i, value.is_valid() ? std::move(value) : nb::none());
  }
  return list;
}

}  // namespace dolium::python
