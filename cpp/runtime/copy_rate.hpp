// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "mesh/device.hpp"

namespace op2::runtime {

/// @brief Memory speed of a device: bytes per second, read and written, of copies within the
/// device.
/// @param[in] n_bytes Of each of the two arrays; many times the device's cache.
/// @param[in] n_copies Timed together, the best of three times.
/// @throws ExecutionError if the device is full or an earlier loop has failed.
[[nodiscard]] double measure_copy_rate(mesh::Device& device, std::int64_t n_bytes, int n_copies);

}  // namespace op2::runtime
