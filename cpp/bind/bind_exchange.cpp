// SPDX-License-Identifier: BSD-3-Clause
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "bind/bind.hpp"
#include "mesh/buffer.hpp"
#include "mesh/dlpack.hpp"

namespace op2::bind {
namespace {

using mesh::SharedArray;

constexpr const char* managed_name = "dltensor";
constexpr const char* versioned_name = "dltensor_versioned";

/// A capsule that nobody has taken when it dies is deleted by whoever made it.
template <class Holder>
void delete_untaken(PyObject* capsule, const char* name) {
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto* holder = static_cast<Holder*>(PyCapsule_GetPointer(capsule, name));
  holder->deleter(holder);
}

py::capsule capsule_of(SharedArray array, bool is_versioned) {
  PyObject* made =
      is_versioned
          ? PyCapsule_New(mesh::share_versioned(std::move(array)), versioned_name,
                          [](PyObject* capsule) {
                            delete_untaken<mesh::dlpack::Versioned>(capsule, versioned_name);
                          })
          : PyCapsule_New(mesh::share(std::move(array)), managed_name, [](PyObject* capsule) {
              delete_untaken<mesh::dlpack::Managed>(capsule, managed_name);
            });
  if (made == nullptr) throw py::error_already_set();
  return py::reinterpret_steal<py::capsule>(made);
}

SharedArray shared_array(const py::capsule& capsule) {
  PyObject* const raw = capsule.ptr();
  if (PyCapsule_IsValid(raw, versioned_name) != 0) {
    void* const holder = PyCapsule_GetPointer(raw, versioned_name);
    PyCapsule_SetName(raw, "used_dltensor_versioned");
    return mesh::take(static_cast<mesh::dlpack::Versioned*>(holder));
  }
  if (PyCapsule_IsValid(raw, managed_name) != 0) {
    void* const holder = PyCapsule_GetPointer(raw, managed_name);
    PyCapsule_SetName(raw, "used_dltensor");
    return mesh::take(static_cast<mesh::dlpack::Managed*>(holder));
  }
  throw UsageError("a DLPack capsule was expected, and one that nobody has taken yet");
}

/// Keeps a Python object alive from C++, in whichever thread that ends.
std::shared_ptr<void> owner_of(py::object object, std::uintptr_t address) {
  std::shared_ptr<PyObject> held(object.release().ptr(), [](PyObject* dying) {
    if (Py_IsInitialized() == 0) return;
    const py::gil_scoped_acquire gil;
    Py_DECREF(dying);
  });
  return {held, reinterpret_cast<void*>(address)};
}

}  // namespace

void bind_exchange(py::module_& core) {
  using mesh::Buffer;
  using mesh::Device;
  using mesh::ExchangePlace;
  using Unlocked = py::call_guard<py::gil_scoped_release>;
  py::module_ module = core.def_submodule("exchange", "Memory that other libraries share.");

  py::class_<ExchangePlace>(module, "Place")
      .def_readonly("device_type", &ExchangePlace::device_type)
      .def_readonly("device_id", &ExchangePlace::device_id)
      .def_readonly("stream", &ExchangePlace::stream);
  module.def("place_of", &Device::exchange_place, py::arg("device"));
  module.def("wait_for", &Device::wait_for_stream, py::arg("device"), py::arg("stream"),
             Unlocked());

  py::class_<SharedArray>(module, "SharedArray")
      .def(py::init([](std::uintptr_t address, int device_type, int device_id,
                       const std::string& dtype, std::vector<std::int64_t> shape,
                       std::vector<std::int64_t> strides, bool is_read_only, py::object owner) {
             return SharedArray{owner_of(std::move(owner), address),
                                reinterpret_cast<void*>(address),
                                device_type,
                                device_id,
                                dtype_from_name(dtype),
                                std::move(shape),
                                std::move(strides),
                                is_read_only};
           }),
           py::arg("address"), py::arg("device_type"), py::arg("device_id"), py::arg("dtype"),
           py::arg("shape"), py::arg("strides"), py::arg("is_read_only"), py::arg("owner"))
      .def_property_readonly(
          "address",
          [](const SharedArray& array) { return reinterpret_cast<std::uintptr_t>(array.data); })
      .def_readonly("device_type", &SharedArray::device_type)
      .def_readonly("device_id", &SharedArray::device_id)
      .def_property_readonly(
          "dtype", [](const SharedArray& array) { return std::string(name_of(array.dtype)); })
      .def_readonly("shape", &SharedArray::shape)
      .def_readonly("strides", &SharedArray::strides)
      .def_readonly("is_read_only", &SharedArray::is_read_only)
      .def_property_readonly("is_contiguous", &mesh::is_contiguous);

  module.def("to_capsule", &capsule_of, py::arg("array"), py::arg("is_versioned"));
  module.def("from_capsule", &shared_array, py::arg("capsule"));
  module.def(
      "share",
      [](Buffer& buffer, const std::shared_ptr<Device>& device, const std::string& dtype,
         std::vector<std::int64_t> shape, std::vector<std::int64_t> strides) {
        const ExchangePlace place = device->exchange_place();
        const auto memory = buffer.memory_on(*device);
        // The memory may be freed after the device object is gone.
        auto owner = std::make_shared<std::pair<std::shared_ptr<Device>, std::shared_ptr<void>>>(
            device, memory);
        return SharedArray{
            {owner, memory.get()},  memory.get(),     place.device_type,  place.device_id,
            dtype_from_name(dtype), std::move(shape), std::move(strides), false};
      },
      py::arg("buffer"), py::arg("device"), py::arg("dtype"), py::arg("shape"), py::arg("strides"));
  module.def(
      "adopt",
      [](Buffer& buffer, const std::shared_ptr<Device>& device, const SharedArray& array) {
        buffer.adopt(device, {array.owner, array.data});
      },
      py::arg("buffer"), py::arg("device"), py::arg("array"), Unlocked());
}

}  // namespace op2::bind
