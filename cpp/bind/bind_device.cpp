// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bind/bind.hpp"
#include "jit/device_service.hpp"
#include "runtime/chosen_device.hpp"
#include "runtime/copy_rate.hpp"
#include "runtime/device_mirror.hpp"

namespace op2::bind {
namespace {

using Unlocked = py::call_guard<py::gil_scoped_release>;

void bind_device_values(py::module_& core) {
  using runtime::Device;
  using runtime::DeviceInfo;
  py::class_<DeviceInfo>(core, "DeviceInfo")
      .def_readonly("backend", &DeviceInfo::backend)
      .def_readonly("platform", &DeviceInfo::platform)
      .def_readonly("name", &DeviceInfo::name)
      .def_readonly("driver", &DeviceInfo::driver)
      .def_readonly("capability", &DeviceInfo::capability)
      .def_readonly("memory_bytes", &DeviceInfo::memory_bytes)
      .def_readonly("largest_bytes", &DeviceInfo::largest_bytes)
      .def_readonly("n_units", &DeviceInfo::n_units)
      .def_readonly("warp", &DeviceInfo::warp)
      .def_readonly("shared_bytes", &DeviceInfo::shared_bytes)
      .def_readonly("float64", &DeviceInfo::float64)
      .def_readonly("is_cpu", &DeviceInfo::is_cpu);
  py::class_<jit::DeviceBinary>(core, "DeviceBinary")
      .def_readonly("origin", &jit::DeviceBinary::origin)
      .def_readonly("seconds", &jit::DeviceBinary::seconds)
      .def_readonly("path", &jit::DeviceBinary::path)
      .def_property_readonly(
          "bytes", [](const jit::DeviceBinary& binary) { return py::bytes(*binary.bytes); });
  py::class_<Device, mesh::Device, std::shared_ptr<Device>>(core, "RuntimeDevice")
      .def_property_readonly("info", &Device::info)
      .def(
          "load",
          [](Device& device, const jit::DeviceBinary& binary) {
            return device.load(*binary.bytes);
          },
          py::arg("binary"), Unlocked())
      .def(
          "load_bytes",
          [](Device& device, const py::bytes& binary) {
            const std::string copied = binary;
            const py::gil_scoped_release unlocked;
            return device.load(copied);
          },
          py::arg("binary"))
      .def("limit_memory", &Device::limit_memory, py::arg("n_bytes"))
      .def("start_clock", &Device::start_clock, Unlocked())
      .def("stop_clock", &Device::stop_clock, Unlocked())
      .def("measure_copy_rate", &runtime::measure_copy_rate, py::arg("n_bytes"),
           py::arg("n_copies"), Unlocked());
  py::class_<jit::DeviceCompiler, std::shared_ptr<jit::DeviceCompiler>>(core, "DeviceCompiler")
      .def_property_readonly("identity", &jit::DeviceCompiler::identity);
}

void bind_device_service(py::module_& core) {
  using jit::DeviceService;
  py::class_<DeviceService>(core, "DeviceService")
      .def(py::init([](std::string cache_dir, bool use_disk, std::int64_t max_disk_bytes,
                       std::size_t max_memory_bytes, double compile_timeout_seconds) {
             return std::make_unique<DeviceService>(
                 jit::DeviceServiceOptions{{std::move(cache_dir), use_disk, max_disk_bytes,
                                            compile_timeout_seconds, check_signals},
                                           max_memory_bytes});
           }),
           py::kw_only(), py::arg("cache_dir"), py::arg("use_disk"), py::arg("max_disk_bytes"),
           py::arg("max_memory_bytes"), py::arg("compile_timeout_seconds"))
      .def("compile", &DeviceService::compile, py::arg("compiler"), py::arg("source"),
           py::arg("compile_options"), py::arg("key_extra"), Unlocked())
      .def("statistics", &DeviceService::statistics)
      .def("take_notices", &DeviceService::take_notices);
}

}  // namespace

void bind_device(py::module_& core) {
  using runtime::DeviceMirror;
  bind_device_values(core);
  bind_device_service(core);
  py::class_<DeviceMirror, std::shared_ptr<DeviceMirror>>(core, "DeviceMirror")
      .def(py::init<std::shared_ptr<runtime::Device>, std::shared_ptr<mesh::Coherence>>(),
           py::arg("device"), py::arg("coherence"))
      .def(
          "settle", [](DeviceMirror& mirror) { mirror.meter().settle(); }, Unlocked());
  core.def(
      "chosen_device",
      [](const std::vector<std::tuple<std::string, std::string, bool>>& devices,
         const std::string& platform, const std::string& device) {
        std::vector<runtime::DeviceLabel> labels;
        for (const auto& [name, of, is_cpu] : devices) labels.push_back({name, of, is_cpu});
        return runtime::chosen_device(labels, platform, device);
      },
      py::arg("devices"), py::arg("platform"), py::arg("device"));
}

}  // namespace op2::bind
