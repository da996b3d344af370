#include "dolium/domain/volume/file_chunks.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/base/stable_hash.h"
#include "dolium/bytes/folder_check.h"

namespace dolium::volume {
namespace {

// Requests under way at once, to a server.
constexpr size_t kRemoteFileJobs = 32;

// Every round one writer wins, so this many writers may meet at one chunk.
constexpr int kMaxFileRounds = 1000;
constexpr int kMaxPauseMilliseconds = 5;

// Unknown endings of names in one folder that are distinguished.
constexpr size_t kMaxForeignSuffixes = 32;

// Keeps threads from making one chunk under two names, in stores that have no locks.
// Chunks share them, by name.
constexpr size_t kMutexes = 64;
std::mutex& MutexFor(const Location& object) {
  static auto& mutexes = *new std::array<std::mutex, kMutexes>;
  return mutexes[StableHash(object.path) % kMutexes];
}

// Cells for which it may be worth a list of names.
constexpr uint64_t kMinListedCells = 64;

// Whether it is a part of a chunk's name, `x0-x1`: that of a folder, in which
// neuroglancer-scripts has others.
bool IsRange(std::string_view name) {
  return name.find('-', 1) != std::string_view::npos &&
         name.find_first_not_of("-0123456789") == std::string_view::npos;
}

const std::vector<std::string>& ForeignSuffixes() {
  static const auto& suffixes =
      *new std::vector<std::string>(kForeignSuffixes.begin(), kForeignSuffixes.end());
  return suffixes;
}

bool IsLostRace(const Error& error) {
  return error.code == ErrorCode::kConflict || error.code == ErrorCode::kExists;
}

}  // namespace

FileChunks::FileChunks(Location folder, Encoding encoding, const Grid& grid,
                       const ArrayShape& shape, uint64_t max_bytes, bool gzip_new)
    : folder_(std::move(folder)),
      encoding_(encoding),
      grid_(grid),
      shape_(shape),
      max_bytes_(max_bytes),
      new_form_(NewChunkForm(gzip_new ? Wrapper::kGzip : Wrapper::kNone)),
      is_local_(IsLocal(folder_)) {}

std::string FileChunks::Describe(const Vec3& cell) const {
  return folder_.Child(grid_.NameOf(cell)).Describe();
}

std::vector<std::string> FileChunks::ObjectsOf(const Vec3& cell) const {
  std::vector<std::string> objects;
  objects.reserve(std::size(kChunkForms));
  for (const ChunkForm& form : kChunkForms) {
    objects.push_back(ObjectOf(cell, form.suffix).path);
  }
  return objects;
}

std::optional<Vec3> FileChunks::CellOf(std::string_view key) const {
  key.remove_suffix(FormOf(key).suffix.size());
  return grid_.ParseName(key);
}

Result<Bytes> FileChunks::Unwrap(std::string_view key, const Bytes& value) const {
  const Vec3 cell = CellOf(key).value_or(Vec3{0, 0, 0});
  const ChunkForm& form = FormOf(key);
  return VoxelsOf(cell,
                  {value, form.suffix.empty() ? PlainWrapper(cell, value, value.size())
                                              : form.wrapper});
}

Location FileChunks::ObjectOf(const Vec3& cell, std::string_view suffix) const {
  return folder_.Child(grid_.NameOf(cell).append(suffix));
}

Wrapper FileChunks::PlainWrapper(const Vec3& cell, BytesView head, uint64_t size) const {
  const Wrapper wrapper = WrapperOf(head);
  if (wrapper == Wrapper::kNone || encoding_ != Encoding::kRaw) return wrapper;
  // Raw voxels may begin with any bytes; but then their length is right.
  ArrayShape shape = shape_;
  shape.size = grid_.VoxelsOf(cell).size();
  return size == shape.bytes() ? Wrapper::kNone : wrapper;
}

Result<Bytes> FileChunks::VoxelsOf(const Vec3& cell, const StoredChunk& stored) const {
  auto value = volume::Unwrap(stored.wrapper, stored.bytes, max_bytes_);
  if (!value) return std::move(value).error().Within(Describe(cell));
  return value;
}

Result<std::optional<FileChunks::Found>> FileChunks::Load(const Vec3& cell,
                                                          ChunkForm form) const {
  const Location object = ObjectOf(cell, form.suffix);
  auto whole = object.store->ReadWhole(object.path, max_bytes_);
  if (!whole && whole.error().code == ErrorCode::kNotFound) {
    DOLIUM_TRY_VOID(CheckNoFolder(*object.store, object.path));
    return std::nullopt;
  }
  if (!whole) return std::move(whole).error();
  if (form.suffix.empty()) {
    form.wrapper = PlainWrapper(cell, whole->bytes, whole->bytes.size());
  }
  return Found{{std::move(whole->bytes), form.wrapper}, whole->generation, form};
}

Result<std::optional<FileChunks::Found>> FileChunks::Find(const Vec3& cell,
                                                          bool all) const {
  if (!is_local_ && !all) return FindRemote(cell);
  for (const ChunkForm& form : kChunkForms) {
    DOLIUM_TRY(auto found, Load(cell, form));
    if (found) return found;
  }
  DOLIUM_TRY_VOID(CheckNotForeign(cell, ForeignSuffixes()));
  return std::nullopt;
}

Result<std::optional<FileChunks::Found>> FileChunks::FindRemote(const Vec3& cell) const {
  constexpr size_t kPlain = kChunkForms.size() - 1;
  const size_t last = last_form_.load(std::memory_order_relaxed);
  const size_t first = std::min(last, kPlain);
  DOLIUM_TRY(auto found, Load(cell, kChunkForms[first]));
  if (found) last_form_.store(first, std::memory_order_relaxed);
  if (found || last == kPlain) return found;
  for (size_t i = kChunkForms.size(); i-- > 0;) {
    if (i == first) continue;
    DOLIUM_TRY(found, Load(cell, kChunkForms[i]));
    if (!found) continue;
    last_form_.store(i, std::memory_order_relaxed);
    return found;
  }
  return std::nullopt;
}

Result<std::optional<ChunkForm>> FileChunks::FindForm(const Vec3& cell) const {
  for (ChunkForm form : kChunkForms) {
    const Location object = ObjectOf(cell, form.suffix);
    DOLIUM_TRY(const auto info, object.store->Stat(object.path));
    if (!info) {
      DOLIUM_TRY_VOID(CheckNoFolder(*object.store, object.path));
      continue;
    }
    if (!form.suffix.empty()) return form;
    const auto head = object.store->ReadRange(
        object.path, {0, std::min<uint64_t>(info->size, kWrapperHeadBytes)},
        {.if_generation = info->generation});
    if (!head && head.error().code == ErrorCode::kNotFound) {
      return Conflict(head.error().message);
    }
    if (!head) return head.error();
    form.wrapper = PlainWrapper(cell, *head, info->size);
    return form;
  }
  return std::nullopt;
}

Result<std::optional<Bytes>> FileChunks::Get(const Vec3& cell) const {
  DOLIUM_TRY(auto found, Find(cell));
  if (!found) return std::nullopt;
  DOLIUM_TRY(Bytes voxels, VoxelsOf(cell, found->chunk));
  return voxels;
}

Result<std::optional<StoredChunk>> FileChunks::GetStored(const Vec3& cell) const {
  DOLIUM_TRY(auto found, Find(cell));
  if (!found) return std::nullopt;
  return std::move(found->chunk);
}

Result<void> FileChunks::GetEach(std::span<const Vec3> cells, const WorkOptions& options,
                                 const Visitor& visit) const {
  WorkOptions suited = options;
  if (options.jobs == 0 && !is_local_) suited.jobs = kRemoteFileJobs;
  return GetInRuns(*this, cells, suited, visit);
}

Result<bool> FileChunks::VisitNames(
    uint64_t max_names, const std::function<Result<void>(const Vec3&)>& visit) const {
  uint64_t names = 0;
  bool suffices = true;
  Result<void> visited;
  const auto listed =
      folder_.store->List(folder_.path, [&](std::string_view name, bool is_folder) {
        // Names of chunks have no dot. What has another ending, or is a folder, is for
        // reads to report.
        const auto cell = grid_.ParseName(name.substr(0, name.find('.')));
        suffices = ++names <= max_names && (cell || !is_folder || !IsRange(name));
        if (suffices && cell) visited = visit(*cell);
        return suffices && visited;
      });
  if (!visited) return visited.error();
  if (listed) return suffices;
  if (listed.error().code == ErrorCode::kNotFound) return true;
  if (listed.error().code == ErrorCode::kUnsupported) return false;
  return listed.error();
}

Result<bool> FileChunks::VisitOccupied(const BoxVisitor& visit,
                                       const DamagedIndexVisitor& /*damaged*/) const {
  // Nothing may be visited where names do not suffice.
  DOLIUM_TRY(const bool suffices,
             VisitNames(UINT64_MAX, [](const Vec3&) { return Result<void>(); }));
  if (!suffices) return false;
  return VisitNames(UINT64_MAX, [&](const Vec3& cell) { return visit(CellBox(cell)); });
}

Result<std::optional<std::vector<Vec3>>> FileChunks::FindOccupied(
    const Box& within, const DamagedIndexVisitor& /*damaged*/) const {
  const uint64_t count = CellCount(within);
  if (count < kMinListedCells) return std::nullopt;
  std::vector<Vec3> cells;
  // A list of more names than there are cells to look at would take longer.
  DOLIUM_TRY(const bool suffices,
             VisitNames(count, [&](const Vec3& cell) -> Result<void> {
               if (within.Contains(CellBox(cell))) cells.push_back(cell);
               return {};
             }));
  if (!suffices) return std::nullopt;
  std::ranges::sort(cells);
  const auto repeated = std::ranges::unique(cells);
  cells.erase(repeated.begin(), repeated.end());
  return cells;
}

Result<void> FileChunks::CheckNotForeign(const Vec3& cell,
                                         std::span<const std::string> suffixes) const {
  for (const std::string& suffix : suffixes) {
    const Location object = ObjectOf(cell, suffix);
    DOLIUM_TRY(const auto info, object.store->Stat(object.path));
    if (!info) continue;
    return Unsupported(
        fmt::format("{}: voxels {}: the chunk is there with the ending \"{}\", and what "
                    "that means is not known",
                    object.Describe(), ToString(grid_.VoxelsOf(cell)), suffix));
  }
  std::string nested = grid_.NameOf(cell);
  std::ranges::replace(nested, '_', '/');
  for (const std::string_view suffix : {"", ".gz"}) {
    const Location object = folder_.Child(nested + std::string(suffix));
    DOLIUM_TRY(const auto info, object.store->Stat(object.path));
    if (!info) continue;
    return Unsupported(
        fmt::format("{}: voxels {}: the chunk is in folders within folders, as "
                    "neuroglancer-scripts stores it; it is read by the name {}",
                    object.Describe(), ToString(grid_.VoxelsOf(cell)), Describe(cell)));
  }
  return {};
}

Result<std::vector<std::string>> FileChunks::ListForeignSuffixes() const {
  std::vector<std::string> suffixes = ForeignSuffixes();
  bool too_many = false;
  const auto listed =
      folder_.store->List(folder_.path, [&](std::string_view name, bool is_folder) {
        // Names of chunks have no dot.
        const size_t dot = name.find('.');
        if (is_folder || dot == std::string_view::npos) return true;
        const std::string_view suffix = name.substr(dot);
        const bool is_known = std::ranges::any_of(
            kChunkForms, [&](const ChunkForm& form) { return form.suffix == suffix; });
        if (is_known || std::ranges::find(suffixes, suffix) != suffixes.end())
          return true;
        if (!grid_.ParseName(name.substr(0, dot))) return true;
        too_many = suffixes.size() == kMaxForeignSuffixes;
        if (!too_many) suffixes.emplace_back(suffix);
        return !too_many;
      });
  if (!listed && listed.error().code != ErrorCode::kNotFound &&
      listed.error().code != ErrorCode::kUnsupported) {
    return listed.error();
  }
  if (too_many) {
    return Unsupported(
        fmt::format("{}: names of chunks with more than {} endings that are not known",
                    folder_.Describe(), kMaxForeignSuffixes));
  }
  return suffixes;
}

// All chunks, before any is written. The folder is listed once.
Result<void> FileChunks::CheckWritable(std::span<const ChunkUpdate> updates,
                                       const WorkOptions& options) const {
  DOLIUM_TRY(const auto* const suffixes,
             foreign_suffixes_.Get([this] { return ListForeignSuffixes(); }));
  return ParallelFor(
      updates.size(), options.jobs,
      [&](size_t i) -> Result<void> {
        const auto foreign = CheckNotForeign(updates[i].cell, *suffixes);
        if (foreign) return {};
        // Beside a name that we know, it is a copy that nobody reads.
        DOLIUM_TRY(const auto form, FindForm(updates[i].cell));
        return form ? Result<void>() : foreign;
      },
      options.stop);
}

// A new chunk, under the name that is wished for such. One writer at a time looks that
// there is none under any name, and makes it: in other processes by the lock of the
// folder above, for the scale's own is what a commit takes.
Result<void> FileChunks::PutNew(const Vec3& cell, BytesView stored) {
  const Location object = ObjectOf(cell, new_form_.suffix);
  DOLIUM_TRY(const auto writer, object.store->Begin(object.path));
  DOLIUM_TRY_VOID(writer->Append(stored));
  const std::lock_guard mutex(MutexFor(ObjectOf(cell, {})));
  const std::string above = ParentPath(folder_.path);
  DOLIUM_TRY(const auto lock, folder_.store->LockForRewrite(above.empty() ? "." : above));
  DOLIUM_TRY(const auto there, FindForm(cell));
  if (there) return Conflict(Describe(cell) + ": another writer has made it");
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             writer->Commit(Precondition::Absent()));
  return {};
}

