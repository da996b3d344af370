// Python iterators over a container's keys, or keys and values, in bounded memory.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <nanobind/nanobind.h>

#include "python/src/entry_reads.h"

namespace dolium::python {

namespace nb = nanobind;

class EntryIterator {
 public:
  enum class Gives { kKeys, kItems };
  EntryIterator(std::shared_ptr<const Container> container, bool keys_are_ids,
                Gives gives);

  // Raises StopIteration at the end. Any thread, with the GIL.
  nb::object Next();

 private:
  Result<void> Load();

  const std::shared_ptr<const Container> container_;
  const bool keys_are_ids_;
  const Gives gives_;
  const bool is_remote_;
  std::mutex loading_;  // taken without the GIL
  // Guarded by the GIL, and changed under loading_.
  std::vector<Entry> entries_;
  std::vector<std::optional<Bytes>> values_;  // of entries_, for items
  size_t next_ = 0;
  bool ended_ = false;
  EntryStream stream_;
};

// The key as callers know it: an int where keys are ids, else a str. Needs the GIL.
nb::object KeyToPython(std::string_view key, bool keys_are_ids);

void BindIterators(nb::module_& module);

}  // namespace dolium::python
