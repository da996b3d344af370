#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/verbs.h"
#include "dolium/domain/volume/arrays/npy_header.h"
#include "dolium/formats/dvid/container.h"
#include "dolium/ops/list.h"

namespace dolium::cli {
namespace {

// The voxels of a block, bare or behind the head of an .npy file.
Result<Bytes> Voxels(const Container& container, const std::string& key,
                     std::string_view kind, bool npy) {
  const auto* const blocks = dynamic_cast<const dvid::DvidContainer*>(&container);
  if (blocks == nullptr) {
    return InvalidArgument(
        fmt::format("{}: --voxels is for exports of DVID, this is format {}",
                    container.location().Describe(), container.format_name()));
  }
  DOLIUM_TRY(const auto row, blocks->FindRow(key));
  if (!row) {
    return NotFound(
        fmt::format("{}: no entry \"{}\"", container.location().Describe(), key));
  }
  auto voxels = dvid::DecodeRow(*row, *dvid::ParseLabelKind(kind));
  if (!voxels) {
    return std::move(voxels).error().Within(
        fmt::format("{}: {}", container.location().Describe(), key));
  }
  ByteVector out;
  if (npy) {
    const std::array<uint64_t, 3> size = {voxels->size[0], voxels->size[1],
                                          voxels->size[2]};
    const std::string head =
        volume::MakeNpyHeader(volume::NumberType::kUint64, size, /*fortran_order=*/true);
    Append(out, AsBytes(head));
  }
  const size_t at = out.size();
  out.resize(at + voxels->voxels.size() * sizeof(uint64_t));
  for (size_t i = 0; i < voxels->voxels.size(); ++i) {
    StoreLE<uint64_t>(out.data() + at + i * sizeof(uint64_t), voxels->voxels[i]);
  }
  return Bytes::FromVector(std::move(out));
}

}  // namespace

ExitStatus RunCat(Context& context) {
  const Arguments& arguments = context.arguments;
  const std::string& key = arguments[1];
  const std::string file = arguments.Get("output").value_or("-");
  const auto container = context.Open(arguments[0]);
  if (!container) return context.FailLocation(container.error());
  Bytes bytes;
  if (const auto kind = arguments.Get("voxels")) {
    const bool npy = arguments.Has("npy") || file.ends_with(".npy");
    auto voxels = Voxels(**container, key, *kind, npy);
    if (!voxels) return context.Fail(voxels.error());
    bytes = *std::move(voxels);
  } else {
    const auto data = Cat(**container, key, arguments.Has("raw"));
    if (!data) return context.Fail(data.error());
    bytes = arguments.Has("preceding") ? data->preceding : data->value;
  }
  const auto written = context.WriteFile(file, bytes);
  if (!written) return context.FailLocation(written.error());
  if (context.terminal.json() && file != "-") {
    context.terminal.JsonLine(
        {{"type", "written"}, {"key", key}, {"file", file}, {"size", bytes.size()}});
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
