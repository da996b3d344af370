// BG4: bytes grouped by their position modulo four, so that numbers of four bytes
// compress better. The first (size mod 4) groups have one byte more than the others.
//
// The functions may be called from many threads.
#pragma once

#include "dolium/base/bytes.h"

namespace dolium::xet {

// Precondition of both: equal sizes, no overlap.
void Bg4Split(BytesView from, MutableBytes to);
void Bg4Join(BytesView from, MutableBytes to);

}  // namespace dolium::xet
