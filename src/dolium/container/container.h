// Container: how every shard format looks from above.
//
// A container is an index. It maps keys to the byte ranges that hold them and to the
// codecs that undo their encoding; ReadEntry() (read_entry.h) does the rest, in the same
// way for every format. Const methods may be called from many threads.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/location.h"
#include "dolium/container/entry.h"
#include "dolium/container/progress.h"
#include "dolium/container/properties.h"

namespace dolium {

// What a scan meets. Either function may return false to end the scan.
struct ScanVisitor {
  std::function<bool(const Entry&)> entry;
  // A part of the index that cannot be read. Without this function, the scan ends with
  // the error; with it, the scan carries on behind the damage.
  std::function<bool(const Finding&)> damage;
};

using FindingVisitor = std::function<void(const Finding&)>;

// A change of one entry. `value` is not encoded yet; nullopt removes the entry.
struct Change {
  std::string key;
  std::optional<Bytes> value;
  Bytes preceding;
  bool only_if_absent = false;  // kExists if the key is there; for values only
};

struct ChangeOptions {
  // Called while objects are rewritten: bytes so far, of about how many in all.
  ProgressFunction progress = {};
  std::stop_token stop = {};
};

class Container {
 public:
  virtual ~Container() = default;

  virtual const Location& location() const = 0;
  // The folder of the whole set, where its marker would be; the location, unless that is
  // a part of a set.
  virtual const Location& folder() const { return location(); }
  const Store& store() const { return *location().store; }

  virtual std::string_view format_name() const = 0;
  virtual Properties properties() const = 0;

  // Finds one entry. An absent key is not an error: the answer is nullopt. A key that the
  // format cannot hold (not a number, say) is kInvalidArgument.
  virtual Result<std::optional<Entry>> Find(std::string_view key) const = 0;

  // The objects that hold the index, in order of name. Each can be scanned on its own, so
  // bulk work spreads over them.
  virtual Result<std::vector<std::string>> Objects() const = 0;

  // Visits the entries of one object, in index order.
  virtual Result<void> ScanObject(std::string_view object,
                                  const ScanVisitor& visitor) const = 0;

  // Checks what the index of one object says: bounds, order, overlaps, whether each entry
  // is where the format wants it. Reads no payload. The error is for what prevents
  // checking.
  virtual Result<void> CheckObject(std::string_view object,
                                   const FindingVisitor& visitor) const = 0;

  // What the format has to say about the value of an entry that decoded well; the error
  // is a finding of kind "value". By default nothing.
  virtual Result<void> CheckValue(const Entry& entry, const Bytes& value) const;

  // Counts of what only this format has, as names and values; may read every entry's
  // place. By default none.
  virtual Result<Properties> Statistics(std::stop_token stop) const;

  // Writes the index of one object from what it holds, for formats that keep it in an
  // object of its own; atomically. False if there is one already, unless `replace`.
  // kUnsupported where an index is no object of its own.
  virtual Result<bool> WriteIndex(std::string_view object, bool replace);

  // Makes all changes, atomically for each object they touch. Removing an absent key is
  // kNotFound, before anything is changed. kUnsupported where the format cannot change.
  // kCancelled if it was stopped: what is not changed by then stays as it is.
  virtual Result<void> Apply(std::span<const Change> changes,
                             const ChangeOptions& options = {});
};

// Scans every object in turn.
Result<void> Scan(const Container& container, const ScanVisitor& visitor);

}  // namespace dolium
