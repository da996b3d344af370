// The row of ShardPack in the table of formats.
#pragma once

#include <string_view>

#include "dolium/container/format.h"
#include "dolium/formats/shardpack/layout.h"

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

inline constexpr std::string_view kEndings[] = {kExtension};

inline constexpr Format kFormat{
    .name = "shardpack",
    .summary = "ShardPack: samples of files, with their index at the end",
    .probe = Probe,
    .open = Open,
    .create = Create,
    .reopen = Reopen,
    .owns_object = OwnsObject,
    .endings = kEndings,
};

}  // namespace dolium::shardpack
