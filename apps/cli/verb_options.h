// How rows of the tables of verbs are written, and the options that many verbs share.
#pragma once

#include <string_view>
#include <vector>

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

// The same option under its older names too.
constexpr Option Aliased(Option option, std::string_view aliases) {
  option.aliases = aliases;
  return option;
}
// The same option, for some targets of convert alone.
constexpr Option OnlyFor(Option option, std::string_view targets) {
  option.targets = targets;
  return option;
}

inline std::vector<Option> JoinOptions(const std::vector<std::vector<Option>>& lists) {
  std::vector<Option> all;
  for (const std::vector<Option>& list : lists) {
    all.insert(all.end(), list.begin(), list.end());
  }
  return all;
}

inline constexpr Option kJobs = Aliased(
    Value(ValueKind::kNumber, "j", "jobs", "<n>", "threads [one per core]"), "threads");
inline constexpr Option kJson =
    Flag("", "json", "one object per line on stdout; errors, as objects, on stderr");
inline constexpr Option kProgress =
    Choice("progress", "<when>", "auto, always or never [auto: only on a terminal]",
           "auto always never");
inline constexpr Option kAllFindings = Flag(
    "", "all-findings",
    "show every finding [100 of a kind, 10 of a kind in one object; with --json all]");
inline constexpr Option kNoSummary = Flag("", "no-summary", "leave out the closing line");
inline constexpr Option kCoordinates = Choice(
    "coordinates", "<name>",
    "what keys of DVID blocks count: auto, block or voxel [auto]", "auto block voxel");
inline constexpr Option kSkipDamaged =
    Aliased(Flag("", "skip-damaged",
                 "go on past damage: take what is whole, of shards of DVID too"),
            "salvage");
// A DVID export is a volume to those verbs that only read it.
inline constexpr Option kSupervoxels =
    Flag("", "supervoxels", "of a DVID export: supervoxels, not labels");
inline constexpr Option kSpec = Value(ValueKind::kFile, "", "spec", "<file>",
                                      "what a DVID export was made with [its spec.json]");
inline constexpr Option kVoxelSize =
    Value(ValueKind::kText, "", "resolution", "<x,y,z>",
          "of an export without a spec: nanometres of a voxel [1,1,1]");
// How thoroughly the verbs `verify` check.
inline constexpr Option kQuick =
    Flag("", "quick", "check the index and the ranges; read no payload");
// What is made again and compared besides differs.
constexpr Option Deep(std::string_view what) { return Flag("", "deep", what); }
inline constexpr Option kMemory = Value(ValueKind::kSize, "", "memory", "<size>",
                                        "most to hold before spilling to disk [256MiB]");
inline constexpr Option kPlan =
    Flag("", "plan", "print the tasks as JSON lines and stop");

}  // namespace dolium::cli
