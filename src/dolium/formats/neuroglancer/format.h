// The row of the Neuroglancer uint64 sharded format in the table of formats.
#pragma once

#include "dolium/container/format.h"

namespace dolium::neuroglancer {

Result<int> Probe(const Location& location);
Result<std::unique_ptr<Container>> Open(const Location& location,
                                        const OpenOptions& options);
Result<std::unique_ptr<Target>> Create(const Location& location,
                                       const CreateOptions& options);
Result<std::unique_ptr<Target>> Reopen(const Location& location,
                                       std::string_view description);
bool OwnsObject(std::string_view name);

inline constexpr Format kFormat{
    .name = "neuroglancer",
    .summary =
        "Neuroglancer uint64 sharded format: <shard>.shard files, spec in an info file",
    .probe = Probe,
    .open = Open,
    .create = Create,
    .reopen = Reopen,
    .owns_object = OwnsObject,
    .takes_spec = true,
};

}  // namespace dolium::neuroglancer
