// The files of a version.
#pragma once

#include <set>

#include "dolium/base/result.h"
#include "dolium/domain/cas/lease.h"
#include "dolium/domain/cas/store.h"
#include "dolium/domain/cas/version.h"
#include "dolium/formats/xet/hash.h"

namespace dolium::cas {

// The distinct files of a version, noted in the lease; without the manifest of a folder.
Result<std::set<xet::Hash>> FilesOf(const CasStore& store, const Version& version,
                                    Lease& lease);

}  // namespace dolium::cas
