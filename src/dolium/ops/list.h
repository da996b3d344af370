// list and cat: what is in a container, and one entry of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/container/read_entry.h"

namespace dolium {

// Visits every entry, object by object. Damage goes to `visitor.damage` as for a scan.
Result<void> List(const Container& container, const ScanVisitor& visitor);

// One entry, decoded or (raw) as stored. kNotFound if there is no such key. An object
// that is replaced meanwhile is looked at again, here and below (see read_key.h).
Result<EntryData> Cat(const Container& container, std::string_view key, bool raw,
                      const ReadLimits& limits = {});

// The same, decoded, segment by segment where the entry has several extents: memory does
// not grow with it. Gives the number of bytes.
Result<uint64_t> CatStreamed(
    const Container& container, std::string_view key,
    const std::function<Result<void>(const Bytes& segment)>& take,
    const ReadLimits& limits = {});

}  // namespace dolium
