// The row of `dolium skeleton make`.
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace dolium::cli {

Verb SkeletonMakeVerb() {
  return {
      .name = "skeleton make",
      .usage = "[options] <volume> [<folder>]",
      .outline = "make skeletons of the labels of a volume",
      .description = "Trace the centre lines of each label of a segmentation.",
      .details =
          "Lines are those of the TEASAR method: paths through the middle of an object "
          "lead from the point that is farthest from the lines so far to the nearest of "
          "them, until each voxel is within --cover times the radius, plus "
          "--cover-length, of a path. Each part of a label that is connected has one "
          "tree. Each vertex has its radius, the distance to the nearest voxel that is "
          "not of the label; with --cross-sections also the area of the object across "
          "the line, as far as it is seen within the block and 32 voxels around it. "
          "Positions are the middles of voxels, in nanometres.\n"
          "An object with a radius of more than 3500 nm is a cell body: holes in it are "
          "filled, and its lines meet in its middle.\n"
          "Blocks of the volume are traced one by one. Lines leave a block through the "
          "middle of each contact with the next one, where both are joined; loops that "
          "come of it are cut.\n"
          "Without a folder, the skeletons become those of the volume: they go to the "
          "folder that its info names as `skeletons`, or to a new one of this name, "
          "which is added to the info. A volume that cannot be written to needs a "
          "folder.\n"
          "Label 0 has no skeleton. With --segments, only the labels of a file have "
          "one: ids between spaces, commas or ends of lines.\n"
          "Blocks are as large as --memory allows, for all threads together.\n"
          "If the work is stopped, the same command resumes it. With --plan, the work is "
          "only planned: each line printed is a task that `dolium task` does, in any "
          "process that sees the locations. Tasks of the first `stage` trace blocks, "
          "those of the second join the lines of some labels, a shard each if they are "
          "sharded. After the last one, the same command without --plan completes the "
          "folder.\n"
          "If the source changes while it is read, a job that began with this command "
          "begins again, three times at most.",
      .options =
          {Value(ValueKind::kText, "s", "scale", "<n | x,y,z>",
                 "number of the scale, or its resolution [the finest nearly isotropic]"),
           Value(ValueKind::kText, "", "cover", "<factor>",
                 "radii around a path that need no other [1.5]"),
           Value(ValueKind::kText, "", "cover-length", "<nm>", "added to them [300]"),
           Flag("", "cross-sections", "also measure areas across the lines"),
           Value(ValueKind::kFile, "", "segments", "<file>",
                 "only the labels that this file lists [all]"),
           Value(ValueKind::kNumber, "", "min-voxels", "<n>",
                 "no skeleton for labels with fewer voxels [1000]"),
           Value(ValueKind::kText, "", "dust", "<nm>",
                 "leave out trees that are shorter [1000]"),
           Value(ValueKind::kText, "", "tick", "<nm>",
                 "cut ends of branches that are shorter [900]"),
           Flag("", "sharded", "in shards; else one file for each skeleton"),
           kSupervoxels,
           kSpec,
           kVoxelSize,
           kCoordinates,
           Flag("", "force", "replace skeletons that are there"),
           kPlan,
           kJobs,
           Value(ValueKind::kSize, "", "memory", "<size>",
                 "most to hold at once of blocks and lines [2GiB]"),
           kJson,
           kNoSummary,
           kProgress},
      .examples = {"dolium skeleton make seg",
                   "dolium skeleton make --sharded --scale 16,16,40 --tick 3000 seg",
                   "dolium skeleton make --segments ids.txt https://host/seg lines"},
      .run = RunSkeletonMake,
  };
}

}  // namespace dolium::cli
