// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <string>

#include "bind/bind.hpp"
#include "jit/nvrtc/compiler.hpp"
#include "runtime/cuda/adaptor.hpp"

namespace op2::bind {

void bind_cuda(py::module_& core) {
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  namespace cuda = runtime::cuda;
  py::module_ module = core.def_submodule("cuda", "GPUs reached through NVIDIA's driver.");
  module.def("find_devices", &cuda::find_devices, Unlocked());
  module.def("open_device", &cuda::open_device, py::arg("index"), Unlocked());
  module.def("make_compiler", &jit::nvrtc::make_compiler, py::arg("architecture"),
             py::arg("nvrtc_folders"), Unlocked());
}

}  // namespace op2::bind
