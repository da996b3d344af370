#include "dolium/ops/objects/object_export.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/container/entry_error.h"
#include "dolium/domain/skeleton/swc.h"
#include "dolium/formats/neuroglancer/sharding_spec.h"

namespace dolium {
namespace {

// Ids that one thread does together.
constexpr size_t kIdsAtOnce = 64;

// What is made of some ids: `take(index, bytes)`, with no bytes for an object that is not
// there.
using TakeFile = std::function<Result<void>(size_t, std::optional<ByteVector>)>;
using MakeFiles =
    std::function<Result<void>(std::span<const uint64_t> ids, const TakeFile& take)>;

// Whether an error is about the object, and not about where its file is to be.
bool IsOfObject(const Error& error) {
  return error.code == ErrorCode::kCorrupt || error.code == ErrorCode::kInvalidArgument ||
         error.code == ErrorCode::kUnsupported;
}

class FolderExport {
 public:
  FolderExport(std::span<const uint64_t> ids, const Location& folder,
               std::string_view ending, const ExportObjectsOptions& options,
               const FindingVisitor& visitor)
      : ids_(ids),
        folder_(folder),
        ending_(ending),
        options_(options),
        visitor_(visitor) {}

  Result<ExportObjectsReport> Run(const MakeFiles& make) {
    if (!options_.force) DOLIUM_TRY_VOID(CheckNoneThere());
    const size_t batches = (ids_.size() + kIdsAtOnce - 1) / kIdsAtOnce;
    DOLIUM_TRY_VOID(ParallelFor(
        batches, options_.jobs,
        [&](size_t batch) {
          const size_t begin = batch * kIdsAtOnce;
          return RunBatch(ids_.subspan(begin, std::min(kIdsAtOnce, ids_.size() - begin)),
                          make);
        },
        options_.stop));
    return report_;
  }

 private:
  Location FileOf(uint64_t id) const {
    return folder_.Child(fmt::format("{}.{}", id, ending_));
  }

  // Before anything is written.
  Result<void> CheckNoneThere() const {
    for (const uint64_t id : ids_) {
      const Location file = FileOf(id);
      DOLIUM_TRY(const auto there, file.store->Stat(file.path));
      if (there) {
        return Exists(fmt::format("{}: is there already", file.Describe()))
            .WithHint(Hint::kReplace);
      }
    }
    return {};
  }

  // All at once, and where one cannot be read, each by itself.
  Result<void> RunBatch(std::span<const uint64_t> ids, const MakeFiles& make) {
    std::vector<char> is_done(ids.size());
    const auto take = [&](size_t i, std::optional<ByteVector> file) -> Result<void> {
      is_done[i] = 1;
      return Write(ids[i], std::move(file));
    };
    auto made = make(ids, take);
    if (made || !IsOfObject(made.error())) return made;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (is_done[i] != 0) continue;
      auto alone = make(ids.subspan(i, 1), [&](size_t, std::optional<ByteVector> file) {
        return take(i, std::move(file));
      });
      if (alone) continue;
      if (!IsOfObject(alone.error())) return alone;
      Report(ids[i], "damaged", alone.error());
    }
    return {};
  }

  Result<void> Write(uint64_t id, std::optional<ByteVector> file) {
    if (!file) {
      Report(id, "missing", NotFound("is not there"));
      return {};
    }
    const Location to = FileOf(id);
    DOLIUM_TRY_VOID(to.store->Put(
        to.path, *file, options_.force ? Precondition::None() : Precondition::Absent()));
    const std::lock_guard lock(mutex_);
    ++report_.files;
    report_.bytes += file->size();
    Advance();
    return {};
  }

  void Report(uint64_t id, std::string kind, const Error& error) {
    const std::lock_guard lock(mutex_);
    ++(error.code == ErrorCode::kNotFound ? report_.missing : report_.damaged);
    if (visitor_) {
      visitor_(ErrorFinding(std::move(kind), {}, std::to_string(id), {}, error));
    }
    Advance();
  }

  // Under mutex_.
  void Advance() const {
    if (!options_.progress) return;
    options_.progress({.entries = report_.files + report_.missing + report_.damaged,
                       .total_entries = ids_.size(),
                       .bytes = report_.bytes});
  }

