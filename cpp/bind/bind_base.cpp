// SPDX-License-Identifier: BSD-3-Clause
#include "base/access.hpp"
#include "base/digest.hpp"
#include "base/dtype.hpp"
#include "bind/bind.hpp"

namespace op2::bind {

void bind_base(py::module_& core) {
  auto dtype = py::enum_<DType>(core, "DType");
  for (std::size_t i = 0; i < n_dtypes; ++i) {
    const auto value = static_cast<DType>(i);
    dtype.value(std::string(name_of(value)).c_str(), value);
  }
  core.def("dtype_from_name", &dtype_from_name, py::arg("name"));
  core.def(
      "c_name_of", [](DType value) { return std::string(c_name_of(value)); }, py::arg("dtype"));

  py::enum_<Access>(core, "Access")
      .value("read", Access::read)
      .value("write", Access::write)
      .value("rw", Access::rw)
      .value("inc", Access::inc)
      .value("min", Access::min)
      .value("max", Access::max);

  core.def("digest", &digest, py::arg("bytes"));
}

}  // namespace op2::bind
