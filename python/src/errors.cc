#include "python/src/errors.h"

#include <cerrno>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "python/src/bindings.h"

namespace dolium::python {
namespace {

// Owned by the module, which is never unloaded.
PyObject* base_error = nullptr;
PyObject* corrupt_error = nullptr;
PyObject* conflict_error = nullptr;

// `package` is the one that users find the class in: pickles go by that.
PyObject* NewException(nb::module_& module, const char* package, const char* name,
                       const char* doc, nb::handle bases) {
  const std::string full_name = fmt::format("{}.{}", package, name);
  PyObject* const type =
      PyErr_NewExceptionWithDoc(full_name.c_str(), doc, bases.ptr(), nullptr);
  if (type == nullptr) throw nb::python_error();
  module.attr(name) = nb::handle(type);
  return type;
}

// The classes of errors that have a kind.
std::vector<std::pair<std::string_view, PyObject*>>& ErrorKinds() {
  static std::vector<std::pair<std::string_view, PyObject*>> kinds;
  return kinds;
}

PyObject* TypeOf(const Error& error, Absent absent) {
  for (const auto& [kind, type] : ErrorKinds()) {
    if (kind == error.kind) return type;
  }
  switch (error.code) {
    case ErrorCode::kNotFound:
      return absent == Absent::kEntry ? PyExc_KeyError : PyExc_FileNotFoundError;
    case ErrorCode::kCorrupt:
      return corrupt_error;
    case ErrorCode::kInvalidArgument:
      return PyExc_ValueError;
    case ErrorCode::kExists:
      return PyExc_FileExistsError;
    case ErrorCode::kConflict:
      return conflict_error;
    case ErrorCode::kIo:
    case ErrorCode::kUnavailable:
      return PyExc_OSError;
    case ErrorCode::kUnsupported:
      return PyExc_NotImplementedError;
    case ErrorCode::kCancelled:
      return PyExc_KeyboardInterrupt;
  }
  return PyExc_OSError;
}

constexpr Hint kLastHint = Hint::kExportSamples;

std::string_view HintText(Hint hint) {
  switch (hint) {
    case Hint::kNone:
    case Hint::kReindex:  // done by the command line alone
    case Hint::kRewriteIndex:
      return "";
    case Hint::kReplace:
      return "; force=True replaces it";
    case Hint::kSalvage:
    case Hint::kSalvageOrReindex:
      return "; to salvage: skip_damaged=True";
    case Hint::kSkipDamaged:
      return "; keep what is readable with: dolium.convert(..., skip_damaged=True)";
    case Hint::kGiveSharding:
      return "; give the spec with spec=";
    case Hint::kNameFormat:
      return "; name it with format=";
    case Hint::kConvertToVolume:
      return ": dolium.volume.transcode";
    case Hint::kGiveXorbs:
      return "; xorbs= names a folder that has it";
    case Hint::kUseCas:
      return "; use: dolium.cas.Store";
    case Hint::kInitStore:
      return "; dolium.cas.Store.init makes one";
    case Hint::kListNames:
      return "; Store.ls lists names";
    case Hint::kRebuildIndex:
      return "; to rebuild it: Store.reindex";
    case Hint::kFindDamage:
      return ": Store.verify reports what is damaged, Store.rm gives it up";
    case Hint::kDropBase:
      return "; force=True drops it";
    case Hint::kPackSamples:
      return "; use: shardpack.Writer, shardpack.plan_create or shardpack.plan_import";
    case Hint::kExportSamples:
      return "; use: shardpack.plan_export";
  }
  return "";
}

// What OSErrors have as their errno, where no system call has failed.
int UsualErrno(ErrorCode code) {
  switch (code) {
    case ErrorCode::kNotFound:
      return ENOENT;
    case ErrorCode::kExists:
      return EEXIST;
    case ErrorCode::kConflict:
      return ESTALE;
    case ErrorCode::kUnavailable:
      return EBUSY;
    default:
      return EIO;
  }
}

// An instance of the fitting class; those of the system have an errno.
nb::object ExceptionOf(const Error& error, Absent absent) {
  nb::handle type(TypeOf(error, absent));
  const nb::str message = MessageText(error.message, error.hint);
  const bool is_of_system = PyObject_IsSubclass(type.ptr(), PyExc_OSError) == 1;
  if (!is_of_system) return type(message);
  const int errnum = error.errnum != 0 ? error.errnum : UsualErrno(error.code);
  // PermissionError, say: Python finds the class by the number.
  nb::object of_number;
  if (type.is(PyExc_OSError)) {
    of_number = type(errnum, message);
    type = nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(of_number.ptr())));
  }
  nb::object exception = type(message);
  exception.attr("errno") = errnum;
  return exception;
}

}  // namespace

nb::str MessageText(std::string_view text, Hint hint) {
  return MessageText(std::string(text).append(HintText(hint)));
}

nb::str MessageText(std::string_view text) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(decoded);
}

void Raise(const Error& error, Absent absent) {
  const nb::object exception = ExceptionOf(error, absent);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
  throw nb::python_error();
}

nb::object ErrorObject(const Error& error) {
  return ExceptionOf(error, Absent::kLocation);
}

void AddErrorKind(std::string_view kind, nb::handle type) {
  ErrorKinds().emplace_back(kind, type.ptr());
}

void AddErrorKind(nb::module_& module, std::string_view kind, const char* package,
                  const char* name, const char* doc, ErrorCode code) {
  const nb::handle usual(TypeOf(Error{code, ""}, Absent::kLocation));
  const bool is_ours = PyObject_IsSubclass(usual.ptr(), base_error) == 1;
  const nb::tuple bases =
      is_ours ? nb::make_tuple(usual) : nb::make_tuple(nb::handle(base_error), usual);
  AddErrorKind(kind, NewException(module, package, name, doc, bases));
}

void BindErrors(nb::module_& module) {
  base_error = NewException(module, "dolium", "Error", "What only dolium raises.",
                            PyExc_Exception);
  corrupt_error =
      NewException(module, "dolium", "CorruptError",
                   "The bytes contradict the format or a checksum.", base_error);
  conflict_error =
      NewException(module, "dolium", "ConflictError",
                   "An object was replaced, again and again, while it was used.",
                   nb::make_tuple(nb::handle(base_error), nb::handle(PyExc_OSError)));
  module.def(
      "hint_texts",
      [] {
        nb::list texts;
        for (int hint = 0; hint <= static_cast<int>(kLastHint); ++hint) {
          texts.append(MessageText(HintText(static_cast<Hint>(hint))));
        }
        return texts;
      },
      "What messages may end with: advice on what may help.");
}

}  // namespace dolium::python
