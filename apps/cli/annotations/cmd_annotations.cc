#include <charconv>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/terminal/size.h"
#include "cli/verbs.h"
#include "dolium/ops/annotation/annotation_set.h"
#include "dolium/ops/source/capabilities.h"

namespace dolium::cli {
namespace {

using annotation::AnnotationInfo;
using annotation::AnnotationSource;
using annotation::AnnotationTable;

std::vector<std::string> SplitList(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The number that a text begins with, which is removed.
std::optional<double> TakeNumber(std::string_view& text) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// --dimensions: x:8nm,y:8nm,z:40nm.
Result<std::vector<annotation::Dimension>> DimensionsOption(const Arguments& arguments) {
  const std::string text = arguments.Get("dimensions").value_or("x:1nm,y:1nm,z:1nm");
  std::vector<annotation::Dimension> dimensions;
  for (const std::string& part : SplitList(text, ',')) {
    const size_t colon = part.find(':');
    std::string_view rest = part;
    rest.remove_prefix(colon == std::string::npos ? rest.size() : colon + 1);
    const auto scale = TakeNumber(rest);
    if (!scale || colon == 0) {
      return InvalidArgument(fmt::format(
          "--dimensions {}: expected names with sizes, as x:8nm,y:8nm,z:40nm", text));
    }
    dimensions.push_back({part.substr(0, colon), *scale, std::string(rest)});
  }
  return dimensions;
}

Result<AnnotationImport> AnnotationImportOptions(const Context& context) {
  const Arguments& arguments = context.arguments;
  AnnotationImport request;
  DOLIUM_TRY(request.csv, ParseLocation(arguments[0]));
  DOLIUM_TRY(request.target, ParseLocation(arguments[1]));
  request.replace = arguments.Has("force");
  const auto type =
      annotation::ParseAnnotationType(arguments.Get("type").value_or("point"));
  request.schema.type = type.value_or(annotation::AnnotationType::kPoint);
  DOLIUM_TRY(request.schema.dimensions, DimensionsOption(arguments));
  if (const auto names = arguments.Get("relationships")) {
    for (const std::string& name : SplitList(*names, ',')) {
      request.schema.relationships.push_back({.id = name, .key = ""});
    }
  }
  annotation::AnnotationWriteOptions& options = request.options;
  options.limit = arguments.Number("limit", options.limit);
  options.seed = arguments.Number("seed", options.seed);
  options.shard_bytes = arguments.Number("shard-size", options.shard_bytes);
  options.unsharded = arguments.Has("unsharded");
  if (arguments.Get("encoding") == "raw") options.encoding = neuroglancer::Encoding::kRaw;
  options.writer = context.writer_options();
  return request;
}

Json AnnotationPropertiesJson(const AnnotationInfo& info,
                              const annotation::RecordLayout& layout,
                              const annotation::AnnotationView& one) {
  Json properties = Json::object();
  for (size_t p = 0; p < info.properties.size(); ++p) {
    const annotation::Property& property = info.properties[p];
    const std::byte* const at = &one.properties[layout.offset(p)];
    const double number = annotation::NumberAt(property.type, at);
    if (annotation::IsColor(property.type)) {
      properties[property.id] = annotation::ColorAt(property.type, at);
    } else if (property.type == annotation::PropertyType::kFloat32) {
      properties[property.id] = number;
    } else {
      properties[property.id] = static_cast<int64_t>(number);
    }
  }
  return properties;
}

Json AnnotationJson(const AnnotationSource& source, const AnnotationTable& table,
                    size_t row) {
  const AnnotationInfo& info = source.info();
  const annotation::AnnotationView one = table[row];
  // As points; of an ellipsoid, the centre and the radii.
  Json points = Json::array();
  for (size_t at = 0; at < one.geometry.size(); at += info.rank()) {
    Json point = Json::array();
    for (const float number : one.geometry.subspan(at, info.rank())) {
      point.push_back(number);
    }
    points.push_back(std::move(point));
  }
  Json line = {{"id", one.id},
               {"geometry", std::move(points)},
               {"properties", AnnotationPropertiesJson(info, source.layout(), one)}};
  if (table.related().empty()) return line;
  Json related = Json::object();
  for (size_t r = 0; r < info.relationships.size(); ++r) {
    const auto ids = table.related()[r].Of(row);
    related[info.relationships[r].id] = std::vector<uint64_t>(ids.begin(), ids.end());
  }
  line["relationships"] = std::move(related);
  return line;
}

// --box: a range for each dimension, as x0:x1, of which numbers may be left out.
Result<annotation::Region> RegionOption(const std::string& text,
                                        const AnnotationInfo& info) {
  const auto wrong = [&] {
    return InvalidArgument(fmt::format(
        "--box {}: expected {} ranges, as 0:100,0:100,0:50", text, info.rank()));
  };
  annotation::Region region{info.lower_bound, info.upper_bound};
  const std::vector<std::string> ranges = SplitList(text, ',');
  if (ranges.size() != info.rank()) return wrong();
  for (size_t d = 0; d < ranges.size(); ++d) {
    std::string_view rest = ranges[d];
    if (const auto lower = TakeNumber(rest)) region.lower[d] = *lower;
    if (!rest.starts_with(':')) return wrong();
    rest.remove_prefix(1);
    if (const auto upper = TakeNumber(rest)) region.upper[d] = *upper;
    if (!rest.empty()) return wrong();
  }
  return region;
}

Result<AnnotationTable> FindAnnotations(const Context& context,
                                        const AnnotationSource& source) {
  const Arguments& arguments = context.arguments;
  const objects::ReadManyOptions read = {.jobs = context.jobs(), .stop = context.stop};
  const auto box = arguments.Get("box");
  const auto related = arguments.Get("related");
  const std::vector<std::string> ids = arguments.GetAll("id");
  if ((box ? 1 : 0) + (related ? 1 : 0) + (ids.empty() ? 0 : 1) != 1) {
    return InvalidArgument("expected one of --box, --related and --id");
  }
  if (box) {
    DOLIUM_TRY(annotation::Region region, RegionOption(*box, source.info()));
    return source.Query({.region = std::move(region),
                         .levels = static_cast<size_t>(arguments.Number("levels", 0)),
                         .read = read});
  }
  const auto parse = [](std::string_view text) -> Result<uint64_t> {
    uint64_t id = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, id);
    if (!text.empty() && error == std::errc() && stopped == end) return id;
    return InvalidArgument(fmt::format("\"{}\" is no id", text));
  };
  if (related) {
    const size_t equals = std::min(related->find('='), related->size());
    DOLIUM_TRY(
        const uint64_t id,
        parse(std::string_view(*related).substr(std::min(equals + 1, related->size())))
            .Within("--related"));
    return source.Related(related->substr(0, equals), id, read);
  }
  std::vector<uint64_t> wanted;
  wanted.reserve(ids.size());
  for (const std::string& text : ids) {
    DOLIUM_TRY(const uint64_t id, parse(text).Within("--id"));
    wanted.push_back(id);
  }
  DOLIUM_TRY(AnnotationTable table, source.GetMany(wanted, read));
  if (table.size() < wanted.size()) {
    for (const uint64_t id : wanted) {
      if (std::ranges::find(table.ids(), id) != table.ids().end()) continue;
      return NotFound(
          fmt::format("{}: no annotation {}", source.folder().Describe(), id));
    }
  }
  return table;
}

Result<std::shared_ptr<const AnnotationSource>> OpenFirstAnnotations(
    const Context& context) {
  DOLIUM_TRY(const Location location, ParseLocation(context.arguments[0]));
  return OpenAnnotations(location);
}

}  // namespace

ExitStatus RunAnnotationsImport(Context& context) {
  auto request = AnnotationImportOptions(context);
  if (!request) {
    return context.FailLocation(request.error().Within("annotations import"));
  }
  request->options.progress = context.terminal.StartProgress("import");
  const auto done = ImportAnnotations(*request);
  context.terminal.EndProgress();
  if (!done) return context.FailLocation(done.error());
  if (context.arguments.Has("no-summary")) return ExitStatus::kGood;
  const std::string target = request->target.Describe();
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary", {{"target", target},
                                          {"annotations", done->annotations},
                                          {"levels", done->levels},
                                          {"objects", done->written.objects},
                                          {"stored_bytes", done->written.stored_bytes}});
  } else {
    context.terminal.Line(fmt::format(
        "{}: {} annotations in {}, {} in {} files", target,
        FormatCount(done->annotations),
        done->levels == 1 ? "one level" : fmt::format("{} levels", done->levels),
        FormatSize(done->written.stored_bytes), FormatCount(done->written.objects)));
  }
  return ExitStatus::kGood;
}

