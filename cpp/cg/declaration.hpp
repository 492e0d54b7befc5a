// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cg/statement.hpp"

namespace op2::cg {

/// @brief Who else may use a variable. Both sides of a reuse must agree.
enum class Sharing {
  none = 0,        ///< A variable nobody else gets.
  not_nested = 1,  ///< Sections that come after the declaring one has ended.
  nested = 2,      ///< Sections inside the declaring one.
  both = 3,
};

[[nodiscard]] constexpr Sharing operator|(Sharing a, Sharing b) {
  return static_cast<Sharing>(static_cast<int>(a) | static_cast<int>(b));
}
[[nodiscard]] constexpr Sharing operator&(Sharing a, Sharing b) {
  return static_cast<Sharing>(static_cast<int>(a) & static_cast<int>(b));
}

/// @brief What to do when a name is taken and may not be shared.
enum class Conflict {
  brace,   ///< Open a brace scope that lasts until the section or the branch ends; keep the name.
  rename,  ///< Append a fresh suffix.
};

struct Declarator {
  std::string name;
  std::string init = {};     ///< Expression or braced list; empty for none.
  std::string extents = {};  ///< e.g. "[4][2]"; empty for a scalar.
};

/// @brief One or several variables of one type.
struct Declaration {
  std::string type;
  std::vector<Declarator> declarators = {};
  Sharing sharing = Sharing::none;
  int scope = 0;  ///< 0 here; -k before the k-th enclosing branch, counted outwards.
  Conflict conflict = Conflict::brace;
  /// What the initialisers read, for the reordering policies. Absent: anything, so a declaration
  /// with an initialiser stays where it is.
  std::optional<std::vector<Location>> init_reads = {};
};

}  // namespace op2::cg
