// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/toolkit_places.hpp"
#include "bind/bind.hpp"
#include "libs/cublas.hpp"
#include "libs/cusparse.hpp"
#include "mesh/buffer.hpp"

namespace op2::bind {
namespace {

using libs::Cublas;
using libs::Cusparse;
using libs::SmallProduct;
using libs::SparseProduct;
using libs::SparseShape;
using mesh::Buffer;
using mesh::Use;
using runtime::Device;
using Unlocked = py::call_guard<py::gil_scoped_release>;
using Folders = std::vector<std::string>;

template <class T>
using IndexNumbers = py::array_t<T, py::array::c_style>;

template <class T>
std::span<const T> index_span(const IndexNumbers<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

void bind_cublas(py::module_& module) {
  py::class_<SmallProduct>(module, "SmallProduct")
      .def(
          py::init([](DType dtype, std::int64_t count, int m, int n, int k, bool turn_a,
                      bool turn_b) { return SmallProduct{dtype, count, m, n, k, turn_a, turn_b}; }),
          py::arg("dtype"), py::arg("count"), py::arg("m"), py::arg("n"), py::arg("k"),
          py::arg("turn_a"), py::arg("turn_b"));
  py::class_<Cublas, std::shared_ptr<Cublas>>(module, "Cublas")
      .def(py::init([](const Folders& folders, std::shared_ptr<Device> device) {
             return std::make_shared<Cublas>(
                 libs::load_cublas(toolkit_places(libs::cublas_names(), folders)),
                 std::move(device));
           }),
           py::arg("folders"), py::arg("device"), Unlocked())
      .def_property_readonly("path", &Cublas::path)
      .def("veto_dot", &Cublas::veto_dot, py::arg("x"), py::arg("y"))
      .def("veto_axpy", &Cublas::veto_axpy, py::arg("factor"), py::arg("x"), py::arg("y"))
      .def(
          "dot",
          [](Cublas& library, const std::shared_ptr<Device>& device, DType dtype, std::int64_t n,
             Buffer& x, Buffer& y, bool conjugate, Buffer& sum) {
            const mesh::TransferCause cause{"dot", -1, false};
            const void* left = x.on_device(device, Use::read, cause);
            const void* right = y.on_device(device, Use::read, cause);
            void* found = sum.on_device(device, Use::write, cause);
            library.dot(dtype, n, left, right, conjugate, found);
          },
          py::arg("device"), py::arg("dtype"), py::arg("n"), py::arg("x"), py::arg("y"),
          py::arg("conjugate"), py::arg("sum"), Unlocked())
      .def(
          "axpy",
          [](Cublas& library, const std::shared_ptr<Device>& device, DType dtype, std::int64_t n,
             Buffer& alpha, Buffer& x, Buffer& y) {
            const mesh::TransferCause cause{"axpy", -1, false};
            const void* factor = alpha.on_device(device, Use::read, cause);
            const void* source = x.on_device(device, Use::read, cause);
            void* target = y.on_device(device, Use::read_write, cause);
            library.axpy(dtype, n, factor, source, target);
            y.increment_version();
          },
          py::arg("device"), py::arg("dtype"), py::arg("n"), py::arg("alpha"), py::arg("x"),
          py::arg("y"), Unlocked())
      .def(
          "multiply",
          [](Cublas& library, const std::shared_ptr<Device>& device, const SmallProduct& product,
             Buffer& factors, Buffer& a, Buffer& b, Buffer& c, bool is_added) {
            const mesh::TransferCause cause{"dense.multiply", -1, false};
            const void* numbers = factors.on_device(device, Use::read, cause);
            const void* left = a.on_device(device, Use::read, cause);
            const void* right = b.on_device(device, Use::read, cause);
            void* found = c.on_device(device, is_added ? Use::read_write : Use::write, cause);
            library.multiply(product, numbers, left, right, found);
            c.increment_version();
          },
          py::arg("device"), py::arg("product"), py::arg("factors"), py::arg("a"), py::arg("b"),
          py::arg("c"), py::arg("is_added"), Unlocked());
}

void bind_cusparse(py::module_& module) {
  py::class_<SparseShape>(module, "SparseShape")
      .def(py::init([](DType dtype, std::int64_t n_rows, std::int64_t n_columns,
                       std::int64_t n_places, int values_of_place) {
             return SparseShape{dtype, n_rows, n_columns, n_places, values_of_place};
           }),
           py::arg("dtype"), py::arg("n_rows"), py::arg("n_columns"), py::arg("n_places"),
           py::arg("values_of_place"));
  py::class_<Cusparse, std::shared_ptr<Cusparse>>(module, "Cusparse")
      .def(py::init([](const Folders& folders, std::shared_ptr<Device> device) {
             return std::make_shared<Cusparse>(
                 libs::load_cusparse(toolkit_places(libs::cusparse_names(), folders)),
                 std::move(device));
           }),
           py::arg("folders"), py::arg("device"), Unlocked())
      .def_property_readonly("path", &Cusparse::path);
  module.def("veto_of_cusparse", &Cusparse::veto, py::arg("matrix"), py::arg("x"), py::arg("y"));
  py::class_<SparseProduct, std::shared_ptr<SparseProduct>>(module, "SparseProduct")
      .def(py::init([](std::shared_ptr<Cusparse> library, const SparseShape& shape,
                       const IndexNumbers<std::int64_t>& row_offset,
                       const IndexNumbers<std::int32_t>& columns) {
             const auto offsets = index_span(row_offset);
             const auto numbers = index_span(columns);
             const py::gil_scoped_release unlocked;
             return std::make_shared<SparseProduct>(std::move(library), shape, offsets, numbers);
           }),
           py::arg("library"), py::arg("shape"), py::arg("row_offset"), py::arg("columns"))
      .def(
          "multiply",
          [](SparseProduct& product, const std::shared_ptr<Device>& device, Buffer& values,
             Buffer& x, Buffer& y, bool is_added) {
            const mesh::TransferCause cause{"mult", -1, false};
            void* entries = values.on_device(device, Use::read, cause);
            void* given = x.on_device(device, Use::read, cause);
            void* found = y.on_device(device, is_added ? Use::read_write : Use::write, cause);
            product.multiply(entries, given, found, is_added);
            y.increment_version();
          },
          py::arg("device"), py::arg("values"), py::arg("x"), py::arg("y"), py::arg("is_added"),
          Unlocked());
}

}  // namespace

void bind_libs(py::module_& core) {
  py::module_ module = core.def_submodule("cuda", "Libraries for NVIDIA's GPUs.");
  bind_cublas(module);
  bind_cusparse(module);
}

}  // namespace op2::bind
