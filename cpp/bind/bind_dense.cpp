// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "bind/bind.hpp"
#include "dispatch/operations.hpp"
#include "exec/dense_ops.hpp"
#include "libs/known.hpp"
#include "libs/vectors.hpp"
#include "move/assign.hpp"

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

using IndexList = py::array_t<std::int64_t, py::array::c_style | py::array::forcecast>;

/// An assignment of values, with the list that it reads.
struct Move {
  move::Type to;
  move::Type from;
  move::Rows rows;
  IndexList list;
};

void bind_moves(py::module_& core) {
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  using Side = std::tuple<DType, bool, std::uintptr_t, std::int64_t, std::int64_t>;
  py::class_<Move>(core, "Move")
      .def(py::init([](const Side& to, const Side& from, std::int64_t n, std::int64_t dim,
                       const std::optional<IndexList>& list) {
             const auto& [to_dtype, is_to_truth, to_address, to_row, to_item] = to;
             const auto& [from_dtype, is_from_truth, from_address, from_row, from_item] = from;
             Move made{.to = {to_dtype, is_to_truth},
                       .from = {from_dtype, is_from_truth},
                       .rows = {.to = reinterpret_cast<char*>(to_address),
                                .from = reinterpret_cast<const char*>(from_address),
                                .n = n,
                                .dim = dim,
                                .to_row = to_row,
                                .to_item = to_item,
                                .from_row = from_row,
                                .from_item = from_item,
                                .lists = {}},
                       .list = list.value_or(IndexList())};
             if (list) {
               made.rows.n = made.list.size();
               made.rows.lists = {made.list.data(), made.list.data()};
             }
             return made;
           }),
           py::arg("to"), py::arg("from_"), py::arg("n"), py::arg("dim"),
           py::arg("rows") = std::nullopt)
      .def(
          "first_unfit",
          [](const Move& self, const std::string& casting, int n_threads) {
            return move::first_unfit(self.rows, self.to, self.from, move::casting_from(casting),
                                     n_threads);
          },
          py::arg("casting"), py::arg("n_threads"), Unlocked())
      .def(
          "assign",
          [](const Move& self, const std::string& casting, int n_threads, bool is_checked) {
            return move::assign(self.rows, self.to, self.from, move::casting_from(casting),
                                n_threads, is_checked);
          },
          py::arg("casting"), py::arg("n_threads"), py::arg("is_checked") = false, Unlocked())
      .def("overlaps",
           [](const Move& self) { return move::overlap(self.rows, self.to, self.from); })
      .def(
          "explained",
          [](const Move& self, const std::string& casting) {
            return move::explain(self.rows, self.to, self.from, move::casting_from(casting));
          },
          py::arg("casting"));
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
  bind_moves(core);
  bind_operations(core);
  using libs::Vectors;
  py::class_<Vectors>(core, "Vectors")
      .def(py::init([](const std::string& wanted, const std::vector<std::string>& before,
                       std::shared_ptr<dispatch::Operations> operations) {
             libs::OpenedLibraries found = libs::open_libraries(wanted, before);
             if (found.libraries.empty()) {
               throw ToolchainError(fmt::format("there is no library for algebra: {}",
                                                fmt::join(found.missing, "; ")),
                                    "", "", "");
             }
             return std::make_unique<Vectors>(std::move(found.libraries), std::move(operations));
           }),
           py::arg("wanted"), py::arg("before"), py::arg("operations"))
      .def_property_readonly("paths", &Vectors::paths)
      .def(
          "dot",
          [](Vectors& self, const Column& x, const Column& y, bool conjugate, int n_threads) {
            return self.dot(x, y, conjugate, [&] { return exec::dot(x, y, conjugate, n_threads); });
          },
          py::arg("x"), py::arg("y"), py::arg("conjugate"), py::arg("n_threads"), Unlocked())
      .def(
          "axpy",
          [](Vectors& self, const Column& alpha, const Column& x, const Column& y, int n_threads) {
            self.axpy(alpha, x, y, [&] { exec::axpy(alpha, x, y, n_threads); });
          },
          py::arg("alpha"), py::arg("x"), py::arg("y"), py::arg("n_threads"), Unlocked());
  core.def("known_libraries", &libs::known_libraries);
  core.def("dot", &exec::dot, py::arg("x"), py::arg("y"), py::arg("conjugate"),
           py::arg("n_threads"), Unlocked());
}

}  // namespace op2::bind
