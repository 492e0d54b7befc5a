// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief Values of integer variables, by name.
using Integers = std::map<std::string, std::int64_t, std::less<>>;

/// @brief The value of an integer or character-free literal; nothing if it is not an integer.
[[nodiscard]] std::optional<std::int64_t> integer_of(std::string_view literal);

/// @brief `left op right` as C computes it; nothing if C leaves it undefined.
[[nodiscard]] std::optional<std::int64_t> apply(BinaryOp op, std::int64_t left, std::int64_t right);
/// @brief `op value`; nothing for operators that are not arithmetic.
[[nodiscard]] std::optional<std::int64_t> apply(UnaryOp op, std::int64_t value);

/// @brief The value of an integer expression without effects, if it can be told.
[[nodiscard]] std::optional<std::int64_t> integer_value(const Expr& expr, const Integers& known);

/// @brief What the variable of a loop goes through: first, first + stride, ..., @p n values.
struct Counted {
  std::string name;
  std::int64_t first;
  std::int64_t stride;
  std::int64_t n;
};

/// @brief What a loop over an integer goes through, if its bounds can be told and it neither
/// changes its variable nor breaks off in a way that this does not see.
[[nodiscard]] std::optional<Counted> counted(const For& loop, const Integers& known);

/// @brief How often the body of such a loop runs.
[[nodiscard]] std::optional<std::int64_t> trip_count(const For& loop, const Integers& known);

/// @brief The file-scope constants that are integers.
[[nodiscard]] Integers constant_integers(const KernelBody& body);

}  // namespace op2::kernel
