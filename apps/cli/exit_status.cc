#include "cli/exit_status.h"

namespace dolium::cli {
namespace {

int Rank(ExitStatus status) {
  switch (status) {
    case ExitStatus::kGood:
      return 0;
    case ExitStatus::kBad:
      return 1;
    case ExitStatus::kUnsupported:
      return 2;
    case ExitStatus::kUnreadable:
      return 3;
    case ExitStatus::kUsage:
      return 4;
    case ExitStatus::kStopped:
      return 5;
  }
  return 0;
}

}  // namespace

ExitStatus ExitStatusOf(ErrorCode code, Missing missing) {
  switch (code) {
    case ErrorCode::kNotFound:
      return missing == Missing::kEntry ? ExitStatus::kBad : ExitStatus::kUnreadable;
    case ErrorCode::kCorrupt:
      return ExitStatus::kBad;
    case ErrorCode::kInvalidArgument:
    case ErrorCode::kExists:
      return ExitStatus::kUsage;
    case ErrorCode::kConflict:
    case ErrorCode::kIo:
    case ErrorCode::kUnavailable:
      return ExitStatus::kUnreadable;
    case ErrorCode::kUnsupported:
      return ExitStatus::kUnsupported;
    case ErrorCode::kCancelled:
      return ExitStatus::kStopped;
  }
  return ExitStatus::kUnreadable;
}

ExitStatus Worse(ExitStatus a, ExitStatus b) { return Rank(a) >= Rank(b) ? a : b; }

}  // namespace dolium::cli
