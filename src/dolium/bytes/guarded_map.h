// MapFile: a file as read-only memory that cannot end the process.
//
// Touching memory whose file has become shorter, or cannot be read, raises SIGBUS. Within
// these maps a handler puts zeros where the bytes are gone, notes it, and lets the
// program go on. So whoever reads from such a map asks HasLostBytes() afterwards, before
// anything is made of what was read. While no map has lost bytes, that costs one load.
//
// The handler is installed with the first map, and again if somebody has replaced it by
// the time of a later one. Every other SIGBUS goes to the handler that was there before.
// All functions may be called from many threads.
#pragma once

#include <atomic>
#include <cstddef>

#include "dolium/base/bytes.h"

namespace dolium {

// The first `size` bytes of the file, which must have them; `size` is not 0. The
// descriptor may be closed afterwards. Empty, with errno set, if the system refuses.
Bytes MapFile(int fd, size_t size);

// Puts the handler back in its place if somebody has installed another one since.
void KeepMapGuard();

namespace guarded_map_internal {
extern std::atomic<int> maps_with_losses;
bool LooksForLosses(BytesView bytes);
}  // namespace guarded_map_internal

// Whether the map that these bytes are a part of has lost any. False for other bytes.
inline bool HasLostBytes(BytesView bytes) {
  return guarded_map_internal::maps_with_losses.load(std::memory_order_acquire) != 0 &&
         guarded_map_internal::LooksForLosses(bytes);
}

}  // namespace dolium
