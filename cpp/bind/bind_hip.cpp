// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <string>

#include "bind/bind.hpp"
#include "jit/hiprtc/compiler.hpp"
#include "runtime/hip/adaptor.hpp"

namespace op2::bind {

void bind_hip(py::module_& core) {
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  namespace hip = runtime::hip;
  py::module_ module = core.def_submodule("hip", "GPUs reached through AMD's HIP run-time.");
  module.def("find_devices", &hip::find_devices, Unlocked());
  module.def("open_device", &hip::open_device, py::arg("index"), Unlocked());
  module.def("make_compiler", &jit::hiprtc::make_compiler, py::arg("device"), Unlocked());
}

}  // namespace op2::bind
