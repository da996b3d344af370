#include "dolium/ops/volume/volume_drop.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dolium/bytes/folder_swap.h"
#include "dolium/container/json.h"
#include "dolium/domain/volume/volume.h"
#include "dolium/ops/job/job_json.h"
#include "dolium/ops/job/target_folder.h"
#include "dolium/ops/source/capabilities.h"
#include "dolium/ops/volume/volume_target.h"

namespace dolium::volume {
namespace {

using nlohmann::json;

constexpr std::string_view kDropName = ".dolium-drop";
constexpr uint64_t kMaxDropBytes = uint64_t{128} << 20;

// What is to go.
struct DropNote {
  std::string request;
  std::vector<std::string> keys;
  std::string info;  // the text of the volume's info before
};

std::string TextOf(const std::vector<ScaleName>& names) {
  json list = json::array();
  for (const ScaleName& name : names) {
    std::visit([&](const auto& known) { list.push_back(known); }, name);
  }
  return DumpJson(list);
}

Result<std::optional<DropNote>> ReadNote(const Location& object) {
  const auto whole = object.store->ReadWhole(object.path, kMaxDropBytes);
  if (!whole && whole.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!whole) return whole.error();
  DOLIUM_TRY(DropNote note, ParseJob(AsText(whole->bytes), "a note of scales to drop",
                                     [](const json& value) -> Result<DropNote> {
                                       DropNote read;
                                       value.at("request").get_to(read.request);
                                       value.at("keys").get_to(read.keys);
                                       value.at("info").get_to(read.info);
                                       return read;
                                     })
                                .Within(object.Describe()));
  return note;
}

Result<void> WriteNote(const Location& object, const DropNote& note) {
  DOLIUM_TRY(
      const std::string text,
      DumpJob({{"request", note.request}, {"keys", note.keys}, {"info", note.info}}));
  DOLIUM_TRY([[maybe_unused]] const Generation generation,
             object.store->Put(object.path, AsBytes(text), Precondition::Absent()));
  return {};
}

// Does what a note says, as far as it is not done. Returns the info; nullopt if somebody
// has changed that meanwhile, so that nothing can be said of the scales any more.
Result<std::optional<VolumeInfo>> Complete(const Location& folder,
                                           const std::string& path, const DropNote& note,
                                           const std::function<void()>& after_step) {
  const auto step = [&] {
    if (after_step) after_step();
  };
  const auto is_to_go = [&](const ScaleInfo& scale) {
    return std::ranges::find(note.keys, scale.key) != note.keys.end();
  };
  DOLIUM_TRY(const Volume volume, Volume::Open(folder));
  Result<VolumeInfo> info = volume.info();
  if (std::ranges::any_of(info->scales, is_to_go)) {
    info = UpdateInfo(folder, [&](VolumeInfo found) -> Result<VolumeInfo> {
      if (ToJson(found) != note.info) return Conflict("the info has changed");
      std::erase_if(found.scales, is_to_go);
      return found;
    });
  }
  const bool is_other = !info && info.error().code == ErrorCode::kConflict;
  if (!info && !is_other) return info.error();
  step();
  for (const std::string& key : note.keys) {
    // A note is a file like others: it names folders of the volume, or nothing happens.
    if (is_other || !IsFolderOfVolume(key)) continue;
    DOLIUM_TRY_VOID(RemoveFolder(JoinPath(path, key)));
    step();
  }
  const Location object = folder.Child(kDropName);
  const auto removed = object.store->Remove(object.path, Precondition::None());
  if (!removed && removed.error().code != ErrorCode::kNotFound) return removed.error();
  if (is_other) return std::nullopt;
  return *std::move(info);
}

Result<DropNote> MakeNote(const Volume& volume, const DropScalesRequest& request) {
  const VolumeInfo& info = volume.info();
  std::set<size_t> scales;
  for (const ScaleName& name : request.scales) {
    DOLIUM_TRY(const size_t index,
               FindScale(info, name).Within(volume.folder().Describe()));
    scales.insert(index);
  }
  if (scales.empty()) return InvalidArgument("no scale is to be dropped");
  if (scales.size() == info.scales.size()) {
    return InvalidArgument(
        fmt::format("{}: a volume keeps at least one scale", volume.folder().Describe()));
  }
  if (scales.contains(0) && !request.force) {
    return InvalidArgument(fmt::format("{}: scale 0 is the one that the others stand for",
                                       volume.folder().Describe()))
        .WithHint(Hint::kDropBase);
  }
  DropNote note;
  note.request = TextOf(request.scales);
  note.info = ToJson(info);
  for (const size_t index : scales) {
    DOLIUM_TRY_VOID(CheckOwnFolder(volume, index));
    const ScaleInfo& scale = info.scales[index];
    const Location folder = ResolveScaleKey(volume.folder(), scale.key);
    DOLIUM_TRY(const auto foreign, FindForeign(folder, [&](std::string_view name) {
                 return IsOfScale(scale, name);
               }));
    if (foreign) {
      return Exists(
          fmt::format("{}: holds \"{}\", which is not part of the scale; move it away",
                      folder.Describe(), *foreign));
    }
    note.keys.push_back(scale.key);
  }
  return note;
}

}  // namespace

Result<size_t> FindScale(const VolumeInfo& info, const ScaleName& name) {
  if (const size_t* const index = std::get_if<size_t>(&name)) {
    if (*index < info.scales.size()) return *index;
    return InvalidArgument(
        fmt::format("no scale {}; the last one is {}", *index, info.scales.size() - 1));
  }
  const Resolution& resolution = std::get<Resolution>(name);
  const auto text = [&] {
    return fmt::format("{},{},{}", resolution[0], resolution[1], resolution[2]);
  };
  const auto found = std::ranges::find(info.scales, resolution, &ScaleInfo::resolution);
  if (found == info.scales.end()) {
    return InvalidArgument(fmt::format("no scale has a resolution of {}", text()));
  }
  if (std::ranges::count(info.scales, resolution, &ScaleInfo::resolution) > 1) {
    return InvalidArgument(fmt::format(
        "several scales have a resolution of {}; name one by its number", text()));
  }
  return static_cast<size_t>(found - info.scales.begin());
}

Result<DropScalesReport> DropScales(const DropScalesRequest& request) {
  DOLIUM_TRY(const Location location, ParseLocation(request.volume));
  DOLIUM_TRY(const Volume volume, OpenVolume(location));
  if (volume.dvid_export() != nullptr) {
    return Unsupported(location.Describe() + ": a DVID export cannot be changed");
  }
  const Location& folder = volume.folder();
  DOLIUM_TRY(const auto path, folder.store->LocalPath(folder.path));
  if (!path) {
    return Unsupported(folder.Describe() + ": scales are removed in local folders only");
  }
  const Location object = folder.Child(kDropName);
  DOLIUM_TRY(std::optional<DropNote> note, ReadNote(object));
  const bool is_resumed = note.has_value();
  if (!note) {
    DOLIUM_TRY(note, MakeNote(volume, request));
    DOLIUM_TRY_VOID(WriteNote(object, *note));
    if (request.after_step) request.after_step();
  }
  // Another process may be at the same: what is done twice does no harm.
  DOLIUM_TRY(const auto info, Complete(folder, *path, *note, request.after_step));
  if (is_resumed && (!info || note->request != TextOf(request.scales))) {
    return Conflict(fmt::format(
        "{}: an earlier request to drop scales had been cut short; {}; look at the "
        "scales "
        "that there are, and repeat this one",
        folder.Describe(),
        info ? fmt::format("now it is complete ({})", fmt::join(note->keys, ", "))
             : "the info has changed since, so it was given up"));
  }
  if (!info) {
    return Conflict(folder.Describe() +
                    ": the info has been changed meanwhile; repeat it");
  }
  DOLIUM_TRY(std::string name, PortableText(folder, folder.Describe()));
  return DropScalesReport{std::move(name), note->keys, info->scales.size()};
}

}  // namespace dolium::volume
