// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bind/bind.hpp"
#include "jit/service.hpp"
#include "jit/stamp.hpp"
#include "jit/store.hpp"
#include "runtime/host/team.hpp"
#include "runtime/host/threads.hpp"

namespace op2::bind {

void check_signals() {
  const py::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

namespace {

std::unique_ptr<jit::Service> make_service(std::string cache_dir, bool use_disk,
                                           std::int64_t max_disk_bytes,
                                           std::size_t max_memory_entries,
                                           double compile_timeout_seconds, std::string cc,
                                           std::string cxx) {
  return std::make_unique<jit::Service>(jit::Options{
      {std::move(cache_dir), use_disk, max_disk_bytes, compile_timeout_seconds, check_signals},
      max_memory_entries,
      std::move(cc),
      std::move(cxx)});
}

using Paths = std::vector<py::bytes>;  // as the system has them, in any encoding

std::vector<std::string> texts(const Paths& paths) {
  return {paths.begin(), paths.end()};
}

void bind_compiler_values(py::module_& module) {
  using jit::Library;
  py::enum_<jit::Language>(module, "Language")
      .value("c", jit::Language::c)
      .value("cxx", jit::Language::cxx);
  py::enum_<jit::Origin>(module, "Origin")
      .value("memory", jit::Origin::memory)
      .value("disk", jit::Origin::disk)
      .value("compiled", jit::Origin::compiled);
  py::class_<Library, std::shared_ptr<Library>>(module, "Library")
      .def(py::init<const std::string&>(), py::arg("path"))
      .def(
          "symbol",
          [](const Library& library, const std::string& name) {
            return reinterpret_cast<std::uintptr_t>(library.symbol(name));
          },
          py::arg("name"))
      .def_property_readonly("path", &Library::path);
  py::class_<jit::Loaded>(module, "Loaded")
      .def_readonly("library", &jit::Loaded::library)
      .def_readonly("origin", &jit::Loaded::origin)
      .def_readonly("seconds", &jit::Loaded::seconds)
      .def_readonly("path", &jit::Loaded::path);
  py::class_<jit::HostCompiler>(module, "HostCompiler")
      .def_readonly("language", &jit::HostCompiler::language)
      .def_readonly("command", &jit::HostCompiler::command)
      .def_readonly("path", &jit::HostCompiler::path)
      .def_readonly("version", &jit::HostCompiler::version)
      .def_readonly("native_flags", &jit::HostCompiler::native_flags)
      .def_readonly("resolved_arch", &jit::HostCompiler::resolved_arch);
  module.def(
      "text_at",
      [](const Library& library, const std::string& symbol) {
        return std::string(static_cast<const char*>(library.symbol(symbol)));
      },
      py::arg("library"), py::arg("symbol"));
  module.def("base_flags", &jit::base_flags, py::arg("compiler"));
  module.def("vector_bytes", &jit::vector_bytes, py::arg("compiler"));
  module.def("gather_bytes", &jit::gather_bytes, py::arg("compiler"));
  module.def("why_old", &jit::why_old, py::arg("compiler"));
}

void bind_reports(py::module_& module) {
  using jit::Statistics;
  py::class_<Statistics>(module, "Statistics")
      .def_readonly("n_compiles", &Statistics::n_compiles)
      .def_readonly("n_memory_hits", &Statistics::n_memory_hits)
      .def_readonly("n_disk_hits", &Statistics::n_disk_hits)
      .def_readonly("n_damaged", &Statistics::n_damaged)
      .def_readonly("compile_seconds", &Statistics::compile_seconds);
  py::class_<jit::CacheInfo>(module, "CacheInfo")
      .def_readonly("path", &jit::CacheInfo::path)
      .def_readonly("problem", &jit::CacheInfo::problem)
      .def_property_readonly("n_entries",
                             [](const jit::CacheInfo& info) { return info.disk.n_entries; })
      .def_property_readonly("n_bytes",
                             [](const jit::CacheInfo& info) { return info.disk.n_bytes; });
}

}  // namespace

void bind_jit(py::module_& core) {
  using jit::Service;
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  py::module_ module = core.def_submodule("jit", "Compile services and their caches.");
  bind_compiler_values(module);
  bind_reports(module);
  py::class_<Service>(module, "Service")
      .def(py::init(&make_service), py::kw_only(), py::arg("cache_dir"), py::arg("use_disk"),
           py::arg("max_disk_bytes"), py::arg("max_memory_entries"),
           py::arg("compile_timeout_seconds"), py::arg("cc"), py::arg("cxx"))
      .def("load", &Service::load, py::arg("source"), py::arg("language"), py::arg("extra_flags"),
           py::arg("key_extra"), Unlocked())
      .def(
          "recall",
          [](const Service& service, const std::string& suffix,
             const std::string& key) -> std::optional<py::bytes> {
            const std::optional<std::string> found = service.recall(suffix, key);
            return found ? std::optional<py::bytes>(*found) : std::nullopt;
          },
          py::arg("suffix"), py::arg("key"))
      .def(
          "keep",
          [](Service& service, const std::string& suffix, const std::string& key,
             const py::bytes& payload) { service.keep(suffix, key, std::string(payload)); },
          py::arg("suffix"), py::arg("key"), py::arg("payload"))
      .def("compiler", &Service::compiler, py::arg("language"), py::return_value_policy::copy,
           Unlocked())
      .def("run", &Service::run, py::kw_only(), py::arg("language"), py::arg("arguments"),
           py::arg("compiles"), Unlocked())
      .def("statistics", &Service::statistics)
      .def("info", &Service::info, Unlocked())
      .def("take_notices", &Service::take_notices)
      .def("clear", &Service::clear, Unlocked());
  module.def(
      "cache_directory",
      [](const std::string& option) { return jit::cache_directory(option).string(); },
      py::arg("option"));
  module.def(
      "stamp_of", [](const Paths& folders) { return jit::stamp_of(texts(folders)); },
      py::arg("folders"));
  module.def(
      "stamp_of_package",
      [](const Paths& places, const std::string& package) {
        return jit::stamp_of_package(texts(places), package);
      },
      py::arg("places"), py::arg("package"));
  core.def("available_threads", &runtime::available_threads);
  core.def(
      "open_teams_by",
      [](std::shared_ptr<jit::Library> library) {
        // graphs may run for as long as the process: the code stays loaded
        static auto& kept = *new std::vector<std::shared_ptr<jit::Library>>;
        void* const open = library->symbol("op2_open_team");
        kept.push_back(std::move(library));
        runtime::open_teams_by(reinterpret_cast<op2_open_team_v1>(open));
      },
      py::arg("library"));
  core.def("note_parallel_region", &runtime::note_parallel_region);
  core.def("forked_after_parallel_region", &runtime::forked_after_parallel_region);
}

}  // namespace op2::bind
