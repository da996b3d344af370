#include "dolium/ops/pack/pack_output.h"

#include <utility>

#include <fmt/format.h>

namespace dolium::dataset {

Result<PackOutput> PackOutput::Make(const std::string& output, bool is_numbered,
                                    bool force) {
  std::optional<ShardNamer> namer;
  if (is_numbered) {
    DOLIUM_TRY(namer, ShardNamer::Make(output));
  }
  // Other names have the same form, so that they are places too.
  DOLIUM_TRY([[maybe_unused]] const Location first,
             ParseLocation(namer ? namer->Name(0) : output));
  PackOutput made(output, std::move(namer));
  for (uint64_t number = 0; !force && number < (is_numbered ? 2U : 1U); ++number) {
    const Location location = made.At(number);
    DOLIUM_TRY(const auto there, location.store->Stat(location.path));
    if (!there) continue;
    return Exists(
        fmt::format("{}: is there already; --force replaces it", location.Describe()));
  }
  return made;
}

Location PackOutput::At(uint64_t number) const {
  return *ParseLocation(namer_ ? namer_->Name(number) : output_);
}

Result<std::optional<std::string>> PackOutput::Leftover(uint64_t count) const {
  if (!namer_) return std::nullopt;
  const Location location = At(count);
  DOLIUM_TRY(const auto there, location.store->Stat(location.path));
  if (!there) return std::nullopt;
  return location.Describe();
}

void PackOutput::Withdraw(uint64_t number) const {
  const Location location = At(number);
  [[maybe_unused]] const auto removed =
      location.store->Remove(location.path, Precondition::None());
}

}  // namespace dolium::dataset
