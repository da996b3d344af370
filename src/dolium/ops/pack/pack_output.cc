#include "dolium/ops/pack/pack_output.h"

#include <fmt/format.h>

namespace dolium::dataset {

Result<PackOutput> PackOutput::Make(const std::string& output, bool is_numbered) {
  std::optional<ShardNamer> namer;
  if (is_numbered) {
    DOLIUM_TRY(namer, ShardNamer::Make(output));
  }
  // Other names have the same form, so that they are locations too.
  DOLIUM_TRY([[maybe_unused]] const Location first,
             ParseLocation(namer ? namer->Name(0) : output));
  return PackOutput(output, std::move(namer));
}

Location PackOutput::At(uint64_t number) const {
  return *ParseLocation(namer_ ? namer_->Name(number) : output_);
}

std::string PackOutput::NameOf(uint64_t number) const {
  return std::string(BaseName(namer_ ? namer_->Name(number) : output_));
}

Result<void> PackOutput::CheckFree(uint64_t number) const {
  const Location location = At(number);
  DOLIUM_TRY(const auto there, location.store->Stat(location.path));
  if (!there) return {};
  return Exists(location.Describe() + ": is there already").WithHint(Hint::kReplace);
}

Result<std::optional<std::string>> PackOutput::Leftover(uint64_t count) const {
  if (!namer_) return std::nullopt;
  const Location location = At(count);
  DOLIUM_TRY(const auto there, location.store->Stat(location.path));
  if (!there) return std::nullopt;
  return location.Describe();
}

}  // namespace dolium::dataset
