// SPDX-License-Identifier: BSD-3-Clause
#include <exception>

#include "base/error.hpp"
#include "bind/bind.hpp"

namespace op2::bind {
namespace {

py::object python_class(const char* name) {
  return py::module_::import("pyop2cxx.exceptions").attr(name);
}

void raise(const char* name, const Error& error) {
  py::set_error(python_class(name), error.what());
}

void raise_toolchain(const char* name, const ToolchainError& error) {
  const py::object exception = python_class(name)(error.what());
  exception.attr("command") = error.command();
  exception.attr("stderr") = error.stderr_text();
  exception.attr("source_path") = error.source_path();
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception.ptr())), exception.ptr());
}

}  // namespace

void bind_errors(py::module_& /*core*/) {
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const CompilationError& error) {
      raise_toolchain("CompilationError", error);
    } catch (const ToolchainError& error) {
      raise_toolchain("ToolchainError", error);
    } catch (const TransferError& error) {
      raise("TransferError", error);
    } catch (const MeshFileError& error) {
      raise("MeshFileError", error);
    } catch (const UsageError& error) {
      raise("UsageError", error);
    } catch (const UnsupportedError& error) {
      raise("UnsupportedError", error);
    } catch (const OutOfMemoryError& error) {
      raise("OutOfMemoryError", error);
    } catch (const ExecutionError& error) {
      raise("ExecutionError", error);
    } catch (const InternalError& error) {
      raise("InternalError", error);
    }
  });
}

}  // namespace op2::bind
