// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "bind/bind.hpp"
#include "exec/exact_sum.hpp"
#include "exec/exchange.hpp"
#include "exec/incomplete_lu.hpp"
#include "exec/krylov.hpp"
#include "exec/products.hpp"
#include "exec/sparse_inverse.hpp"

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

/// Return an array with the memory of a call; it may be empty.
py::array_t<double> array_over(std::span<double> values) {
  static double nothing = 0;
  double* at = values.empty() ? &nothing : values.data();
  const py::capsule owner(at, [](void*) {});
  return py::array_t<double>(static_cast<py::ssize_t>(values.size()), at, owner);
}

/// Wrap a Python function of an array, which shares the memory of the call.
std::function<void(std::span<double>)> on_array(const py::object& given) {
  if (given.is_none()) return {};
  return [called = py::handle(given)](std::span<double> values) {
    const py::gil_scoped_acquire locked;
    called(array_over(values));
  };
}

/// Wrap a Python function of two arrays: it reads the first, and writes the second.
std::function<void(std::span<double>, std::span<double>)> on_arrays(const py::object& given) {
  if (given.is_none()) return {};
  return [called = py::handle(given)](std::span<double> from, std::span<double> to) {
    const py::gil_scoped_acquire locked;
    called(array_over(from), array_over(to));
  };
}

using Addresses = std::vector<std::uintptr_t>;
using Travelling =
    std::tuple<std::size_t, std::size_t, std::uintptr_t, std::vector<std::int64_t>, DType>;

std::vector<exec::TravellingRows> travelling(const std::vector<Travelling>& given) {
  std::vector<exec::TravellingRows> found;
  found.reserve(given.size());
  for (const auto& [array, row_bytes, memory, rows, dtype] : given) {
    found.push_back({array, row_bytes, memory, rows, dtype});
  }
  return found;
}

/// Copy handles of requests, end to end.
exec::MpiRequests requests_of(const std::pair<std::uintptr_t, std::uintptr_t>& functions,
                              const Addresses& requests, std::size_t handle_bytes,
                              std::size_t status_bytes) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  exec::MpiRequests made{reinterpret_cast<exec::MpiRequests::StartAll>(functions.first),
                         reinterpret_cast<exec::MpiRequests::TestAll>(functions.second),
                         static_cast<int>(requests.size()),
                         std::vector<std::uint64_t>(requests.size() * handle_bytes / word + 1),
                         std::vector<std::uint64_t>(requests.size() * status_bytes / word + 1)};
  for (std::size_t i = 0; i < requests.size(); ++i) {
    std::memcpy(reinterpret_cast<std::byte*>(made.handles.data()) + i * handle_bytes,
                reinterpret_cast<const void*>(requests[i]), handle_bytes);
  }
  return made;
}

void bind_messages(py::module_& core) {
  py::class_<exec::Exchange>(core, "Messages")
      .def(py::init([](const std::pair<std::uintptr_t, std::uintptr_t>& functions,
                       const Addresses& requests, std::size_t handle_bytes,
                       std::size_t status_bytes, const std::vector<Travelling>& sent,
                       const std::vector<Travelling>& received) {
             return std::make_unique<exec::Exchange>(
                 requests_of(functions, requests, handle_bytes, status_bytes), travelling(sent),
                 travelling(received));
           }),
           py::arg("functions"), py::arg("requests"), py::arg("handle_bytes"),
           py::arg("status_bytes"), py::arg("sent"), py::arg("received"))
      .def(
          "begin", [](exec::Exchange& self, const Addresses& arrays) { self.begin(arrays); },
          py::arg("arrays"))
      .def("poll", &exec::Exchange::poll, py::arg("n_tries"))
      .def(
          "unpack",
          [](const exec::Exchange& self, const Addresses& arrays) { self.unpack(arrays); },
          py::arg("arrays"))
      .def(
          "combine",
          [](const exec::Exchange& self, const Addresses& arrays, const std::string& access) {
            self.combine(arrays, access == "INC"   ? move::Update::add
                                 : access == "MIN" ? move::Update::min
                                                   : move::Update::max);
          },
          py::arg("arrays"), py::arg("access"));
}

