// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bind/bind.hpp"
#include "graph/dag.hpp"
#include "mesh/buffer.hpp"
#include "runtime/device_while.hpp"
#include "runtime/loop_graph.hpp"
#include "runtime/phase_task.hpp"
#include "runtime/queue_task.hpp"
#include "runtime/value_tasks.hpp"

namespace op2::bind {
namespace {

using BufferPointer = std::shared_ptr<mesh::Buffer>;
using MirrorPointer = std::optional<std::shared_ptr<runtime::DeviceMirror>>;

void bind_tasks(py::module_& room) {
  using runtime::CopyTask;
  using runtime::FillTask;
  py::class_<FillTask, runtime::GraphTask, std::shared_ptr<FillTask>>(room, "FillTask")
      .def(py::init([](MirrorPointer mirror, BufferPointer target, const py::bytes& value) {
             const auto text = value.cast<std::string_view>();
             const auto* begin = reinterpret_cast<const std::byte*>(text.data());
             return std::make_shared<FillTask>(std::move(mirror).value_or(nullptr),
                                               std::move(target),
                                               std::vector(begin, begin + text.size()));
           }),
           py::arg("mirror"), py::arg("target"), py::arg("value"));
  py::class_<CopyTask, runtime::GraphTask, std::shared_ptr<CopyTask>>(room, "CopyTask")
      .def(py::init([](MirrorPointer mirror, BufferPointer target, BufferPointer source) {
             return std::make_shared<CopyTask>(std::move(mirror).value_or(nullptr),
                                               std::move(target), std::move(source));
           }),
           py::arg("mirror"), py::arg("target"), py::arg("source"));
  using runtime::ExchangeTask;
  py::class_<ExchangeTask, runtime::GraphTask, std::shared_ptr<ExchangeTask>>(room, "ExchangeTask")
      .def(py::init([](std::shared_ptr<runtime::DeviceMirror> mirror, BufferPointer target,
                       BufferPointer source) {
             return std::make_shared<ExchangeTask>(std::move(mirror), std::move(target),
                                                   std::move(source));
           }),
           py::arg("mirror"), py::arg("target"), py::arg("source"));
  using runtime::PhaseTask;
  using runtime::QueueTask;
  py::class_<PhaseTask, runtime::GraphTask, std::shared_ptr<PhaseTask>>(room, "PhaseTask")
      .def(py::init<std::shared_ptr<runtime::PreparedLoop>, runtime::Phase>(), py::arg("loop"),
           py::arg("phase"));
  py::class_<QueueTask, runtime::GraphTask, std::shared_ptr<QueueTask>>(room, "QueueTask")
      .def(py::init([](MirrorPointer mirror, std::string what, const runtime::QueueUses& values,
                       QueueTask::Function function) {
             return std::make_shared<QueueTask>(std::move(mirror).value_or(nullptr),
                                                std::move(what), values, std::move(function));
           }),
           py::arg("mirror"), py::arg("what"), py::arg("values"), py::arg("function"))
      .def_static("is_possible", &QueueTask::is_possible, py::arg("mirror"));
}

void bind_while(py::module_& room) {
  using runtime::ConditionSide;
  using runtime::DeviceWhile;
  using runtime::WhileArm;
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  py::class_<ConditionSide>(room, "ConditionSide")
      .def(py::init([](double value) {
             return ConditionSide{nullptr, DType::float64, value};
           }),
           py::arg("value"))
      .def(py::init([](BufferPointer buffer, const std::string& dtype) {
             return ConditionSide{std::move(buffer), dtype_from_name(dtype), 0};
           }),
           py::arg("buffer"), py::arg("dtype"));
  py::class_<DeviceWhile> loop(room, "DeviceWhile");
  loop.attr("by_device") = WhileArm::by_device;
  loop.attr("by_host") = WhileArm::by_host;
  loop.def(py::init([](const std::vector<runtime::LoopStep>& steps, const ConditionSide& left,
                       const ConditionSide& right, bool or_equal) {
             return std::make_unique<DeviceWhile>(steps,
                                                  runtime::WhileCondition{left, right, or_equal});
           }),
           py::arg("steps"), py::arg("left"), py::arg("right"), py::arg("or_equal"))
      .def_property_readonly("is_next", &DeviceWhile::is_next)
      .def("run", &DeviceWhile::run, py::arg("n_done"), py::arg("most"), Unlocked())
      .def("note_host", &DeviceWhile::note_host, py::arg("nanoseconds"), py::arg("n_passes"))
      .def("learn", &DeviceWhile::learn, py::arg("arm"), py::arg("nanoseconds"))
      .def_property_readonly("trial", &DeviceWhile::trial)
      .def_property_readonly("why_not", &DeviceWhile::why_not)
      .def_property_readonly("native", &DeviceWhile::native);
}

}  // namespace

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
  bind_tasks(room);
  py::class_<runtime::LoopStep>(room, "Step")
      .def(py::init([](std::vector<std::size_t> after, runtime::LoopKernel task) {
             return runtime::LoopStep{std::move(after), std::move(task)};
           }),
           py::arg("after"), py::arg("task"))
      .def(py::init([](std::vector<std::size_t> after, std::vector<runtime::LoopStep> inner) {
             return runtime::LoopStep{std::move(after), std::move(inner)};
           }),
           py::arg("after"), py::arg("inner"));
  py::enum_<runtime::Way>(room, "Way")
      .value("undecided", runtime::Way::undecided)
      .value("alone", runtime::Way::alone)
      .value("as_one", runtime::Way::as_one)
      .value("side_by_side", runtime::Way::side_by_side)
      .value("several", runtime::Way::several);
  py::class_<runtime::ReplayTrial>(room, "ReplayTrial")
      .def(
          "shortest",
          [](const runtime::ReplayTrial& one, runtime::Way way) { return one.arm(way).shortest; },
          py::arg("way"))
      .def_property_readonly("kept", &runtime::ReplayTrial::kept);
  using Report = runtime::TeamReport;
  py::class_<Report>(room, "TeamReport")
      .def_readonly("n_regions", &Report::n_regions)
      .def_readonly("n_shared", &Report::n_shared)
      .def_readonly("n_alone", &Report::n_alone)
      .def_readonly("why", &Report::why);
  bind_while(room);
  py::class_<runtime::ReadyGraph>(room, "LoopGraph")
      .def(py::init(&runtime::ready_graph), py::arg("steps"))
      .def("submit", &runtime::ReadyGraph::submit, py::arg("n"), Unlocked())
      .def("learn", &runtime::ReadyGraph::learn, py::arg("measured"))
      .def_property_readonly("trial", py::cpp_function(&runtime::ReadyGraph::trial, Unlocked()))
      .def_property_readonly("why_not", py::cpp_function(&runtime::ReadyGraph::why_not, Unlocked()))
      .def_property_readonly("report", py::cpp_function(&runtime::ReadyGraph::report, Unlocked()))
      .def_property_readonly("native", py::cpp_function(&runtime::ReadyGraph::native, Unlocked()));
}

}  // namespace op2::bind
