// The rows of `dolium mesh`.
#include <string_view>
#include <vector>

#include "cli/objects/object_arguments.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace dolium::cli {
namespace {

constexpr std::string_view kMeshLocation =
    "The location is a folder of meshes, multi-resolution or legacy, sharded or not, or "
    "a "
    "volume whose info names one.";

constexpr Option kLod = Value(ValueKind::kText, "", "lod", "<n>",
                              "level of detail: 0 is the finest, -1 the coarsest [0]");
constexpr Option kMeshForce = Flag("", "force", "replace what is there");

std::string WithMeshLocation(std::string_view details) {
  return std::string(kMeshLocation) + "\n" + std::string(details);
}

}  // namespace

std::vector<Verb> MeshVerbs() {
  return {
      MeshMakeVerb(),
      {
          .name = "mesh ls",
          .usage = "[options] <location>",
          .outline = "list meshes",
          .description = "List the ids of all meshes, ascending, one per line.",
          .details = WithMeshLocation(
              "With --long, a table: levels of detail, fragments and bytes of each, from "
              "its manifest; of legacy meshes, whose manifests do not say it, `-`."),
          .options = {Flag("l", "long", "a table: id, levels, fragments, bytes"), kJson},
          .examples = {"dolium mesh ls seg", "dolium mesh ls -l seg/mesh"},
          .run = RunMeshLs,
      },
      {
          .name = "mesh get",
          .usage = "[options] <location> <id> [<file>]",
          .outline = "write one mesh as a file",
          .description =
              "Write one mesh, of the kind that the file's ending names, in nanometres.",
          .details = WithMeshLocation(
              "Endings are .ply, .obj, .stl and .glb; without a file, or with `-`, a PLY "
              "goes to standard output."),
          .options = {kLod, kMeshForce, kJson},
          .examples = {"dolium mesh get seg 720575940 neuron.glb",
                       "dolium mesh get --lod 2 seg 720575940 > coarse.ply"},
          .run = RunMeshGet,
      },
      {
          .name = "mesh export",
          .usage = "--to <kind> [options] <location> [<id>...] <target>",
          .outline = "write meshes as files of other programs",
          .description = "Write meshes as PLY, OBJ, GLB or STL files, in nanometres.",
          .details = WithMeshLocation(
              "The target is a folder, which gets a file `ID.ply` for each mesh; or, for "
              "one mesh, a file that ends like that, or `-`. Without ids, all meshes are "
              "exported. PLY and STL files are binary. Each file appears whole or not at "
              "all. Meshes that are not there or damaged are named, the others are "
              "written, and the exit status is 1."),
          .options = {Choice("to", "<kind>", "ply, obj, glb or stl", "ply obj glb stl"),
                      kSegments, kLod, kMeshForce, kAllFindings, kJobs, kJson, kNoSummary,
                      kProgress},
          .examples = {"dolium mesh export --to ply seg meshes",
                       "dolium mesh export --to glb --lod 1 seg 17 23 meshes",
                       "dolium mesh export --to stl seg 17 - > 17.stl"},
          .run = RunMeshExport,
      },
      {
          .name = "mesh import",
          .usage = "--from <kind> [options] <source>... <target>",
          .outline = "make a folder of meshes from files",
          .description = "Make a folder of meshes from PLY, OBJ or STL files.",
          .details =
              "Sources are files named `ID.ply`, or folders of such files; positions are "
              "in nanometres. The target is a new folder of multi-resolution meshes with "
              "one level of detail, or of legacy meshes. It is built beside its place, "
              "and "
              "appears when it is complete. With --register, the info of the volume that "
              "it lies in names it.",
          .options = {Choice("from", "<kind>", "ply, obj or stl", "ply obj stl"),
                      Flag("", "sharded", "in shards, not in files"),
                      Flag("", "legacy",
                           "legacy meshes, whose positions are not rounded"),
                      Value(ValueKind::kNumber, "", "bits", "<n>",
                            "of positions: 10 or 16 [16]"),
                      Flag("", "register", "name it in the info of its volume"),
                      Flag("", "force", "replace a folder of meshes"), kJobs, kMemory,
                      kJson, kNoSummary, kProgress},
          .examples = {"dolium mesh import --from ply meshes seg/mesh --register",
                       "dolium mesh import --from obj --sharded 17.obj 23.obj seg/mesh"},
          .run = RunMeshImport,
      },
      {
          .name = "mesh preview",
          .usage = "[options] <location> <id>...",
          .outline = "draw a picture of meshes",
          .description = "Draw one or more meshes as a shaded picture, a PNG.",
          .details = WithMeshLocation(
              "No graphics hardware is needed. Of a volume with skeletons, those of the "
              "meshes are drawn in them, and the meshes become translucent; "
              "--no-skeleton "
              "leaves them out. --view is an axis to look along (x, y, z, -x, -y, -z), "
              "or "
              "two angles in degrees, around the vertical axis and up; by default the "
              "widest side is shown, a little from above."),
          .options = {Value(ValueKind::kFile, "o", "output", "<file>",
                            "the picture [-: standard output]"),
                      Value(ValueKind::kText, "", "size", "<n | w,h>",
                            "pixels [1024,768]"),
                      Value(ValueKind::kText, "", "view", "<axis | angle,angle>",
                            "the direction [the widest side]"),
                      kLod, Flag("", "no-skeleton", "meshes alone"), kMeshForce, kJson},
          .examples =
              {"dolium mesh preview seg 720575940 -o neuron.png",
               "dolium mesh preview --view 30,20 --size 800 seg 17 23 -o two.png"},
          .run = RunMeshPreview,
      },
  };
}

}  // namespace dolium::cli
