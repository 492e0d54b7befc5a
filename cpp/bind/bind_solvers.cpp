// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include "base/overload.hpp"
#include "bind/bind.hpp"
#include "exec/incomplete_lu.hpp"
#include "exec/krylov.hpp"
#include "exec/products.hpp"

namespace op2::bind {
namespace {

template <class T>
using Dense = py::array_t<T, py::array::c_style>;
using ColumnNumbers = std::variant<Dense<std::int32_t>, Dense<std::int64_t>>;

template <class T>
std::span<const T> values_of(const Dense<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

/// Call @p body with a matrix over arrays, without Python's lock.
template <class Body>
auto with_rows(const Dense<std::int64_t>& row_offset, const ColumnNumbers& columns,
               const Dense<double>& values, int dim, const Body& body, std::int64_t n_ghosts = 0) {
  const auto offsets = values_of(row_offset);
  const auto entries = values_of(values);
  const auto n_rows = static_cast<std::int64_t>(offsets.size()) - 1;
  const auto call = [&](const auto& numbers) {
    const auto places = values_of(numbers);
    using Index = typename decltype(places)::value_type;
    const exec::BlockRows<Index> matrix{n_rows, dim, offsets, places, entries, n_ghosts};
    const py::gil_scoped_release unlocked;
    return body(matrix);
  };
  return std::visit(overload{[&call](const Dense<std::int32_t>& narrow) { return call(narrow); },
                             [&call](const Dense<std::int64_t>& wide) { return call(wide); }},
                    columns);
}

/// Wrap a Python function of an array, which shares the memory of the call.
std::function<void(std::span<double>)> on_array(const py::object& given) {
  if (given.is_none()) return {};
  return [called = py::handle(given)](std::span<double> values) {
    const py::gil_scoped_acquire locked;
    const py::capsule nothing(values.data(), [](void*) {});
    called(py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data(), nothing));
  };
}

}  // namespace

void bind_solvers(py::module_& core) {
  using exec::KrylovEnd;
  using exec::KrylovMethod;
  py::enum_<KrylovMethod>(core, "KrylovMethod")
      .value("cg", KrylovMethod::cg)
      .value("bicgstab", KrylovMethod::bicgstab)
      .value("gmres", KrylovMethod::gmres);
  py::enum_<KrylovEnd>(core, "KrylovEnd")
      .value("converged", KrylovEnd::converged)
      .value("max_it", KrylovEnd::max_it)
      .value("diverged", KrylovEnd::diverged)
      .value("not_a_number", KrylovEnd::not_a_number)
      .value("breakdown", KrylovEnd::breakdown)
      .value("indefinite", KrylovEnd::indefinite);
  py::class_<exec::IncompleteLu>(core, "IncompleteLu")
      .def(py::init([](const Dense<std::int64_t>& row_offset, const ColumnNumbers& columns,
                       const Dense<double>& values, int dim) {
             return with_rows(row_offset, columns, values, dim, [](const auto& matrix) {
               return std::make_unique<exec::IncompleteLu>(matrix);
             });
           }),
           py::arg("row_offset"), py::arg("columns"), py::arg("values"), py::arg("dim"));
  core.def(
      "solve_krylov",
      [](const Dense<std::int64_t>& row_offset, const ColumnNumbers& columns,
         const Dense<double>& values, int dim, const Dense<double>& b, Dense<double>& x,
         KrylovMethod method, double rtol, double atol, double divtol, std::int64_t max_it,
         std::int64_t restart, bool is_jacobi, const exec::IncompleteLu* ilu, int n_threads,
         bool is_fused, const py::object& bring, const py::object& add_up) {
        const std::span<const double> right = values_of(b);
        const std::span<double> found(x.mutable_data(), static_cast<std::size_t>(x.size()));
        const exec::KrylovOptions options{
            method,    rtol,          atol,      divtol,
            max_it,    restart,       is_jacobi, ilu,
            n_threads, check_signals, is_fused,  {on_array(bring), on_array(add_up)}};
        const std::int64_t n_ghosts = (x.size() - b.size()) / std::max(dim, 1);
        const exec::KrylovResult result = with_rows(
            row_offset, columns, values, dim,
            [&](const auto& matrix) { return exec::solve_krylov(matrix, right, found, options); },
            n_ghosts);
        return py::make_tuple(result.end, result.history);
      },
      py::arg("row_offset"), py::arg("columns"), py::arg("values"), py::arg("dim"), py::arg("b"),
      py::arg("x").noconvert(), py::arg("method"), py::arg("rtol"), py::arg("atol"),
      py::arg("divtol"), py::arg("max_it"), py::arg("restart"), py::arg("is_jacobi"),
      py::arg("ilu"), py::arg("n_threads"), py::arg("is_fused") = false,
      py::arg("bring") = py::none(), py::arg("add_up") = py::none());
  core.def("is_multiplied", &exec::is_multiplied, py::arg("dtype"));
  core.def(
      "multiply",
      [](DType dtype, const std::pair<int, int>& block, const Dense<std::int64_t>& row_offset,
         const ColumnNumbers& columns, std::uintptr_t values, std::uintptr_t x, std::uintptr_t y,
         bool is_added, int n_threads) {
        exec::BlockTable matrix{dtype,        block.first,
                                block.second, values_of(row_offset),
                                {},           reinterpret_cast<const void*>(values)};
        std::visit([&matrix](const auto& numbers) { matrix.columns = values_of(numbers); },
                   columns);
        const py::gil_scoped_release unlocked;
        exec::multiply(matrix, reinterpret_cast<const void*>(x), reinterpret_cast<void*>(y),
                       is_added, n_threads);
      },
      py::arg("dtype"), py::arg("block"), py::arg("row_offset"), py::arg("columns"),
      py::arg("values"), py::arg("x"), py::arg("y"), py::arg("is_added"), py::arg("n_threads"));
}

}  // namespace op2::bind
