#include <chrono>
#include <cstdlib>

#include <fmt/format.h>

#include "dolium/bytes/http_headers.h"
#include "dolium/bytes/http_store.h"

namespace dolium {
namespace {

constexpr uint64_t kMaxRate = uint64_t{1} << 30;
constexpr uint64_t kMaxSeconds = 86'400;

// The number in an environment variable, or `otherwise` if it is not set.
Result<uint64_t> NumberFrom(const char* variable, uint64_t otherwise, uint64_t least,
                            uint64_t most) {
  const char* const text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return otherwise;
  const auto number = ParseDecimal(text);
  if (!number || *number < least || *number > most) {
    return InvalidArgument(fmt::format("{}: \"{}\" is not a number from {} to {}",
                                       variable, text, least, most));
  }
  return *number;
}

}  // namespace

Result<HttpOptions> HttpOptionsFromEnvironment() {
  HttpOptions options;
  TransferOptions& transfer = options.transfer;
  DOLIUM_TRY(transfer.min_rate,
             NumberFrom("DOLIUM_HTTP_MIN_RATE", transfer.min_rate, 1, kMaxRate));
  const auto usual = static_cast<uint64_t>(transfer.stall_timeout.count());
  DOLIUM_TRY(const uint64_t seconds,
             NumberFrom("DOLIUM_HTTP_TIMEOUT", usual, 1, kMaxSeconds));
  transfer.stall_timeout = std::chrono::seconds(seconds);
  return options;
}

}  // namespace dolium
