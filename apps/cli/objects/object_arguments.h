// What the verbs of meshes and skeletons share.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/context.h"
#include "cli/verb_options.h"
#include "dolium/ops/objects/object_export.h"
#include "dolium/ops/objects/object_import.h"

namespace dolium::cli {

inline constexpr Option kSegments =
    Value(ValueKind::kFile, "", "segments", "<file>",
          "ids of segments, one a line or between commas [-: standard input]");

// The arguments from `begin` to `end` as ids, and those of --segments after them; nullopt
// if there are neither.
Result<std::optional<std::vector<uint64_t>>> IdsOf(const Context& context, size_t begin,
                                                   size_t end);

// What --sharded, --force and the like say of a new folder.
Result<NewObjectsOptions> NewObjectsOf(const Context& context);

// `ls`: ids, one a line.
ExitStatus ListIdsOf(Context& context, const std::vector<uint64_t>& ids);

// One object as a file, or standard output.
ExitStatus WriteObject(Context& context, uint64_t id, const std::string& file,
                       const Result<std::optional<ByteVector>>& bytes);

// `export`: to a folder, or of one object to a file of the kind that `ending` says.
struct ObjectExporter {
  std::string_view ending;
  std::function<Result<std::vector<uint64_t>>()> list;
  std::function<Result<std::optional<ByteVector>>(uint64_t id)> make;
  std::function<Result<ExportObjectsReport>(
      const std::vector<uint64_t>& ids, const Location& folder,
      const ExportObjectsOptions& options, const FindingVisitor& visitor)>
      to_folder;
};
ExitStatus RunObjectExport(Context& context, const ObjectExporter& exporter);

// `import`: the closing line.
ExitStatus FinishImport(Context& context, const Result<WriteSummary>& written,
                        std::string_view object);

}  // namespace dolium::cli
