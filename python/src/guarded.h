// What functions that Python calls straight, by a slot of a type, have around them.
#pragma once

#include <exception>
#include <new>

#include <nanobind/nanobind.h>

namespace dolium::python {

namespace nb = nanobind;

// The object in an instance of its class, which may have been made without its
// constructor: TypeError. For slots, which Python calls with the right class.
template <typename T>
T& Constructed(nb::handle self) {
  if (!nb::inst_ready(self)) {
    PyErr_SetString(PyExc_TypeError, "not constructed");
    throw nb::python_error();
  }
  return *nb::inst_ptr<T>(self);
}

// The same for methods that take a handle, which may be of anything.
template <typename T>
T& Instance(nb::handle self) {
  if (!nb::isinstance<T>(self)) {
    PyErr_Format(PyExc_TypeError, "expected %s, not %s",
                 nb::type_name(nb::type<T>()).c_str(), Py_TYPE(self.ptr())->tp_name);
    throw nb::python_error();
  }
  return Constructed<T>(self);
}

// The value of `body`, or `failed` with a Python exception set. Needs the GIL.
template <typename T, typename Body>
T Guarded(T failed, const Body& body) noexcept {
  const auto type_of = [](nb::exception_type type) {
    if (type == nb::exception_type::type_error) return PyExc_TypeError;
    if (type == nb::exception_type::index_error) return PyExc_IndexError;
    return PyExc_ValueError;
  };
  try {
    return body();
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const nb::builtin_exception& error) {
    PyErr_SetString(type_of(error.type()), error.what());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return failed;
}

}  // namespace dolium::python
