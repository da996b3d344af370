// The Python class Container.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nanobind/nanobind.h>

#include "dolium/bytes/cached_store.h"
#include "dolium/container/container.h"
#include "dolium/container/format.h"
#include "dolium/ops/source/chunk_reader.h"
#include "dolium/ops/source/source.h"
#include "python/src/iterators.h"

namespace dolium::python {

namespace nb = nanobind;

// How a container was opened: enough to open it again in another process.
struct OpenArguments {
  std::string location;
  std::string format;  // empty: detect
  OpenOptions options;
  std::optional<CacheOptions> cache = {};  // on disk
};

// A container as Python sees it: a mapping from keys (int for chunks, else str) to bytes.
// All methods need the GIL and let go of it for I/O; any thread may call them.
class PyContainer {
 public:
  explicit PyContainer(OpenArguments arguments);

  const Source& source() const { return *source_; }
  const Container& container() const { return *container_; }
  const OpenArguments& arguments() const { return arguments_; }
  // Nullopt if keys are no numbers.
  const std::optional<ChunkReader>& chunks() const { return chunks_; }

  // A null object if the key is absent.
  nb::object Get(nb::handle key) const;
  nb::list GetMany(nb::handle keys) const;
  bool Contains(nb::handle key) const;
  std::optional<Entry> Find(nb::handle key) const;
  nb::object Read(nb::handle key, bool raw, bool preceding) const;

  std::unique_ptr<EntryIterator> Iterate(EntryIterator::Gives gives) const;
  uint64_t Count() const;
  bool IsEmpty() const;

  // Raises KeyError if a key that is to be removed is absent.
  void Apply(const std::vector<Change>& changes);

  // The text of a key; a chunk's is checked to be a number.
  std::string Key(nb::handle key) const;
  nb::object KeyObject(std::string_view key) const;

 private:
  const OpenArguments arguments_;
  std::unique_ptr<Source> source_;
  std::shared_ptr<Container> container_;
  bool is_remote_ = false;
  std::optional<ChunkReader> chunks_;  // for hot paths
  std::mutex applying_;                // taken without the GIL
};

}  // namespace dolium::python
