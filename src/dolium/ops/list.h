// list and cat: what is in a container, and one piece of it.
#pragma once

#include <string_view>

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/container/read_entry.h"

namespace dolium {

// Visits every entry, object by object. Damage goes to `visitor.damage` as for a scan.
Result<void> List(const Container& container, const ScanVisitor& visitor);

// One piece, decoded or (raw) as stored. kNotFound if there is no such key.
Result<EntryData> Cat(const Container& container, std::string_view key, bool raw,
                      const ReadLimits& limits = {});

}  // namespace dolium
