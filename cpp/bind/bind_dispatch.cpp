// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include "bind/bind.hpp"
#include "dispatch/dispatcher.hpp"
#include "exec/build.hpp"
#include "jit/library.hpp"

namespace op2::bind {
void bind_dispatch(py::module_& core) {
  using dispatch::Dispatcher;
  using dispatch::Event;
  using dispatch::JitTable;
  using dispatch::Provider;
  using dispatch::Query;

  // Executables are opaque to Python: it only carries them from the provider to a loop.
  py::class_<exec::Executable, std::shared_ptr<exec::Executable>>(core, "Executable")
      .def_readonly("name", &exec::Executable::name)
      .def_readonly("strategy", &exec::Executable::strategy);

  core.def(
      "make_executable",
      [](const kir::Module& module, const ir::Loop& loop,
         const std::shared_ptr<jit::Library>& library, const std::string& strategy,
         bool is_parallel) {
        const auto launch = reinterpret_cast<op2_launch_v1>(library->symbol(module.launch_name));
        return exec::host_executable(module, loop, launch, library, strategy, is_parallel);
      },
      py::arg("module"), py::arg("loop"), py::arg("library"), py::arg("strategy"),
      py::arg("is_parallel"));

  py::class_<Query>(core, "Query")
      .def(py::init<std::string, std::string, std::string, std::string>(), py::arg("loop"),
           py::arg("signature"), py::arg("source"), py::arg("strategy"));
  py::class_<Event>(core, "DispatchEvent")
      .def_readonly("loop", &Event::loop)
      .def_readonly("provider", &Event::provider)
      .def_readonly("strategy", &Event::strategy)
      .def_readonly("rejected", &Event::rejected)
      .def_readonly("n_resolved", &Event::n_resolved)
      .def_readonly("origin", &Event::origin)
      .def_readonly("nanoseconds", &Event::nanoseconds);
  py::class_<Provider, std::shared_ptr<Provider>>(core, "Provider")
      .def_property_readonly("name", &Provider::name);
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
      .def("add", &Dispatcher::add, py::arg("provider"))
      .def(
          "resolve",
          [](Dispatcher& dispatcher, const Query& query) {
            return std::const_pointer_cast<exec::Executable>(dispatcher.resolve(query));
          },
          py::arg("query"))
      .def("filled", &Dispatcher::filled, py::arg("query"), py::arg("origin"),
           py::arg("nanoseconds"))
      .def("events", &Dispatcher::events)
      .def("clear_events", &Dispatcher::clear_events);
}

}  // namespace op2::bind
