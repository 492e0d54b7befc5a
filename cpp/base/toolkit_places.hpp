// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace op2 {

/// @brief Where a library of the CUDA toolkit may be, for VendorLibrary: below CUDA_HOME and
/// CUDA_PATH, where the loader looks, in the folders of packages, in the toolkits beside
/// /usr/local/cuda; in each the first of @p sonames first.
/// @param[in] sonames File names, the newest version first.
/// @param[in] folders Of packages that carry it.
[[nodiscard]] std::vector<std::string> toolkit_places(const std::vector<std::string>& sonames,
                                                      const std::vector<std::string>& folders);

}  // namespace op2
