// Errors as Python exceptions.
//
//   kNotFound            KeyError for an entry, FileNotFoundError for a location
//   kCorrupt             dolium.CorruptError
//   kInvalidArgument     ValueError
//   kExists              FileExistsError
//   kConflict            dolium.ConflictError, an OSError
//   kIo, kUnavailable    OSError
//   kUnsupported         NotImplementedError
//   kCancelled           KeyboardInterrupt
//
// Errors that have a kind (Error::kind) are raised as what AddErrorKind() says.
//
// All functions need the GIL.
#pragma once

#include <string_view>
#include <utility>

#include <nanobind/nanobind.h>

#include "dolium/base/result.h"

namespace dolium::python {

namespace nb = nanobind;

// What it is that kNotFound says is absent.
enum class Absent { kLocation, kEntry };

[[noreturn]] void Raise(const Error& error, Absent absent = Absent::kLocation);

// The exception, not raised.
nb::object ErrorObject(const Error& error);

// Errors of this kind, which outlives the module, are raised as this class; or as a new
// one, `package`.`name`, that is an Error and what others of this code are raised as.
// Pickles go by the package.
void AddErrorKind(std::string_view kind, nb::handle type);
void AddErrorKind(nb::module_& module, std::string_view kind, const char* package,
                  const char* name, const char* doc, ErrorCode code);

// Text of ours for people, which may quote names that are not UTF-8.
nb::str MessageText(std::string_view text);

// The same with what may help behind it, in the words of Python.
nb::str MessageText(std::string_view text, Hint hint);

// The value, or the exception for the error.
template <typename T>
T Must(Result<T> result, Absent absent = Absent::kLocation) {
  if (!result) Raise(result.error(), absent);
  return *std::move(result);
}
inline void Must(const Result<void>& result, Absent absent = Absent::kLocation) {
  if (!result) Raise(result.error(), absent);
}

}  // namespace dolium::python
