// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/error.hpp"
#include "libs/host/cblas.hpp"

namespace op2::libs::testing {

/// One that this machine has; null if there is none.
inline std::unique_ptr<Cblas> some_cblas() {
  try {
    return std::make_unique<Cblas>(cblas_names());
  } catch (const ToolchainError&) {
    return nullptr;
  }
}

}  // namespace op2::libs::testing
