// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace op2 {

/// @brief The whole of a small file, such as the kernel's; empty if the file cannot be read.
///
/// Not by a stream: streams need the global locale, broken in processes with a second C++ library,
/// and are larger than all other parts that the run-time takes from the library.
[[nodiscard]] std::string text_of_file(const std::string& path);

}  // namespace op2
