// Numbers appended to bytes, little-endian.
#pragma once

#include "dolium/base/bytes.h"
#include "dolium/base/endian.h"

namespace dolium::dvid {

template <typename T>
void Put(ByteVector& to, T value) {
  const size_t at = to.size();
  to.resize(at + sizeof(T));
  StoreLE<T>(to.data() + at, value);
}

}  // namespace dolium::dvid
