#include "dolium/domain/volume/file_chunks.h"

#include <chrono>
#include <random>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "dolium/base/parallel.h"
#include "dolium/codec/gzip.h"

namespace dolium::volume {
namespace {

constexpr std::string_view kGzSuffix = ".gz";

// Requests under way at once, to a server.
constexpr size_t kRemoteJobs = 32;

// Every round one writer wins, so this many writers may meet at one chunk.
constexpr int kMaxRounds = 1000;
constexpr int kMaxPauseMilliseconds = 5;

bool BeginsLikeGzip(BytesView bytes) {
  constexpr std::byte kMagic[] = {std::byte{0x1f}, std::byte{0x8b}, std::byte{8}};
  return bytes.size() >= std::size(kMagic) &&
         Equal(bytes.first(std::size(kMagic)), kMagic);
}

std::string GzName(const std::string& name) { return name + std::string(kGzSuffix); }

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

std::optional<Vec3> FileChunks::CellOf(std::string_view key) const {
  if (key.ends_with(kGzSuffix)) key.remove_suffix(kGzSuffix.size());
  return grid_.ParseName(key);
}

Result<Bytes> FileChunks::Unwrap(std::string_view key, const Bytes& value) const {
  const Vec3 cell = CellOf(key).value_or(Vec3{0, 0, 0});
  return VoxelsOf(cell, {value, key.ends_with(kGzSuffix) || IsGzip(cell, value)});
}

Result<std::optional<WholeObject>> FileChunks::ReadObject(const Location& object) const {
  auto read = object.store->ReadWhole(object.path, max_bytes_);
  if (read) return *std::move(read);
  if (read.error().code == ErrorCode::kNotFound) return std::nullopt;
  return std::move(read).error();
}

bool FileChunks::IsGzip(const Vec3& cell, BytesView stored) const {
  if (!BeginsLikeGzip(stored)) return false;
  if (encoding_ != Encoding::kRaw) return true;
  // Raw voxels may begin with any bytes; but then their length is right.
  ArrayShape shape = shape_;
  shape.size = grid_.VoxelsOf(cell).size();
  return stored.size() != shape.bytes();
}

Result<Bytes> FileChunks::VoxelsOf(const Vec3& cell, const StoredChunk& stored) const {
  if (!stored.is_gzip) return stored.bytes;
  auto value = Decode({{CodecId::kGzip}}, stored.bytes, max_bytes_);
  if (!value) return std::move(value).error().Within(Describe(cell));
  return value;
}

Result<std::optional<FileChunks::Found>> FileChunks::Find(const Vec3& cell) const {
  const std::string name = grid_.NameOf(cell);
  const Location plain = folder_.Child(name);
  const Location gz = folder_.Child(GzName(name));
  const auto load = [&](const Location& object,
                        bool is_gz) -> Result<std::optional<Found>> {
    DOLIUM_TRY(auto whole, ReadObject(object));
    if (!whole) return std::nullopt;
    const bool is_gzip = is_gz || IsGzip(cell, whole->bytes);
    return Found{{std::move(whole->bytes), is_gzip}, std::move(whole->generation), is_gz};
  };
  if (is_local_) {
    DOLIUM_TRY(auto found, load(gz, true));
    if (found) return found;
    return load(plain, false);
  }
  DOLIUM_TRY(auto found, load(plain, false));
  if (found) plain_seen_.store(true, std::memory_order_relaxed);
  if (found || plain_seen_.load(std::memory_order_relaxed)) return found;
  return load(gz, true);
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

Result<void> FileChunks::GetEach(std::span<const Vec3> cells, size_t jobs,
                                 const Visitor& visit) const {
  return GetInRuns(*this, cells, jobs == 0 && !is_local_ ? kRemoteJobs : jobs, visit);
}

Result<bool> FileChunks::IsKeptAsGz(const std::string& name) const {
  for (const bool as_gz : {true, false}) {
    const Location object = folder_.Child(as_gz ? GzName(name) : name);
    DOLIUM_TRY(const auto info, object.store->Stat(object.path));
    if (info) return as_gz;
  }
  return gzip_new_;
}

Result<void> FileChunks::UpdateOne(const ChunkUpdate& update) {
  std::minstd_rand random(std::random_device{}());
  const std::string name = grid_.NameOf(update.cell);
  for (int round = 0;; ++round) {
    bool as_gz = gzip_new_;
    std::optional<Bytes> old;
    Precondition precondition = Precondition::None();
    if (update.needs_old) {
      DOLIUM_TRY(auto found, Find(update.cell));
      precondition = found ? Precondition::At(found->generation) : Precondition::Absent();
      if (found) {
        as_gz = found->is_gz;
        DOLIUM_TRY(old, VoxelsOf(update.cell, found->chunk));
      }
    } else {
      DOLIUM_TRY(as_gz, IsKeptAsGz(name));
    }
    DOLIUM_TRY(ByteVector voxels, update.make(old));
    if (as_gz) voxels = GzipEncode(voxels);
    const Location object = folder_.Child(as_gz ? GzName(name) : name);
    const auto done = object.store->Put(object.path, voxels, precondition);
    if (done) return {};
    if (!IsLostRace(done.error()) || round == kMaxRounds) return done.error();
    std::this_thread::sleep_for(
        std::chrono::milliseconds(random() % kMaxPauseMilliseconds));
  }
}

Result<void> FileChunks::Update(std::span<const ChunkUpdate> updates, size_t jobs) {
  return ParallelFor(updates.size(), jobs,
                     [&](size_t i) { return UpdateOne(updates[i]); });
}

}  // namespace dolium::volume
