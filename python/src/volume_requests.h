// Requests for volumes, from the dicts that the package makes of its functions'
// arguments. Absent members and None mean: no wish. All need the GIL, and raise TypeError
// or ValueError for what they cannot take.
#pragma once

#include <optional>
#include <string>

#include <nanobind/nanobind.h>

#include "dolium/domain/volume/arrays/array_source.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium::python {

namespace nb = nanobind;

volume::DataType DataTypeNamed(const std::string& name);
std::optional<volume::VolumeType> VolumeTypeNamed(const std::optional<std::string>& name);

// chunk_size, encoding, block_size, quality, png_level, effort, sharded, shard_size,
// to_spec, gzip_files.
volume::StorageRequest StorageOf(const nb::dict& options);
// Whether to have shards, as `sharded` says, or as others of these imply: shard_size and
// to_spec that there are shards, gzip_files that there are none.
std::optional<bool> ShardedOf(const nb::dict& options);

// scales, factor, method, ignore_zero.
volume::PyramidRequest PyramidOf(const nb::dict& options);

// path, dataset, axes, data_type; of raw files shape, dtype, byte_offset, big_endian,
// c_order.
volume::ArraySourceRequest ArrayOf(const nb::dict& options);

}  // namespace dolium::python
