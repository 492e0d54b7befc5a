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

/// AMD's GPUs. HIP's functions are CUDA's driver's by other names, so all that runs loops there is
/// in runtime/gpu; this fills its table. It has never met a GPU: names, types and numbers were
/// checked against AMD's header (tests/python/test_hip.py).

/// @brief Find AMD's run-time library and start it.
/// @param[in] candidates See VendorLibrary.
/// @throws ToolchainError if there is none, it is too old, or it does not start.
[[nodiscard]] gpu::Driver load_driver(const std::vector<std::string>& candidates);

/// @brief Where it is looked for.
[[nodiscard]] std::vector<std::string> driver_candidates();

/// @brief HIP's version as people write it: 50221153 is "5.2.21153".
[[nodiscard]] std::string version_text(int version);

/// @brief HIP's number for an attribute of devices.
[[nodiscard]] constexpr int attribute_number(gpu::DeviceAttribute attribute) {
  switch (attribute) {
    case gpu::max_threads_per_block:
      return 56;
    case gpu::max_shared_memory_per_block:
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
/// @param[in] version HIP's. Before 6.0 its numbers began with the host's at 0, and other memory
/// was an error; from then on they are CUDA's.
[[nodiscard]] constexpr unsigned memory_type(unsigned type, int version) {
  return version < 60'000'000 ? type + 1 : type;
}

/// @brief The name of code for a GPU among its properties: "gfx90a:sramecc+:xnack-"; empty if there
/// is none. Releases of HIP have it in different places, so it is looked for.
/// @param[in] properties What hipGetDeviceProperties wrote, with the GPU's own name in the first
/// 256 characters.
[[nodiscard]] std::string architecture_in(std::span<const char> properties);

/// @brief Which of some machine code a GPU runs: of its own kind, the one that says most of it.
/// @param[in] capability Of the GPU, with its features: "gfx90a:sramecc+:xnack-".
/// @param[in] targets What there is code for, with features or without: "gfx90a".
/// @return Its place among @p targets; nothing if none fits.
[[nodiscard]] std::optional<std::size_t> fitting_image(const std::string& capability,
                                                       const std::vector<std::string>& targets);

/// @brief These GPUs, in the driver's order.
extern const DeviceVendor device_vendor;

}  // namespace op2::runtime::hip
