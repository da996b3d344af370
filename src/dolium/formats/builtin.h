// The formats of this build, in one visible table.
#pragma once

#include "dolium/container/format.h"

namespace dolium {

Formats BuiltinFormats();

}  // namespace dolium
