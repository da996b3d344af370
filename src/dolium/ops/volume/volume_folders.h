// The folders that a volume has beside its scales: mesh, skeletons, segment properties.
//
// A job that makes a volume of another copies them file by file, in parts that follow
// those of its scales.
#pragma once

#include <cstdint>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/entry.h"
#include "dolium/container/writer.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/formats/files/file_key.h"
#include "dolium/ops/job/job.h"
#include "dolium/ops/job/source_state.h"
#include "dolium/ops/volume/volume_job.h"

namespace dolium::volume {

// Parts that the copy of one folder has, by the names of its files.
inline constexpr uint64_t kFolderParts = files::kParts;

// Warnings of what is in the folder of a volume and is no part of it.
Result<std::vector<Finding>> FindForeignFiles(const Volume& from);
// The same, and of the folders that its info names beside those of scales: of all that
// something that holds just voxels does not have of a volume.
Result<std::vector<Finding>> FindBesideVoxels(const Volume& from);

// Adds to the job what it is to copy of a volume's folders, and to its info by which keys
// they are found. Those that cannot be copied are left out of both: the findings say
// which and why; and where links lead out of the volume, for what they lead to is copied
// as well. Precondition: the job's scales are complete. kInvalidArgument if the
// target lies in such a folder.
Result<std::vector<Finding>> AddFolderCopies(const Volume& from, const Location& target,
                                             VolumeJob& job);

// Makes one part, below kFolderParts, of a copy. `volume` is what the job makes.
Result<WriteSummary> CopyFolderPart(const FolderCopy& copy, const Location& volume,
                                    uint64_t part, const PartContext& context);

// After all parts; may be repeated.
Result<void> FinishFolderCopy(const FolderCopy& copy, const Location& volume);

Result<void> AddToState(const FolderCopy& copy, SourceState& state);

}  // namespace dolium::volume
