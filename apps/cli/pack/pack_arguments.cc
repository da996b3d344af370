#include "cli/pack/pack_arguments.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/pack/pack_input.h"
#include "cli/terminal/size.h"
#include "dolium/domain/dataset/imports/kinds.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::cli {
namespace {

using dataset::PackSelection;
using shardpack::PackOptions;

constexpr uint64_t kKeysFileLimit = uint64_t{4} << 30;

// What would do nothing is refused.
Result<void> CheckOfUse(const Arguments& arguments) {
  const std::string compression = arguments.Get("compression").value_or("none");
  for (const std::string_view option : {"level", "chunk-size"}) {
    if (arguments.Has(option) && compression == "none") {
      return InvalidArgument(
          fmt::format("--{} is of use with --compression gzip, lz4 or zstd", option));
    }
  }
  if (arguments.Has("dictionary") && compression != "zstd") {
    return InvalidArgument("--dictionary is of use with --compression zstd");
  }
  if (arguments.Has("oversize") && arguments.Number("record-size-limit", 0) == 0) {
    return InvalidArgument("--oversize is of use with --record-size-limit");
  }
  return {};
}

dataset::PackWishes WishesOf(const Arguments& arguments) {
  const auto number = [&](std::string_view option) {
    return arguments.Has(option) ? std::optional(arguments.Number(option, 0))
                                 : std::nullopt;
  };
  dataset::PackWishes wishes;
  wishes.compression = arguments.Get("compression");
  wishes.level = number("level");
  // One option: larger files are chunked, and 0 is for none of them.
  wishes.chunk_threshold = number("chunk-size");
  if (wishes.chunk_threshold != 0) wishes.chunk_size = wishes.chunk_threshold;
  wishes.align = number("align");
  wishes.record_size_limit = number("record-size-limit");
  wishes.oversize = arguments.Get("oversize");
  wishes.dictionary = number("dictionary");
  wishes.key_index = !arguments.Has("no-key-index");
  wishes.keys = arguments.Has("keys");
  const std::string entry_index = arguments.Get("entry-index").value_or("auto");
  if (entry_index != "auto") wishes.entry_index = entry_index == "yes";
  wishes.shard_size = arguments.Number("shard-size", 0);
  wishes.shard_records = arguments.Number("shard-records", 0);
  wishes.reproducible = arguments.Has("reproducible");
  wishes.force = arguments.Has("force");
  return wishes;
}

// The name of a wish, which begins the message, as that of its option.
Error NameOption(Error error) {
  const size_t end = std::min(error.message.find(':'), error.message.size());
  std::replace(error.message.begin(),
               error.message.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
  error.message.insert(0, "--");
  return error;
}

// "5:20", "5:", ":20".
Result<void> RangeOption(const std::string& text, PackSelection& selection) {
  const size_t colon = text.find(':');
  const auto take = [](std::string_view part, uint64_t& into) {
    if (part.empty()) return true;
    const auto number = ParseNumber(part);
    if (number) into = *number;
    return number.has_value();
  };
  const std::string_view view = text;
  if (colon == std::string::npos || !take(view.substr(0, colon), selection.begin) ||
      !take(view.substr(colon + 1), selection.end) || selection.begin > selection.end) {
    return InvalidArgument(fmt::format(
        "--range: \"{}\" is not a range of numbers such as 0:1000 or 500:", text));
  }
  return {};
}

Result<void> SampleOption(const std::string& text, PackSelection& selection) {
  if (!text.ends_with('%')) {
    if (const auto count = ParseNumber(text)) {
      selection.sample_count = *count;
      return {};
    }
  } else {
    double percent = 0;
    const char* const end = text.data() + text.size() - 1;
    const auto [stop, error] = std::from_chars(text.data(), end, percent);
    if (error == std::errc() && stop == end && percent >= 0 && percent <= 100) {
      selection.sample_fraction = percent / 100;
      return {};
    }
  }
  return InvalidArgument(fmt::format(
      "--sample: \"{}\" is neither a number of samples nor a part such as 5%", text));
}

Result<std::vector<std::string>> KeysIn(const Context& context, const std::string& file) {
  DOLIUM_TRY(const Bytes bytes, context.ReadFile(file, kKeysFileLimit));
  std::vector<std::string> keys;
  for (std::string_view text = AsText(bytes); !text.empty();) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (!line.empty()) keys.emplace_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return keys;
}

}  // namespace

nlohmann::ordered_json UserMetadata(const Arguments& arguments) {
  nlohmann::ordered_json user = nlohmann::ordered_json::object();
  for (const std::string& pair : arguments.GetAll("metadata")) {
    const size_t equal = pair.find('=', 1);
    user[pair.substr(0, equal)] = pair.substr(equal + 1);
  }
  return user;
}

Result<PackOptions> PackOptionsOf(const Context& context) {
  const Arguments& arguments = context.arguments;
  DOLIUM_TRY_VOID(CheckOfUse(arguments));
  auto made = dataset::PackOptionsOf(WishesOf(arguments));
  if (!made) return NameOption(std::move(made).error());
  PackOptions options = *std::move(made);
  options.shard.user = UserMetadata(arguments);
  options.jobs = context.jobs();
  options.memory = arguments.Number("memory", options.memory);
  options.stop = context.stop;
  return options;
}

Result<PackSelection> SelectionOf(const Context& context) {
  const Arguments& arguments = context.arguments;
  PackSelection selection;
  selection.prefix = arguments.Get("prefix").value_or("");
  if (const auto file = arguments.Get("keys-from")) {
    DOLIUM_TRY(selection.keys, KeysIn(context, *file));
  }
  selection.ignore_missing = arguments.Has("ignore-missing");
  if (const auto range = arguments.Get("range")) {
    DOLIUM_TRY_VOID(RangeOption(*range, selection));
  }
  selection.every = arguments.Number("every", 1);
  if (selection.every == 0) return InvalidArgument("--every: 0 is not a number above 0");
  if (const auto sample = arguments.Get("sample")) {
    DOLIUM_TRY_VOID(SampleOption(*sample, selection));
  }
  selection.seed = arguments.Number("seed", 0);
  return selection;
}

Result<PackTarget> ShardTarget(const Context& context) {
  if (auto output = context.arguments.Get("output")) {
    return ShardTarget(context, *std::move(output));
  }
  return InvalidArgument("no output; name one: --output <shard>");
}

Result<PackTarget> ShardTarget(const Context& context, std::string target) {
  return PackTarget::Make(context, std::move(target), "made-0.shardpack");
}

Result<std::string> KindOption(const Context& context, std::string_view name) {
  auto kind = context.arguments.Get(name);
  if (!kind) {
    std::vector<std::string_view> names;
    for (const dataset::SampleKind& known : dataset::SampleKinds()) {
      names.push_back(known.name);
    }
    return InvalidArgument(
        fmt::format("no kind; name one: --{} {}", name, fmt::join(names, ", ")));
  }
  if (*kind == "parquet") {
    return Unsupported(
        "parquet is read and written by the Python module, not by this command");
  }
  return *std::move(kind);
}

Result<std::shared_ptr<const dataset::SampleSet>> OpenSet(
    const std::vector<std::string>& references) {
  DOLIUM_TRY(const PackInputs inputs, PackInputs::Open(references));
  auto set = OpenSamples(inputs.paths());
  if (!set) return inputs.Named(std::move(set).error());
  return set;
}

ExitStatus FailPackJob(Context& context, const PackTarget& target, const Error& error) {
  if (error.code == ErrorCode::kCancelled && !target.is_pipe()) {
    return context.Fail(Cancelled("stopped on request; the same command resumes"));
  }
  return context.FailLocation(target.Named(error));
}

void ShowPackReport(const Context& context, const PackTarget& target,
                    const dataset::PackReport& report) {
  const shardpack::PackSummary& summary = report.summary;
  if (report.leftover) {
    context.terminal.Report(Exists(
        fmt::format("{}: is there from before, and not of this set", *report.leftover)));
  }
  if (context.arguments.Has("no-summary")) return;
  uint64_t entries = 0;
  bool has_duplicates = false;  // keys that come twice, but for parts of one sample
  for (const shardpack::ShardSummary& shard : summary.shards) {
    entries += shard.stat.entries;
    has_duplicates |= !shard.stat.keys_unique && !shard.stat.has_parts;
  }
  std::string_view grouped_by;
  if (report.grouping) {
    grouped_by = report.grouping->grouping == dataset::Grouping::kStem ? "stem" : "dir";
  }
  if (context.terminal.json()) {
    Json shards = Json::array();
    for (const shardpack::ShardSummary& shard : summary.shards) {
      shards.push_back({{"shard", target.Named(shard.location.Describe())},
                        {"records", shard.records},
                        {"size", shard.bytes}});
    }
    Json line = {
        {"records", summary.records},     {"entries", entries},
        {"skipped", summary.skipped},     {"damaged", report.damaged()},
        {"keys_unique", !has_duplicates}, {"raw_bytes", summary.raw_bytes},
        {"bytes", summary.bytes()},       {"parts_done_before", report.parts_done_before},
        {"shards", std::move(shards)}};
    if (!grouped_by.empty()) line["grouped_by"] = grouped_by;
    context.terminal.JsonLine("summary", line);
    return;
  }
  const auto count = [](uint64_t number, std::string_view one, std::string_view many) {
    return fmt::format("{} {}", FormatCount(number), number == 1 ? one : many);
  };
  std::string name = target.Named(summary.shards.front().location.Describe());
  if (summary.shards.size() > 1) {
    name += fmt::format(" ... {}", BaseName(summary.shards.back().location.path));
  }
  std::string line = fmt::format(
      "{}: {}, {} of {} in {} of {}", name, count(summary.records, "record", "records"),
      count(entries, "entry", "entries"), FormatSize(summary.raw_bytes),
      count(summary.shards.size(), "shard", "shards"), FormatSize(summary.bytes()));
  if (summary.skipped > 0) {
    line += fmt::format("; {} skipped", count(summary.skipped, "sample", "samples"));
  }
  if (report.damaged() > 0) {
    line += fmt::format("; {} damaged left out", FormatCount(report.damaged()));
  }
  if (!grouped_by.empty()) line += fmt::format("; grouped by {}", grouped_by);
  if (has_duplicates) line += "; keys are not unique";
  if (report.parts_done_before > 0) {
    line += fmt::format("; {} were done before",
                        count(report.parts_done_before, "shard", "shards"));
  }
  if (report.began_again) {
    line += "; began again, because the source has changed since an earlier run";
  }
  context.terminal.Line(line);
}

}  // namespace dolium::cli
