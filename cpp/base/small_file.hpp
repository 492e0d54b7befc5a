// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace op2 {

/// @brief The whole of a small file, such as the kernel has; empty if it cannot be read.
///
/// Not by a stream: these need the global locale, which is broken in processes that hold a second
/// C++ library, and are larger than all else that the run-time takes from it.
[[nodiscard]] std::string text_of_file(const std::string& path);

}  // namespace op2
