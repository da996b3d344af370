// Choosing the scales of a new volume: chunk sizes, encodings, shards, pyramids.
#pragma once

#include <optional>

#include "dolium/base/result.h"
#include "dolium/domain/volume/chunk_source.h"
#include "dolium/domain/volume/chunk_wrapper.h"
#include "dolium/domain/volume/scale.h"
#include "dolium/domain/volume/volume_info.h"
#include "dolium/ops/volume/volume_job.h"
#include "dolium/ops/volume/volume_plan.h"

namespace dolium::volume {

// Wide unsigned integers of one channel are taken for labels, if nothing is wished.
VolumeType DefaultType(DataType type, int64_t channels);

// How scales are made, if nothing is wished.
DownsampleMethod DefaultMethod(const VolumeInfo& info);

// What suits the type, if nothing is wished: lossless.
EncodingSpec DefaultEncoding(const VolumeInfo& info);

// Sets shard_bytes, where stored_shard_bytes is wished for, by how much voxels of
// `source` shrink when they are stored: from a sample of chunks of the scale that the
// request would make of this one.
Result<void> EstimateShardBytes(const VolumeInfo& info, const ScaleInfo& scale,
                                const ChunkSource& source, StorageRequest& request);

// Fills in what the request wishes, or what suits the type: chunk size, encoding, shards.
// The scale's size, offset and resolution must be there.
Result<void> ChooseStorage(const VolumeInfo& info, const StorageRequest& request,
                           ScaleInfo& scale);

// The factor by which a scale is downsampled next, as PyramidRequest has it.
Vec3 ChooseFactor(const ScaleInfo& scale, const std::optional<Vec3>& wanted);

// What is to be around new chunks of a scale without shards, as around those that it has;
// nullopt if it has none. kNone for a scale in shards.
Result<std::optional<Wrapper>> FindWrapper(const Scale& scale);

// Adds scales below scale `from` of the info, with a stage for each. Those that are there
// are passed over: the next one is made from them. `storage.wrapper` counts.
Result<void> AddPyramid(const PyramidRequest& request, const StorageRequest& storage,
                        size_t from, VolumeInfo& info, std::vector<Stage>& stages);

}  // namespace dolium::volume
