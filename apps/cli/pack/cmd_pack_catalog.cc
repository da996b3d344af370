#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/pack/pack_arguments.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/bytes/location.h"
#include "dolium/domain/dataset/set_reference.h"
#include "dolium/ops/pack/pack_catalog.h"

namespace dolium::cli {
namespace {

using dataset::kCatalogName;

// The file of --output, or `catalog.json` beside the first shard.
Result<std::string> CatalogFile(const Context& context,
                                const std::vector<dataset::ShardReference>& shards) {
  if (auto output = context.arguments.Get("output")) return *std::move(output);
  const Location folder = shards.front().location.Parent();
  if (!IsLocal(folder)) {
    return InvalidArgument("pack catalog: the shards are remote; name a file: --output");
  }
  return folder.Child(kCatalogName).Describe();
}

// Where paths in the catalog begin.
Result<Location> FolderOf(const std::string& file) {
  DOLIUM_TRY(const Location location, ParseLocation(file == "-" ? kCatalogName : file));
  return location.Parent();
}

}  // namespace

ExitStatus RunPackCatalog(Context& context) {
  const std::vector<std::string>& references = context.arguments.positionals();
  if (std::ranges::find(references, "-") != references.end()) {
    return context.FailLocation(InvalidArgument(
        "-: a catalog names the files of shards, and a pipe has no name"));
  }
  const auto shards = dataset::ResolveSet(references);
  if (!shards) return context.FailLocation(shards.error());
  const auto file = CatalogFile(context, *shards);
  if (!file) return context.FailLocation(file.error());
  const auto folder = FolderOf(*file);
  if (!folder) return context.FailLocation(folder.error());
  const auto catalog =
      MakeCatalog(*shards, *folder, {.jobs = context.jobs(), .stop = context.stop});
  if (!catalog) return context.FailLocation(catalog.error());
  const auto text = CatalogText(*catalog);
  if (!text) return context.FailLocation(text.error());
  const auto written = context.WriteFile(*file, AsBytes(*text));
  if (!written) return context.FailLocation(written.error());
  if (*file == "-" || context.arguments.Has("no-summary")) return ExitStatus::kGood;
  uint64_t records = 0;
  for (const dataset::CatalogShard& shard : catalog->shards) records += shard.records;
  if (context.terminal.json()) {
    context.terminal.JsonLine(
        "summary",
        {{"file", *file}, {"shards", catalog->shards.size()}, {"records", records}});
  } else {
    context.terminal.Line(fmt::format("{}: {} record{} in {} shard{}", *file,
                                      FormatCount(records), records == 1 ? "" : "s",
                                      FormatCount(catalog->shards.size()),
                                      catalog->shards.size() == 1 ? "" : "s"));
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
