// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "api/tuned.hpp"
#include "base/access.hpp"
#include "base/digest.hpp"
#include "base/dtype.hpp"
#include "base/error.hpp"
#include "base/trace.hpp"
#include "base/trial.hpp"
#include "base/trust.hpp"
#include "base/tuning.hpp"
#include "bind/bind.hpp"

namespace op2::bind {
namespace {

void bind_tuning(py::module_& core) {
  py::class_<Tunable>(core, "Tunable")
      .def_property_readonly("name", [](const Tunable& one) { return std::string(one.name); })
      .def_property_readonly(
          "steers",
          [](const Tunable& one) {
            return std::string(steers_names[static_cast<std::size_t>(one.steers)]);
          })
      .def_property_readonly("unit", [](const Tunable& one) { return std::string(one.unit); })
      .def_property_readonly("meaning", [](const Tunable& one) { return std::string(one.meaning); })
      .def_readonly("least", &Tunable::least)
      .def_readonly("most", &Tunable::most)
      .def_readonly("is_power", &Tunable::is_power);
  py::class_<Tuning>(core, "Tuning")
      .def(py::init<>())
      .def(
          "with_value",
          [](Tuning tuning, const std::string& name, const TunedValue& value) {
            tune(tuning, name, value);
            return tuning;
          },
          py::arg("name"), py::arg("value"))
      .def("__getitem__", &tuned, py::arg("name"))
      .def("values",
           [](const Tuning& tuning) {
             std::vector<std::pair<std::string, TunedValue>> found;
             for (const Tunable& one : tunables()) {
               found.emplace_back(one.name, value_of(tuning, one));
             }
             return found;
           })
      .def("__str__", &text_of)
      .def("__eq__",
           [](const Tuning& tuning, const py::object& other) {
             return py::isinstance<Tuning>(other) && tuning == other.cast<const Tuning&>();
           })
      .def("__hash__", [](const Tuning& tuning) {
        return static_cast<py::ssize_t>(std::hash<std::string>{}(text_of(tuning)));
      });
  core.attr("DEVICE_CLASSES") = py::cast(
      std::vector<std::string>(std::begin(device_class_names), std::end(device_class_names)));
  core.def("tunables", &tunables);
  core.def(
      "tuning_of_class",
      [](const std::string& name) {
        const auto* found = std::ranges::find(device_class_names, name);
        if (found == std::end(device_class_names)) {
          throw UsageError(fmt::format("tuning: there is no class of devices '{}'; there are: {}",
                                       name, fmt::join(device_class_names, ", ")));
        }
        return Tuning::of(static_cast<DeviceClass>(found - std::begin(device_class_names)));
      },
      py::arg("device_class"));
}

void bind_trial(py::module_& core) {
  py::class_<Trial>(core, "Trial")
      .def(py::init(
               [](std::size_t n_arms, int n_each, int n_warm, std::size_t preferred, double gain) {
                 return Trial(n_arms, {n_each, n_warm, preferred, gain});
               }),
           py::kw_only(), py::arg("n_arms"), py::arg("n_each"), py::arg("n_warm") = 0,
           py::arg("preferred") = 0, py::arg("gain") = 1.0)
      .def("note", &Trial::note, py::arg("arm"), py::arg("took"))
      .def(
          "shortest", [](const Trial& trial, std::size_t arm) { return trial.arm(arm).shortest; },
          py::arg("arm"))
      .def_property_readonly("is_decided", &Trial::is_decided)
      .def_property_readonly("next", &Trial::next)
      .def_property_readonly("best", &Trial::best);
}

}  // namespace

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
  core.def(
      "why_untrusted",
      [](const std::string& path, const std::string& what) {
        return why_untrusted(path, what, Trust::provided);
      },
      py::arg("path"), py::arg("what"));
  core.def("processor_name", [] { return api::processor_name(); });
  bind_tuning(core);
  bind_trial(core);

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
