// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bind/bind.hpp"
#include "ir/group.hpp"
#include "lower/incidence.hpp"
#include "runtime/path_table.hpp"
#include "runtime/prepared_loop.hpp"
#include "runtime/task_row.hpp"

namespace op2::bind {
namespace {

using LoopPointer = std::shared_ptr<runtime::PreparedLoop>;

PyObject* run_once(PyObject* self, PyObject* /*unused*/) {
  const auto& loop = *static_cast<LoopPointer*>(PyCapsule_GetPointer(self, nullptr));
  try {
    bool has_copied = false;
    {
      const py::gil_scoped_release unlocked;
      has_copied = loop->run();
    }
    return PyBool_FromLong(has_copied ? 1 : 0);
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (...) {
    py::detail::try_translate_exceptions();
  }
  return nullptr;
}

/// A function of CPython that runs @p loop: pybind11 makes lists of arguments on the heap for each
/// call, which takes as long as a loop over nothing.
py::typing::Callable<bool()> launch_of(const LoopPointer& loop) {
  static PyMethodDef definition{"launch", &run_once, METH_NOARGS, nullptr};
  auto kept = std::make_unique<LoopPointer>(loop);
  const py::capsule held(kept.get(), [](void* pointer) {
    const std::unique_ptr<LoopPointer> owned(static_cast<LoopPointer*>(pointer));
  });
  (void)kept.release();  // the capsule's now
  PyObject* made = PyCFunction_New(&definition, held.ptr());
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::typing::Callable<bool()>>(made);
}

/// The inverse behind columns of neighbours, of a loop alone or the first member to be visited so;
/// of groups of targets if there are lanes.
plan::InverseSpec inverse_for_pairs(const ir::Loop& loop, const runtime::Binding& binding,
                                    plan::PlanCache& plans, int lanes, int n_threads) {
  const std::vector<std::size_t> inverted = ir::inverted_members(loop);
  const auto maps = lower::reduced_maps(loop, inverted.empty() ? 0 : inverted.front());
  const auto order = lanes > 0 ? plan::IncidenceOrder::by_slot : plan::IncidenceOrder::by_element;
  return runtime::inverse_of(binding, maps, order, plans, n_threads, /*all_targets=*/true);
}

}  // namespace

void bind_runtime(py::module_& core) {
  using runtime::Binding;
  using runtime::LaunchOptions;
  using runtime::PreparedLoop;
  using runtime::Timing;
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  using Buffers = std::vector<std::shared_ptr<mesh::Buffer>>;

  py::class_<Timing, std::shared_ptr<Timing>>(core, "Timing")
      .def(py::init<std::shared_ptr<Trace>>(), py::arg("trace"))
      .def_property_readonly("n_calls", [](const Timing& t) { return t.n_calls.load(); })
      .def_property_readonly("nanoseconds", [](const Timing& t) { return t.nanoseconds.load(); })
      .def_property_readonly("plan_nanoseconds",
                             [](const Timing& t) { return t.plan_nanoseconds.load(); })
      .def_property_readonly("useful_bytes", [](const Timing& t) { return t.useful_bytes.load(); })
      .def_property_readonly("operations", [](const Timing& t) { return t.operations.load(); })
      .def_property_readonly("n_unknown", [](const Timing& t) { return t.n_unknown.load(); })
      .def_property_readonly("n_double", [](const Timing& t) { return t.n_double.load(); })
      .def_property_readonly("n_measured", [](const Timing& t) { return t.n_measured.load(); })
      .def_property_readonly("measured_nanoseconds",
                             [](const Timing& t) { return t.measured_nanoseconds.load(); })
      .def_property_readonly("measured_bytes",
                             [](const Timing& t) { return t.measured_bytes.load(); });

  py::module_ room = core.attr("plan").cast<py::module_>();
  room.def(
      "path_table",
      [](const std::shared_ptr<mesh::MapTable>& map, const ir::MapRef& path,
         const ir::Iteration& iteration, const std::vector<std::shared_ptr<mesh::MapTable>>& items,
         std::int64_t n, int n_threads) {
        auto table = std::make_shared<plan::TargetTable>(
            plan::target_table(runtime::path_table(map, path, iteration, items, n), n_threads));
        const std::shared_ptr<mesh::MapTable> found(table, table->map.get());
        return found;
      },
      py::arg("map"), py::arg("path"), py::arg("iteration"), py::arg("items"), py::arg("n"),
      py::arg("n_threads"), Unlocked());

  py::class_<Binding>(core, "Binding")
      .def(py::init([](Buffers arguments, Buffers constants,
                       std::vector<std::shared_ptr<mesh::MapTable>> maps, std::vector<int> spaces,
                       std::int64_t n_elements, std::vector<ir::MapRef> paths,
                       ir::Iteration iteration, std::vector<std::shared_ptr<mesh::MapTable>> items,
                       std::vector<plan::PositionSpec> matrices,
                       std::vector<std::pair<int, int>> matrix_paths, std::vector<int> map_users,
                       std::vector<int> matrix_users, std::int64_t n_boundary,
                       std::int64_t n_first_targets) {
             return Binding{std::move(arguments),
                            std::move(constants),
                            std::move(maps),
                            std::move(spaces),
                            n_elements,
                            std::move(paths),
                            iteration,
                            std::move(items),
                            std::move(matrices),
                            std::move(matrix_paths),
                            std::move(map_users),
                            std::move(matrix_users),
                            n_boundary,
                            n_first_targets};
           }),
           py::arg("arguments"), py::arg("constants"), py::arg("maps"), py::arg("spaces"),
           py::arg("n_elements"), py::arg("paths"), py::arg("iteration"), py::arg("items"),
           py::arg("matrices"), py::arg("matrix_paths"), py::arg("map_users"),
           py::arg("matrix_users"), py::arg("n_boundary"), py::arg("n_first_targets"));
  core.def(
      "column_fill",
      [](const ir::Loop& loop, const Binding& binding, plan::PlanCache& plans, int lanes,
         const Tuning& tuning, double least, int n_threads) {
        return runtime::for_loop(ir::name_of(loop), [&] {
          // of a group for the first member that is visited by incidences; all targets have rows
          const bool is_group = loop.members.size() > 1;
          const auto maps = is_group ? lower::reduced_maps(loop, ir::inverted_members(loop).front())
                                     : lower::reduced_maps(loop);
          const plan::InverseSpec spec = runtime::inverse_of(
              binding, maps, plan::IncidenceOrder::by_slot, plans, n_threads, is_group);
          const plan::SlotLayout layout{lanes, tuning.slot_window};
          return plans.column_fill(spec, layout, least, n_threads);
        });
      },
      py::arg("loop"), py::arg("binding"), py::arg("plans"), py::arg("lanes"), py::arg("tuning"),
      py::arg("least"), py::arg("n_threads"), Unlocked());
  core.def(
      "part_elsewhere",
      [](const ir::Loop& loop, const Binding& binding, plan::PlanCache& plans, int of_elements,
         int of_targets, int lanes, int n_threads) {
        return runtime::for_loop(ir::name_of(loop), [&] {
          const plan::InverseSpec spec = inverse_for_pairs(loop, binding, plans, lanes, n_threads);
          return plans.part_elsewhere(runtime::targets_of(binding, of_elements, plans, n_threads),
                                      runtime::targets_of(binding, of_targets, plans, n_threads),
                                      spec, {.width = 0, .lanes = lanes}, n_threads);
        });
      },
      py::arg("loop"), py::arg("binding"), py::arg("plans"), py::arg("of_elements"),
      py::arg("of_targets"), py::arg("lanes"), py::arg("n_threads"), Unlocked());
  core.def(
      "part_mixed",
      [](const ir::Loop& loop, const Binding& binding, plan::PlanCache& plans, int lanes,
         int n_threads) {
        return runtime::for_loop(ir::name_of(loop), [&] {
          const plan::InverseSpec spec = inverse_for_pairs(loop, binding, plans, lanes, n_threads);
          return plans.part_mixed(spec, {.width = 0, .lanes = lanes}, n_threads);
        });
      },
      py::arg("loop"), py::arg("binding"), py::arg("plans"), py::arg("lanes"), py::arg("n_threads"),
      Unlocked());
  py::class_<LaunchOptions>(core, "LaunchOptions")
      .def(py::init<int, std::int64_t, std::int64_t, Tuning, bool, std::int64_t, int>(),
           py::arg("n_threads"), py::arg("block_size"), py::arg("useful_bytes"), py::arg("tuning"),
           py::arg("is_deterministic"), py::arg("operations"), py::arg("float_bytes"));
  py::enum_<runtime::Phase>(core, "Phase")
      .value("all", runtime::Phase::all)
      .value("core", runtime::Phase::core)
      .value("boundary", runtime::Phase::boundary);
  py::class_<runtime::GraphTask, std::shared_ptr<runtime::GraphTask>>(core, "GraphTask");
  py::class_<PreparedLoop, runtime::GraphTask, std::shared_ptr<PreparedLoop>>(core, "PreparedLoop")
      .def(py::init([](std::shared_ptr<exec::Executable> executable, Binding binding,
                       LaunchOptions options, std::shared_ptr<plan::PlanCache> plans,
                       std::shared_ptr<Timing> timing,
                       std::optional<std::shared_ptr<runtime::DeviceMirror>> mirror) {
             return std::make_shared<PreparedLoop>(std::move(executable), std::move(binding),
                                                   options, std::move(plans), std::move(timing),
                                                   std::move(mirror).value_or(nullptr));
           }),
           py::arg("executable"), py::arg("binding"), py::arg("options"), py::arg("plans"),
           py::arg("timing"), py::arg("mirror"))
      .def("run", py::overload_cast<>(&PreparedLoop::run), Unlocked())
      .def_property_readonly("launch", &launch_of)
      .def("run_phase", py::overload_cast<runtime::Phase>(&PreparedLoop::run), py::arg("phase"),
           Unlocked())
      .def("run_with", &PreparedLoop::run_with, py::arg("arguments"), Unlocked())
      .def("rebound", &PreparedLoop::rebound, py::arg("arguments"))
      .def("prepare", &PreparedLoop::prepare, Unlocked())
      .def("run_saving", &PreparedLoop::run_saving, py::arg("also"), Unlocked())
      .def("restore", &PreparedLoop::restore, Unlocked())
      .def("forget_saved", &PreparedLoop::forget_saved, Unlocked())
      .def_property_readonly("n_colours", &PreparedLoop::n_colours)
      .def_property_readonly("plan_bytes", &PreparedLoop::plan_bytes)
      .def_property_readonly("n_items", &PreparedLoop::n_items)
      .def_property_readonly("n_core_items", &PreparedLoop::n_core_items);
  py::class_<runtime::TaskRow>(core, "TaskRow")
      .def(py::init<std::vector<std::shared_ptr<runtime::GraphTask>>>(), py::arg("tasks"))
      .def("run", &runtime::TaskRow::run, Unlocked())
      .def("__len__", &runtime::TaskRow::size);
}

}  // namespace op2::bind
