// Store: named objects made of bytes, wherever they are.
//
// A store offers what every place that holds objects can do: stat, list, read ranges, and
// write an object front to back so that it appears whole or not at all. Nothing is ever
// patched in place. Calls block; they take many ranges at once, and may come from many
// threads. Object names are `/`-separated paths; what they are relative to is the store's
// own matter (see location.h), and Describe() gives the name that a person would type.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/bytes.h"
#include "dolium/base/result.h"

namespace dolium {

// One state of an object's bytes: file identity and times, an ETag, a counter. Two reads
// with equal generations saw the same bytes. Opaque; empty where the store does not know.
struct Generation {
  std::string token;

  friend bool operator==(const Generation&, const Generation&) = default;
};

struct ObjectInfo {
  uint64_t size = 0;
  Generation generation;
  // When it was committed, in nanoseconds since 1970 by the clock of the store. Stat()
  // gives it where the store knows; a cleaner leaves alone what has no age.
  std::optional<int64_t> modified = {};
};

// One range to read, and the place for its bytes. The caller owns the place.
struct ReadSlice {
  uint64_t offset = 0;
  MutableBytes into;

  ByteRange range() const { return {offset, into.size()}; }
};

struct ReadOptions {
  // Read only this generation: if the object has another by now, nothing is delivered and
  // the error is kConflict.
  std::optional<Generation> if_generation;
};

struct WholeObject {
  Bytes bytes;
  Generation generation;
};

// The end of an object.
struct Suffix {
  ObjectInfo info;
  Bytes bytes;
};

struct ReadRangesResult {
  ObjectInfo info;  // size may be 0 where the store did not learn it
  std::vector<Bytes> parts;
};

// What must be true of the target for a commit to take place.
struct Precondition {
  enum class Kind : uint8_t { kNone, kAbsent, kGeneration };
  Kind kind = Kind::kNone;
  Generation generation;

  static Precondition None() { return {}; }
  static Precondition Absent() { return {Kind::kAbsent, {}}; }
  static Precondition At(Generation generation) {
    return {Kind::kGeneration, std::move(generation)};
  }
};

class Store;

// An object being written, front to back. One thread at a time. Destroyed without Commit,
// it leaves nothing behind; killed, at most a temporary that a later writer recognises.
class ObjectWriter {
 public:
  virtual ~ObjectWriter() = default;

  virtual Result<void> Append(BytesView bytes) = 0;

  // Appends bytes of another object, by kernel copy where both sides allow it. kConflict
  // if the source is no longer at `generation`.
  virtual Result<void> AppendFrom(const Store& source, std::string_view object,
                                  ByteRange range, const Generation& generation);

  // Bytes appended so far.
  virtual uint64_t size() const = 0;

  // Makes the object appear, durably, if the precondition holds: else kExists (for
  // Absent) or kConflict, and nothing changes. Nothing may be called after it.
  virtual Result<Generation> Commit(const Precondition& precondition) = 0;
};

class Store {
 public:
  virtual ~Store() = default;

  // The object's full name for messages: `seg/s0/1f.shard`, `https://host/seg/info`.
  virtual std::string Describe(std::string_view object) const = 0;

  // nullopt if there is no such object; kCorrupt if something has its name that can be no
  // object (a pipe, a device, a link that leads nowhere).
  virtual Result<std::optional<ObjectInfo>> Stat(std::string_view object) const = 0;

  // Visits what is directly in folder `folder` by base name, in unspecified order, until
  // `visit` returns false; temporaries of writers are left out, and nothing else: what
  // can be no object is visited as if it were one, and Stat() and reads say what it is.
  // kUnsupported where the store cannot list (plain HTTP). A folder that does not exist
  // is kNotFound.
  using ListVisitor = std::function<bool(std::string_view name, bool is_folder)>;
  virtual Result<void> List(std::string_view folder, const ListVisitor& visit) const = 0;

  // Fills every slice, all from one generation of the object, merging neighbouring ranges
  // and reading in parallel as suits the store. kNotFound if there is no such object;
  // kCorrupt if a range ends past it (`bytes [a, b) end past the object (n bytes)`).
  virtual Result<ObjectInfo> ReadInto(std::string_view object,
                                      std::span<const ReadSlice> slices,
                                      const ReadOptions& options) const = 0;

