// The row of ShardPack in the table of formats.
#pragma once

#include "dolium/container/format.h"

namespace dolium::shardpack {

Result<int> Probe(const Location& location);
Result<std::unique_ptr<Container>> Open(const Location& location,
                                        const OpenOptions& options);
// kUnsupported: shards are made of samples, by verbs of their own.
Result<std::unique_ptr<Target>> Create(const Location& location,
                                       const CreateOptions& options);
Result<std::unique_ptr<Target>> Reopen(const Location& location,
                                       std::string_view description);
bool OwnsObject(std::string_view name);

inline constexpr Format kFormat{
    .name = "shardpack",
    .summary = "ShardPack: samples of files, with their index at the end",
    .probe = Probe,
    .open = Open,
    .create = Create,
    .reopen = Reopen,
    .owns_object = OwnsObject,
};

}  // namespace dolium::shardpack
