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

inline constexpr Parameter kParameters[] = {
    {"shard-size", Parameter::Kind::kSize, "<size>",
     "about this much in each shard, as in 64MiB or 1GB"},
    {"hash", Parameter::Kind::kChoice, "<name>", "identity or murmurhash3_x86_128",
     "identity murmurhash3_x86_128"},
    {"preshift-bits", Parameter::Kind::kNumber, "<n>",
     "low bits of the key that do not count"},
    {"minishard-bits", Parameter::Kind::kNumber, "<n>",
     "bits of the hash that name the minishard"},
    {"shard-bits", Parameter::Kind::kNumber, "<n>",
     "bits of the hash that name the shard"},
    {"minishard-index-encoding", Parameter::Kind::kChoice, "<name>", "raw or gzip",
     "raw gzip"},
    {"data-encoding", Parameter::Kind::kChoice, "<name>", "raw or gzip", "raw gzip"},
};

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
    .parameters = kParameters,
};

}  // namespace dolium::neuroglancer
