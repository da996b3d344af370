// skeleton ls, get, export and import.
#include <string>
#include <vector>

#include "cli/objects/object_arguments.h"
#include "cli/verbs.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::cli {
namespace {

constexpr std::string_view kSwc = "swc";

Result<std::shared_ptr<const skeleton::SkeletonSource>> OpenSkeletonsAt(
    const Context& context) {
  DOLIUM_TRY(const Location location, ParseLocation(context.arguments[0]));
  return OpenSkeletons(location);
}

}  // namespace

ExitStatus RunSkeletonLs(Context& context) {
  const auto skeletons = OpenSkeletonsAt(context);
  if (!skeletons) return context.FailLocation(skeletons.error());
  const auto ids = (*skeletons)->ListIds(context.stop);
  if (!ids) return context.FailLocation(ids.error());
  return ListIdsOf(context, *ids);
}

ExitStatus RunSkeletonGet(Context& context) {
  const auto& words = context.arguments.positionals();
  const auto ids = IdsOf(context, 1, 2);
  if (!ids) return context.Fail(ids.error());
  const auto skeletons = OpenSkeletonsAt(context);
  if (!skeletons) return context.FailLocation(skeletons.error());
  const uint64_t id = (*ids)->front();
  return WriteObject(context, id, words.size() > 2 ? words[2] : "-",
                     ExportSkeleton(**skeletons, id));
}

ExitStatus RunSkeletonExport(Context& context) {
  const auto skeletons = OpenSkeletonsAt(context);
  if (!skeletons) return context.FailLocation(skeletons.error());
  const skeleton::SkeletonSource& source = **skeletons;
  return RunObjectExport(
      context,
      {.ending = kSwc,
       .list = [&] { return source.ListIds(context.stop); },
       .make = [&](uint64_t id) { return ExportSkeleton(source, id); },
       .to_folder =
           [&](const std::vector<uint64_t>& ids, const Location& folder,
               const ExportObjectsOptions& options, const FindingVisitor& visitor) {
             return ExportSkeletons(source, ids, folder, options, visitor);
           }});
}

ExitStatus RunSkeletonImport(Context& context) {
  auto options = NewObjectsOf(context);
  if (!options) return context.Fail(options.error());
  const auto& words = context.arguments.positionals();
  const auto target = ParseLocation(words.back());
  if (!target) return context.FailLocation(target.error());
  const auto files = FindObjectFiles({words.begin(), words.end() - 1}, kSwc);
  if (!files) return context.FailLocation(files.error());
  options->progress = context.terminal.StartProgress("import");
  return FinishImport(context, ImportSkeletons(*files, *target, *options), "skeleton");
}

}  // namespace dolium::cli
