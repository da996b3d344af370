// The row of `dolium mesh make`.
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace dolium::cli {

Verb MeshMakeVerb() {
  return {
      .name = "mesh make",
      .usage = "[options] <volume> [<folder>]",
      .outline = "make meshes of the labels of a volume",
      .description = "Make a multi-resolution mesh of each label of a segmentation.",
      .details =
          "Surfaces are those of marching cubes, with vertices in the middle between "
          "voxels. They are closed, also where the data ends, unless --open is given. "
          "Each is simplified as a whole, so that nothing shows of the blocks that it "
          "was found in. Vertices stay on surfaces of voxels; the error is the mean "
          "distance from the planes that a vertex stands for, in nanometres. Each "
          "coarser level of detail has twice the error, and a quarter of the triangles "
          "where that allows it.\n"
          "Without a folder, the meshes become those of the volume: they go to the "
          "folder that its info names as `mesh`, or to a new one of this name, which is "
          "added to the info. A volume that cannot be written to needs a folder.\n"
          "By default, the finest scale is taken whose voxels are nearly as long in all "
          "directions, an error of the longest of their sides, and as many levels as an "
          "object as large as the volume needs, whose coarsest is one fragment. The "
          "first "
          "line says what was chosen.\n"
          "Label 0 has no mesh. With --segments, only the labels of a file have one: "
          "ids between spaces, commas or ends of lines.\n"
          "Memory is bounded by --memory, but for what a single mesh needs: one of "
          "millions of triangles is simplified in cubes before it is joined, and held "
          "simplified.\n"
          "If the work is stopped, the same command resumes it. With --plan, the work is "
          "only planned: each line printed is a task that `dolium task` does, in any "
          "process that sees the locations. Tasks of the first `stage` find surfaces in "
          "blocks, those of the second make the meshes of them, a shard each if they "
          "are sharded. After the last one, the same command without --plan completes "
          "the folder.\n"
          "If the source changes while it is read, a job that began with this command "
          "begins again, three times at most.",
      .options =
          {Value(ValueKind::kText, "s", "scale", "<n | x,y,z>",
                 "number of the scale, or its resolution [the finest nearly isotropic]"),
           Value(ValueKind::kNumber, "", "lods", "<n>",
                 "levels of detail, at most [by the size of the volume]"),
           Value(
               ValueKind::kText, "", "error", "<nm>",
               "bound of the finest level; 0: not simplified [longest side of a voxel]"),
           Value(ValueKind::kFile, "", "segments", "<file>",
                 "only the labels that this file lists [all]"),
           Value(ValueKind::kNumber, "", "min-voxels", "<n>",
                 "no mesh for labels with fewer voxels [0]"),
           Flag("", "open", "leave surfaces open where the data ends"),
           Value(ValueKind::kNumber, "", "bits", "<10 | 16>",
                 "of a position in a fragment [16]"),
           Flag("", "sharded", "in shards; else two files for each mesh"), kSupervoxels,
           kSpec, kVoxelSize, kCoordinates,
           Flag("", "force", "replace meshes that are there"), kPlan, kJobs,
           Value(ValueKind::kSize, "", "memory", "<size>",
                 "most to hold at once of cells and meshes [1GiB]"),
           kJson, kNoSummary, kProgress},
      .examples =
          {"dolium mesh make seg",
           "dolium mesh make --sharded --scale 16,16,40 --error 40 seg",
           "dolium mesh make --lods 1 --segments ids.txt https://host/seg meshes"},
      .run = RunMeshMake,
  };
}

}  // namespace dolium::cli
