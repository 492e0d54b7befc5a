// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace op2 {

/// @brief The value of an environment variable; empty if it is not set.
[[nodiscard]] std::string environment(const char* name);

/// @brief The home of the user: HOME, or what the user database says; empty if neither does.
[[nodiscard]] std::string home_directory();

/// @brief Whether @p folder lies below a home that is not there. Nobody makes such a home: accounts
/// of services have one that must stay away.
[[nodiscard]] bool lacks_home(const std::string& folder);

/// @brief Let a driver keep its cache elsewhere, if the user has named no place for it and the
/// usual one cannot be made or written: in PYOP2CXX_CACHE_DIR, or in a private folder of TMPDIR,
/// /tmp, /var/tmp or /dev/shm.
/// @param[in] variable The environment variable by which the driver is told; it is set.
/// @param[in] usual Where the driver would have it.
/// @note Call it before the driver is loaded.
void place_cache(const char* variable, const std::string& usual);

/// @brief The folder of caches of the desktop specification: XDG_CACHE_HOME or ~/.cache; empty if
/// neither variable is set.
[[nodiscard]] std::string caches_of_user();

}  // namespace op2
