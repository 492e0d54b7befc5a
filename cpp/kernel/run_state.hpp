// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "kernel/held_constants.hpp"
#include "kernel/run.hpp"

/// The state of an abstract run; for kernel/run.cpp alone.
namespace op2::kernel::run_state {

/// @brief A value that is not followed.
struct Unknown {
  bool is_uniform = false;  ///< the same for all elements
  bool operator==(const Unknown&) const = default;
};
/// @brief A scalar in an array, counted in scalars.
struct Pointed {
  int object = 0;
  std::int64_t offset = 0;
  bool is_exact = true;  ///< false: somewhere in the array
  bool operator==(const Pointed&) const = default;
};
/// @brief Of a variable, or of an expression.
using Value = std::variant<Unknown, std::int64_t, Real, Pointed>;
template <class Fact>
using FactsOf = std::vector<std::map<std::int64_t, Fact>>;  ///< by object, of scalars
using Written = std::vector<std::set<std::int64_t>>;        ///< by object

/// @brief A scalar that goes to memory, as far as it is known.
struct Stored {
  std::optional<Constant> constant = std::nullopt;
  std::optional<RunSource> source = std::nullopt;
  bool is_update = false;  ///< of what was there
};

/// @brief All that is known at one point of the program, on all paths that lead there.
struct State {
  std::map<std::string, Value, std::less<>> variables;
  Written written;
  FactsOf<Constant> constant;                ///< scalars that hold the same whatever the data
  FactsOf<RunSource> copied;                 ///< scalars that hold what was loaded from elsewhere
  std::set<std::string, std::less<>> unset;  ///< locals without a value on some path
};
using Reached = std::optional<State>;  ///< nothing: no path leads there

/// @brief The number that @p value is on every path; nothing if it is none.
[[nodiscard]] std::optional<Constant> constant_in(const Value& value);
/// @brief @p constant as a value; one that is the same for all elements if it is not known.
[[nodiscard]] Value followed(const std::optional<Constant>& constant);

/// @brief The state where two paths meet: what both know.
[[nodiscard]] Reached joined(Reached left, Reached right);

}  // namespace op2::kernel::run_state
