// The row of convert. What belongs to a target comes from the rows of the targets.
#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/verb_options.h"
#include "cli/verbs.h"
#include "dolium/formats/builtin.h"
#include "dolium/ops/source/kinds.h"
#include "dolium/ops/write_voxels.h"

namespace dolium::cli {
namespace {

std::string Join(const std::vector<std::string_view>& names) {
  return fmt::format("{}", fmt::join(names, " "));
}

// The targets that take a spec, and are made of entries.
std::string TargetsOfSpecs() {
  std::vector<std::string_view> names = EntryTargets();
  std::erase_if(names, [](std::string_view name) {
    const auto format = FindFormat(BuiltinFormats(), name);
    return !format || !(*format)->takes_spec;
  });
  return Join(names);
}

std::string HelpOfTo() {
  std::vector<std::string> names;
  for (const std::string_view name : EntryTargets()) names.emplace_back(name);
  for (const VoxelTarget& target : VoxelTargets()) {
    names.push_back(fmt::format("{} ({})", target.format, target.made));
  }
  const std::string last = std::move(names.back());
  names.pop_back();
  return fmt::format("format of the target: {} or {} [the source's]",
                     fmt::join(names, ", "), last);
}

std::string HelpOfVoxelTargets() {
  std::string text;
  for (const VoxelTarget& target : VoxelTargets()) {
    text += fmt::format("\nWith --to {}, {}", target.format, target.about);
  }
  return text;
}

Option OptionOf(const Parameter& parameter, std::string_view targets) {
  const ValueKind kind = [&] {
    if (parameter.value.empty()) return ValueKind::kFlag;
    switch (parameter.kind) {
      case Parameter::Kind::kNumber:
        return ValueKind::kNumber;
      case Parameter::Kind::kSize:
        return ValueKind::kSize;
      case Parameter::Kind::kChoice:
        return parameter.choices.empty() ? ValueKind::kText : ValueKind::kChoice;
    }
    return ValueKind::kText;
  }();
  return {.letter = "",
          .name = parameter.name,
          .kind = kind,
          .value = parameter.value,
          .help = parameter.help,
          .choices = parameter.choices,
          .targets = targets};
}

std::vector<Option> ConvertOptions() {
  // Rows show texts that are there as long as the program.
  static const std::string help_of_to = HelpOfTo();
  static const std::string to_entries = Join(EntryTargets());
  static const std::string to_spec = TargetsOfSpecs();
  std::vector<Option> options = {
      Value(ValueKind::kFormat, "", "to", "<format>", help_of_to),
      Flag("", "sharded", "of meshes and skeletons in files: shards, each object whole"),
      Flag("", "unsharded", "of sharded meshes and skeletons: files, as `ID.index`"),
      Aliased(Value(ValueKind::kFile, "", "spec", "<file>",
                    "the spec of the source, where no info file has it; of a DVID "
                    "export, what it was made with [its spec.json]"),
              "from-sharding"),
      Aliased(Flag("", "skip-damaged",
                   "leave out what is damaged, and report it; exit status 1"),
              "salvage"),
      Flag("", "force", "replace a finished target"),
      kPlan,
      kAllFindings,
      kJobs,
      kMemory,
      kJson,
      kNoSummary,
      kProgress,
      OnlyFor(Value(ValueKind::kFormat, "f", "format", "<name>",
                    "format of the source [detect]"),
              to_entries),
      OnlyFor(Flag("", "unfinished", "read a source whose writing has not ended"),
              to_entries),
      OnlyFor(Aliased(Value(ValueKind::kFile, "", "to-spec", "<file>",
                            "the spec of the target, instead of parameters"),
                      "sharding"),
              to_spec),
  };
  for (const Format& format : BuiltinFormats()) {
    for (const Parameter& parameter : format.parameters) {
      options.push_back(OptionOf(parameter, format.name));
    }
  }
  for (const VoxelParameter& row : VoxelParameters()) {
    options.push_back(OptionOf(row.parameter, row.targets));
  }
  return options;
}

}  // namespace

Verb ConvertVerb() {
  const std::string details =
      "With --to and --help, only the options are shown that fit this target.\n"
      "The target carries a marker until it is complete. A conversion that was "
      "stopped is resumed by the same command. With --force, a finished target is "
      "replaced: the new set is built beside it and then swapped in. If the source "
      "changes while it is read, the conversion begins again, three times at most.\n"
      "Where neither a spec nor parameters are given, they are chosen by the number "
      "and sizes of the entries.\n"
      "A volume is copied whole, with mesh, skeletons and all else in its folder; "
      "parts in other folders come to lie in the target, and its info names them "
      "there. The versions of a cas store become folders `name@number`. A source "
      "that holds something that its format does not show is refused, unless -f "
      "names the format.\n"
      "Meshes and skeletons go from files to shards with --sharded, and back with "
      "--unsharded: `ID.index` and `ID` become one entry of a shard, the fragments right "
      "before their manifest; compressed files are decompressed. With --to files, a "
      "sharded mesh becomes `ID` and `ID.preceding`, which convert back as they are.\n"
      "With --plan, the work is only planned: each line printed is a task that "
      "`dolium task` does, on any machine that sees both locations. When all are "
      "done, the same convert without --plan completes the target." +
      HelpOfVoxelTargets() +
      "\nWith --skip-damaged, damaged entries, chunks and blocks are left out and "
      "named, and so are the chunks of a shard whose index is damaged. A conversion "
      "that stopped at damage goes on when the same command has this option, too.";
  return {
      .name = "convert",
      .usage = "[options] <source> <target>",
      .outline = "rewrite a set: other shards, other format",
      .description = "Rewrite a set with other shards or in another format.",
      .details = details,
      .options = ConvertOptions(),
      .examples = {"dolium convert --shard-size 1GB seg/s0 seg-large/s0",
                   "dolium convert --to files seg/s0 chunks",
                   "dolium convert --sharded seg/mesh seg/mesh-sharded",
                   "dolium convert seg seg-copy",
                   "dolium convert --to precomputed --spec info.json export seg",
                   "dolium convert --to dvid seg export",
                   "dolium convert --to precomputed --help",
                   "dolium convert --plan seg/s0 new/s0 | split -n l/8 - tasks."},
      .run = RunConvert,
  };
}

}  // namespace dolium::cli
