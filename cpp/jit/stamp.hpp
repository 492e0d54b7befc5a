// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace op2::jit {

/// @brief A digest of what lies in @p folders, not below them: of each file its name, its size and
/// when it was changed, which is what Python's own cache of compiled modules goes by.
///
/// Nothing is read. A folder that cannot be listed counts as one without files.
[[nodiscard]] std::string stamp_of(const std::vector<std::string>& folders);

/// @brief stamp_of() the folder of a Python package: the first one of its name in @p places.
/// @param[in] places As in `sys.path`; "" is the working directory.
/// @return Empty if there is none.
[[nodiscard]] std::string stamp_of_package(const std::vector<std::string>& places,
                                           const std::string& package);

}  // namespace op2::jit
