// pack split, merge, reshard, subset, sort, shuffle, compact: samples of one set as
// another.
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/pack/pack_arguments.h"
#include "cli/verbs.h"
#include "dolium/ops/pack/pack_copy.h"
#include "dolium/ops/pack/pack_select.h"

namespace dolium::cli {
namespace {

using dataset::SampleSet;
using SetPointer = std::shared_ptr<const SampleSet>;

constexpr std::string_view kLimits[] = {"shards", "shard-size", "shard-records"};

Result<dataset::CopyRequest> MakeCopyRequest(const Context& context,
                                             const PackTarget& target, bool needs_limit) {
  const Arguments& arguments = context.arguments;
  dataset::CopyRequest request;
  request.output = target.path();
  std::string_view limit;
  for (const std::string_view option : kLimits) {
    if (!arguments.Has(option)) continue;
    if (!limit.empty()) {
      return InvalidArgument(fmt::format("--{} contradicts --{}", option, limit));
    }
    if (arguments.Number(option, 0) == 0) {
      return InvalidArgument(fmt::format("--{}: 0 is not a number above 0", option));
    }
    limit = option;
  }
  if (limit.empty() && needs_limit) {
    return InvalidArgument("how? name one of --shards, --shard-size and --shard-records");
  }
  request.shards = arguments.Number("shards", 0);
  request.shard_bytes = arguments.Number("shard-size", 0);
  request.shard_records = arguments.Number("shard-records", 0);
  DOLIUM_TRY(const shardpack::PackOptions options, PackOptionsOf(context));
  request.shard = options.shard;
  if (arguments.Has("align")) request.align_log2 = options.shard.encode.align_log2;
  request.recode = arguments.Has("compression");
  request.jobs = options.jobs;
  request.memory = options.memory;
  request.stop = context.stop;
  return request;
}

// Does the work of one verb; `order` says which samples, given the set.
template <typename Order>
ExitStatus RunCopy(Context& context, std::string_view verb, bool needs_limit,
                   const Result<SetPointer>& set, const Order& order) {
  const std::string label = fmt::format("pack {}", verb);
  const auto target = ShardTarget(context);
  if (!target) return context.FailLocation(target.error().Within(label));
  auto request = MakeCopyRequest(context, *target, needs_limit);
  if (!request) return context.FailLocation(request.error().Within(label));
  if (!set) return context.FailLocation(set.error());
  const Result<std::vector<uint64_t>> numbers = order(**set);
  if (!numbers) return context.Fail(numbers.error());
  request->references = context.arguments.positionals();
  request->overlays = context.arguments.GetAll("overlay");
  if (context.arguments.Has("plan")) {
    const auto plan = PlanCopy(**set, *numbers, *request);
    if (!plan) return context.FailLocation(plan.error());
    return context.ShowTasks(*plan);
  }
  request->progress = context.terminal.StartProgress(std::string(verb));
  const auto report = CopySamples(**set, *numbers, *request);
  context.terminal.EndProgress();
  if (!report) return FailPackJob(context, *target, report.error());
  if (const auto sent = target->Send(context); !sent) return context.Fail(sent.error());
  ShowPackReport(context, *target, *report);
  return ExitStatus::kGood;
}

Result<std::vector<uint64_t>> All(const SampleSet& set) {
  std::vector<uint64_t> numbers(static_cast<size_t>(set.size()));
  std::iota(numbers.begin(), numbers.end(), uint64_t{0});
  return numbers;
}

Result<SetPointer> OpenOverlaid(const Context& context) {
  DOLIUM_TRY(SetPointer base, OpenSet(context.arguments.positionals()));
  std::vector<SetPointer> layers;
  for (const std::string& reference : context.arguments.GetAll("overlay")) {
    DOLIUM_TRY(SetPointer layer, OpenSet({reference}));
    layers.push_back(std::move(layer));
  }
  return dataset::Overlay(std::move(base), std::move(layers));
}

}  // namespace

ExitStatus RunPackSplit(Context& context) {
  return RunCopy(context, "split", /*needs_limit=*/true,
                 OpenSet(context.arguments.positionals()), All);
}

ExitStatus RunPackReshard(Context& context) {
  return RunCopy(context, "reshard", /*needs_limit=*/true,
                 OpenSet(context.arguments.positionals()), All);
}

ExitStatus RunPackMerge(Context& context) {
  return RunCopy(context, "merge", /*needs_limit=*/false,
                 OpenSet(context.arguments.positionals()), All);
}

ExitStatus RunPackSubset(Context& context) {
  const auto selection = SelectionOf(context);
  if (!selection) return context.FailLocation(selection.error().Within("pack subset"));
  return RunCopy(context, "subset", /*needs_limit=*/false,
                 OpenSet(context.arguments.positionals()),
                 [&](const SampleSet& set) { return SelectSamples(set, *selection); });
}

ExitStatus RunPackSort(Context& context) {
  return RunCopy(context, "sort", /*needs_limit=*/false,
                 OpenSet(context.arguments.positionals()), dataset::OrderByKey);
}

ExitStatus RunPackShuffle(Context& context) {
  return RunCopy(
      context, "shuffle", /*needs_limit=*/false, OpenSet(context.arguments.positionals()),
      [&](const SampleSet& set) -> Result<std::vector<uint64_t>> {
        return dataset::OrderAtRandom(set.size(), context.arguments.Number("seed", 0));
      });
}

ExitStatus RunPackCompact(Context& context) {
  return RunCopy(context, "compact", /*needs_limit=*/false, OpenOverlaid(context), All);
}

}  // namespace dolium::cli
