// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/gpu/driver.hpp"
#include "runtime/vendors.hpp"

namespace op2::runtime::hip {

/// AMD's GPUs. HIP's functions are CUDA's driver's by other names, so the code that runs loops is
/// in runtime/gpu; this room fills its table. The room has never met a GPU: names, types and
/// numbers were checked against AMD's header (tests/python/test_hip.py).

/// @brief Find AMD's run-time library and start the library.
/// @param[in] candidates See VendorLibrary.
/// @throws ToolchainError if the library is missing, too old, or does not start.
[[nodiscard]] gpu::Driver load_driver(const std::vector<std::string>& candidates);

/// @brief The searched places of the library.
[[nodiscard]] std::vector<std::string> driver_candidates();

/// @brief HIP's version in the usual form: 50221153 is "5.2.21153".
[[nodiscard]] std::string version_text(int version);

/// @brief HIP's number for an attribute of devices.
[[nodiscard]] constexpr int attribute_number(gpu::DeviceAttribute attribute) {
  switch (attribute) {
    case gpu::max_threads_per_block:
      return 56;
    case gpu::max_shared_memory_per_block:
    case gpu::max_shared_memory_on_request:  // not asked for
      return 74;
    case gpu::warp_size:
      return 87;
    case gpu::multiprocessor_count:
      return 63;
    case gpu::compute_capability_major:
      return 23;
    case gpu::compute_capability_minor:
      return 61;
    case gpu::memory_pools_supported:
      return 88;
  }
  return -1;
}

/// @brief CUDA's number for a type of memory: 0 for memory that nobody registered, and others.
/// @param[in] version HIP's. Before 6.0 HIP's numbers began with the host's at 0, and other memory
/// was an error; from then on they are CUDA's.
[[nodiscard]] constexpr unsigned memory_type(unsigned type, int version) {
  return version < 60'000'000 ? type + 1 : type;
}

/// @brief The name of code for a GPU among its properties: "gfx90a:sramecc+:xnack-"; empty if there
/// is none. The place differs between releases of HIP, so the name is searched.
/// @param[in] properties The output of hipGetDeviceProperties, with the GPU's own name in the first
/// 256 characters.
[[nodiscard]] std::string architecture_in(std::span<const char> properties);

/// @brief The best of some machine code for a GPU: of the GPU's own kind, with the most matching
/// features.
/// @param[in] capability Of the GPU, with its features: "gfx90a:sramecc+:xnack-".
/// @param[in] targets The targets with code, with features or without: "gfx90a".
/// @return The place among @p targets; nothing if none fits.
[[nodiscard]] std::optional<std::size_t> fitting_image(const std::string& capability,
                                                       const std::vector<std::string>& targets);

/// @brief AMD's GPUs, in the driver's order.
extern const DeviceVendor device_vendor;

}  // namespace op2::runtime::hip
