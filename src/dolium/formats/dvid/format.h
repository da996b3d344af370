// The row of DVID exports in the table of formats.
#pragma once

#include "dolium/container/format.h"

namespace dolium::dvid {

Result<int> Probe(const Location& location);
// Parameters: "coordinates" (auto, block, voxel), "salvage" (yes).
Result<std::unique_ptr<Container>> Open(const Location& location,
                                        const OpenOptions& options);
// kUnsupported: exports are made of volumes.
Result<std::unique_ptr<Target>> Create(const Location& location,
                                       const CreateOptions& options);
Result<std::unique_ptr<Target>> Reopen(const Location& location,
                                       std::string_view description);
bool OwnsObject(std::string_view name);

inline constexpr Format kFormat{
    .name = "dvid",
    .summary = "DVID's Arrow shards: blocks of labels, with an index beside them",
    .probe = Probe,
    .open = Open,
    .create = Create,
    .reopen = Reopen,
    .owns_object = OwnsObject,
};

}  // namespace dolium::dvid
