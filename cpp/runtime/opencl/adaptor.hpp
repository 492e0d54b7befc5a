// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "runtime/vendors.hpp"

namespace op2::runtime::opencl {

/// @brief OpenCL's devices, in the loader's order. Code compiled ahead of time is a text.
extern const DeviceVendor device_vendor;

}  // namespace op2::runtime::opencl
