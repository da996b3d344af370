// Copies of meshes and skeletons from one storage to the other: shards, or a file for
// each.
//
// The storage is a format of the target. The sharded one is that of all sets of shards;
// the unsharded one, kUnshardedFormat, is here: `ID` and `ID.index` for a mesh of several
// levels, `ID` for a skeleton. It is no row of formats/builtin.cc, because as a source it
// is a folder of files.
#pragma once

#include <memory>
#include <string_view>

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/container/format.h"

namespace dolium {

extern const Format kUnshardedFormat;

// The objects of an unsharded folder by id, with fragments as what precedes manifests, as
// sharded sets have them; whatever is around the files. kUnsupported for legacy meshes,
// which have no shards. Those that cannot be read are damage of the scan. The folder must
// be one of meshes or skeletons.
Result<std::shared_ptr<const Container>> OpenUnshardedObjects(const Location& folder);

// The text of the info of a folder of meshes or skeletons, without `sharding`.
Result<std::string> UnshardedInfo(const Location& folder);

}  // namespace dolium
