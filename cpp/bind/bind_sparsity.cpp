// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "plan/positions.hpp"
#include "plan/sparsity.hpp"

namespace op2::bind {
namespace {

using MapHolder = std::shared_ptr<mesh::MapTable>;
using release_gil = py::call_guard<py::gil_scoped_release>;

}  // namespace

void bind_sparsity(py::module_& core) {
  using plan::MapPair;
  using plan::Positions;
  using plan::PositionSpec;
  using plan::Sparsity;

  py::module_ room = core.attr("plan").cast<py::module_>();
  py::class_<MapPair>(room, "MapPair")
      .def(py::init([](MapHolder rows, MapHolder columns, std::int64_t n_elements) {
             return MapPair{std::move(rows), std::move(columns), n_elements};
           }),
           py::arg("rows"), py::arg("columns"), py::arg("n_elements"));
  py::class_<Sparsity, std::shared_ptr<Sparsity>>(room, "Sparsity")
      .def_readonly("n_rows", &Sparsity::n_rows)
      .def_readonly("n_columns", &Sparsity::n_columns)
      .def_readonly("longest_row", &Sparsity::longest_row)
      .def_property_readonly("n_entries", &Sparsity::n_entries)
      .def_property_readonly("bytes", &Sparsity::bytes)
      .def_property_readonly("row_offset", array_of<Sparsity>(&Sparsity::row_offset))
      .def_property_readonly("columns", array_of<Sparsity>(&Sparsity::columns));
  room.def(
      "build_sparsity",
      [](std::int64_t n_rows, std::int64_t n_columns, std::vector<MapPair> pairs, bool diagonal,
         int n_threads) {
        return std::make_shared<Sparsity>(
            plan::build_sparsity({n_rows, n_columns, std::move(pairs), diagonal}, n_threads));
      },
      py::arg("n_rows"), py::arg("n_columns"), py::arg("pairs"), py::arg("diagonal"),
      py::arg("n_threads"), release_gil());

  py::class_<PositionSpec>(room, "PositionSpec")
      .def(py::init([](std::shared_ptr<Sparsity> sparsity, std::int64_t n_elements, MapHolder rows,
                       MapHolder columns, MapHolder row_mask, MapHolder column_mask, int row_dim,
                       int column_dim, int bytes) {
             return PositionSpec{std::move(sparsity),
                                 {n_elements, nullptr},
                                 std::move(rows),
                                 std::move(columns),
                                 std::move(row_mask),
                                 std::move(column_mask),
                                 row_dim,
                                 column_dim,
                                 bytes};
           }),
           py::arg("sparsity"), py::arg("n_elements"), py::arg("rows"), py::arg("columns"),
           py::arg("row_mask").none(true), py::arg("column_mask").none(true), py::arg("row_dim"),
           py::arg("column_dim"), py::arg("bytes"));
  py::class_<Positions>(room, "Positions")
      .def_property_readonly("values", [](const py::object& self) {
        const auto& positions = self.cast<const Positions&>();
        return std::visit([&self](const auto& values) { return view(values, self); },
                          positions.values);
      });
  room.def("position_bytes", &plan::position_bytes, py::arg("longest_row"));
}

}  // namespace op2::bind