  // The whole object, at most `limit` bytes (kCorrupt beyond). Over HTTP this undoes a
  // Content-Encoding, within the same limit; ranged reads never see one.
  virtual Result<WholeObject> ReadWhole(std::string_view object,
                                        uint64_t limit) const = 0;

  // The last `length` bytes, or all there are: one request where the store can do that.
  virtual Result<Suffix> ReadSuffix(std::string_view object, uint64_t length) const;

  // The whole object front to back, bounded in memory: take(offset, bytes) is called with
  // one segment after another, all of one generation. Where an attempt has failed, it
  // begins again, at offset 0 and perhaps with another generation; `begin` is called
  // before the first segment of each attempt, with a size of 0 where that is not known.
  // Over HTTP it is one plain GET, which every server answers. Returns what was read.
  struct Download {
    std::function<Result<void>(const ObjectInfo& info)> begin;
    std::function<Result<void>(uint64_t offset, BytesView bytes)> take;
  };
  virtual Result<ObjectInfo> ReadThrough(std::string_view object,
                                         const Download& download) const;

  // kUnsupported for read-only stores.
  virtual Result<std::unique_ptr<ObjectWriter>> Begin(std::string_view object) = 0;

  // Removes one object, if the precondition holds. Not there: kNotFound.
  virtual Result<void> Remove(std::string_view object,
                              const Precondition& precondition) = 0;

  // Keeps other processes that ask for the same lock from rewriting `object` meanwhile,
  // to spare them lost work; safety comes from preconditions alone. May return nullptr.
  // Waits for the lock, or (not `wait`) gives kUnavailable if somebody has it.
  virtual Result<std::shared_ptr<void>> LockForRewrite(std::string_view object,
                                                       bool wait = true);

  // A file descriptor for kernel copies, kept open by the owner; nullopt if not a local
  // file.
  struct LocalFile {
    std::shared_ptr<const void> owner;
    int fd = -1;
    ObjectInfo info;
  };
  virtual Result<std::optional<LocalFile>> OpenLocal(std::string_view object) const;

  // The absolute path of an object or folder, there or not, by which every process of
  // this machine knows it; nullopt if the store does not keep its objects as local files.
  virtual Result<std::optional<std::string>> LocalPath(std::string_view object) const;

  // The object as read-only memory that the system fills as it is touched; nullopt if the
  // store does not keep its objects as local files. Touching it after somebody cut the
  // file short in place ends the process with SIGBUS (only for files that we own), or
  // gives zeros, which HasLostBytes() of guarded_map.h then says.
  enum class MapGuard : uint8_t { kNone, kZeros };
  virtual Result<std::optional<Bytes>> Map(std::string_view object,
                                           MapGuard guard = MapGuard::kNone) const;

  // Deletes the temporaries in `folder` whose writers died; those of live writers stay.
  // Returns how many it deleted. A folder that does not exist has none.
  virtual Result<size_t> RemoveStaleTemporaries(std::string_view folder);

  // Convenience over ReadInto: allocates the places. Sizes must have been checked.
  Result<ReadRangesResult> ReadRanges(std::string_view object,
                                      std::span<const ByteRange> ranges,
                                      const ReadOptions& options = {}) const;
  Result<Bytes> ReadRange(std::string_view object, ByteRange range,
                          const ReadOptions& options = {}) const;

  // Begin, Append, Commit in one.
  Result<Generation> Put(std::string_view object, BytesView bytes,
                         const Precondition& precondition);
};

// `folder` and `name` with one slash between; an empty folder gives the bare name.
std::string JoinPath(std::string_view folder, std::string_view name);
// The path without its last component ("a/b/c" -> "a/b", "c" -> "", "/c" -> "/").
std::string ParentPath(std::string_view path);
// The last component, trailing slashes dropped ("a/b/" -> "b").
std::string_view BaseName(std::string_view path);
// Resolves "." and ".." by text, as URLs do; leading ".." of relative paths are kept.
std::string NormalizePath(std::string_view path);

}  // namespace dolium
