// pack create, import: files of a folder, and what other formats hold, as shards.
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/findings.h"
#include "cli/pack/pack_arguments.h"
#include "cli/pack/pack_input.h"
#include "cli/verbs.h"
#include "dolium/domain/dataset/imports/kinds.h"
#include "dolium/ops/pack/pack_create.h"

namespace dolium::cli {
namespace {

// What is packed, and how.
struct Request {
  std::string kind;
  std::string input;
  std::optional<PackInputs> piped = {};  // for the names in what is shown
  dataset::ImportOptions options;
  dataset::CreateRequest create;
};

Result<dataset::ImportOptions> InputOptions(const Arguments& arguments) {
  dataset::ImportOptions options;
  DOLIUM_TRY(options.grouping,
             dataset::ParseGrouping(arguments.Get("group-by").value_or("auto")));
  options.manifest = arguments.Get("manifest").value_or("");
  if (!options.manifest.empty()) options.grouping = dataset::Grouping::kManifest;
  options.skip_links = arguments.Has("skip-links");
  options.keep_attributes = arguments.Has("keep-times");
  options.keep_case = arguments.Has("keep-case");
  const std::string records = arguments.Get("records").value_or("auto");
  options.records = records == "raw"       ? dataset::TfRecords::kRaw
                    : records == "example" ? dataset::TfRecords::kExample
                                           : dataset::TfRecords::kAuto;
  options.database = arguments.Get("database").value_or("");
  options.key_prefix = arguments.Get("key-prefix").value_or("");
  options.skip_damaged = arguments.Has("skip-damaged");
  return options;
}

// The folder: --input, or the first of the arguments.
Result<Request> CreateOptions(const Context& context) {
  auto input = context.arguments.Get("input");
  if (!input && !context.arguments.positionals().empty()) input = context.arguments[0];
  if (!input) return InvalidArgument("no input; name a folder");
  Request request{.kind = "folder", .input = *input, .options = {}, .create = {}};
  DOLIUM_TRY(request.create.pack, PackOptionsOf(context));
  DOLIUM_TRY(request.options, InputOptions(context.arguments));
  return request;
}

Result<Request> ImportOptionsOf(const Context& context) {
  Request request{.kind = {}, .input = {}, .options = {}, .create = {}};
  DOLIUM_TRY(request.piped, PackInputs::Open({context.arguments[0]}));
  request.input = request.piped->paths().front();
  DOLIUM_TRY(request.kind, KindOption(context, "from"));
  DOLIUM_TRY(request.create.pack, PackOptionsOf(context));
  DOLIUM_TRY(request.options, InputOptions(context.arguments));
  return request;
}

ExitStatus RunCreate(Context& context, std::string_view verb,
                     const Result<PackTarget>& target, Result<Request> request) {
  const std::string label = fmt::format("pack {}", verb);
  if (!request) return context.FailLocation(request.error().Within(label));
  if (!target) return context.FailLocation(target.error().Within(label));
  request->create.output = target->path();
  if (context.arguments.Has("plan")) {
    return context.Fail(Unsupported(fmt::format(
        "pack {}: --plan: which shards there will be is known only when all samples have "
        "been read, so that there are no tasks; run it without, and again if it is cut "
        "short: it goes on behind the last shard that is complete",
        verb)));
  }
  const auto named = [&](const Error& error) {
    return request->piped ? request->piped->Named(error) : error;
  };
  const auto source =
      dataset::OpenSampleSource(request->kind, request->input, request->options);
  if (!source) return context.FailLocation(named(source.error()));
  auto name =
      dataset::NameSource(request->kind, request->input, request->options, **source);
  if (!name) return context.FailLocation(named(name.error()));
  request->create.source = *std::move(name);
  if (const auto choice = (*source)->grouping_choice();
      choice && choice->looks_like_classes) {
    context.terminal.Report(InvalidArgument(fmt::format(
        "{}: warning: each directory becomes one record, yet they look like classes of "
        "many samples; for a record of each file and its companions: --group-by stem "
        "(if this is meant: --group-by dir)",
        request->input)));
  }
  request->create.progress = context.terminal.StartProgress(std::string(verb));
  auto report = CreatePack(**source, request->create);
  context.terminal.EndProgress();
  if (!report) return FailPackJob(context, *target, named(report.error()));
  if (const auto sent = target->Send(context); !sent) return context.Fail(sent.error());
  FindingPrinter left_out(context, FindingPrinter::Output::kReports, "left out: ");
  for (Finding& finding : report->left_out) {
    if (request->piped) finding.object = request->piped->Named(finding.object);
    left_out.Add(finding);
  }
  left_out.Finish();
  ShowPackReport(context, *target, *report);
  return report->damaged() == 0 ? ExitStatus::kGood : ExitStatus::kBad;
}

// The shard: --output, or the argument that is not the folder.
Result<PackTarget> CreateTarget(const Context& context) {
  const size_t position = context.arguments.Has("input") ? 0 : 1;
  const std::vector<std::string>& all = context.arguments.positionals();
  if (all.size() > position + 1) {
    return InvalidArgument(fmt::format("--input {} and {}: one of them is too many",
                                       *context.arguments.Get("input"), all.front()));
  }
  DOLIUM_TRY(auto target, context.arguments.Target(position));
  if (!target) return InvalidArgument("no output; name a shard");
  return ShardTarget(context, *std::move(target));
}

}  // namespace

ExitStatus RunPackCreate(Context& context) {
  return RunCreate(context, "create", CreateTarget(context), CreateOptions(context));
}

ExitStatus RunPackImport(Context& context) {
  return RunCreate(context, "import", ShardTarget(context, context.arguments[1]),
                   ImportOptionsOf(context));
}

}  // namespace dolium::cli
