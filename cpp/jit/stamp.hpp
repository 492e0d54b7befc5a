// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace op2::jit {

/// @brief A digest of the files in @p folders, not below them: for each file the name, the size and
/// the time of the last change, the criteria of Python's own cache of compiled modules.
///
/// Nothing is read. A folder that cannot be listed counts as a folder without files.
[[nodiscard]] std::string stamp_of(const std::vector<std::string>& folders);

/// @brief stamp_of() the folder of a Python package: the first of its name in @p places.
/// @param[in] places As in `sys.path`; "" is the working directory.
/// @return Empty if there is none.
[[nodiscard]] std::string stamp_of_package(const std::vector<std::string>& places,
                                           const std::string& package);

}  // namespace op2::jit
