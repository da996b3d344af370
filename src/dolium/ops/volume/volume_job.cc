#include "dolium/ops/volume/volume_job.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/container/json.h"
#include "dolium/domain/volume/chunk_source.h"
#include "dolium/formats/files/file_key.h"
#include "dolium/ops/job/job_json.h"

namespace dolium::volume {
namespace {

using nlohmann::json;

template <typename T>
json OrNull(const std::optional<T>& value) {
  return value ? json(*value) : json(nullptr);
}

template <typename T>
std::optional<T> GetOptional(const json& value) {
  if (value.is_null()) return std::nullopt;
  return value.get<T>();
}

// What a word stands for; throws if it stands for nothing.
template <typename T>
T Known(std::optional<T> value, const std::string& word) {
  if (value) return *value;
  throw json::other_error::create(501, fmt::format("\"{}\" is not known", word), nullptr);
}

json RawJson(const RawLayout& raw) {
  return {{"shape", raw.shape},
          {"type", ToString(raw.type)},
          {"offset", OrNull(raw.offset)},
          {"big_endian", raw.big_endian},
          {"c_order", raw.c_order}};
}

RawLayout GetRaw(const json& value) {
  RawLayout raw;
  value.at("shape").get_to(raw.shape);
  const auto type = value.at("type").get<std::string>();
  raw.type = Known(ParseNumberType(type), type);
  raw.offset = GetOptional<uint64_t>(value.at("offset"));
  value.at("big_endian").get_to(raw.big_endian);
  value.at("c_order").get_to(raw.c_order);
  return raw;
}

json InputJson(const ArrayInput& input) {
  const ArraySourceRequest& request = input.request;
  return {{"array", request.path},
          {"dataset", OrNull(request.dataset)},
          {"axes", OrNull(request.axes)},
          {"type", request.type ? json(ToString(*request.type)) : json(nullptr)},
          {"raw", request.raw ? RawJson(*request.raw) : json(nullptr)},
          {"fingerprint", input.fingerprint}};
}

ArrayInput GetArrayInput(const json& value) {
  ArrayInput input;
  value.at("array").get_to(input.request.path);
  input.request.dataset = GetOptional<std::string>(value.at("dataset"));
  input.request.axes = GetOptional<std::string>(value.at("axes"));
  if (const auto type = GetOptional<std::string>(value.at("type"))) {
    input.request.type = Known(ParseDataType(*type), *type);
  }
  if (!value.at("raw").is_null()) input.request.raw = GetRaw(value.at("raw"));
  value.at("fingerprint").get_to(input.fingerprint);
  return input;
}

json InputJson(const FinerInput& input) {
  return {{"finer_scale", input.scale},
          {"factor", input.spec.factor},
          {"method", ToString(input.spec.method)},
          {"ignore_zero", input.spec.mode_ignores_zero}};
}

FinerInput GetFinerInput(const json& value) {
  FinerInput input;
  value.at("finer_scale").get_to(input.scale);
  value.at("factor").get_to(input.spec.factor);
  const auto method = value.at("method").get<std::string>();
  input.spec.method = Known(ParseDownsampleMethod(method), method);
  value.at("ignore_zero").get_to(input.spec.mode_ignores_zero);
  for (const int64_t factor : input.spec.factor) {
    if (factor < 1 || factor > kMaxDownsampleFactor) {
      throw json::other_error::create(
          501, fmt::format("a factor of {} is out of range", factor), nullptr);
    }
  }
  return input;
}

json ExportJson(const DvidReadOptions& options) {
  return {{"labels", ToString(options.labels)},
          {"spec", OrNull(options.spec)},
          {"resolution", options.resolution},
          {"coordinates", static_cast<int>(options.coordinates)},
          {"salvage", options.salvage}};
}

DvidReadOptions GetExport(const json& value) {
  DvidReadOptions options;
  const auto labels = value.at("labels").get<std::string>();
  options.labels = Known(dvid::ParseLabelKind(labels), labels);
  options.spec = GetOptional<std::string>(value.at("spec"));
  value.at("resolution").get_to(options.resolution);
  const int coordinates = value.at("coordinates").get<int>();
  if (coordinates >= 0 && coordinates <= static_cast<int>(dvid::Coordinates::kVoxel)) {
    options.coordinates = static_cast<dvid::Coordinates>(coordinates);
  }
  value.at("salvage").get_to(options.salvage);
  return options;
}

json InputJson(const VolumeInput& input) {
  json out = {{"volume", input.location},
              {"info", input.info},
              {"scale", input.scale},
              {"may_copy", input.may_copy}};
  if (input.exported) out["export"] = ExportJson(*input.exported);
  return out;
}

VolumeInput GetVolumeInput(const json& value) {
  VolumeInput input;
  value.at("volume").get_to(input.location);
  value.at("info").get_to(input.info);
  value.at("scale").get_to(input.scale);
  value.at("may_copy").get_to(input.may_copy);
  if (value.contains("export")) input.exported = GetExport(value.at("export"));
  return input;
}

json AnyInputJson(const StageInput& input) {
  return std::visit([](const auto& known) { return InputJson(known); }, input);
}

json StageJson(const Stage& stage) {
  return {{"scale", stage.scale},
          {"parts", ToString(stage.layout)},
          {"wrapper", ToString(stage.wrapper)},
          {"replaces", stage.replaces},
          {"from", AnyInputJson(stage.input)}};
}

Stage GetStage(const json& value) {
  Stage stage;
  value.at("scale").get_to(stage.scale);
  const auto layout = value.at("parts").get<std::string>();
  stage.layout = Known(ParsePartLayout(layout), layout);
  const auto wrapper = value.at("wrapper").get<std::string>();
  stage.wrapper = Known(ParseWrapper(wrapper), wrapper);
  value.at("replaces").get_to(stage.replaces);
  const json& from = value.at("from");
  if (from.contains("array")) {
    stage.input = GetArrayInput(from);
  } else if (from.contains("finer_scale")) {
    stage.input = GetFinerInput(from);
  } else {
    stage.input = GetVolumeInput(from);
  }
  return stage;
}

Result<void> CheckStage(const VolumeInfo& info, const Stage& stage) {
  if (stage.scale >= info.scales.size()) {
    return Corrupt("not a volume plan: it has a stage for a scale that is not there");
  }
  const ScaleInfo& scale = info.scales[stage.scale];
  if (stage.layout != PartLayout::kLayers &&
      stage.layout != LayoutOf(scale, /*whole_pages=*/false)) {
    return Corrupt("not a volume plan: its parts do not go with the sharding");
  }
  if (const auto* finer = std::get_if<FinerInput>(&stage.input)) {
    // Scales of others may leave out voxels at the ends.
    if (finer->scale >= info.scales.size() ||
        !DownsampledBounds(info.scales[finer->scale].bounds(), finer->spec.factor)
             .Contains(scale.bounds())) {
      return Corrupt("not a volume plan: a scale does not follow from the finer one");
    }
  }
  return {};
}

// It is written in the folder of the volume, and nowhere else.
Result<void> CheckCopy(const FolderCopy& copy) {
  if (!files::CheckKey(copy.key)) {
    return Corrupt("not a volume plan: it copies to another folder");
  }
  return {};
}

}  // namespace

std::string ToText(const DvidReadOptions& options) {
  return DumpJsonLossy(ExportJson(options));
}

Result<DvidReadOptions> ParseDvidReadOptions(std::string_view text) {
  return ParseJob(
      text, "options of an export",
      [](const json& value) -> Result<DvidReadOptions> { return GetExport(value); });
}

Result<std::string> ToText(const StageInput& input) {
  return DumpJob(AnyInputJson(input));
}

Result<std::string> ToText(const VolumeJob& job) {
  json stages = json::array();
  for (const Stage& stage : job.stages) stages.push_back(StageJson(stage));
  json copies = json::array();
  for (const FolderCopy& copy : job.copies) {
    copies.push_back({{"from", copy.from}, {"key", copy.key}});
  }
  return DumpJob({{"volume", job.volume},
                  {"info", ToJson(job.info)},
                  {"adds", job.adds},
                  {"skip_damaged", job.skip_damaged},
                  {"stages", stages},
                  {"copies", copies}});
}

Result<VolumeJob> ParseVolumeJob(std::string_view text) {
  return ParseJob(text, "a volume plan", [](const json& value) -> Result<VolumeJob> {
    VolumeJob job;
    value.at("volume").get_to(job.volume);
    value.at("adds").get_to(job.adds);
    value.at("skip_damaged").get_to(job.skip_damaged);
    DOLIUM_TRY(job.info, ParseVolumeInfo(value.at("info").get<std::string>()));
    for (const json& stage : value.at("stages")) {
      job.stages.push_back(GetStage(stage));
      DOLIUM_TRY_VOID(CheckStage(job.info, job.stages.back()));
    }
    if (job.stages.empty() && job.adds) {
      return Corrupt("not a volume plan: it has no stages");
    }
    if (value.contains("copies")) {
      for (const json& copy : value.at("copies")) {
        job.copies.push_back(
            {copy.at("from").get<std::string>(), copy.at("key").get<std::string>()});
        DOLIUM_TRY_VOID(CheckCopy(job.copies.back()));
      }
    }
    if (job.stages.empty() && !job.copies.empty()) {
      return Corrupt("not a volume plan: it copies folders, and has no stages");
    }
    return job;
  });
}

Result<Location> JobFolderOf(const VolumeJob& job) {
  DOLIUM_TRY(const Location volume, ParseLocation(job.volume));
  if (!job.adds) return volume;
  if (job.rebuilds()) return volume.Child(kRebuildName);
  return ResolveScaleKey(volume, job.info.scales[job.stages.front().scale].key);
}

std::string CellsText(const Box& cells) { return DumpJson(json{cells.begin, cells.end}); }

Result<Box> ParseCells(std::string_view text) {
  auto cells = ParseJob(text, "cells of a part", [](const json& value) -> Result<Box> {
    Box box;
    value.at(0).get_to(box.begin);
    value.at(1).get_to(box.end);
    return box;
  });
  // They come with a task, which is an argument.
  if (!cells) return InvalidArgument(std::move(cells).error().message);
  return cells;
}

}  // namespace dolium::volume
