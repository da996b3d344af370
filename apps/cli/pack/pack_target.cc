#include "cli/pack/pack_target.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "dolium/bytes/unique_fd.h"

namespace dolium::cli {
namespace {

constexpr size_t kSentAtOnce = size_t{1} << 20;

constexpr std::string_view kSeveral[] = {"shard-size", "shard-records", "plan"};

Result<void> CheckOptions(const Context& context,
                          std::span<const std::string_view> others) {
  for (const auto options : {std::span<const std::string_view>(kSeveral), others}) {
    for (const std::string_view option : options) {
      if (!context.arguments.Has(option)) continue;
      return InvalidArgument(fmt::format(
          "-: --{} is for files: standard output takes one, and no more", option));
    }
  }
  if (context.arguments.Number("shards", 1) != 1) {
    return InvalidArgument("-: several shards are files: standard output takes one");
  }
  return {};
}

Result<std::string> MakeFolder() {
  std::error_code failure;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(failure);
  if (failure) return SystemError(failure.value(), "no folder for temporary files");
  std::string pattern = (parent / "dolium-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) {
    return SystemError(errno, "cannot make a temporary folder").Within(parent.string());
  }
  return pattern;
}

// The one file in a folder, whatever ending its kind has given it.
Result<std::string> FileIn(const std::string& folder) {
  std::error_code failure;
  std::string found;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failure)) {
    if (!entry.is_regular_file(failure)) continue;
    if (!found.empty()) {
      return Unsupported("-: several files were made: standard output takes one");
    }
    found = entry.path().string();
  }
  if (failure) return SystemError(failure.value(), "cannot list").Within(folder);
  if (found.empty()) return NotFound("-: nothing was made");
  return found;
}

}  // namespace

Result<PackTarget> PackTarget::Make(const Context& context, std::string target,
                                    std::string_view name,
                                    std::span<const std::string_view> others) {
  if (target != "-") return PackTarget(std::move(target), "");
  DOLIUM_TRY_VOID(CheckOptions(context, others));
  DOLIUM_TRY(std::string folder, MakeFolder());
  context.terminal.set_lines_to_error(true);
  std::string path = fmt::format("{}/{}", folder, name);
  return PackTarget(std::move(path), std::move(folder));
}

PackTarget::PackTarget(std::string path, std::string folder)
    : path_(std::move(path)), folder_(std::move(folder)) {}

PackTarget::PackTarget(PackTarget&& other) noexcept
    : path_(std::move(other.path_)), folder_(std::exchange(other.folder_, {})) {}

PackTarget::~PackTarget() {
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

std::string PackTarget::Named(std::string text) const {
  if (!is_pipe()) return text;
  const size_t at = text.find(path_);
  if (at != std::string::npos) text.replace(at, path_.size(), "-");
  return text;
}

Error PackTarget::Named(Error error) const {
  error.message = Named(std::move(error.message));
  return error;
}

Result<void> PackTarget::Send(const Context& context) const {
  if (!is_pipe()) return {};
  DOLIUM_TRY(const std::string path, FileIn(folder_));
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return SystemError(errno, "-: cannot read what was made");
  ByteVector buffer(kSentAtOnce);
  while (context.terminal.ok()) {
    if (context.stop.stop_requested()) return Cancelled();
    const ssize_t got =
        RetryOnSignal([&] { return read(file.get(), buffer.data(), buffer.size()); });
    if (got < 0) return SystemError(errno, "-: cannot read what was made");
    if (got == 0) break;
    context.terminal.Raw(BytesView(buffer.data(), static_cast<size_t>(got)));
  }
  return {};  // What a write has failed on, the end of the program reports.
}

}  // namespace dolium::cli
