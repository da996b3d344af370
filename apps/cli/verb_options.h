// How rows of the tables of verbs are written, and the options that many verbs share.
#pragma once

#include <string_view>

#include "cli/verbs.h"

namespace dolium::cli {

constexpr Option Flag(std::string_view letter, std::string_view name,
                      std::string_view help) {
  return {letter, name, ValueKind::kFlag, "", help, ""};
}
constexpr Option Value(ValueKind kind, std::string_view letter, std::string_view name,
                       std::string_view value, std::string_view help) {
  return {letter, name, kind, value, help, ""};
}
constexpr Option Choice(std::string_view name, std::string_view value,
                        std::string_view help, std::string_view choices) {
  return {"", name, ValueKind::kChoice, value, help, choices};
}

inline constexpr Option kJobs =
    Value(ValueKind::kNumber, "j", "jobs", "<n>", "threads [one per core]");
inline constexpr Option kJson =
    Flag("", "json", "one object per line on stdout; errors, as objects, on stderr");
inline constexpr Option kProgress =
    Choice("progress", "<when>", "auto, always or never [auto: only on a terminal]",
           "auto always never");
inline constexpr Option kNoSummary = Flag("", "no-summary", "leave out the closing line");
inline constexpr Option kCoordinates = Choice(
    "coordinates", "<name>",
    "what keys of DVID blocks count: auto, block or voxel [auto]", "auto block voxel");
inline constexpr Option kSalvage =
    Flag("", "salvage", "take what is whole out of shards that DVID has damaged");
inline constexpr Option kPlan =
    Flag("", "plan", "print the tasks as JSON lines and stop");

}  // namespace dolium::cli
