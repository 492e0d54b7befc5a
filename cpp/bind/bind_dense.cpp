// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/complex.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "bind/bind.hpp"
#include "exec/dense_ops.hpp"
#include "libs/cblas.hpp"
#include "libs/vectors.hpp"

namespace op2::bind {

void bind_dense(py::module_& core) {
  using exec::Column;
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  py::class_<Column>(core, "Column")
      .def(py::init([](DType dtype, std::uintptr_t address, std::int64_t n, std::int64_t stride) {
             return Column{dtype, reinterpret_cast<void*>(address), n, stride};
           }),
           py::arg("dtype"), py::arg("address"), py::arg("n"), py::arg("stride"));
  core.def("common_dtype", &exec::common, py::arg("left"), py::arg("right"));
  core.def(
      "combine",
      [](const std::string& op, const Column& out, const Column& left, const Column& right,
         int n_threads) { exec::combine(exec::elementwise_from(op), out, left, right, n_threads); },
      py::arg("op"), py::arg("out"), py::arg("left"), py::arg("right"), py::arg("n_threads"),
      Unlocked());
  core.def("axpy", &exec::axpy, py::arg("alpha"), py::arg("x"), py::arg("y"), py::arg("n_threads"),
           Unlocked());
  core.def(
      "copy",
      [](std::uintptr_t to, std::uintptr_t from, std::int64_t n_bytes, int n_threads) {
        exec::copy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), n_bytes,
                   n_threads);
      },
      py::arg("to"), py::arg("from_"), py::arg("n_bytes"), py::arg("n_threads"), Unlocked());
  using libs::VectorEvent;
  using libs::Vectors;
  py::class_<VectorEvent>(core, "VectorEvent")
      .def_readonly("operation", &VectorEvent::operation)
      .def_readonly("dtype", &VectorEvent::dtype)
      .def_readonly("by_library", &VectorEvent::by_library)
      .def_readonly("rejected", &VectorEvent::rejected)
      .def_readonly("n_calls", &VectorEvent::n_calls);
  py::class_<Vectors>(core, "Vectors")
      .def(py::init([](const std::vector<std::string>& candidates) {
             return std::make_unique<Vectors>(std::make_unique<libs::Cblas>(candidates));
           }),
           py::arg("candidates"))
      .def_property_readonly("path", &Vectors::path)
      .def("dot", &Vectors::dot, py::arg("x"), py::arg("y"), py::arg("conjugate"),
           py::arg("n_threads"), Unlocked())
      .def("axpy", &Vectors::axpy, py::arg("alpha"), py::arg("x"), py::arg("y"),
           py::arg("n_threads"), Unlocked())
      .def("events", &Vectors::events)
      .def("clear_events", &Vectors::clear_events);
  core.def("cblas_names", &libs::cblas_names);
  core.def("dot", &exec::dot, py::arg("x"), py::arg("y"), py::arg("conjugate"),
           py::arg("n_threads"), Unlocked());
}

}  // namespace op2::bind
