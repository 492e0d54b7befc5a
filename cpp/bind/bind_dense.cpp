// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/complex.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bind/bind.hpp"
#include "exec/dense_ops.hpp"
#include "libs/cblas.hpp"
#include "libs/choice.hpp"
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
  using libs::Choice;
  using libs::ChoiceEvent;
  using libs::Vectors;
  py::class_<ChoiceEvent>(core, "ChoiceEvent")
      .def_readonly("operation", &ChoiceEvent::operation)
      .def_readonly("dtype", &ChoiceEvent::dtype)
      .def_readonly("by_library", &ChoiceEvent::by_library)
      .def_readonly("rejected", &ChoiceEvent::rejected)
      .def_readonly("n_calls", &ChoiceEvent::n_calls);
  py::class_<Choice>(core, "Choice")
      .def(py::init<std::string>(), py::arg("library"))
      .def(
          "decide",
          [](Choice& choice, const std::string& operation, const std::string& dtype,
             std::int64_t size, const std::string& veto) {
            const libs::Decision found = choice.decide(operation, dtype, size, veto);
            return std::pair(found.by_library, found.is_measured);
          },
          py::arg("operation"), py::arg("dtype"), py::arg("size"), py::arg("veto"))
      .def("note", &Choice::note, py::arg("operation"), py::arg("dtype"), py::arg("size"),
           py::arg("by_library"), py::arg("nanoseconds"))
      .def("events", &Choice::events)
      .def("clear_events", &Choice::clear_events);
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
