// Planning a conversion: what convert.cc runs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "dolium/base/result.h"
#include "dolium/ops/convert.h"
#include "dolium/ops/job/plan_folder.h"
#include "dolium/ops/job/work_list.h"

namespace dolium {

struct PlannedPart {
  uint64_t part = 0;
  uint64_t entries = 0;
  uint64_t bytes = 0;
  bool done = false;
};

// A plan that is there, with what is left to do.
struct OpenPlan {
  PlanFolder folder;
  std::string target;  // location of folder.set()
  PlanFolder::State state;
  std::vector<WorkList> lists;     // none once all parts are done
  std::vector<PlannedPart> parts;  // the same; in order
};

// Finds the plan of this request, or makes one; as PlanConvert().
Result<OpenPlan> PreparePlan(Formats formats, const ConvertRequest& request,
                             const RunOptions& options);

Result<std::vector<WorkList>> OpenWorkLists(const PlanFolder& folder,
                                            const PlanRecord& record);

// The parts of all lists together, none of them done.
Result<std::vector<PlannedPart>> PartsOf(std::span<const WorkList> lists);

// Puts a finished set in the place of the one that its record says it replaces, unless
// that has been done, and removes the old one and the plan's bookkeeping. kExists if the
// old set has got something by now that would be lost with it. Precondition: the folder's
// lock is held, as far as the store has locks.
Result<void> PutInPlace(Formats formats, const PlanFolder& folder,
                        const PlanRecord& record);

}  // namespace dolium
