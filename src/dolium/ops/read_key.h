// Reading entries by their keys while others replace the objects that hold them.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/container/entry.h"
#include "dolium/container/read_entry.h"

namespace dolium {

// Whether the object was replaced or removed since its index was read: looking again may
// help.
bool IsReplaced(const Error& error);

// A busy writer may win many times in a row. What is not there at all, like a xorb that
// is lost, is not asked for as often.
inline constexpr int kReplacedAttempts = 64;
inline constexpr int kAbsentAttempts = 4;

// Does `read`, which gives a Result, and does it again, up to `attempts` times in all,
// while it says that an object was replaced or removed; `forget` drops in between what
// led there. This is the one place where that is decided.
template <typename Read, typename Forget>
auto WhileReplaced(int attempts, const Read& read, const Forget& forget) {
  int absent = 0;
  for (int attempt = 1;; ++attempt) {
    auto done = read();
    if (done || !IsReplaced(done.error()) || attempt >= attempts) return done;
    if (done.error().code == ErrorCode::kNotFound && ++absent == kAbsentAttempts) {
      return done;
    }
    forget();
  }
}

// Drops what the container keeps of its index for a key.
void ForgetKey(const Container& container, std::string_view key);

// Finds the entry and hands it to `read`, and does so again, a number of times, if its
// object is replaced in between. False if there is no such key.
Result<bool> WithEntry(const Container& container, std::string_view key,
                       const std::function<Result<void>(const Entry& entry)>& read);

// The entry in the objects as they are now, whatever has been kept of their index.
Result<std::optional<Entry>> FindCurrent(const Container& container,
                                         std::string_view key);

// What an entry holds, decoded or (raw) as stored; nullopt if it is not there.
Result<std::optional<EntryData>> ReadKey(const Container& container, std::string_view key,
                                         bool raw, const ReadLimits& limits = {});

// The decoded values of many, read together, on threads where that is worth it; nullopt
// for a key that is not there.
Result<std::vector<std::optional<Bytes>>> ReadKeys(const Container& container,
                                                   std::span<const std::string> keys);
// The same for entries that were found before; nullopt for one that is gone by now.
Result<std::vector<std::optional<Bytes>>> ReadValues(const Container& container,
                                                     std::vector<Entry> entries);

}  // namespace dolium
