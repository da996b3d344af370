// The row of DVID exports in the table of formats.
#pragma once

#include <string_view>

#include "dolium/container/format.h"
#include "dolium/formats/dvid/shard.h"

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
// Whether it is the name of a shard, or of its index.
bool OwnsShard(std::string_view name);

// What follows the corner in names of shards and of their indexes; the longest first.
inline constexpr std::string_view kShardSuffixes[] = {kExtension, "-offsets.csv", ".csv",
                                                      ".json"};

// Of those who write exports from volumes.
inline constexpr Parameter kParameters[] = {
    {"layout", Parameter::Kind::kChoice, "<name>",
     "stream, as DVID has it, or seed [stream]", "stream seed"},
    {"csv", Parameter::Kind::kChoice, "<form>",
     "the index as documented, or as DVID writes it [documented]", "documented dvid"},
    {"shard-side", Parameter::Kind::kNumber, "<n>",
     "voxels along the side of a shard [2048]"},
};

inline constexpr std::string_view kEndings[] = {kExtension};

inline constexpr Format kFormat{
    .name = "dvid",
    .summary = "DVID's Arrow shards: blocks of labels, with an index beside them",
    .probe = Probe,
    .open = Open,
    .create = Create,
    .reopen = Reopen,
    .owns_object = OwnsObject,
    .parameters = kParameters,
    .endings = kEndings,
};

}  // namespace dolium::dvid
