#include "dolium/domain/cas/objects.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include <fmt/format.h>

#include "dolium/bytes/folder.h"

namespace dolium::cas {
namespace {

// What is copied at once.
constexpr uint64_t kCopyStep = uint64_t{1} << 20;
// Of shards, which are the largest objects that are loaded whole.
constexpr uint64_t kLoadLimit = uint64_t{1} << 32;

// A folder that is locked; the lock ends before its descriptor.
struct LockedFolder {
  UniqueFd folder;
  FolderLock lock;
};

}  // namespace

Result<void> OpenedObject::Read(uint64_t offset, MutableBytes into) const {
  if (local_) return ReadAt(local_->fd, offset, into);
  const ReadSlice slice{offset, into};
  DOLIUM_TRY([[maybe_unused]] const auto info,
             store_->ReadInto(object_, {&slice, 1}, {info_.generation}));
  return {};
}

Result<void> StagedObject::Appear() {
  if (file_) return file_->Rename(object_);
  DOLIUM_TRY([[maybe_unused]] const auto generation,
             writer_->Commit(Precondition::None()));
  return {};
}

Result<void> StagedObject::Settle() {
  if (file_) return SyncFolderAt(ParentPath(object_));
  return {};
}

Result<bool> Objects::IsThere(const std::string& object) const {
  if (is_local_) {
    // A put of a folder asks for each of its files: no generation is made for nothing.
    DOLIUM_TRY(const auto status, StatusOf(object));
    return status && !S_ISDIR(status->st_mode);
  }
  DOLIUM_TRY(const auto info, store_->Stat(object));
  return info.has_value();
}

Result<std::vector<std::string>> Objects::List(std::string_view folder) const {
  std::vector<std::string> names;
  const auto listed = store_->List(folder, [&](std::string_view name, bool) {
    names.emplace_back(name);
    return true;
  });
  if (!listed && listed.error().code != ErrorCode::kNotFound) return listed.error();
  std::sort(names.begin(), names.end());
  return names;
}

Result<Bytes> Objects::ReadSmall(std::string_view object, uint64_t limit) const {
  DOLIUM_TRY(auto whole, store_->ReadWhole(object, limit));
  return std::move(whole.bytes);
}

Result<Bytes> Objects::Load(std::string_view object) const {
  DOLIUM_TRY(auto mapped, store_->Map(object));
  if (mapped) return *std::move(mapped);
  return ReadSmall(object, kLoadLimit);
}

Result<OpenedObject> Objects::Open(std::string_view object) const {
  DOLIUM_TRY(auto local, store_->OpenLocal(object));
  if (local) {
    OpenedObject opened(store_, std::string(object), local->info);
    opened.local_ = std::move(local);
    return opened;
  }
  DOLIUM_TRY(auto info, store_->Stat(object));
  if (!info) return NotFound(fmt::format("{}: is not there", Describe(object)));
  return OpenedObject(store_, std::string(object), *std::move(info));
}

Result<StagedObject> Objects::Stage(NewFile file, std::string object) const {
  if (is_local_) {
    DOLIUM_TRY_VOID(file.Sync());
    return StagedObject(std::move(object), std::move(file), nullptr);
  }
  DOLIUM_TRY(auto writer, store_->Begin(object));
  struct stat status{};
  if (fstat(file.fd(), &status) != 0) {
    return SystemError(errno, "cannot look").Within(file.path());
  }
  const auto size = static_cast<uint64_t>(status.st_size);
  ByteVector part;
  for (uint64_t offset = 0; offset < size; offset += part.size()) {
    part.resize(std::min(kCopyStep, size - offset));
    DOLIUM_TRY_VOID(ReadAt(file.fd(), offset, part).Within(file.path()));
    DOLIUM_TRY_VOID(writer->Append(part));
  }
  return StagedObject(std::move(object), std::nullopt, std::move(writer));
}

Result<void> Objects::Publish(NewFile file, std::string object) const {
  DOLIUM_TRY(StagedObject staged, Stage(std::move(file), std::move(object)));
  DOLIUM_TRY_VOID(staged.Appear());
  return staged.Settle();
}

Result<bool> Objects::Claim(std::string_view object) const {
  if (is_local_) {
    const std::string path(object);
    const UniqueFd file(RetryOnSignal([&] {
      return open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }));
    if (file) return true;
    if (errno == EEXIST) return false;
    return SystemError(errno, "cannot make").Within(path);
  }
  const auto made = store_->Put(object, {}, Precondition::Absent());
  if (made) return true;
  if (made.error().code == ErrorCode::kExists) return false;
  return made.error();
}

Result<bool> Objects::Remove(std::string_view object) const {
  if (is_local_) return RemoveFile(std::string(object));
  const auto removed = store_->Remove(object, Precondition::None());
  if (removed) return true;
  if (removed.error().code == ErrorCode::kNotFound) return false;
  return removed.error();
}

Result<bool> Objects::Move(const std::string& object, const ObjectInfo& was,
                           const std::string& target) const {
  DOLIUM_TRY(const auto now, Stat(object));
  if (!now || now->generation != was.generation) return false;
  if (is_local_) {
    if (utimensat(AT_FDCWD, object.c_str(), nullptr, 0) != 0 ||
        rename(object.c_str(), target.c_str()) != 0) {
      return SystemError(errno, fmt::format("cannot rename to {}", target))
          .Within(object);
    }
    DOLIUM_TRY_VOID(SyncFolderAt(ParentPath(target)));
    DOLIUM_TRY_VOID(SyncFolderAt(ParentPath(object)));
    return true;
  }
  // The copy first: killed in between, there are two of it.
  DOLIUM_TRY(const auto writer, store_->Begin(target));
  auto copied = writer->AppendFrom(*store_, object, {0, was.size}, was.generation);
  if (copied) {
    DOLIUM_TRY([[maybe_unused]] const auto made, writer->Commit(Precondition::None()));
    copied = store_->Remove(object, Precondition::At(was.generation));
  }
  if (copied) return true;
  // Another by now, or collected.
  if (copied.error().code == ErrorCode::kConflict ||
      copied.error().code == ErrorCode::kNotFound) {
    return false;
  }
  return copied.error();
}

Result<void> Objects::MakeFolder(const std::string& folder) const {
  return is_local_ ? MakeFolderAt(folder) : Result<void>();
}

Result<void> Objects::SettleFolder(const std::string& folder) const {
  return is_local_ ? SyncFolderAt(folder) : Result<void>();
}

void Objects::RemoveFolder(const std::string& folder) const {
  if (is_local_) rmdir(folder.c_str());
}

Result<std::shared_ptr<void>> Objects::LockFolder(const std::string& folder) const {
  if (!is_local_) return nullptr;
  DOLIUM_TRY(UniqueFd opened, OpenFolder(AT_FDCWD, folder).Within(folder));
  DOLIUM_TRY(FolderLock lock, FolderLock::Take(opened.get()).Within(folder));
  return std::shared_ptr<void>(
      std::make_shared<LockedFolder>(LockedFolder{std::move(opened), std::move(lock)}));
}

}  // namespace dolium::cas
