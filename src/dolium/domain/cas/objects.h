// Objects: what a store cannot lose - marker, xorbs, shards, versions - in any Store: a
// local folder, a bucket. Whatever else a store has on disk is local and can be rebuilt.
//
// Objects are named as the Store names them. Those of a local folder are read through its
// FileStore, mapped and by descriptor; they appear by a rename of the temporary that they
// were written to. Elsewhere the temporary is a spool file, because a xorb gets its name
// when it is complete, and is copied. All methods may be called from many threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"
#include "dolium/bytes/store.h"
#include "dolium/domain/cas/files.h"

namespace dolium::cas {

// An object open for reading: what it was when it was opened, though another may have its
// name by now; where that cannot be kept, reads are kConflict then.
class OpenedObject {
 public:
  uint64_t size() const { return info_.size; }

  // Fills `into` from `offset` on; kCorrupt if the object ends before. Errors do not name
  // the object.
  Result<void> Read(uint64_t offset, MutableBytes into) const;

 private:
  friend class Objects;
  OpenedObject(std::shared_ptr<const Store> store, std::string object, ObjectInfo info)
      : store_(std::move(store)), object_(std::move(object)), info_(std::move(info)) {}

  std::shared_ptr<const Store> store_;
  std::string object_;
  ObjectInfo info_;
  std::optional<Store::LocalFile> local_;
};

// An object that is complete and durable, and not to be seen yet. One thread at a time.
// Destroyed before Appear(), it leaves nothing.
class StagedObject {
 public:
  // Gives it its name; what has it is replaced. Done under the lock of the store, so it
  // is the short part of writing an object.
  Result<void> Appear();
  // Makes the name durable.
  Result<void> Settle();

 private:
  friend class Objects;
  StagedObject(std::string object, std::optional<NewFile> file,
               std::unique_ptr<ObjectWriter> writer)
      : object_(std::move(object)), file_(std::move(file)), writer_(std::move(writer)) {}

  std::string object_;
  std::optional<NewFile> file_;           // of a local folder
  std::unique_ptr<ObjectWriter> writer_;  // elsewhere
};

class Objects {
 public:
  // `is_local`: the store is a FileStore, and its names are paths as the process sees
  // them.
  Objects(std::shared_ptr<Store> store, bool is_local)
      : store_(std::move(store)), is_local_(is_local) {}

  bool is_local() const { return is_local_; }

  // The full name for messages.
  std::string Describe(std::string_view object) const { return store_->Describe(object); }

  // nullopt if it is not there.
  Result<std::optional<ObjectInfo>> Stat(std::string_view object) const {
    return store_->Stat(object);
  }
  Result<bool> IsThere(const std::string& object) const;

  // What is directly in a folder, sorted; a folder that is not there has nothing.
  Result<std::vector<std::string>> List(std::string_view folder) const;

  // All of it; kNotFound if it is not there, kCorrupt if it is larger than `limit`.
  Result<Bytes> ReadSmall(std::string_view object, uint64_t limit) const;
  // All of it, as a memory map where there can be one. Objects are never changed in
  // place.
  Result<Bytes> Load(std::string_view object) const;
  // kNotFound if it is not there.
  Result<OpenedObject> Open(std::string_view object) const;

  // Takes a file that is complete: syncs it, or copies it to where objects are.
  Result<StagedObject> Stage(NewFile file, std::string object) const;
  // Stage(), Appear() and Settle().
  Result<void> Publish(NewFile file, std::string object) const;
  // Makes an empty object unless it is there; whether it did. One that is local is not
  // synced: SettleFolder().
  Result<bool> Claim(std::string_view object) const;

  // Not there is fine; whether it was. As for Claim(), local ones are not synced.
  Result<bool> Remove(std::string_view object) const;

  // Moves an object, with the time of now, if it is still what `was` says; whether it
  // did.
  Result<bool> Move(const std::string& object, const ObjectInfo& was,
                    const std::string& target) const;

  // What folders need that are folders of a file system; nothing elsewhere.
  // Makes one whose parent is there, durably.
  Result<void> MakeFolder(const std::string& folder) const;
  Result<void> SettleFolder(const std::string& folder) const;
  // Removes one that is empty.
  void RemoveFolder(const std::string& folder) const;
  // Keeps other processes from changing what is in a folder; nullptr where nothing can.
  Result<std::shared_ptr<void>> LockFolder(const std::string& folder) const;

 private:
  std::shared_ptr<Store> store_;
  bool is_local_;
};

}  // namespace dolium::cas
