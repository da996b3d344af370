// What functions that Python calls straight, by a slot of a type, have around them.
#pragma once

#include <exception>
#include <new>

#include <nanobind/nanobind.h>

namespace dolium::python {

namespace nb = nanobind;

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
