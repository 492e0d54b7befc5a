// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <pybind11/numpy.h>

#include <cstdint>
#include <variant>
#include <vector>

#include "base/overload.hpp"
#include "bind/bind.hpp"
#include "plan/index_array.hpp"

namespace op2::bind {

/// A read-only NumPy view of a plan's array; the view keeps the plan alive.
template <class T>
py::array view(const std::vector<T>& values, const py::object& owner) {
  py::array array(py::dtype::of<T>(), static_cast<py::ssize_t>(values.size()), values.data(),
                  owner);
  array.attr("setflags")(py::arg("write") = false);
  return array;
}

inline py::array view(const plan::IndexArray& indices, const py::object& owner) {
  return std::visit(
      overload{[&owner](const std::vector<std::int32_t>& narrow) { return view(narrow, owner); },
               [&owner](const std::vector<std::int64_t>& wide) { return view(wide, owner); }},
      indices);
}

/// A property that shows member @p member of a plan as an array.
template <class Plan, class Array>
auto array_of(Array Plan::*member) {
  return [member](const py::object& self) { return view(self.cast<const Plan&>().*member, self); };
}

}  // namespace op2::bind
