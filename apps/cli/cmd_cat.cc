#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/context.h"
#include "cli/verbs.h"
#include "dolium/container/json.h"
#include "dolium/domain/volume/arrays/npy_header.h"
#include "dolium/ops/list.h"
#include "dolium/ops/source/source.h"

namespace dolium::cli {
namespace {

Result<void> RefuseMeaningless(const Arguments& arguments) {
  const bool voxels = arguments.Has("voxels");
  for (const std::string_view option : {"voxels", "npy", "raw", "preceding"}) {
    if (arguments.Has("lists") && arguments.Has(option)) {
      return InvalidArgument(fmt::format("cat: --{} means nothing with --lists", option));
    }
    if (option == "voxels" || !arguments.Has(option) || (option == "npy") == voxels) {
      continue;
    }
    return InvalidArgument(fmt::format("cat: --{} means nothing {} --voxels", option,
                                       voxels ? "with" : "without"));
  }
  return {};
}

// The voxels of an entry, bare or behind the header of an .npy file.
Result<Bytes> Voxels(const Source& source, const Container& entries,
                     const std::string& key, std::string_view labels, bool npy) {
  DOLIUM_TRY(const auto voxels, source.DecodeEntry(key, labels));
  if (!voxels) {
    return InvalidArgument(
        fmt::format("{}: --voxels is for DVID exports, this is format {}",
                    source.location().Describe(), entries.format_name()));
  }
  ByteVector out;
  if (npy) {
    const std::string header = volume::MakeNpyHeader(
        volume::NumberType::kUint64, voxels->size, /*fortran_order=*/true);
    Append(out, AsBytes(header));
  }
  const size_t at = out.size();
  out.resize(at + voxels->values.size() * sizeof(uint64_t));
  for (size_t i = 0; i < voxels->values.size(); ++i) {
    StoreLE<uint64_t>(out.data() + at + i * sizeof(uint64_t), voxels->values[i]);
  }
  return Bytes::FromVector(std::move(out));
}

// The label lists of an entry, a line of JSON.
Result<Bytes> Lists(const Source& source, const Container& entries,
                    const std::string& key) {
  DOLIUM_TRY(const auto lists, source.LabelsOf(key));
  if (!lists) {
    return InvalidArgument(
        fmt::format("{}: --lists is for DVID exports, this is format {}",
                    source.location().Describe(), entries.format_name()));
  }
  const Json line = {
      {"key", key}, {"labels", lists->labels}, {"supervoxels", lists->supervoxels}};
  return Bytes::Copy(AsBytes(DumpJson(line) + "\n"));
}

}  // namespace

ExitStatus RunCat(Context& context) {
  const Arguments& arguments = context.arguments;
  const auto refused = RefuseMeaningless(arguments);
  if (!refused) return context.Fail(refused.error());
  const std::string& key = arguments[1];
  const std::string file = arguments.Get("output").value_or("-");
  const auto source = context.OpenSource(arguments[0]);
  if (!source) return context.FailLocation(source.error());
  const auto entries = (*source)->entries();
  if (!entries) return context.FailLocation(entries.error());
  const bool raw = arguments.Has("raw");
  const bool preceding = arguments.Has("preceding");
  const auto kind = arguments.Get("voxels");

  uint64_t size = 0;
  std::optional<Error> unread;  // of the entry, not of the output
  const auto written =
      context.WriteFile(file, [&](const Context::ByteSink& take) -> Result<void> {
        std::optional<Error> untaken;
        const auto hand_on = [&](const Bytes& segment) -> Result<void> {
          size += segment.size();
          auto taken = take(segment);
          if (!taken) untaken = taken.error();
          return taken;
        };
        const auto read = [&]() -> Result<void> {
          if (arguments.Has("lists")) {
            DOLIUM_TRY(const Bytes lists, Lists(**source, **entries, key));
            return hand_on(lists);
          }
          if (kind) {
            const bool npy = arguments.Has("npy") || file.ends_with(".npy");
            DOLIUM_TRY(const Bytes voxels, Voxels(**source, **entries, key, *kind, npy));
            return hand_on(voxels);
          }
          if (!raw && !preceding) {
            DOLIUM_TRY_VOID(CatStreamed(**entries, key, hand_on));
            return {};
          }
          DOLIUM_TRY(const EntryData data, Cat(**entries, key, raw));
          return hand_on(preceding ? data.preceding : data.value);
        }();
        if (!read && !untaken) unread = read.error();
        return read;
      });
  if (unread) return context.Fail(*unread);
  if (!written) return context.FailLocation(written.error());
  if (context.terminal.json() && file != "-") {
    context.terminal.JsonLine("written", {{"key", key}, {"file", file}, {"size", size}});
  }
  return ExitStatus::kGood;
}

}  // namespace dolium::cli
