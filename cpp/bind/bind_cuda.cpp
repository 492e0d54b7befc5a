// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <string>
#include <utility>

#include "bind/bind.hpp"
#include "runtime/cuda/open.hpp"

namespace op2::bind {

void bind_cuda(py::module_& core) {
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  namespace cuda = runtime::cuda;
  py::module_ module = core.def_submodule("cuda", "GPUs reached through NVIDIA's driver.");
  module.def("find_devices", &cuda::find_devices, Unlocked());
  module.def(
      "open_device",
      [](int index, const std::vector<std::string>& nvrtc_folders) {
        cuda::OpenedDevice opened = cuda::open_device(index, nvrtc_folders);
        return std::pair(std::move(opened.device), std::move(opened.compiler));
      },
      py::arg("index"), py::arg("nvrtc_folders"), Unlocked());
  module.def("make_compiler", &cuda::make_compiler, py::arg("architecture"),
             py::arg("nvrtc_folders"), Unlocked());
}

}  // namespace op2::bind
