#include "dolium/domain/volume/fill.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "dolium/base/parallel.h"
#include "dolium/domain/volume/chunk_writer.h"
#include "dolium/domain/volume/slab.h"

namespace dolium::volume {
namespace {

// Chunks that are made before any of them is written, for each thread.
constexpr size_t kWindowPerJob = 4;

class Filler {
 public:
  Filler(const Scale& target, const FillOptions& options)
      : target_(target),
        options_(options),
        jobs_(ThreadCount(options.writer.jobs, SIZE_MAX)),
        writer_(NewChunkWriter(target, options.wrapper, options.writer)) {}

  Result<void> Add(std::span<const Vec3> cells, const ChunkSource& source) {
    const size_t window = jobs_ == 1 ? 1 : jobs_ * kWindowPerJob;
    std::vector<std::optional<StoredChunk>> made;
    for (size_t first = 0; first < cells.size(); first += window) {
      const auto part = cells.subspan(first, std::min(window, cells.size() - first));
      made.assign(part.size(), std::nullopt);
      DOLIUM_TRY_VOID(ParallelFor(
          part.size(), jobs_,
          [&](size_t i) -> Result<void> {
            DOLIUM_TRY(made[i], source.Make(target_, part[i]));
            if (made[i]) {
              DOLIUM_TRY(made[i], writer_->Prepare(*std::move(made[i])));
            }
            return {};
          },
          options_.writer.stop));
      uint64_t bytes = 0;
      for (size_t i = 0; i < part.size(); ++i) {
        if (made[i]) DOLIUM_TRY_VOID(writer_->Add(part[i], *made[i]));
        bytes += target_.ShapeOf(target_.grid().VoxelsOf(part[i])).bytes().value_or(0);
      }
      if (options_.progress) options_.progress(part.size(), bytes);
    }
    return {};
  }

  Result<WriteSummary> Finish() { return writer_->Finish(); }

 private:
  const Scale& target_;
  const FillOptions& options_;
  const size_t jobs_;
  std::unique_ptr<ChunkWriter> writer_;
};

// Where pages may go that memory has no room for.
Result<std::string> TemporaryFolder(const Scale& target, const FillOptions& options) {
  if (!options.writer.spill_folder.empty()) return options.writer.spill_folder;
  const Location& folder = target.folder();
  DOLIUM_TRY(const auto path, folder.store->LocalPath(folder.path));
  std::error_code error;
  if (!path) return std::filesystem::temp_directory_path(error).string();
  std::filesystem::create_directories(*path, error);
  return *path;
}

}  // namespace

Result<WriteSummary> FillCells(const Scale& target, std::span<const Vec3> cells,
                               const ChunkSource& source, const FillOptions& options) {
  Filler filler(target, options);
  DOLIUM_TRY_VOID(filler.Add(cells, source));
  return filler.Finish();
}

Result<WriteSummary> FillLayers(const Scale& target, const Box& cells,
                                const ArraySource& array, const FillOptions& options) {
  // One half of the memory for pages, the other for chunks.
  FillOptions halved = options;
  halved.writer.memory /= 2;
  Filler filler(target, halved);
  DOLIUM_TRY(const std::string temporary_folder, TemporaryFolder(target, options));
  const int64_t origin = target.bounds().begin[2];
  for (int64_t z = cells.begin[2]; z < cells.end[2]; ++z) {
    Box layer = cells;
    layer.begin[2] = z;
    layer.end[2] = z + 1;
    const Box voxels = target.grid().VoxelsOf(layer);
    DOLIUM_TRY(const auto slab,
               Slab::Load(array, voxels.begin[2] - origin, voxels.end[2] - origin,
                          halved.writer.jobs, halved.writer.memory, temporary_folder));
    DOLIUM_TRY_VOID(filler.Add(CellsOf(layer), *FromArray(*slab)));
  }
  return filler.Finish();
}

}  // namespace dolium::volume
