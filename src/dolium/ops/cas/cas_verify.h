// The check of a cas store, as every other verify reports.
#pragma once

#include "dolium/base/result.h"
#include "dolium/container/container.h"
#include "dolium/domain/cas/store.h"
#include "dolium/ops/verify.h"

namespace dolium {

// Objects are xorbs, shards and versions, entries the files of all versions. Default and
// deep do the same: all that can be made again is. With `quarantine`, damaged xorbs and
// shards are moved away, so that the next put stores again what they had. kUnsupported
// for a sample.
Result<VerifyReport> VerifyCas(const cas::CasStore& store, const VerifyOptions& options,
                               bool quarantine, const FindingVisitor& visitor);

}  // namespace dolium
