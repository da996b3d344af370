// info, ls and verify of `-`: an MDB shard from standard input.
#pragma once

#include <string_view>

#include "cli/context.h"
#include "cli/exit_status.h"

namespace dolium::cli {

// What stands for standard input in place of a location.
inline constexpr std::string_view kStandardInput = "-";

ExitStatus ShardStreamInfo(Context& context);
ExitStatus ShardStreamLs(Context& context);
ExitStatus ShardStreamVerify(Context& context);

}  // namespace dolium::cli
