// What the verbs of `dolium cas` share.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "cli/context.h"
#include "dolium/base/result.h"
#include "dolium/domain/cas/forget.h"
#include "dolium/domain/cas/store.h"

namespace dolium::cli {

// --store, or DOLIUM_STORE; kInvalidArgument if there is neither.
Result<std::string> StorePath(const Context& context);
Result<std::shared_ptr<cas::CasStore>> OpenStore(const Context& context);

// The version that the text of a user names.
Result<cas::Version> FindVersionOf(const cas::CasStore& store, const std::string& text);

// What the text names: a version, or `<version>/<path>`, what has a path in one.
struct VersionPart {
  cas::Version version;
  std::string path;
};
Result<VersionPart> FindPartOf(const cas::CasStore& store, const std::string& text);

// "90", "90s", "90m", "24h", "7d".
Result<std::chrono::seconds> ParseDuration(std::string_view text);

// "2026-11-15 12:34:56", in universal time.
std::string FormatTime(int64_t nanoseconds);

// The members of a version in JSON.
Json VersionMembers(const cas::Version& version);

// "1 file", "1,234 files".
// What --tag and --host say.
Result<cas::VersionFilter> FilterOf(const Context& context);

std::string CountOf(uint64_t number, std::string_view one, std::string_view many);

}  // namespace dolium::cli
