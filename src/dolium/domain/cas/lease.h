// Leases: how gc knows what living processes need.
//
// Whoever puts or reads has a lease: a file that it keeps locked and in which it notes,
// before it relies on something, what that is. The lock file `lock` is held shared for
// the moment of noting (and of making new objects appear), and exclusively by gc while it
// removes things. So what was noted is seen by gc, and what gc removed is no longer there
// to be noted. The lease of a dead process is not locked.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <stop_token>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/bytes/unique_fd.h"
#include "dolium/domain/cas/layout.h"
#include "dolium/formats/xet/hash.h"

namespace dolium::cas {

// Holds the lock until destroyed. One owner. Waits until it can be had; kCancelled if a
// stop is requested before.
class StoreLock {
 public:
  static Result<StoreLock> Shared(const Layout& layout, const std::stop_token& stop = {});
  static Result<StoreLock> Exclusive(const Layout& layout,
                                     const std::stop_token& stop = {});

 private:
  explicit StoreLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

enum class Pin : char {
  kXorb = 'x',
  kShard = 's',
  kFile = 'f',  // with the xorbs of its terms
  kTree = 't',  // a manifest, with all files it lists
};

// May be used from many threads. Ends with its destruction, or with the process. Where it
// cannot be written, because the disk is full or only to be read, there is none: who
// reads goes on without, and who makes a version must not.
class Lease {
 public:
  // `stop` ends waits for the lock, also those of who works under this lease.
  static Result<std::unique_ptr<Lease>> Take(const Layout& layout,
                                             std::stop_token stop = {});
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const std::string& id() const { return id_; }
  const std::stop_token& stop() const { return stop_; }

  // Notes that this must stay, once for each. Precondition: the caller has the shared
  // lock, and what it notes is there.
  Result<void> Note(Pin kind, const xet::Hash& hash);
  // Fails if something could not be noted.
  Result<void> CheckNoted() const;

 private:
  Lease(std::string path, std::string id, UniqueFd fd, std::stop_token stop,
        Result<void> noted)
      : path_(std::move(path)),
        id_(std::move(id)),
        fd_(std::move(fd)),
        stop_(std::move(stop)),
        all_noted_(std::move(noted)) {}

  const std::string path_;
  const std::string id_;
  const UniqueFd fd_;
  const std::stop_token stop_;
  mutable std::mutex mutex_;
  Result<void> all_noted_;
  std::set<std::pair<Pin, xet::Hash>> noted_;
};

// What living processes have noted.
struct LivePins {
  std::set<std::string> leases;
  std::map<Pin, std::set<xet::Hash>> noted;

  bool Has(Pin kind, const xet::Hash& hash) const {
    const auto found = noted.find(kind);
    return found != noted.end() && found->second.contains(hash);
  }
};

// Reads all leases; with `clean`, removes those of dead processes and their temporaries.
// Precondition: the caller has the exclusive lock.
Result<LivePins> ReadPins(const Layout& layout, bool clean);

}  // namespace dolium::cas
