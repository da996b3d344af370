// The row of Xet in the table of formats.
#pragma once

#include <string_view>

#include "dolium/container/format.h"
#include "dolium/formats/xet/shard_container.h"

namespace dolium::xet {

// A shard, a folder of shards, or a xorb.
Result<int> Probe(const Location& location);
// OpenOptions::parameters: "xorbs", the folder of the xorbs that shards name. Without it,
// the folder of the shards and the folder `xorbs` beside that are looked through.
Result<std::unique_ptr<Container>> Open(const Location& location,
                                        const OpenOptions& options);
// kUnsupported: shards and xorbs are made by stores.
Result<std::unique_ptr<Target>> Create(const Location& location,
                                       const CreateOptions& options);
Result<std::unique_ptr<Target>> Reopen(const Location& location,
                                       std::string_view description);
bool OwnsObject(std::string_view name);

inline constexpr std::string_view kEndings[] = {kShardExtension, ".xorb"};

inline constexpr Format kFormat{
    .name = "xet",
    .summary = "Xet: files made of chunks in xorbs, listed in MDB shards",
    .probe = Probe,
    .open = Open,
    .create = Create,
    .reopen = Reopen,
    .owns_object = OwnsObject,
    .endings = kEndings,
};

}  // namespace dolium::xet