Result<void> FileChunks::TryUpdate(const ChunkUpdate& update) {
  std::optional<ChunkForm> form;
  std::optional<Bytes> old;
  Precondition precondition = Precondition::None();
  if (update.needs_old) {
    DOLIUM_TRY(const auto found, Find(update.cell, /*all=*/true));
    if (found) {
      form = found->form;
      precondition = Precondition::At(found->generation);
      DOLIUM_TRY(old, VoxelsOf(update.cell, found->chunk));
    }
  } else {
    DOLIUM_TRY(form, FindForm(update.cell));
  }
  DOLIUM_TRY(ByteVector stored, update.make(old));
  const Wrapper wrapper = form.value_or(new_form_).wrapper;
  if (wrapper != Wrapper::kNone) stored = Wrap(wrapper, stored);
  if (!form) return PutNew(update.cell, stored);
  const Location object = ObjectOf(update.cell, form->suffix);
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             object.store->Put(object.path, stored, precondition));
  return RemoveOtherForms(folder_, grid_.NameOf(update.cell), *form,
                          OtherForms::kShadowed);
}

Result<void> FileChunks::UpdateOne(const ChunkUpdate& update,
                                   const std::stop_token& stop) {
  std::minstd_rand random(std::random_device{}());
  for (int round = 0;; ++round) {
    if (stop.stop_requested()) return Cancelled();
    auto done = TryUpdate(update);
    if (done || !IsLostRace(done.error()) || round == kMaxFileRounds) return done;
    std::this_thread::sleep_for(
        std::chrono::milliseconds(random() % kMaxPauseMilliseconds));
  }
}

Result<void> FileChunks::Update(std::span<const ChunkUpdate> updates,
                                const WorkOptions& options) {
  DOLIUM_TRY_VOID(CheckWritable(updates, options));
  return ParallelFor(
      updates.size(), options.jobs,
      [&](size_t i) { return UpdateOne(updates[i], options.stop); }, options.stop);
}

Result<void> RemoveOtherForms(const Location& folder, const std::string& chunk,
                              const ChunkForm& kept, OtherForms which) {
  bool counts = which == OtherForms::kShadowed;  // More than the one that is kept.
  for (const ChunkForm& form : kChunkForms) {
    if (form.suffix == kept.suffix) counts = false;
    if (counts || form.suffix == kept.suffix) continue;
    const Location object = folder.Child(chunk + std::string(form.suffix));
    DOLIUM_TRY(const auto info, object.store->Stat(object.path));
    if (!info) continue;
    auto removed = object.store->Remove(object.path, Precondition::None());
    if (!removed && removed.error().code != ErrorCode::kNotFound) return removed;
  }
  return {};
}

}  // namespace dolium::volume
