// The rows of `dolium annotations`.
#include <string_view>
#include <vector>

#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace dolium::cli {
namespace {

constexpr std::string_view kAnnotationColumns =
    "A file has a row for each annotation, and a first row with names. Columns are `id` "
    "(else rows count from 0), coordinates, properties and relationships. Coordinates of "
    "a point are `x`, `y`, `z` (the names of the dimensions); of a line or a box `x1` to "
    "`z2`; of an ellipsoid `x` to `z` and radii `rx` to `rz`; of a polyline one column "
    "`points`: `x y z;x y z`. A property is `name` or `name:type`: uint8, int8, uint16, "
    "int16, uint32, int32, float32 [if none is named], rgb or rgba, with colours as "
    "#rrggbb. A relationship has ids with spaces between them.";

Verb AnnotationsImport() {
  return {
      .name = "annotations import",
      .usage = "[options] <csv> <target>",
      .outline = "make annotations of a CSV file",
      .description = "Make a folder of annotations, with all its indexes, of a CSV file.",
      .details =
          std::string(kAnnotationColumns) +
          "\nThe spatial index has levels from coarse to fine. Each takes a random part "
          "of what is left, so that about --limit are in its fullest cell; --seed "
          "chooses "
          "another part. Memory does not grow with the number of annotations. The folder "
          "appears when it is complete; what a killed run left beside it is removed by "
          "the next one.",
      .options = {Choice("type", "<name>",
                         "point, line, axis_aligned_bounding_box, ellipsoid or polyline "
                         "[point]",
                         "point line axis_aligned_bounding_box ellipsoid polyline"),
                  Value(ValueKind::kText, "", "dimensions", "<list>",
                        "names, sizes of a unit and units [x:1nm,y:1nm,z:1nm]"),
                  Value(ValueKind::kText, "", "relationships", "<names>",
                        "columns with ids of related segments, as a,b"),
                  Value(ValueKind::kNumber, "", "limit", "<n>",
                        "about how many a cell shows [10000]"),
                  Value(ValueKind::kNumber, "", "seed", "<n>",
                        "of the random choice of levels [0]"),
                  Flag("", "unsharded", "a file for each annotation and each cell"),
                  Choice("encoding", "<name>", "of lists in shards: raw or gzip [gzip]",
                         "raw gzip"),
                  Value(ValueKind::kSize, "", "shard-size", "<size>",
                        "about this much in a shard [50MB]"),
                  Flag("", "force", "replace annotations that are there"), kJobs, kMemory,
                  kJson, kNoSummary, kProgress},
      .examples = {"dolium annotations import --dimensions x:8nm,y:8nm,z:40nm "
                   "synapses.csv synapses",
                   "dolium annotations import --type line --relationships pre,post "
                   "synapses.csv synapses"},
      .run = RunAnnotationsImport,
  };
}

Verb AnnotationsExport() {
  return {
      .name = "annotations export",
      .usage = "[options] <annotations> <csv>",
      .outline = "all annotations as CSV",
      .description = "Write all annotations to a CSV file, in the order of their ids.",
      .details = "`-` is standard output. The file can be imported again.",
      .options = {Flag("", "force", "replace the file"), kJobs, kJson, kNoSummary},
      .examples = {"dolium annotations export synapses synapses.csv",
                   "dolium annotations export https://host/synapses - | head"},
      .run = RunAnnotationsExport,
  };
}

Verb AnnotationsQuery() {
  return {
      .name = "annotations query",
      .usage = "[options] <annotations>",
      .outline = "the annotations of a box, or related to a segment",
      .description =
          "Print the annotations that meet a box, that are related to a segment, or that "
          "have given ids.",
      .details =
          "Lines are CSV, as `dolium annotations import` takes it, or objects "
          "with --json. A box is closed: what touches it is in it. The spatial "
          "index is read level by level; --levels leaves out fine ones, which "
          "gives a random part of all.",
      .options = {Value(ValueKind::kText, "", "box", "<x0:x1,...>",
                        "a box of coordinates; what is left out is the bound"),
                  Value(ValueKind::kText, "", "related", "<name=id>",
                        "those related to an id"),
                  Value(ValueKind::kTexts, "", "id", "<id>", "one with that id"),
                  Value(ValueKind::kNumber, "", "levels", "<n>",
                        "the first levels of the spatial index alone [all]"),
                  kJobs, kJson},
      .examples = {"dolium annotations query --box 100:200,100:200,0:50 synapses",
                   "dolium annotations query --json --related pre=7 synapses",
                   "dolium annotations query --id 4 --id 5 synapses"},
      .run = RunAnnotationsQuery,
  };
}

Verb AnnotationsInfo() {
  return {
      .name = "annotations info",
      .usage = "[options] <annotations>",
      .outline = "type, properties and indexes",
      .description = "Show what the info of a folder of annotations says.",
      .details = "The same as `dolium info` of the folder.",
      .options = {kJson},
      .examples = {"dolium annotations info synapses"},
      .run = RunInfo,
  };
}

Verb AnnotationsLs() {
  return {
      .name = "annotations ls",
      .usage = "[options] <annotations>",
      .outline = "list ids",
      .description = "List the ids of all annotations, ascending, one per line.",
      .details = "With --json, each is an object with `id`.",
      .options = {kJson},
      .examples = {"dolium annotations ls synapses"},
      .run = RunAnnotationsLs,
  };
}

}  // namespace

std::vector<Verb> AnnotationVerbs() {
  return {AnnotationsImport(), AnnotationsExport(), AnnotationsQuery(), AnnotationsInfo(),
          AnnotationsLs()};
}

}  // namespace dolium::cli
