// Values of samples as Python objects: text, views of mapped files.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include <nanobind/nanobind.h>

#include "dolium/base/bytes.h"

namespace dolium::python {

namespace nb = nanobind;

// Contents up to this size are decoded with the GIL: letting go of it costs more.
inline constexpr uint64_t kBytesWorthTheGil = uint64_t{128} << 10;

// Text from a file, whose bytes may be no UTF-8. Needs the GIL.
nb::str Text(std::string_view text);

// A memoryview of bytes, which it keeps. Needs the GIL.
nb::object MemoryView(Bytes bytes);

// Has the C library keep the memory of a batch that was dropped for the next one. By
// default it hands all but 128 KiB back to the system, which clears every page before it
// gives it out again: that takes longer than all else that is done for a batch.
void KeepMemoryOfBatches();

// Calls fill(begin, end) for parts of [0, count), on up to `jobs` threads (0: one per
// core) and without the GIL if `bytes` are worth it. Needs the GIL.
void FillOnThreads(size_t count, uint64_t bytes, size_t jobs,
                   const std::function<void(size_t begin, size_t end)>& fill);

}  // namespace dolium::python
