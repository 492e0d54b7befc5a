// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>
#include <pybind11/typing.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "base/plan_arrays.hpp"
#include "bind/bind.hpp"
#include "dispatch/ahead_table.hpp"
#include "dispatch/dispatcher.hpp"
#include "exec/build.hpp"
#include "exec/launch_json.hpp"
#include "exec/portable.hpp"
#include "jit/library.hpp"

namespace op2::bind {
namespace {
using Described = py::typing::Dict<py::str, py::object>;
}  // namespace
void bind_dispatch(py::module_& core) {
  using dispatch::AheadTable;
  using dispatch::Dispatcher;
  using dispatch::Event;
  using dispatch::JitTable;
  using dispatch::Provider;
  using dispatch::Query;

  // Executables are opaque to Python: it only carries them from the provider to a loop, and
  // Programs from a device to an Executable.
  py::class_<exec::Program, std::shared_ptr<exec::Program>>(core, "Program");
  py::class_<exec::Executable, std::shared_ptr<exec::Executable>>(core, "Executable")
      .def_readonly("name", &exec::Executable::name)
      .def_readonly("strategy", &exec::Executable::strategy)
      .def_property_readonly("position_bytes", &exec::position_bytes);

  core.def(
      "read_executable",
      [](const std::string& written, const std::shared_ptr<jit::Library>& library,
         const std::string& symbol) {
        auto made = exec::read_executable(written);
        made->launch = reinterpret_cast<op2_launch_v1>(library->symbol(symbol));
        made->owner = library;
        return made;
      },
      py::arg("written"), py::arg("library"), py::arg("symbol"));
  core.def(
      "read_device_executable",
      [](const std::string& written, std::shared_ptr<exec::Program> program,
         const std::string& suffix) {
        return exec::read_executable(written, std::move(program), suffix);
      },
      py::arg("written"), py::arg("program"), py::arg("suffix"));

  py::class_<Query>(core, "Query")
      .def(py::init<std::string, std::string, std::string, std::string, std::string>(),
           py::arg("loop"), py::arg("signature"), py::arg("source"), py::arg("strategy"),
           py::arg("text"));
  py::class_<Event>(core, "DispatchEvent")
      .def_readonly("loop", &Event::loop)
      .def_readonly("provider", &Event::provider)
      .def_readonly("strategy", &Event::strategy)
      .def_readonly("rejected", &Event::rejected)
      .def_readonly("n_resolved", &Event::n_resolved)
      .def_readonly("origin", &Event::origin)
      .def_readonly("generating", &Event::generating)
      .def_readonly("building", &Event::building)
      .def_readonly("running", &Event::running);
  py::class_<Provider, std::shared_ptr<Provider>>(core, "Provider")
      .def_property_readonly("name", &Provider::name);
  py::class_<AheadTable, Provider, std::shared_ptr<AheadTable>>(core, "AheadTable")
      .def(py::init<>())
      .def("add", &AheadTable::add, py::arg("query"), py::arg("executable"))
      .def(
          "find", [](AheadTable& table, const Query& query) { return table.find(query).why; },
          py::arg("query"))
      .def("knows", &AheadTable::knows, py::arg("query"))
      .def("note", &AheadTable::note, py::arg("query"))
      .def("refuse", &AheadTable::refuse, py::arg("query"), py::arg("why"))
      .def("clear", &AheadTable::clear);
  core.def(
      "written_down",
      [](const kir::Module& module, const ir::Loop& loop, const std::string& strategy,
         bool is_parallel) {
        return exec::canonical(*exec::host_executable(module, loop, strategy, is_parallel));
      },
      py::arg("module"), py::arg("loop"), py::arg("strategy"), py::arg("is_parallel"));
  core.def(
      "written_down_for_device",
      [](const kir::Module& module, const ir::Loop& loop, const std::string& strategy) {
        return exec::canonical(*exec::device_executable(module, loop, strategy));
      },
      py::arg("module"), py::arg("loop"), py::arg("strategy"));
  core.def(
      "range_of",
      [](const kir::Module& module) {
        constexpr std::array<const char*, 4> items = {"elements", "blocks", "targets", "groups"};
        Described found;
        found["items"] = items.at(static_cast<std::size_t>(module.items));
        found["scratch_per_slot"] = module.scratch.per_slot;
        found["scratch_per_item"] = module.scratch.per_item;
        found["chunk"] = module.scratch.chunk;
        return found;
      },
      py::arg("module"));
  core.def(
      "launches_of",
      [](const kir::Module& module) {
        return exec::launch_json(exec::launch_program(module), module.argv);
      },
      py::arg("module"));
  core.def(
      "arguments_of",
      [](const kir::Module& module) {
        py::typing::List<Described> found;
        for (const kir::Parameter& parameter : module.argv) {
          Described one;
          one["name"] = parameter.name;
          one["role"] = exec::name_of(parameter.role);
          one["number"] = parameter.index;
          one["dtype"] = name_of(parameter.type.dtype);
          one["pointer"] = parameter.type.is_pointer;
          one["writes"] = parameter.type.is_pointer && !parameter.type.is_const;
          if (parameter.role == kir::Role::plan) {
            const abi::ArrayFacts& facts = abi::facts_of(parameter.array);
            one["array"] = facts.name;
            one["shape"] = facts.shape;
            one["what"] = facts.what;
          }
          found.append(std::move(one));
        }
        return found;
      },
      py::arg("module"));
  py::class_<JitTable, Provider, std::shared_ptr<JitTable>>(core, "JitTable")
      .def(py::init<std::size_t>(), py::arg("max_entries"))
      .def(
          "insert",
          [](JitTable& table, const Query& query, std::shared_ptr<exec::Executable> executable) {
            table.insert(query, std::move(executable));
          },
          py::arg("query"), py::arg("executable"))
      .def("clear", &JitTable::clear);
  py::class_<Dispatcher>(core, "Dispatcher")
      .def(py::init<>())
      .def_property_readonly("operations", &Dispatcher::operations)
      .def("add", &Dispatcher::add, py::arg("provider"))
      .def("add_first", &Dispatcher::add_first, py::arg("provider"))
      .def(
          "resolve",
          [](Dispatcher& dispatcher, const Query& query) {
            return std::const_pointer_cast<exec::Executable>(dispatcher.resolve(query));
          },
          py::arg("query"))
      .def("filled", &Dispatcher::filled, py::arg("query"), py::arg("origin"),
           py::arg("generating"), py::arg("building"))
      .def("asked", &Dispatcher::asked, py::arg("query"))
      .def("events", &Dispatcher::events)
      .def("clear_events", &Dispatcher::clear_events);
}

}  // namespace op2::bind
