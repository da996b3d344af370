// A look for folders that have the names of objects.
#pragma once

#include <string_view>

#include "dolium/bytes/store.h"

namespace dolium {

// For objects that are not there, and whose absence means something: kCorrupt if a folder
// has the name of one. Asks only stores that list.
Result<void> CheckNoFolder(const Store& store, std::string_view object);

}  // namespace dolium