void bind_exact_sums(py::module_& core) {
  using Parts = exec::ExactSum::Parts;
  constexpr auto n_parts = static_cast<py::ssize_t>(std::tuple_size_v<Parts>);
  core.def(
      "exact_sums",
      [](const Dense<double>& values, int n_threads) {
        const auto width = values.ndim() == 2 ? static_cast<std::size_t>(values.shape(1)) : 1;
        const auto given = values_of(values);
        std::vector<exec::ExactSum> sums;
        {
          const py::gil_scoped_release unlocked;
          sums = exec::column_sums(given, width, n_threads);
        }
        py::array_t<std::int64_t> found({static_cast<py::ssize_t>(width), n_parts});
        for (std::size_t i = 0; i < width; ++i) {
          std::ranges::copy(sums[i].parts(), found.mutable_data(static_cast<py::ssize_t>(i), 0));
        }
        return found;
      },
      py::arg("values"), py::arg("n_threads"),
      "Return the exact sums of columns as integers, which may be added in any order.");
  core.def(
      "exact_rounded",
      [](const Dense<std::int64_t>& given) {
        if (given.ndim() != 2 || given.shape(1) != n_parts) {
          throw UsageError("exact_rounded: expected the result of exact_sums");
        }
        py::array_t<double> found(given.shape(0));
        for (py::ssize_t i = 0; i < given.shape(0); ++i) {
          Parts parts;
          std::copy_n(given.data(i, 0), parts.size(), parts.begin());
          found.mutable_at(i) = exec::ExactSum::rounded(parts);
        }
        return found;
      },
      py::arg("parts"), "Return the nearest doubles to exact sums.");
}

}  // namespace

void bind_solvers(py::module_& core) {
  bind_messages(core);
  bind_exact_sums(core);
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
  py::class_<exec::SparseInverse>(core, "SparseInverse")
      .def(py::init([](const Dense<std::int64_t>& row_offset, const Dense<std::int32_t>& columns,
                       std::int64_t width, const std::variant<Dense<double>, Dense<float>>& values,
                       std::int64_t n_ghosts) {
             auto copied = std::visit(
                 [](const auto& given) {
                   const auto found = values_of(given);
                   return exec::SparseInverse::Values(std::vector(found.begin(), found.end()));
                 },
                 values);
             const auto offsets = values_of(row_offset);
             const auto numbers = values_of(columns);
             return std::make_unique<exec::SparseInverse>(
                 std::vector(offsets.begin(), offsets.end()),
                 std::vector(numbers.begin(), numbers.end()), width, std::move(copied), n_ghosts);
           }),
           py::arg("row_offset"), py::arg("columns"), py::arg("width"), py::arg("values"),
           py::arg("n_ghosts") = 0);
  core.def(
      "solve_krylov",
      [](const Dense<std::int64_t>& row_offset, const ColumnNumbers& columns,
         const Dense<double>& values, int dim, const Dense<double>& b, Dense<double>& x,
         KrylovMethod method, double rtol, double atol, double divtol, std::int64_t max_it,
         std::int64_t restart, bool is_jacobi, const exec::IncompleteLu* ilu,
         const exec::SparseInverse* inverse, int n_threads, bool is_fused, const py::object& bring,
         const py::object& add_up, bool is_inverse_wide, const py::object& product) {
        const std::span<const double> right = values_of(b);
        const std::span<double> found(x.mutable_data(), static_cast<std::size_t>(x.size()));
        const exec::KrylovOptions options{method,
                                          rtol,
                                          atol,
                                          divtol,
                                          max_it,
                                          restart,
                                          is_jacobi,
                                          ilu,
                                          inverse,
                                          n_threads,
                                          check_signals,
                                          is_fused,
                                          {on_array(bring), on_array(add_up)},
                                          is_inverse_wide,
                                          on_arrays(product)};
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
      py::arg("ilu"), py::arg("inverse"), py::arg("n_threads"), py::arg("is_fused") = false,
      py::arg("bring") = py::none(), py::arg("add_up") = py::none(),
      py::arg("is_inverse_wide") = false, py::arg("product") = py::none());
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
