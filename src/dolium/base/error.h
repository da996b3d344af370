// Error: what went wrong, in one of a few kinds that mean the same everywhere.
//
// The library never prints and never aborts on bad input: it returns an Error. The
// message names the object, key and range, what was found and what was expected, and
// gains context on the way up: `seg/s0/1f.shard: chunk 4021: bytes [8192, 12288) end
// past the object (10240 bytes)`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace dolium {

enum class ErrorCode : uint8_t {
  kNotFound,         // the thing named is not there
  kCorrupt,          // the bytes contradict the format or a digest
  kInvalidArgument,  // the caller asked for something senseless
  kExists,           // the target is there already and may not be overwritten
  kConflict,         // the object is no longer at the generation that the caller named
  kIo,               // could not read or write
  kUnavailable,      // could not read or write now; may work later
  kUnsupported,      // valid, but we cannot do it
  kCancelled,        // stopped on request
};

// What may help. A library message names no option and no command, for it does not know
// who will read it: the command line and Python each word the hint as they call it.
enum class Hint : uint8_t {
  kNone,
  kReplace,           // the caller may allow to replace what is there
  kSalvage,           // what is whole of damaged shards can be salvaged
  kSalvageOrReindex,  // the same, or the index can be rewritten from the data
  kReindex,           // the missing index can be written
  kRewriteIndex,      // the index can be rewritten from the data
  kSkipDamaged,       // a copy can leave out what is damaged
  kGiveSharding,      // the caller may give the sharding spec
  kNameFormat,        // the caller may name the format
  kConvertToVolume,   // a conversion makes a volume of it
  kGiveXorbs,         // the caller may name a folder with xorbs
  kUseCas,            // a cas store does what was asked for
  kInitStore,         // a cas store can be made there
  kListNames,         // the names in the cas store can be listed
  kRebuildIndex,      // the index of the cas store can be rebuilt
  kFindDamage,        // a check of the cas store names what is damaged
  kDropBase,          // the caller may allow to drop scale 0
  kPackSamples,       // samples are packed by functions of their own
  kExportSamples,     // samples are exported by functions of their own
};

// The name of a code in JSON output: "not_found", "corrupt", ...
std::string_view ErrorCodeName(ErrorCode code);

struct [[nodiscard]] Error {
  ErrorCode code = ErrorCode::kIo;
  std::string message;
  // A word for programs where the code is too coarse ("incomplete"); text that lives for
  // ever. Mostly empty.
  std::string_view kind = {};
  Hint hint = Hint::kNone;
  int errnum = 0;  // of the system call that failed; 0: it was none

  // The same error, with `context` and ": " put before the message.
  Error Within(std::string_view context) && {
    message.insert(0, ": ").insert(0, context);
    return std::move(*this);
  }
  Error Within(std::string_view context) const& { return Error(*this).Within(context); }

  Error WithKind(std::string_view word) && {
    kind = word;
    return std::move(*this);
  }
  Error WithHint(Hint what) && {
    hint = what;
    return std::move(*this);
  }
};

inline Error NotFound(std::string message) {
  return {ErrorCode::kNotFound, std::move(message)};
}
inline Error Corrupt(std::string message) {
  return {ErrorCode::kCorrupt, std::move(message)};
}
inline Error InvalidArgument(std::string message) {
  return {ErrorCode::kInvalidArgument, std::move(message)};
}
inline Error Exists(std::string message) {
  return {ErrorCode::kExists, std::move(message)};
}
inline Error Conflict(std::string message) {
  return {ErrorCode::kConflict, std::move(message)};
}
inline Error IoError(std::string message) { return {ErrorCode::kIo, std::move(message)}; }
inline Error Unavailable(std::string message) {
  return {ErrorCode::kUnavailable, std::move(message)};
}
inline Error Unsupported(std::string message) {
  return {ErrorCode::kUnsupported, std::move(message)};
}
inline Error Cancelled(std::string message = "stopped on request") {
  return {ErrorCode::kCancelled, std::move(message)};
}

// An Error of the fitting kind for a failed system call: `action` and the text of
// `errnum`.
Error SystemError(int errnum, std::string_view action);

}  // namespace dolium
