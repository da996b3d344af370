#include "dolium/base/error.h"

#include <cerrno>
#include <cstring>

namespace dolium {
namespace {

ErrorCode CodeOf(int errnum) {
  switch (errnum) {
    case ENOENT:
    case ENOTDIR:
      return ErrorCode::kNotFound;
    case EEXIST:
      return ErrorCode::kExists;
    case EAGAIN:
    case EBUSY:
    case EINTR:
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ETIMEDOUT:
      return ErrorCode::kUnavailable;
    default:
      return ErrorCode::kIo;
  }
}

}  // namespace

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return "not_found";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kExists:
      return "exists";
    case ErrorCode::kConflict:
      return "conflict";
    case ErrorCode::kIo:
      return "io";
    case ErrorCode::kUnavailable:
      return "unavailable";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kCancelled:
      return "cancelled";
  }
  return "unknown";
}

Error SystemError(int errnum, std::string_view action) {
  char buffer[256];
  std::string message(action);
  message += ": ";
  message += strerror_r(errnum, buffer, sizeof buffer);
  Error error{CodeOf(errnum), std::move(message)};
  error.errnum = errnum;
  return error;
}

}  // namespace dolium
