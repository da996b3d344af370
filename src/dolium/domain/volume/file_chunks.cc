#include "dolium/domain/volume/file_chunks.h"

#include <array>
#include <chrono>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/base/stable_hash.h"
#include "dolium/codec/gzip.h"

namespace dolium::volume {
namespace {

constexpr std::string_view kGzSuffix = ".gz";

// Requests under way at once, to a server.
constexpr size_t kRemoteFileJobs = 32;

// Every round one writer wins, so this many writers may meet at one chunk.
constexpr int kMaxFileRounds = 1000;
constexpr int kMaxPauseMilliseconds = 5;

// What marks gzip.
constexpr size_t kHeadBytes = 3;

// Keeps threads from making one chunk under two names, in stores that have no locks.
// Chunks share them, by name.
constexpr size_t kMutexes = 64;
std::mutex& MutexFor(const Location& object) {
  static auto& mutexes = *new std::array<std::mutex, kMutexes>;
  return mutexes[StableHash(object.path) % kMutexes];
}

bool BeginsLikeGzip(BytesView bytes) {
  constexpr std::byte kMagic[kHeadBytes] = {std::byte{0x1f}, std::byte{0x8b},
                                            std::byte{8}};
  return bytes.size() >= kHeadBytes && Equal(bytes.first(kHeadBytes), kMagic);
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
      gzip_new_(gzip_new),
      is_local_(IsLocal(folder_)) {}

std::string FileChunks::Describe(const Vec3& cell) const {
  return folder_.Child(grid_.NameOf(cell)).Describe();
}

std::vector<std::string> FileChunks::ObjectsOf(const Vec3& cell) const {
  return {ObjectOf(cell, Form::kPlain).path, ObjectOf(cell, Form::kGz).path};
}

std::optional<Vec3> FileChunks::CellOf(std::string_view key) const {
  if (key.ends_with(kGzSuffix)) key.remove_suffix(kGzSuffix.size());
  return grid_.ParseName(key);
}

Result<Bytes> FileChunks::Unwrap(std::string_view key, const Bytes& value) const {
  const Vec3 cell = CellOf(key).value_or(Vec3{0, 0, 0});
  const bool is_gzip = key.ends_with(kGzSuffix) || IsGzip(cell, value, value.size());
  return VoxelsOf(cell, {value, is_gzip});
}

Result<std::optional<WholeObject>> FileChunks::ReadObject(const Location& object) const {
  auto read = object.store->ReadWhole(object.path, max_bytes_);
  if (read) return *std::move(read);
  if (read.error().code == ErrorCode::kNotFound) return std::nullopt;
  return std::move(read).error();
}

Location FileChunks::ObjectOf(const Vec3& cell, Form form) const {
  std::string name = grid_.NameOf(cell);
  if (form == Form::kGz) name += kGzSuffix;
  return folder_.Child(name);
}

bool FileChunks::IsGzip(const Vec3& cell, BytesView head, uint64_t size) const {
  if (!BeginsLikeGzip(head)) return false;
  if (encoding_ != Encoding::kRaw) return true;
  // Raw voxels may begin with any bytes; but then their length is right.
  ArrayShape shape = shape_;
  shape.size = grid_.VoxelsOf(cell).size();
  return size != shape.bytes();
}

Result<Bytes> FileChunks::VoxelsOf(const Vec3& cell, const StoredChunk& stored) const {
  if (!stored.is_gzip) return stored.bytes;
  auto value = Decode({{CodecId::kGzip}}, stored.bytes, max_bytes_);
  if (!value) return std::move(value).error().Within(Describe(cell));
  return value;
}

Result<std::optional<FileChunks::Found>> FileChunks::Find(const Vec3& cell,
                                                          bool both) const {
  const auto load = [&](Form form) -> Result<std::optional<Found>> {
    DOLIUM_TRY(auto whole, ReadObject(ObjectOf(cell, form)));
    if (!whole) return std::nullopt;
    if (form == Form::kPlain && IsGzip(cell, whole->bytes, whole->bytes.size())) {
      form = Form::kGzip;
    }
    return Found{
        {std::move(whole->bytes), form != Form::kPlain}, whole->generation, form};
  };
  if (is_local_ || both) {
    DOLIUM_TRY(auto found, load(Form::kGz));
    if (found) return found;
    return load(Form::kPlain);
  }
  DOLIUM_TRY(auto found, load(Form::kPlain));
  if (found) plain_seen_.store(true, std::memory_order_relaxed);
  if (found || plain_seen_.load(std::memory_order_relaxed)) return found;
  return load(Form::kGz);
}

Result<std::optional<FileChunks::Form>> FileChunks::FindForm(const Vec3& cell) const {
  const Location gz = ObjectOf(cell, Form::kGz);
  DOLIUM_TRY(const auto as_gz, gz.store->Stat(gz.path));
  if (as_gz) return Form::kGz;
  const Location plain = ObjectOf(cell, Form::kPlain);
  DOLIUM_TRY(const auto info, plain.store->Stat(plain.path));
  if (!info) return std::nullopt;
  if (info->size < kHeadBytes) return Form::kPlain;
  const auto head = plain.store->ReadRange(plain.path, {0, kHeadBytes},
                                           {.if_generation = info->generation});
  if (!head && head.error().code == ErrorCode::kNotFound) {
    return Conflict(head.error().message);
  }
  if (!head) return head.error();
  return IsGzip(cell, *head, info->size) ? Form::kGzip : Form::kPlain;
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

// A new chunk, under the name that is wished for such. One writer at a time looks that
// there is none under either name, and makes it: in other processes by the lock of the
// folder above, for the scale's own is what a commit takes.
Result<void> FileChunks::PutNew(const Vec3& cell, BytesView voxels) {
  const Location object = ObjectOf(cell, gzip_new_ ? Form::kGz : Form::kPlain);
  DOLIUM_TRY(const auto writer, object.store->Begin(object.path));
  DOLIUM_TRY_VOID(writer->Append(voxels));
  const std::lock_guard mutex(MutexFor(ObjectOf(cell, Form::kPlain)));
  const std::string above = ParentPath(folder_.path);
  DOLIUM_TRY(const auto lock, folder_.store->LockForRewrite(above.empty() ? "." : above));
  DOLIUM_TRY(const auto there, FindForm(cell));
  if (there) return Conflict(Describe(cell) + ": another writer has made it");
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             writer->Commit(Precondition::Absent()));
  return {};
}

// Removes a chunk's plain object, which its `.gz` has made meaningless.
Result<void> FileChunks::RemoveDuplicate(const Vec3& cell) {
  const Location plain = ObjectOf(cell, Form::kPlain);
  DOLIUM_TRY(const auto info, plain.store->Stat(plain.path));
  if (!info) return {};
  auto removed = plain.store->Remove(plain.path, Precondition::None());
  if (!removed && removed.error().code == ErrorCode::kNotFound) return {};
  return removed;
}

Result<void> FileChunks::TryUpdate(const ChunkUpdate& update) {
  std::optional<Form> form;
  std::optional<Bytes> old;
  Precondition precondition = Precondition::None();
  if (update.needs_old) {
    DOLIUM_TRY(const auto found, Find(update.cell, /*both=*/true));
    if (found) {
      form = found->form;
      precondition = Precondition::At(found->generation);
      DOLIUM_TRY(old, VoxelsOf(update.cell, found->chunk));
    }
  } else {
    DOLIUM_TRY(form, FindForm(update.cell));
  }
  DOLIUM_TRY(ByteVector voxels, update.make(old));
  if (form ? *form != Form::kPlain : gzip_new_) voxels = GzipEncode(voxels);
  if (!form) return PutNew(update.cell, voxels);
  const Location object = ObjectOf(update.cell, *form);
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             object.store->Put(object.path, voxels, precondition));
  return *form == Form::kGz ? RemoveDuplicate(update.cell) : Result<void>();
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
  return ParallelFor(
      updates.size(), options.jobs,
      [&](size_t i) { return UpdateOne(updates[i], options.stop); }, options.stop);
}

}  // namespace dolium::volume
