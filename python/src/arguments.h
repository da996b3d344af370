// What Python callers pass: locations, specs, keys, bytes. All need the GIL, and raise
// TypeError or ValueError for what they cannot take.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nanobind/nanobind.h>

#include "dolium/base/bytes.h"
#include "dolium/bytes/default_cache.h"
#include "dolium/container/properties.h"

namespace dolium::python {

namespace nb = nanobind;

// A str or os.PathLike, in the file system's encoding.
std::string LocationText(nb::handle location);
// The way back.
nb::str NameText(std::string_view name);

// The text of a spec: of what has to_json(), as a ShardingSpec, a dict, a str with JSON
// in it, or the file that a str or os.PathLike names. nullopt for None.
std::optional<std::string> SpecText(nb::handle spec);

// What was given by one of two names of the same thing: None by neither. TypeError if by
// both.
nb::handle EitherOf(nb::handle value, const char* name, nb::handle other,
                    const char* other_name);

// The argument `cache`: where what is read from remote locations is kept on disk.
// None; text as `--cache` takes it; a folder as os.PathLike; or a dolium.Cache, a tuple
// of folder, limit and offline. The folder becomes absolute, so that another process
// finds it. ValueError or TypeError for anything else.
std::optional<CacheOptions> CacheFrom(nb::handle cache);
// The way back, for pickle.
nb::object CacheTo(const std::optional<CacheOptions>& cache);

// While it lives, what this thread opens has this cache; without one, nothing changes.
class CacheFor {
 public:
  explicit CacheFor(const std::optional<CacheOptions>& cache) {
    if (cache) scope_.emplace(*cache);
  }

 private:
  std::optional<CacheScope> scope_;
};

// A property as what it is: str, int, float or bool.
nb::object PropertyObject(const PropertyValue& value);

// A chunk id: an int, or a str of its digits.
uint64_t ChunkId(nb::handle key);
// Many: an array of integers, or any iterable of ids.
std::vector<uint64_t> ChunkIds(nb::handle keys);

// A key of any format: a str, or an int that stands for its digits.
std::string KeyText(nb::handle key);

// Bytes that a Python object lends out: bytes, bytearray, memoryview, a contiguous array.
// The caller keeps the object alive.
class BorrowedBytes {
 public:
  explicit BorrowedBytes(nb::handle object);
  ~BorrowedBytes();
  BorrowedBytes(const BorrowedBytes&) = delete;
  BorrowedBytes& operator=(const BorrowedBytes&) = delete;

  BytesView view() const { return view_; }

 private:
  Py_buffer buffer_{};
  bool has_buffer_ = false;
  BytesView view_;
};

// A new bytes object, to be filled before anybody else sees it, and its memory.
nb::object NewBytes(uint64_t size);
MutableBytes BytesOf(nb::handle object);

// A bytes object with a copy of `bytes`. Large copies are made without the GIL.
nb::bytes CopyToPython(BytesView bytes);

}  // namespace dolium::python
