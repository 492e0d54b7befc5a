// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "bind/bind.hpp"
#include "mesh/buffer.hpp"
#include "mesh/guard.hpp"
#include "mesh/map_table.hpp"

namespace op2::bind {
namespace {

void* pointer(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);
}

}  // namespace

void bind_mesh(py::module_& core) {
  using mesh::Buffer;
  using mesh::Coherence;
  using mesh::Device;
  using mesh::Direction;
  using mesh::Layout;
  using mesh::MapTable;
  using mesh::Transfer;
  using mesh::Use;
  using mesh::Where;
  using Unlocked = py::call_guard<py::gil_scoped_release>;

  py::enum_<Use>(core, "Use")
      .value("read", Use::read)
      .value("write", Use::write)
      .value("read_write", Use::read_write);
  py::enum_<Where>(core, "Where")
      .value("neither", Where::neither)
      .value("host", Where::host)
      .value("device", Where::device)
      .value("both", Where::both);
  py::enum_<Direction>(core, "Direction")
      .value("to_device", Direction::to_device)
      .value("to_host", Direction::to_host);

  py::class_<Transfer>(core, "Transfer")
      .def_readonly("direction", &Transfer::direction)
      .def_readonly("is_explicit", &Transfer::is_explicit)
      .def_readonly("argument", &Transfer::argument)
      .def_readonly("what", &Transfer::what)
      .def_readonly("cause", &Transfer::cause)
      .def_readonly("device", &Transfer::device)
      .def_readonly("line", &Transfer::line)
      .def_readonly("n_copies", &Transfer::n_copies)
      .def_readonly("n_bytes", &Transfer::n_bytes)
      .def_readonly("nanoseconds", &Transfer::nanoseconds);

  core.attr("MOST_SET_BYTES") = Buffer::most_set_bytes;

  // A device that others bring: Python only passes it on.
  py::class_<Device, std::shared_ptr<Device>>(core, "Device")
      .def_property_readonly("name", &Device::name)
      .def("finish", &Device::finish, Unlocked());

  py::class_<Coherence, std::shared_ptr<Coherence>>(core, "Coherence")
      .def(py::init<>())
      .def_property_readonly("trace", &Coherence::trace)
      .def_property_readonly("is_active", &Coherence::is_active)
      .def_property(
          "is_strict", [](const Coherence& coherence) { return coherence.is_strict.load(); },
          [](Coherence& coherence, bool is_strict) { coherence.is_strict = is_strict; })
      .def("watch_all", &Coherence::watch_all, py::arg("is_on"), Unlocked())
      .def_property_readonly("n_looks", &Coherence::n_looks)
      .def("written_in_vain", &Coherence::written_in_vain, Unlocked())
      .def_property(
          "n_threads", [](const Coherence& coherence) { return coherence.n_threads.load(); },
          [](Coherence& coherence, int n_threads) { coherence.n_threads = n_threads; })
      .def(
          "attribute",
          [](Coherence& coherence, const std::string& line) {
            coherence.transfers().attribute(line);
          },
          py::arg("line"))
      .def("transfers", [](Coherence& coherence) { return coherence.transfers().rows(); })
      .def("clear_transfers", [](Coherence& coherence) { coherence.transfers().clear(); });

  py::class_<Buffer, std::shared_ptr<Buffer>>(core, "Buffer")
      .def(py::init([](std::shared_ptr<Coherence> coherence, std::string what, bool is_soa, int dim,
                       int item_bytes) {
             return std::make_shared<Buffer>(std::move(coherence), std::move(what),
                                             Layout{is_soa, dim, item_bytes});
           }),
           py::arg("coherence"), py::arg("what"), py::arg("is_soa"), py::arg("dim"),
           py::arg("item_bytes"))
      .def_property_readonly(
          "address",
          [](const Buffer& buffer) { return reinterpret_cast<std::uintptr_t>(buffer.data()); })
      .def_property_readonly("n_bytes", &Buffer::n_bytes)
      .def_property_readonly("n_rows", &Buffer::n_rows)
      .def_property_readonly("is_soa", [](const Buffer& buffer) { return buffer.layout().is_soa; })
      .def_property_readonly("version", &Buffer::version)
      .def_property_readonly("where",
                             [](Buffer& buffer) {
                               const py::gil_scoped_release unlocked;
                               return buffer.where();
                             })
      .def_property_readonly("has_copies",
                             [](Buffer& buffer) {
                               const py::gil_scoped_release unlocked;
                               return buffer.has_copies();
                             })
      .def("increment_version", &Buffer::increment_version)
      .def(
          "reset",
          [](Buffer& buffer, std::uintptr_t address, std::int64_t n_bytes, bool is_zero) {
            buffer.reset(pointer(address), n_bytes, is_zero);
          },
          py::arg("address"), py::arg("n_bytes"), py::arg("is_zero"))
      .def("release", &Buffer::release, py::arg("is_kept"), Unlocked())
      .def(
          "on_host",
          [](Buffer& buffer, Use use, const char* cause, bool is_explicit) {
            if (!buffer.is_tracked()) return buffer.on_host(use, {});
            const py::gil_scoped_release unlocked;
            return buffer.on_host(use, {cause, -1, is_explicit});
          },
          py::arg("use"), py::arg("cause"), py::arg("is_explicit"))
      .def(
          "on_device",
          [](Buffer& buffer, const std::shared_ptr<Device>& device, Use use, const char* cause,
             bool is_explicit) {
            const bool copies = buffer.would_move_to(*device, use);
            buffer.on_device(device, use, {cause, -1, is_explicit});
            return copies;
          },
          py::arg("device"), py::arg("use"), py::arg("cause"), py::arg("is_explicit"), Unlocked())
      .def(
          "set_on_device",
          [](Buffer& buffer, const std::shared_ptr<Device>& device, const py::bytes& value) {
            const auto given = static_cast<std::string_view>(value);
            buffer.set_on_device(device, std::as_bytes(std::span(given)));
          },
          py::arg("device"), py::arg("value"))
      .def("watch", &Buffer::watch, py::arg("is_on"), Unlocked())
      .def("zero_on_device", &Buffer::zero_on_device, Unlocked())
      .def("copy_on_device", &Buffer::copy_on_device, py::arg("source"), Unlocked());

  py::class_<mesh::Guard>(core, "Guard")
      .def(py::init<Buffer&, const std::shared_ptr<Device>&>(), py::arg("buffer"),
           py::arg("device"), Unlocked())
      .def("n_changed", &mesh::Guard::n_changed, Unlocked());

  core.attr("RAGGED") = mesh::ragged;
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
      .def("increment_version", &MapTable::increment_version)
      .def(
          "move_to",
          [](MapTable& table, std::uintptr_t address) { table.move_to(pointer(address)); },
          py::arg("address"));
}

}  // namespace op2::bind
