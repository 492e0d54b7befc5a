// SPDX-License-Identifier: BSD-3-Clause
#include <cstdint>
#include <memory>

#include "bind/bind.hpp"
#include "mesh/buffer.hpp"
#include "mesh/map_table.hpp"

namespace op2::bind {
namespace {

void* pointer(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace

void bind_mesh(py::module_& core) {
  using mesh::Buffer;
  using mesh::MapTable;

  py::class_<Buffer, std::shared_ptr<Buffer>>(core, "Buffer")
      .def(py::init([](std::uintptr_t address, std::int64_t n_bytes) {
             return std::make_shared<Buffer>(pointer(address), n_bytes);
           }),
           py::arg("address"), py::arg("n_bytes"))
      .def_property_readonly(
          "address",
          [](const Buffer& buffer) { return reinterpret_cast<std::uintptr_t>(buffer.data()); })
      .def_property_readonly("n_bytes", &Buffer::n_bytes)
      .def_property_readonly("version", &Buffer::version)
      .def("increment_version", &Buffer::increment_version)
      .def(
          "reset",
          [](Buffer& buffer, std::uintptr_t address, std::int64_t n_bytes) {
            buffer.reset(pointer(address), n_bytes);
          },
          py::arg("address"), py::arg("n_bytes"));

  py::class_<MapTable, std::shared_ptr<MapTable>>(core, "MapTable")
      .def(py::init([](std::uintptr_t address, int index_bytes, std::int64_t n_rows, int arity,
                       std::int64_t n_targets) {
             return std::make_shared<MapTable>(pointer(address), index_bytes, n_rows, arity,
                                               n_targets);
           }),
           py::arg("address"), py::arg("index_bytes"), py::arg("n_rows"), py::arg("arity"),
           py::arg("n_targets"))
      .def_property_readonly("index_bytes", &MapTable::index_bytes)
      .def_property_readonly("n_rows", &MapTable::n_rows)
      .def_property_readonly("arity", &MapTable::arity)
      .def_property_readonly("n_targets", &MapTable::n_targets)
      .def_property_readonly("version", &MapTable::version)
      .def("increment_version", &MapTable::increment_version);
}

}  // namespace op2::bind
