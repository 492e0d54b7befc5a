// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <variant>
#include <vector>

namespace op2::cg {

/// @brief How the statements of an inline section may be reordered; fixed when it opens.
enum class Reorder {
  direct,     ///< Text stays in the order it was added.
  merge_fas,  ///< All fetches, then arithmetic, then stores. The author asserts independence.
  merge_fas_checked,  ///< The same grouping, as far as the declared effects prove it harmless.
};

/// @brief What a statement does with memory; statements of one kind are grouped.
enum class StatementKind { fetch, arithm, store };

/// @brief A local variable, by the name `declare` returned. A local array counts as a whole.
struct Variable {
  std::string name;

  bool operator==(const Variable&) const = default;
};

/// @brief Memory behind a pointer.
///
/// Two accesses may overlap unless both name a region and the regions differ, or they name the same
/// region and both an index class and the classes differ. Empty means "unknown".
struct Memory {
  std::string region = {};  ///< Alias class, e.g. the base buffer.
  std::string index = {};   ///< Index class within the region, e.g. "element 3 of this colour".

  bool operator==(const Memory&) const = default;
};

using Location = std::variant<Variable, Memory>;

/// @brief Everything a statement reads and writes. What is not listed is not touched.
struct Effects {
  std::vector<Location> reads = {};
  std::vector<Location> writes = {};

  bool operator==(const Effects&) const = default;
};

}  // namespace op2::cg
