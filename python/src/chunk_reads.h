// The hot path: chunks by id, straight from the shards into bytes objects.
#pragma once

#include <cstdint>
#include <span>

#include <nanobind/nanobind.h>

#include "dolium/ops/source/chunk_reader.h"

namespace dolium::python {

namespace nb = nanobind;

// The decoded value of a chunk; a null object if it is not there. Needs the GIL, and lets
// go of it while it reads.
nb::object ReadChunk(const ChunkReader& reader, uint64_t id);

// The same for many: a list with None for what is not there.
nb::list ReadChunks(const ChunkReader& reader, std::span<const uint64_t> ids);

}  // namespace dolium::python
