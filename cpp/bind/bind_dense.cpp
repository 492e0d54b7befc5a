// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/complex.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/bind.hpp"
#include "dispatch/operations.hpp"
#include "exec/dense_ops.hpp"
#include "libs/cblas.hpp"
#include "libs/vectors.hpp"

namespace op2::bind {
namespace {

using Offered = std::tuple<std::string, std::string, std::string>;

void bind_operations(py::module_& core) {
  using dispatch::Count;
  using dispatch::Decision;
  using dispatch::Operations;
  py::class_<Count, std::shared_ptr<Count>>(core, "OperationCount")
      .def("add", &Count::add, py::arg("nanoseconds"));
  py::class_<Decision>(core, "OperationDecision")
      .def_readonly("which", &Decision::which)
      .def_readonly("is_measured", &Decision::is_measured);
  py::class_<Operations, std::shared_ptr<Operations>>(core, "Operations")
      .def(
          "decide",
          [](Operations& operations, std::string name, std::string dtype, std::int64_t size,
             std::string place, const std::vector<Offered>& offers, const std::string& own) {
            std::vector<dispatch::Offer> given;
            for (const auto& [library, file, veto] : offers) given.push_back({library, file, veto});
            return operations.decide({std::move(name), std::move(dtype), size, std::move(place)},
                                     given, own);
          },
          py::arg("name"), py::arg("dtype"), py::arg("size"), py::arg("place"), py::arg("offers"),
          py::arg("own"))
      .def("done", &Operations::done, py::arg("decision"), py::arg("nanoseconds"))
      .def("learn", &Operations::learn, py::arg("kind"), py::arg("size"), py::arg("way"),
           py::arg("nanoseconds"))
      .def("decided",
           [](const Operations& operations) {
             std::vector<std::tuple<std::string, int, std::map<std::string, double>>> found;
             for (dispatch::Measured::Decided& one : operations.decided()) {
               found.emplace_back(std::move(one.kind), one.size, std::move(one.nanoseconds));
             }
             return found;
           })
      .def("counted", &Operations::counted, py::arg("name"), py::arg("dtype"));
}

}  // namespace

void bind_dense(py::module_& core) {
  using exec::Column;
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  py::class_<Column>(core, "Column")
      .def(py::init([](DType dtype, std::uintptr_t address, std::int64_t n, std::int64_t stride) {
             return Column{dtype, reinterpret_cast<void*>(address), n, stride};
           }),
           py::arg("dtype"), py::arg("address"), py::arg("n"), py::arg("stride"))
      .def_readonly("dtype", &Column::dtype)
      .def_property_readonly(
          "address",
          [](const Column& column) { return reinterpret_cast<std::uintptr_t>(column.data); })
      .def_readonly("n", &Column::n)
      .def_readonly("stride", &Column::stride);
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
  bind_operations(core);
  using libs::Vectors;
  py::class_<Vectors>(core, "Vectors")
      .def(py::init([](const std::vector<std::string>& candidates,
                       std::shared_ptr<dispatch::Operations> operations) {
             return std::make_unique<Vectors>(std::make_unique<libs::Cblas>(candidates),
                                              std::move(operations));
           }),
           py::arg("candidates"), py::arg("operations"))
      .def_property_readonly("path", &Vectors::path)
      .def("dot", &Vectors::dot, py::arg("x"), py::arg("y"), py::arg("conjugate"),
           py::arg("n_threads"), Unlocked())
      .def("axpy", &Vectors::axpy, py::arg("alpha"), py::arg("x"), py::arg("y"),
           py::arg("n_threads"), Unlocked());
  core.def("cblas_names", &libs::cblas_names);
  core.def("dot", &exec::dot, py::arg("x"), py::arg("y"), py::arg("conjugate"),
           py::arg("n_threads"), Unlocked());
}

}  // namespace op2::bind
