// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <pybind11/stl.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "bind/bind.hpp"
#include "cg/context.hpp"

namespace op2::bind {
namespace {

/// The words of a dialect that another one may have otherwise, by the names of Dialect's members.
const std::map<std::string, std::string_view cg::Dialect::*>& words_of_dialects() {
  using cg::Dialect;
  static const std::map<std::string, std::string_view Dialect::*> words{
      {"name", &Dialect::name},
      {"kernel", &Dialect::kernel},
      {"function", &Dialect::function},
      {"keep_apart", &Dialect::keep_apart},
      {"global", &Dialect::global},
      {"local", &Dialect::local},
      {"restrict_word", &Dialect::restrict_word},
      {"barrier", &Dialect::barrier},
      {"warp_barrier", &Dialect::warp_barrier},
      {"global_barrier", &Dialect::global_barrier},
      {"global_id", &Dialect::global_id},
      {"block_id", &Dialect::block_id},
      {"lane_id", &Dialect::lane_id},
      {"n_lanes", &Dialect::n_lanes},
      {"n_blocks", &Dialect::n_blocks},
      {"n_global", &Dialect::n_global},
      {"shuffle", &Dialect::shuffle},
      {"arrive", &Dialect::arrive},
      {"fetch", &Dialect::fetch},
      {"kernel_start", &Dialect::kernel_start},
      {"assume_aligned", &Dialect::assume_aligned},
      {"grid_loop", &Dialect::grid_loop},
      {"bounds", &Dialect::bounds},
      {"atomics", &Dialect::atomics},
      {"exchange_any", &Dialect::exchange_any},
      {"words", &Dialect::words},
      {"table", &Dialect::table},
      {"large_table", &Dialect::large_table},
  };
  return words;
}

/// Views of words last as long as the program: a dialect is made once, in its backend's file.
std::string_view kept(const std::string& word) {
  static std::set<std::string> words;  // whose addresses do not change; the GIL is held
  return *words.insert(word).first;
}

cg::Dialect changed(cg::Dialect dialect, const std::map<std::string, std::string>& words) {
  const auto& known = words_of_dialects();
  for (const auto& [name, word] : words) {
    const auto found = known.find(name);
    if (found == known.end()) {
      std::vector<std::string> names;
      for (const auto& [one, member] : known) names.push_back(one);
      throw UsageError(fmt::format("dialect: there is no word '{}'; there are: {}", name,
                                   fmt::join(names, ", ")));
    }
    dialect.*found->second = kept(word);
  }
  return dialect;
}

void bind_statement_values(py::module_& module) {
  using namespace cg;
  py::enum_<Reorder>(module, "Reorder")
      .value("direct", Reorder::direct)
      .value("merge_fas", Reorder::merge_fas)
      .value("merge_fas_checked", Reorder::merge_fas_checked);
  py::enum_<StatementKind>(module, "StatementKind")
      .value("fetch", StatementKind::fetch)
      .value("arithm", StatementKind::arithm)
      .value("store", StatementKind::store);
  py::enum_<Sharing>(module, "Sharing")
      .value("none", Sharing::none)
      .value("not_nested", Sharing::not_nested)
      .value("nested", Sharing::nested)
      .value("both", Sharing::both);
  py::enum_<Conflict>(module, "Conflict")
      .value("brace", Conflict::brace)
      .value("rename", Conflict::rename);
  py::class_<Variable>(module, "Variable")
      .def(py::init<std::string>(), py::arg("name"))
      .def_readonly("name", &Variable::name);
  py::class_<Memory>(module, "Memory")
      .def(py::init<std::string, std::string>(), py::arg("region"), py::arg("index"))
      .def_readonly("region", &Memory::region)
      .def_readonly("index", &Memory::index);
  py::class_<Effects>(module, "Effects")
      .def(py::init<std::vector<Location>, std::vector<Location>>(), py::arg("reads"),
           py::arg("writes"))
      .def_readonly("reads", &Effects::reads)
      .def_readonly("writes", &Effects::writes);
  py::class_<Declarator>(module, "Declarator")
      .def(py::init<std::string, std::string, std::string>(), py::arg("name"), py::arg("init"),
           py::arg("extents"));
  py::class_<Declaration>(module, "Declaration")
      .def(py::init<std::string, std::vector<Declarator>, Sharing, int, Conflict,
                    std::optional<std::vector<Location>>>(),
           py::arg("type"), py::arg("declarators"), py::arg("sharing"), py::arg("scope"),
           py::arg("conflict"), py::arg("init_reads"));
  py::class_<Options>(module, "Options")
      .def(py::init<int, std::size_t, bool>(), py::arg("indent"), py::arg("max_bytes"),
           py::arg("measure"));
  py::class_<Dialect>(module, "Dialect")
      .def_readonly("name", &Dialect::name)
      .def("but", &changed, py::arg("words"))
      .def("type_name", &Dialect::type_name, py::arg("dtype"));
  module.def("c_dialect", &c_dialect, py::return_value_policy::reference);
  module.def("opencl_dialect", &opencl_dialect, py::return_value_policy::reference);
  module.def("cuda_dialect", &cuda_dialect, py::return_value_policy::reference);
}

// A Python exception does not unwind C++, so __exit__ says which way the block was left.
void bind_scope(py::module_& module) {
  py::class_<cg::Scope>(module, "Scope")
      .def("end", &cg::Scope::end)
      .def("__enter__", [](py::object self) { return self; })
      .def("__exit__",
           [](cg::Scope& self, const py::object& type, const py::object& /*value*/,
              const py::object& /*traceback*/) { type.is_none() ? self.end() : self.abandon(); });
}

void bind_context(py::module_& module) {
  using cg::Context;
  py::class_<Context>(module, "Context")
      .def(py::init<const cg::Dialect&, cg::Options>(), py::arg("dialect"), py::arg("options"))
      .def("finish", &Context::finish)
      .def("size", &Context::size)
      .def("remaining", &Context::remaining)
      .def("reset", &Context::reset)
      .def("top_level", &Context::top_level, py::arg("text"))
      .def("reserve", &Context::reserve, py::arg("name"))
      .def("function", &Context::function, py::arg("header"), py::keep_alive<0, 1>())
      .def("section", &Context::section, py::arg("owner"), py::arg("reorder"),
           py::keep_alive<0, 1>())
      .def("flush", &Context::flush)
      .def("declare", py::overload_cast<const cg::Declaration&>(&Context::declare),
           py::arg("declaration"))
      .def("statement", py::overload_cast<std::string_view>(&Context::statement), py::arg("text"))
      .def("statement", py::overload_cast<cg::StatementKind, std::string_view>(&Context::statement),
           py::arg("kind"), py::arg("text"))
      .def("statement",
           py::overload_cast<cg::StatementKind, std::string_view, cg::Effects>(&Context::statement),
           py::arg("kind"), py::arg("text"), py::arg("effects"))
      .def("begin_branch", &Context::begin_branch, py::arg("header"))
      .def("else_branch", &Context::else_branch, py::arg("header"))
      .def("end_branch", &Context::end_branch, py::arg("trailer"))
      .def("blank_line", &Context::blank_line)
      .def("comment", &Context::comment, py::arg("text"))
      .def("pragma", &Context::pragma, py::arg("text"))
      .def("barrier", &Context::barrier);
}

}  // namespace

void bind_cg(py::module_& core) {
  py::module_ module = core.def_submodule("cg", "The generation context. See cpp/cg.");
  bind_statement_values(module);
  bind_scope(module);
  bind_context(module);
}

}  // namespace op2::bind