ExitStatus RunAnnotationsExport(Context& context) {
  const auto source = OpenFirstAnnotations(context);
  if (!source) return context.FailLocation(source.error());
  const std::string& file = context.arguments[1];
  uint64_t count = 0;
  const auto written =
      context.WriteFile(file, [&](const Context::ByteSink& sink) -> Result<void> {
        DOLIUM_TRY(count, ExportAnnotations(**source, context.jobs(), context.stop,
                                            [&](std::string_view text) {
                                              return sink(AsBytes(text));
                                            }));
        return {};
      });
  if (!written) return context.Fail(written.error());
  if (context.arguments.Has("no-summary") || file == "-") return ExitStatus::kGood;
  if (context.terminal.json()) {
    context.terminal.JsonLine("summary", {{"file", file}, {"annotations", count}});
  } else {
    context.terminal.Line(fmt::format("{}: {} annotations", file, FormatCount(count)));
  }
  return ExitStatus::kGood;
}

ExitStatus RunAnnotationsQuery(Context& context) {
  const auto source = OpenFirstAnnotations(context);
  if (!source) return context.FailLocation(source.error());
  const auto found = FindAnnotations(context, **source);
  if (!found) return context.Fail(found.error().Within("annotations query"));
  Terminal& terminal = context.terminal;
  const auto print = [&](std::string line) {
    line.pop_back();  // The line break.
    terminal.Line(line);
  };
  if (!terminal.json()) print(CsvHeader((*source)->info(), !found->related().empty()));
  for (size_t i = 0; i < found->size() && terminal.ok(); ++i) {
    if (terminal.json()) {
      terminal.JsonLine("annotation", AnnotationJson(**source, *found, i));
      continue;
    }
    std::string line;
    AppendCsvRow((*source)->info(), (*source)->layout(), *found, i, line);
    print(std::move(line));
  }
  return ExitStatus::kGood;
}

ExitStatus RunAnnotationsLs(Context& context) {
  const auto source = OpenFirstAnnotations(context);
  if (!source) return context.FailLocation(source.error());
  const auto ids = (*source)->ListIds(context.stop);
  if (!ids) return context.FailLocation(ids.error());
  for (const uint64_t id : *ids) {
    if (!context.terminal.ok()) break;
    if (context.terminal.json()) {
      context.terminal.JsonLine("annotation", {{"id", id}});
    } else {
      context.terminal.Line(std::to_string(id));
    }
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