  const std::span<const uint64_t> ids_;
  const Location& folder_;
  const std::string ending_;
  const ExportObjectsOptions& options_;
  const FindingVisitor& visitor_;
  std::mutex mutex_;
  ExportObjectsReport report_;
};

Result<void> MakeMeshFiles(const mesh::MeshSource& source, std::span<const uint64_t> ids,
                           mesh::MeshFile kind, int level, const std::stop_token& stop,
                           const TakeFile& take) {
  return source.GetEach(
      ids, {.level = level, .read = {.jobs = 1, .stop = stop}},
      [&](size_t i, std::optional<mesh::Mesh> mesh) -> Result<void> {
        if (!mesh) return take(i, std::nullopt);
        auto file = mesh::WriteMeshFile(kind, *mesh);
        if (!file) return std::move(file).error().Within(fmt::format("mesh {}", ids[i]));
        return take(i, *std::move(file));
      });
}

Result<void> MakeSkeletonFiles(const skeleton::SkeletonSource& source,
                               std::span<const uint64_t> ids, const std::stop_token& stop,
                               const std::function<void(uint64_t dropped)>& dropped,
                               const TakeFile& take) {
  const double scale = ScaleOf(source.info().transform);
  return source.GetEach(
      ids, {.read = {.jobs = 1, .stop = stop}},
      [&](size_t i, const std::optional<skeleton::Skeleton>& skeleton) -> Result<void> {
        if (!skeleton) return take(i, std::nullopt);
        const auto swc =
            skeleton::WriteSwc(*skeleton, source.info(),
                               fmt::format("skeleton {}, in nanometres", ids[i]), scale);
        dropped(swc.dropped_edges);
        const BytesView bytes = AsBytes(swc.text);
        return take(i, ByteVector(bytes.begin(), bytes.end()));
      });
}

}  // namespace

double ScaleOf(const objects::Transform& transform) {
  const auto& m = transform;
  const double volume = m[0] * (m[5] * m[10] - m[6] * m[9]) -
                        m[1] * (m[4] * m[10] - m[6] * m[8]) +
                        m[2] * (m[4] * m[9] - m[5] * m[8]);
  return std::cbrt(std::abs(volume));
}

Result<std::optional<ByteVector>> ExportMesh(const mesh::MeshSource& source, uint64_t id,
                                             mesh::MeshFile kind, int level) {
  std::optional<ByteVector> made;
  DOLIUM_TRY_VOID(
      MakeMeshFiles(source, std::span(&id, 1), kind, level, {},
                    [&](size_t, std::optional<ByteVector> file) -> Result<void> {
                      made = std::move(file);
                      return {};
                    }));
  return made;
}

Result<std::optional<ByteVector>> ExportSkeleton(const skeleton::SkeletonSource& source,
                                                 uint64_t id, uint64_t* dropped_edges) {
  std::optional<ByteVector> made;
  DOLIUM_TRY_VOID(MakeSkeletonFiles(
      source, std::span(&id, 1), {},
      [&](uint64_t dropped) {
        if (dropped_edges != nullptr) *dropped_edges = dropped;
      },
      [&](size_t, std::optional<ByteVector> file) -> Result<void> {
        made = std::move(file);
        return {};
      }));
  return made;
}

Result<ExportObjectsReport> ExportMeshes(const mesh::MeshSource& source,
                                         std::span<const uint64_t> ids,
                                         const Location& folder, mesh::MeshFile kind,
                                         int level, const ExportObjectsOptions& options,
                                         const FindingVisitor& visitor) {
  return FolderExport(ids, folder, mesh::ToString(kind), options, visitor)
      .Run([&](std::span<const uint64_t> some, const TakeFile& take) {
        return MakeMeshFiles(source, some, kind, level, options.stop, take);
      });
}

Result<ExportObjectsReport> ExportSkeletons(const skeleton::SkeletonSource& source,
                                            std::span<const uint64_t> ids,
                                            const Location& folder,
                                            const ExportObjectsOptions& options,
                                            const FindingVisitor& visitor) {
  std::mutex mutex;
  uint64_t dropped_edges = 0;
  const auto count = [&](uint64_t dropped) {
    const std::lock_guard lock(mutex);
    dropped_edges += dropped;
  };
  DOLIUM_TRY(ExportObjectsReport report,
             FolderExport(ids, folder, "swc", options, visitor)
                 .Run([&](std::span<const uint64_t> some, const TakeFile& take) {
                   return MakeSkeletonFiles(source, some, options.stop, count, take);
                 }));
  report.dropped_edges = dropped_edges;
  return report;
}

Result<std::vector<uint64_t>> ParseIds(std::string_view text) {
  constexpr std::string_view kBetween = " \t\r,;";
  std::vector<uint64_t> ids;
  for (size_t number = 1; !text.empty(); ++number) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    line = line.substr(0, line.find('#'));
    while (true) {
      line.remove_prefix(std::min(line.find_first_not_of(kBetween), line.size()));
      if (line.empty()) break;
      const std::string_view word = line.substr(0, line.find_first_of(kBetween));
      line.remove_prefix(word.size());
      const auto id = neuroglancer::ParseKey(word);
      if (!id) {
        return InvalidArgument(fmt::format("line {}: found \"{}\", expected a segment id",
                                           number, word.substr(0, 40)));
      }
      ids.push_back(*id);
    }
  }
  return ids;
}

}  // namespace dolium
