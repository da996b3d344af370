// Writing sets: a Target knows how keys spread over output objects, so that each object
// (a part) can be made on its own, by any thread, process or machine, and made again
// without harm. A Writer takes entries one by one in any order.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/entry.h"

namespace dolium {

struct WriteSummary {
  uint64_t entries = 0;
  uint64_t value_bytes = 0;   // as given
  uint64_t stored_bytes = 0;  // of all objects written
  uint64_t objects = 0;

  WriteSummary& operator+=(const WriteSummary& other) {
    entries += other.entries;
    value_bytes += other.value_bytes;
    stored_bytes += other.stored_bytes;
    objects += other.objects;
    return *this;
  }
};

struct WriterOptions {
  uint64_t memory = uint64_t{256} << 20;  // bytes held before they spill
  size_t jobs = 0;                        // threads; 0: one per core
  std::string spill_folder = {};          // empty: beside the target, or the system's
  std::stop_token stop = {};
};

struct NewEntry {
  std::string_view key;
  BytesView value;
  BytesView preceding;   // written right before the value, never encoded
  bool encoded = false;  // `value` is already encoded by the target's codecs
};

// Entries in any order, in bounded memory; the result does not depend on the order or on
// the number of threads. Copies what Add is given. One thread at a time. Destroyed
// without Finish, it leaves the target unfinished and removes its temporaries.
class Writer {
 public:
  virtual ~Writer() = default;

  // A key given twice is kInvalidArgument, here or in Finish.
  virtual Result<void> Add(const NewEntry& entry) = 0;

  virtual Result<WriteSummary> Finish() = 0;
};

// Entries one after another, as often as they are wanted, so that nobody has to hold them
// all. One thread at a time.
class EntrySource {
 public:
  virtual ~EntrySource() = default;

  // The next ones, a thousand or so; none after the last. Valid until the next call.
  virtual Result<std::span<const Entry>> Next() = 0;

  // Next() starts over.
  virtual Result<void> Rewind() = 0;
};

// Entries that a part is made from, and the store that holds their bytes.
struct PartSource {
  const Store* store = nullptr;
  EntrySource* entries = nullptr;  // any order; all belong to the part; not yet begun
  // Called for an entry that cannot be read: returns true to leave it out, false to fail.
  // May be empty: fail.
  std::function<bool(const Entry&, const Error&)> skip_damaged;
  // Called now and then with how many more entries are done, and their bytes in the
  // source. Any thread. May be empty; a target may report less, or nothing.
  std::function<void(uint64_t entries, uint64_t bytes)> progress;
};

class Target {
 public:
  virtual ~Target() = default;

  virtual const Location& location() const = 0;
  virtual std::string_view format_name() const = 0;

  // Everything that makes this target, as text (JSON): Format::reopen gives an equal
  // Target from it, in another process.
  virtual std::string Describe() const = 0;

  // How values are stored; entries whose codecs equal these are copied, not decoded.
  virtual const CodecChain& codecs() const = 0;

  // The part that holds `key`. kInvalidArgument for a key that the format cannot hold.
  virtual Result<uint64_t> PartOf(std::string_view key) const = 0;

  // The object that part `part` becomes.
  virtual std::string PartObject(uint64_t part) const = 0;

  // Makes one part, whole and atomically; replaces what is there.
  virtual Result<WriteSummary> WritePart(uint64_t part, const PartSource& source,
                                         const WriterOptions& options) = 0;

  // A writer for the whole set.
  virtual Result<std::unique_ptr<Writer>> NewWriter(const WriterOptions& options) = 0;

  // Writes what describes the set (`info`), after its last part.
  virtual Result<void> Finish() = 0;
};

}  // namespace dolium
