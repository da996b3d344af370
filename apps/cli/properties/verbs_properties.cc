// The rows of `dolium properties`, and that of `dolium volume properties`.
#include <vector>

#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace dolium::cli {

Verb VolumePropertiesVerb() {
  return {
      .name = "volume properties",
      .usage = "[options] <volume>",
      .outline = "properties of segments, from the voxels",
      .description =
          "Count the voxels of each label of a segmentation, find its bounding "
          "box and its centre, and write that as segment properties.",
      .details =
          "Properties are `voxels`, `begin_x` to `end_z` (the box, half-open) and "
          "`center_x` to `center_z`, in voxels of scale 0. They are numbers of uint32 "
          "where all values fit, else of int32 or float32: no client shows larger ones. "
          "Label 0 is left out.\n"
          "They go to `segment_properties` in the volume, or where its info says, and "
          "the "
          "info then names them. Every chunk is read once, in parallel; memory grows "
          "with "
          "the number of labels alone. Nothing is written before all is read.",
      .options = {Value(ValueKind::kText, "s", "scale", "<n | x,y,z>",
                        "number of the scale, or its resolution [0]"),
                  Value(ValueKind::kFile, "o", "output", "<folder>",
                        "write to a folder, and leave the volume as it is"),
                  Flag("", "force", "replace properties that are there"), kJobs, kJson,
                  kNoSummary, kProgress},
      .examples = {"dolium volume properties seg",
                   "dolium volume properties --scale 2 -o props https://host/seg"},
      .run = RunVolumeProperties,
  };
}

std::vector<Verb> PropertyVerbs() {
  return {
      {
          .name = "properties import",
          .usage = "[options] <csv> <target>",
          .outline = "make segment properties of a CSV file",
          .description =
              "Make segment properties, as Neuroglancer shows them, of a CSV file.",
          .details =
              "A file has a row for each segment and a first row with names. The column "
              "`id` has the segment; each other one is `name` or `name:kind`. Kinds are "
              "label, description, string, tags (with spaces between them), number, or a "
              "type: uint8, int8, uint16, int16, uint32, int32, float32. Without a kind, "
              "columns called label, description and tags are that, columns of numbers "
              "are numbers, and all others are strings.\n"
              "The target is a folder; or a volume, whose info then names them.",
          .options = {Flag("", "force", "replace properties that are there"), kJson,
                      kNoSummary},
          .examples = {"dolium properties import cells.csv seg",
                       "dolium properties import cells.csv props"},
          .run = RunPropertiesImport,
      },
      {
          .name = "properties export",
          .usage = "[options] <location> <csv>",
          .outline = "segment properties as CSV",
          .description = "Write segment properties to a CSV file.",
          .details = "The location is their folder, or a volume whose info names it. `-` "
                     "is standard output. The file can be imported again.",
          .options = {Flag("", "force", "replace the file"), kJson, kNoSummary},
          .examples = {"dolium properties export seg cells.csv",
                       "dolium properties export https://host/seg - | head"},
          .run = RunPropertiesExport,
      },
  };
}

}  // namespace dolium::cli
