// The values of ShardPack: what others of the module need of them. All need the GIL.
#pragma once

#include <cstdint>
#include <string_view>

#include <nanobind/nanobind.h>

#include "dolium/domain/dataset/sample_set.h"

namespace dolium::shardpack {
struct PackOptions;
}

namespace dolium::python {

namespace nb = nanobind;

// "full", "headers" or "none". ValueError.
shardpack::Check ParseCheck(std::string_view text);

// How shards are written, by the names that shardpack.Writer has. ValueError.
shardpack::PackOptions PackOptionsFrom(const nb::dict& options);

// The name of a codec of entries; "codec 9" if it has none.
nb::str CodecText(uint8_t codec);

}  // namespace dolium::python
