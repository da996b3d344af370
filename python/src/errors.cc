#include "python/src/errors.h"

#include "python/src/bindings.h"

namespace dolium::python {
namespace {

// Owned by the module, which is never unloaded.
PyObject* corrupt_error = nullptr;
PyObject* conflict_error = nullptr;

PyObject* NewException(nb::module_& module, const char* name, const char* doc,
                       nb::handle bases) {
  const std::string full_name = std::string("dolium.") + name;
  PyObject* const type =
      PyErr_NewExceptionWithDoc(full_name.c_str(), doc, bases.ptr(), nullptr);
  if (type == nullptr) throw nb::python_error();
  module.attr(name) = nb::handle(type);
  return type;
}

PyObject* TypeOf(ErrorCode code, Absent absent) {
  switch (code) {
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

}  // namespace

nb::str MessageText(std::string_view text) {
  PyObject* const decoded =
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace");
  if (decoded == nullptr) throw nb::python_error();
  return nb::steal<nb::str>(decoded);
}

void Raise(const Error& error, Absent absent) {
  const nb::str message = MessageText(error.message);
  PyErr_SetObject(TypeOf(error.code, absent), message.ptr());
  throw nb::python_error();
}

void BindErrors(nb::module_& module) {
  PyObject* const error =
      NewException(module, "Error", "What only dolium raises.", PyExc_Exception);
  corrupt_error = NewException(module, "CorruptError",
                               "The bytes contradict the format or a checksum.", error);
  conflict_error =
      NewException(module, "ConflictError",
                   "An object was replaced, again and again, while it was used.",
                   nb::make_tuple(nb::handle(error), nb::handle(PyExc_OSError)));
}

}  // namespace dolium::python
