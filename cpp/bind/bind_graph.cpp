// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <memory>
#include <utility>
#include <vector>

#include "bind/bind.hpp"
#include "graph/dag.hpp"
#include "runtime/loop_graph.hpp"

namespace op2::bind {

void bind_graph(py::module_& core) {
  py::module_ room = core.def_submodule("graph", "Loops with their order; see cpp/graph.");
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  py::class_<graph::Node>(room, "Node")
      .def(py::init(
               [](std::vector<std::size_t> after, const std::vector<std::pair<int, int>>& uses) {
                 graph::Node node{std::move(after), {}};
                 for (const auto& [memory, access] : uses) {
                   node.uses.push_back({memory, static_cast<Access>(access)});
                 }
                 return node;
               }),
           py::arg("after"), py::arg("uses"));
  py::class_<graph::Conflict>(room, "Conflict")
      .def_readonly("earlier", &graph::Conflict::earlier)
      .def_readonly("later", &graph::Conflict::later)
      .def_readonly("memory", &graph::Conflict::memory);
  room.def("races", &graph::races, py::arg("nodes"), Unlocked());
  room.def("dependences", &graph::dependences, py::arg("nodes"), Unlocked());
  room.def("levels", &graph::levels, py::arg("nodes"), Unlocked());
  py::class_<runtime::LoopStep>(room, "Step")
      .def(py::init([](std::vector<std::size_t> after, runtime::LoopKernel loop) {
             return runtime::LoopStep{std::move(after), std::move(loop)};
           }),
           py::arg("after"), py::arg("loop"))
      .def(py::init([](std::vector<std::size_t> after, std::vector<runtime::LoopStep> inner) {
             return runtime::LoopStep{std::move(after), std::move(inner)};
           }),
           py::arg("after"), py::arg("inner"));
  using Trial = runtime::ReplayTrial;
  py::enum_<runtime::Way>(room, "Way")
      .value("undecided", runtime::Way::undecided)
      .value("alone", runtime::Way::alone)
      .value("as_one", runtime::Way::as_one)
      .value("side_by_side", runtime::Way::side_by_side);
  py::class_<Trial>(room, "ReplayTrial")
      .def_property_readonly("alone", [](const Trial& one) { return one.alone.shortest; })
      .def_property_readonly("as_one", [](const Trial& one) { return one.as_one.shortest; })
      .def_property_readonly("side_by_side",
                             [](const Trial& one) { return one.side_by_side.shortest; })
      .def_property_readonly("kept", &Trial::kept);
  py::class_<runtime::ReadyGraph>(room, "LoopGraph")
      .def(py::init(&runtime::ready_graph), py::arg("steps"))
      .def("submit", &runtime::ReadyGraph::submit, py::arg("n"), Unlocked())
      .def_property_readonly("trial", &runtime::ReadyGraph::trial)
      .def_property_readonly("native", &runtime::ReadyGraph::native);
}

}  // namespace op2::bind
