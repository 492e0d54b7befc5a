// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

namespace op2 {

/// @brief Possible places of a library of the CUDA toolkit, for VendorLibrary: below CUDA_HOME and
/// CUDA_PATH, the loader's places, the folders of packages, the toolkits beside /usr/local/cuda; in
/// each the first of @p sonames first.
/// @param[in] sonames File names, the newest version first.
/// @param[in] folders Of packages with the library.
[[nodiscard]] std::vector<std::string> toolkit_places(const std::vector<std::string>& sonames,
                                                      const std::vector<std::string>& folders);

}  // namespace op2
