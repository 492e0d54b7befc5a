// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <span>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "mesh/entities.hpp"

namespace op2::bind {
namespace {

using Numbers = py::array_t<std::int32_t, py::array::c_style>;

std::span<const std::int32_t> numbers_of(const Numbers& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

}  // namespace

void bind_entities(py::module_& core) {
  using mesh::Entities;
  py::module_ room = core.def_submodule("mesh", "Edges and facets of a mesh.");
  py::class_<Entities>(room, "Entities")
      .def_readonly("n_corners", &Entities::n_corners)
      .def_readonly("crowded", &Entities::crowded)
      .def_property_readonly("of_cells", array_of(&Entities::of_cells))
      .def_property_readonly("vertices", array_of(&Entities::vertices))
      .def_property_readonly("first_use", array_of(&Entities::first_use))
      .def_property_readonly("second_use", array_of(&Entities::second_use));
  room.def(
      "number_entities",
      [](const mesh::MapTable& cells, const Numbers& corners, int n_corners, int n_threads) {
        const auto slots = numbers_of(corners);
        const py::gil_scoped_release unlocked;
        return mesh::number_entities(cells, slots, n_corners, n_threads);
      },
      py::arg("cells"), py::arg("corners"), py::arg("n_corners"), py::arg("n_threads"));
  room.def(
      "find_entities",
      [](const Numbers& vertices, const Numbers& rows, int n_corners, int n_threads) {
        const auto known = numbers_of(vertices);
        const auto asked = numbers_of(rows);
        std::vector<std::int64_t> found;
        {
          const py::gil_scoped_release unlocked;
          found = mesh::find_entities(known, asked, n_corners, n_threads);
        }
        return py::array_t<std::int64_t>(static_cast<py::ssize_t>(found.size()), found.data());
      },
      py::arg("vertices"), py::arg("rows"), py::arg("n_corners"), py::arg("n_threads"));
}

}  // namespace op2::bind
