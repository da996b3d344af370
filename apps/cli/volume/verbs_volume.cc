// The rows of `dolium volume`.
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/verb_options.h"
#include "cli/verbs.h"

namespace dolium::cli {
namespace {

constexpr Option kVolumeMemory = Value(ValueKind::kSize, "", "memory", "<size>",
                                       "most to hold of voxels at once [256MiB]");
constexpr Option kVolumeForce = Flag("", "force", "replace a volume that is there");
constexpr Option kSkipChunks =
    Flag("", "skip-damaged", "leave out chunks that are damaged, and report them");
constexpr Option Scale(std::string_view help) {
  return Value(ValueKind::kText, "s", "scale", "<n | x,y,z>", help);
}

constexpr std::string_view kPlanDetails =
    "With --plan, the work is only planned: each line printed is a task that `dolium "
    "task` does, in any process that sees the locations. Tasks of one `stage` may be "
    "done in any order, when all of the stages before it are done. After the last one, "
    "the same command without --plan completes the volume.\n"
    "If the source changes while it is read, a job that began with this command begins "
    "again, three times at most.";

// How chunks are encoded and kept.
std::vector<Option> StorageRows(std::string_view chunk_size, std::string_view encoding) {
  return {
      Value(ValueKind::kText, "", "chunk-size", "<x,y,z>", chunk_size),
      Choice("encoding", "<name>", encoding,
             "raw jpeg png jxl compressed_segmentation compresso"),
      Value(ValueKind::kNumber, "", "quality", "<n>",
            "of jpeg [75] or jxl [85]: 0 to 100"),
      Value(ValueKind::kNumber, "", "png-level", "<n>", "effort of png: 0 to 9 [6]"),
      Value(ValueKind::kText, "", "block-size", "<x,y,z>",
            "blocks of compressed_segmentation [8,8,8]"),
      Value(ValueKind::kSize, "", "shard-size", "<size>",
            "about this much in a shard, as stored, by a sample [1GiB of voxels]"),
      Aliased(Value(ValueKind::kFile, "", "to-spec", "<file>",
                    "the spec of the shards, instead of one by size"),
              "sharding"),
      Flag("", "unsharded", "one file for each chunk"),
      Flag("", "gzip", "the same, compressed and named .gz"),
  };
}

std::vector<Option> CopiedStorageRows() {
  return StorageRows("voxels of a chunk [as in the source]",
                     "raw, jpeg, png, jxl, compressed_segmentation or compresso [as in "
                     "the source]");
}

std::vector<Option> PyramidRows() {
  return {
      Value(ValueKind::kText, "", "factor", "<x,y,z>",
            "from scale to scale, 1 to 8 each [2 where voxels are shortest, else 1]"),
      Choice("method", "<name>",
             "average, mode or stride [mode for segmentations, else average]",
             "average mode stride"),
      Flag("", "ignore-zero", "mode: zeros lose against any label"),
  };
}

Verb Ingest() {
  return {
      .name = "volume ingest",
      .usage = "[options] <source> <volume>",
      .outline = "make a volume of an array in files",
      .description =
          "Make a volume, with all its scales, of an array in a file or folder.",
      .details = fmt::format(
          "The source is a file: .npy, .tif, .tiff, .h5, .hdf5, .png, .jpg; or .raw, "
          ".bin, .dat, with --shape and --dtype; or a folder of TIFF, PNG or JPEG files, "
          "one for each z, ordered by name as people count (z2 before z10). Dimensions "
          "of .npy, raw and HDF5 arrays are x, y, z and then channel, unless --axes says "
          "otherwise. In pages, columns are x and rows are y.\n"
          "Memory does not grow with the volume. The volume carries a marker until it is "
          "complete; if the work is stopped, the same command resumes it. With --force, "
          "the new volume is built beside the old one and then swapped in.\n"
          "{}",
          kPlanDetails),
      .options = JoinOptions({
          {Choice("type", "<name>",
                  "image or segmentation [segmentation for uint32 and uint64]",
                  "image segmentation"),
           Value(ValueKind::kText, "", "resolution", "<x,y,z>",
                 "size of a voxel in nanometres [1,1,1]"),
           Value(ValueKind::kText, "", "offset", "<x,y,z>",
                 "coordinates of the first voxel [0,0,0]"),
           Aliased(Choice("to-dtype", "<name>", "convert to this type [the source's]",
                          "uint8 int8 uint16 int16 uint32 int32 uint64 float32"),
                   "data-type"),
           Value(ValueKind::kText, "", "axes", "<letters>",
                 "dimensions as the source lists them: zyx, czyx, ... [xyzc]"),
           Value(ValueKind::kText, "", "dataset", "<path>",
                 "HDF5: the dataset [the only one]"),
           Value(ValueKind::kText, "", "shape", "<n,...>",
                 "raw: sizes, in the order of the axes"),
           Choice("dtype", "<name>", "raw: type of the numbers",
                  "uint8 int8 uint16 int16 uint32 int32 uint64 int64 float32 float64"),
           Value(ValueKind::kSize, "", "skip", "<size>",
                 "raw: bytes before the array; more may follow it"),
           Flag("", "big-endian", "raw: order of the bytes"),
           Flag("", "c-order", "raw: the last dimension is the fastest")},
          StorageRows("voxels of a chunk [64,64,64]",
                      "raw, jpeg, png, jxl, compressed_segmentation or compresso "
                      "[lossless, by type]"),
          {Value(ValueKind::kNumber, "", "scales", "<n>",
                 "scales in all, the full one included [until one is a chunk]")},
          PyramidRows(),
          {kVolumeForce, kPlan, kJobs, kVolumeMemory, kJson, kNoSummary, kProgress},
      }),
      .examples = {"dolium volume ingest --resolution 8,8,40 em.tif em",
                   "dolium volume ingest --type segmentation --axes zyx labels.npy seg",
                   "dolium volume ingest --encoding jpeg --quality 90 slices em",
                   "dolium volume ingest --shape 512,512,100 --dtype uint16 a.raw a"},
      .run = RunVolumeIngest,
  };
}

Verb DownsampleVerb() {
  return {
      .name = "volume downsample",
      .usage = "[options] <volume>",
      .outline = "add coarser scales to a volume",
      .description =
          "Add coarser scales to a volume, each made of the one before it, or "
          "make those again that it has.",
      .details = fmt::format(
          "Images are averaged: the exact mean, rounded to the nearest integer, halves "
          "to the even one. Segmentations get the most frequent label of each block, of "
          "several the smallest. New scales are stored as the one that they are made of, "
          "unless options say otherwise. Those that the volume has already are passed "
          "over, so that the same command again adds nothing. They are listed in the "
          "volume's info when all are complete; if the work is stopped, the same command "
          "resumes it. Another one is refused where it would write the same scales, "
          "unless --force drops what was begun.\n"
          "With --rebuild, after a change of the voxels, the scales listed after --from "
          "are made again, stored as they are; name the method again, if it was not the "
          "usual one. The new data take the place of the old ones when all are complete, "
          "one scale after the other, at once for each. If the scale that they are made "
          "of changes meanwhile, the old ones stay.\n"
          "With --skip-damaged, chunks that are damaged, and those of a shard whose "
          "index "
          "is, count as zeros, and the exit status is 1. A job that has failed on damage "
          "goes on with it.\n"
          "{}",
          kPlanDetails),
      .options = JoinOptions({
          {Value(ValueKind::kNumber, "", "from", "<n>",
                 "the scale to begin with [the coarsest; with --rebuild 0]"),
           Value(ValueKind::kNumber, "", "scales", "<n>",
                 "scales in all, with those that are there [until one is a chunk]"),
           Flag("", "rebuild", "make the coarser scales again, from changed voxels")},
          PyramidRows(),
          CopiedStorageRows(),
          {Flag("", "sharded", "in shards, also if the source is not"), kSkipChunks,
           kAllFindings,
           Flag("", "force", "drop what another downsampling left unfinished"), kPlan,
           kJobs, kVolumeMemory, kJson, kNoSummary, kProgress},
      }),
      .examples = {"dolium volume downsample em",
                   "dolium volume downsample --scales 3 --factor 2,2,1 em",
                   "dolium volume downsample --rebuild em",
                   "dolium volume downsample --ignore-zero seg"},
      .run = RunVolumeDownsample,
  };
}

Verb DropScaleVerb() {
  return {
      .name = "volume drop-scale",
      .usage = "[options] <volume> <scale>...",
      .outline = "remove scales from a volume",
      .description = "Remove scales from a volume, from its info first, then their data.",
      .details =
          "A scale is named by its number, or by its resolution as in 16,16,40; numbers "
          "are those before the first one is removed. Scale 0 is kept without --force, "
          "and one scale always. A folder that has anything else is refused. If the work "
          "is stopped, the same command completes it.",
      .options = {Flag("", "force", "also scale 0, which the others are made of"), kJson},
      .examples = {"dolium volume drop-scale em 3",
                   "dolium volume drop-scale em 32,32,40 64,64,80"},
      .run = RunVolumeDropScale,
  };
}

Verb Transcode() {
  return {
      .name = "volume transcode",
      .usage = "[options] <source> <volume>",
      .outline = "rewrite a volume: other encoding, chunks, shards",
      .description =
          "Rewrite a volume with another encoding, other chunks or other shards.",
      .details = fmt::format(
          "What no option names stays as in the source. Where neither the size nor the "
          "encoding of chunks changes, they are copied as they are; each is decoded to "
          "see that it can be, and damage is an error. Mesh, "
          "skeletons and segment properties are copied file by file, also where links "
          "lead out of the volume, which a warning names; what cannot be copied is "
          "named in one, too. If the work is stopped, the same command resumes it.\n"
          "With --skip-damaged, chunks that are damaged are left out, and so are those "
          "of a "
          "shard whose index is; the exit status is 1. A job that has failed on damage "
          "goes on with it. Of a DVID export, damage and blocks outside of the volume "
          "are "
          "reported before anything is written.\n"
          "{}",
          kPlanDetails),
      .options = JoinOptions({
          {Value(ValueKind::kText, "s", "scale", "<n,...>", "just these scales [all]")},
          CopiedStorageRows(),
          {Flag("", "sharded", "in shards, also if the source is not"), kSupervoxels,
           kSpec, kVoxelSize, kCoordinates, kSkipDamaged, kAllFindings, kVolumeForce,
           kPlan, kJobs, kVolumeMemory, kJson, kNoSummary, kProgress},
      }),
      .examples =
          {"dolium volume transcode --shard-size 2GiB https://host/seg seg",
           "dolium volume transcode --encoding jpeg --quality 80 em em-small",
           "dolium volume transcode --unsharded --gzip --scale 2,3 seg seg-files"},
      .run = RunVolumeTranscode,
  };
}

Verb CutoutVerb() {
  return {
      .name = "volume cutout",
      .usage = "[options] <volume> [<file>]",
      .outline = "copy a box of voxels to a file",
      .description = "Copy a box of voxels to a NumPy, TIFF or raw file.",
      .details =
          "Coordinates are absolute voxels of the scale, the volume's offset included; "
          "negative numbers mean themselves. An end that is left out is the volume's. "
          "Chunks that are missing read as zero, and the closing line counts them; so do "
          "those that are damaged with --skip-damaged, and the exit status is 1.\n"
          "The file's ending is its format: .npy, dimensions x, y, z and (if several) "
          "channel; .tif or .tiff, a page for each z; .raw, x fastest, then y, z, "
          "channel. It appears whole or not at all. With --axes, the dimensions of .npy "
          "and .raw come in another order; those of one voxel, but for x and y, may be "
          "left out. `volume ingest` with the same --axes reads such a file.",
      .options = {Value(ValueKind::kText, "", "box", "<x0:x1,y0:y1,z0:z1>",
                        "the box [all of the scale]"),
                  Scale("number of the scale, or its resolution [0]"),
                  Value(ValueKind::kFile, "o", "output", "<file>",
                        "<file>: what to write, .npy, .tif or .raw"),
                  Value(ValueKind::kText, "", "axes", "<letters>",
                        "dimensions as the file lists them: zyx, czyx, ... [xyzc]"),
                  Flag("", "c-order", "raw: the last dimension is the fastest"),
                  Flag("", "strict", "missing chunks are an error"),
                  Flag("", "deflate", "TIFF: compress the pages"), kSupervoxels, kSpec,
                  kVoxelSize, kCoordinates, kSkipDamaged, kAllFindings,
                  Flag("", "force", "replace the output file"), kJobs,
                  Value(ValueKind::kSize, "", "memory", "<size>",
                        "most to hold of voxels at once [1GiB]"),
                  kJson, kNoSummary, kProgress},
      .examples = {"dolium volume cutout --box 0:512,0:512,100:164 em box.npy",
                   "dolium volume cutout --scale 3 --box :,:,20:21 em -o page.tif",
                   "dolium volume cutout --axes zyx --box :,:,100:164 em -o box.npy",
                   "dolium volume cutout --scale 32,32,40 https://host/em -o em.raw"},
      .run = RunVolumeCutout,
  };
}

Verb InfoVerb() {
  return {
      .name = "volume info",
      .usage = "[options] <volume>",
      .outline = "what a volume is: type, scales, storage",
      .description = "Show what a volume is: type, scales, encodings, shards.",
      .details =
          "Reads the volume's info file only. Shards are those of a complete volume, `?` "
          "where they are not boxes of chunks; sharding is hash, preshift + minishard + "
          "shard bits, and data encoding. What is likely a mistake, or what other "
          "programs trip over, follows as a warning.",
      .options = {kSpec, kVoxelSize, kCoordinates, kSkipDamaged, kJson},
      .examples = {"dolium volume info https://host/seg",
                   "dolium volume info --json seg | jq '.scales[].key'"},
      .run = RunVolumeInfo,
  };
}

Verb VolumeStatsVerb() {
  return {
      .name = "volume stats",
      .usage = "[options] <volume>",
      .outline = "counts and sizes of all chunks",
      .description = "Count chunks and sizes, of all scales, from the indexes alone.",
      .details = "The same as `dolium stats` of the volume.",
      .options = {kCoordinates, kSkipDamaged, kJobs, kJson, kProgress},
      .examples = {"dolium volume stats seg"},
      .run = RunStats,
  };
}

Verb VolumeVerifyVerb() {
  return {
      .name = "volume verify",
      .usage = "[options] <volume>...",
      .outline = "read everything and check it",
      .description = "Read every chunk and check it, down to its voxels.",
      .details = "The same as `dolium verify` of the volume.",
      .options = {kQuick,
                  Deep("compare lists of labels in DVID blocks with the voxels; nothing "
                       "more of others"),
                  Value(ValueKind::kText, "", "sample", "<n | p%>",
                        "read a random part of the chunks"),
                  Value(ValueKind::kNumber, "", "seed", "<n>",
                        "choose the same part again [at random]"),
                  Flag("", "strict", "warnings count as errors, missing chunks too"),
                  Flag("q", "quiet", "leave out warnings"), kAllFindings, kCoordinates,
                  kSkipDamaged, kJobs, kJson, kNoSummary, kProgress},
      .examples = {"dolium volume verify seg",
                   "dolium volume verify --quick --strict em"},
      .run = RunVerify,
  };
}

Verb PreviewVerb() {
  return {
      .name = "volume preview",
      .usage = "[options] <volume>",
      .outline = "a picture of three slices, as PNG",
      .description = "Draw three orthogonal slices through a volume, as a PNG.",
      .details =
          "The picture has xy, beside it zy, below it xz. Labels have colours, 0 is "
          "black. The scale is the coarsest that fills the picture, unless one is named.",
      .options = {Value(ValueKind::kFile, "o", "output", "<file>",
                        "write to a file [-: standard output]"),
                  Scale("number of the scale, or its resolution [by size]"),
                  Value(ValueKind::kText, "", "at", "<x,y,z>",
                        "through this voxel of scale 0 [the middle]"),
                  Value(ValueKind::kNumber, "", "size", "<pixels>",
                        "longest side of the picture [1024]"),
                  kSupervoxels, kSpec, kVoxelSize, kCoordinates, kSkipDamaged,
                  kAllFindings, Flag("", "force", "replace the output file"), kJobs,
                  Value(ValueKind::kSize, "", "memory", "<size>",
                        "most to hold of slices [1GiB]"),
                  kJson},
      .examples = {"dolium volume preview seg -o seg.png",
                   "dolium volume preview --at 4000,2100,300 --scale 0 em -o em.png"},
      .run = RunVolumePreview,
  };
}

}  // namespace

std::vector<Verb> VolumeVerbs() {
  return {Ingest(),   DownsampleVerb(),  DropScaleVerb(),    Transcode(),  CutoutVerb(),
          InfoVerb(), VolumeStatsVerb(), VolumeVerifyVerb(), PreviewVerb()};
}

}  // namespace dolium::cli
