// The rows of `dolium skeleton`.
#include <string_view>
#include <vector>

#include "cli/objects/object_arguments.h"
#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace dolium::cli {
namespace {

constexpr std::string_view kSkeletonLocation =
    "The location is a folder of skeletons, sharded or not, or a volume whose info names "
    "one.";
constexpr std::string_view kSwcDetails =
    "An SWC file has a line for each vertex: number, type, position and radius in "
    "nanometres, and the number of its parent, -1 for the root of each tree. The radius "
    "is the attribute `radius`, the type `vertex_types`; where they are not there, 0. "
    "Edges that close a loop are left out, for SWC has trees alone.";

std::string WithSkeletonLocation(std::string_view details) {
  return std::string(kSkeletonLocation) + (details.empty() ? "" : "\n") +
         std::string(details);
}

}  // namespace

std::vector<Verb> SkeletonVerbs() {
  return {
      SkeletonMakeVerb(),
      {
          .name = "skeleton ls",
          .usage = "[options] <location>",
          .outline = "list skeletons",
          .description = "List the ids of all skeletons, ascending, one per line.",
          .details = WithSkeletonLocation(""),
          .options = {kJson},
          .examples = {"dolium skeleton ls seg"},
          .run = RunSkeletonLs,
      },
      {
          .name = "skeleton get",
          .usage = "[options] <location> <id> [<file>]",
          .outline = "write one skeleton as SWC",
          .description = "Write one skeleton as an SWC file, or to standard output.",
          .details = WithSkeletonLocation(kSwcDetails),
          .options = {Flag("", "force", "replace the file"), kJson},
          .examples = {"dolium skeleton get seg 720575940 neuron.swc"},
          .run = RunSkeletonGet,
      },
      {
          .name = "skeleton export",
          .usage = "[options] <location> [<id>...] <target>",
          .outline = "write skeletons as SWC files",
          .description = "Write skeletons as SWC files.",
          .details = WithSkeletonLocation(
              "The target is a folder, which gets a file `ID.swc` for each skeleton; or, "
              "for one, a file that ends like that, or `-`. Without ids, all skeletons "
              "are exported. Those that are not there or damaged are named, the others "
              "are written, and the exit status is 1.\n" +
              std::string(kSwcDetails)),
          .options = {Choice("to", "<kind>", "swc [swc]", "swc"), kSegments,
                      Flag("", "force", "replace what is there"), kAllFindings, kJobs,
                      kJson, kNoSummary, kProgress},
          .examples = {"dolium skeleton export --to swc seg skeletons",
                       "dolium skeleton export --segments ids.txt seg skeletons"},
          .run = RunSkeletonExport,
      },
      {
          .name = "skeleton import",
          .usage = "[options] <source>... <target>",
          .outline = "make a folder of skeletons from SWC files",
          .description = "Make a folder of skeletons from SWC files.",
          .details =
              "Sources are files named `ID.swc`, or folders of such files; positions are "
              "in nanometres. The target is a new folder; it is built beside its place, "
              "and appears when it is complete. Attributes are `radius` and "
              "`vertex_types`, written as float32, which is all that clients show, "
              "unless "
              "--keep-types is given. With --register, the info of the volume that it "
              "lies in names it.",
          .options = {Choice("from", "<kind>", "swc [swc]", "swc"),
                      Flag("", "sharded", "in shards, not in files"),
                      Flag("", "keep-types",
                           "attributes as they are: clients of today "
                           "cannot show them"),
                      Flag("", "register", "name it in the info of its volume"),
                      Flag("", "force", "replace a folder of skeletons"), kJobs, kMemory,
                      kJson, kNoSummary, kProgress},
          .examples = {"dolium skeleton import traced seg/skeletons --register"},
          .run = RunSkeletonImport,
      },
  };
}

}  // namespace dolium::cli
