// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <memory>

#include "base/access.hpp"
#include "base/digest.hpp"
#include "base/dtype.hpp"
#include "base/trace.hpp"
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

  py::class_<Trace::Span>(core, "TraceSpan")
      .def(py::init([](std::string what, std::string kind, std::string place, std::int64_t begin,
                       std::int64_t nanoseconds) {
             return Trace::Span{std::move(what), std::move(kind), std::move(place), begin,
                                nanoseconds};
           }),
           py::arg("what"), py::arg("kind"), py::arg("place"), py::arg("begin"),
           py::arg("nanoseconds"))
      .def_readonly("what", &Trace::Span::what)
      .def_readonly("kind", &Trace::Span::kind)
      .def_readonly("place", &Trace::Span::place)
      .def_readonly("begin", &Trace::Span::begin)
      .def_readonly("nanoseconds", &Trace::Span::nanoseconds)
      .def_readonly("n_bytes", &Trace::Span::n_bytes);
  py::class_<Trace, std::shared_ptr<Trace>>(core, "Trace")
      .def(py::init<>())
      .def("start", &Trace::start, py::arg("every"))
      .def("stop", &Trace::stop)
      .def("add", &Trace::add, py::arg("span"))
      .def("spans", &Trace::spans)
      .def_property_readonly("is_on", &Trace::is_on)
      .def_property_readonly("n_dropped", &Trace::n_dropped);
  core.def("trace_clock", &trace_clock);
}

}  // namespace op2::bind
