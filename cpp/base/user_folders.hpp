// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace op2 {

/// @brief The value of an environment variable; empty if not set.
[[nodiscard]] std::string environment(const char* name);

/// @brief The home of the user: HOME, or the entry in the user database; empty without both.
[[nodiscard]] std::string home_directory();

/// @brief Whether @p folder lies below a missing home. Nobody creates a missing home: the home of a
/// service's account is meant to be missing.
[[nodiscard]] bool lacks_home(const std::string& folder);

/// @brief Let a driver keep its cache elsewhere, if the user has named no place and the usual place
/// cannot be made or written: in PYOP2CXX_CACHE_DIR, or in a private folder of TMPDIR, /tmp,
/// /var/tmp or /dev/shm.
/// @param[in] variable The driver's environment variable for the place; set here.
/// @param[in] usual The driver's usual place.
/// @note Call before the driver is loaded.
void place_cache(const char* variable, const std::string& usual);

/// @brief The folder of caches of the desktop specification: XDG_CACHE_HOME or ~/.cache; empty if
/// neither variable is set.
[[nodiscard]] std::string caches_of_user();

}  // namespace op2
