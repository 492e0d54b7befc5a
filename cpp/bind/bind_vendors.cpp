// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <string>
#include <vector>

#include "bind/bind.hpp"
#include "jit/device_compiler.hpp"
#include "runtime/vendors.hpp"

namespace op2::bind {

void bind_vendors(py::module_& core) {
  using runtime::DeviceVendor;
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  py::class_<DeviceVendor>(core, "DeviceVendor")
      .def(
          "list_devices", [](const DeviceVendor& vendor) { return vendor.list_devices(); },
          Unlocked())
      .def(
          "open_device",
          [](const DeviceVendor& vendor, int index) { return vendor.open_device(index); },
          py::arg("index"), Unlocked())
      .def(
          "make_compiler",
          [](const DeviceVendor& vendor, const std::string& device,
             const std::vector<std::string>& folders) {
            return jit::make_device_compiler(vendor.name, device, folders);
          },
          py::arg("device"), py::arg("folders"), Unlocked())
      .def(
          "fitting",
          [](const DeviceVendor& vendor, const std::string& capability,
             const std::vector<std::string>& targets) {
            return vendor.fitting(capability, targets);
          },
          py::arg("capability"), py::arg("targets"))
      .def(
          "loadable",
          [](const DeviceVendor& vendor, const std::string& options, const py::bytes& code) {
            return py::bytes(vendor.loadable(options, code));
          },
          py::arg("options"), py::arg("code"));
  core.def("vendor", &runtime::vendor_named, py::arg("name"), py::return_value_policy::reference);
}

}  // namespace op2::bind
