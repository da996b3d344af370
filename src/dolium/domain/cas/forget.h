// Which versions of a name are kept when old ones are removed by a rule.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/domain/cas/store.h"

namespace dolium::cas {

// How many to keep of the latest, and of the latest of each day, week, month and year
// that has any. Days are those of the local time zone; weeks begin on Mondays.
struct KeepPolicy {
  uint64_t last = 0;
  uint64_t daily = 0;
  uint64_t weekly = 0;
  uint64_t monthly = 0;
  uint64_t yearly = 0;

  bool keeps_any() const { return last + daily + weekly + monthly + yearly > 0; }
};

// Versions that a command is about.
struct VersionFilter {
  // Those with all tags of any of these lists; no list: all.
  std::vector<std::vector<std::string>> tags = {};
  std::string host = {};  // empty: all

  bool Match(const Version& version) const;
};

// The lists of tags that texts of tags with commas between them are. kInvalidArgument if
// one is none.
Result<std::vector<std::vector<std::string>>> ParseTagLists(
    const std::vector<std::string>& texts);

struct KeepChoice {
  Version version;
  std::vector<std::string> reasons;  // "last", "daily", ...; none: it goes
  bool is_kept() const { return !reasons.empty(); }
};
// What becomes of versions of one name, in the order from the latest to the oldest. A
// rule that has some left keeps the oldest version too, so that what is kept goes back as
// far as it can: the rules are those of restic.
std::vector<KeepChoice> ChooseVersions(std::vector<Version> versions,
                                       const KeepPolicy& policy);

struct ForgetOptions {
  KeepPolicy policy = {};
  VersionFilter filter = {};  // what it does not match stays, and does not count
  std::vector<std::string> names = {};  // none: all
  bool dry_run = false;
  std::function<void(const KeepChoice&)> visit = {};  // for each version; may be empty
};
struct ForgetReport {
  uint64_t kept = 0;
  uint64_t removed = 0;
};
// Removes versions; gc frees their space. kInvalidArgument for a policy that keeps none.
// A version that cannot be read is an error, and then none of its name is removed.
Result<ForgetReport> ForgetVersions(const CasStore& store, const ForgetOptions& options);

}  // namespace dolium::cas
