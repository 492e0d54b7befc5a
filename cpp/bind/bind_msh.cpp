// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <span>
#include <string>
#include <string_view>

#include "bind/arrays.hpp"
#include "bind/bind.hpp"
#include "mesh/msh.hpp"

namespace op2::bind {
namespace {

std::span<const char> file_of(const py::bytes& data) {
  const auto text = static_cast<std::string_view>(data);
  return {text.data(), text.size()};
}

// A damaged name is shown, not refused.
py::str text_of(const std::string& text) {
  const auto size = static_cast<py::ssize_t>(text.size());
  return py::reinterpret_steal<py::str>(PyUnicode_DecodeUTF8(text.data(), size, "replace"));
}

}  // namespace

void bind_msh(py::module_& core) {
  using mesh::MshBlock;
  using mesh::MshLink;
  using mesh::MshMesh;
  using mesh::MshName;
  py::module_ room = core.def_submodule("mesh");
  py::class_<MshBlock>(room, "MshBlock")
      .def_readonly("kind", &MshBlock::kind)
      .def_readonly("n_nodes", &MshBlock::n_nodes)
      .def_property_readonly("nodes", array_of(&MshBlock::nodes))
      .def_readonly("groups", &MshBlock::groups)
      .def_property_readonly("group_of", array_of(&MshBlock::group_of));
  py::class_<MshName>(room, "MshName")
      .def_readonly("dim", &MshName::dim)
      .def_readonly("group", &MshName::group)
      .def_property_readonly("name", [](const MshName& name) { return text_of(name.name); });
  py::class_<MshLink>(room, "MshLink")
      .def_readonly("dim", &MshLink::dim)
      .def_property_readonly("nodes", array_of(&MshLink::nodes));
  py::class_<MshMesh>(room, "MshMesh")
      .def_property_readonly("points", array_of(&MshMesh::points))
      .def_property_readonly("n_blocks", [](const MshMesh& mesh) { return mesh.blocks.size(); })
      .def(
          "block",
          [](const MshMesh& mesh, std::size_t i) -> const MshBlock& { return mesh.blocks.at(i); },
          py::arg("i"), py::return_value_policy::reference_internal)
      .def_readonly("names", &MshMesh::names)
      .def_property_readonly("n_links", [](const MshMesh& mesh) { return mesh.links.size(); })
      .def(
          "link",
          [](const MshMesh& mesh, std::size_t i) -> const MshLink& { return mesh.links.at(i); },
          py::arg("i"), py::return_value_policy::reference_internal);
  room.def(
      "is_readable_msh",
      [](const py::bytes& data) {
        const auto text = file_of(data);
        const py::gil_scoped_release unlocked;
        return mesh::is_readable_msh(text);
      },
      py::arg("data"));
  room.def(
      "read_msh",
      [](const py::bytes& data, bool with_links) {
        const auto text = file_of(data);
        const py::gil_scoped_release unlocked;
        return mesh::read_msh(text, with_links);
      },
      py::arg("data"), py::arg("with_links"));
}

}  // namespace op2::bind
