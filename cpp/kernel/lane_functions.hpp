// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/body.hpp"

namespace op2::kernel {

/// @brief What a function over lanes does. T is a vector type, M the vector of signed integers of
/// the same width: all bits set where a lane is on, none where it is off. Complex vectors are two
/// real ones, R; their masks are those of R.
enum class LaneOp : std::uint8_t {
  blend,   ///< T (M mask, T on, T off): lane by lane
  any,     ///< int (M mask): is a lane on?
  lookup,  ///< T (const scalar *table, int64 lanes index): `table[index]`
  table,   ///< the same, of a table that the dialect keeps in an address space of its own
  pick,    ///< T (const T *array, int64 lanes index): lane l of `array[index]`
  put,     ///< void (T *array, int64 lanes index, M mask, T value): the store where a lane is on
  add,     ///< T (T, T), of complex vectors, as the next three
  subtract,
  multiply,
  divide,
  negate,  ///< T (T), complex
  equal,   ///< M (T, T), complex
  join,    ///< T (R real part, R imaginary part)
  spread,  ///< T (scalar), complex: the same for all lanes
  power,   ///< T (T): the power with the whole exponent `function`, see power_of_call()
  call,    ///< T (T, ...): the library function `function` for each lane
};

/// @brief Where elementary functions of vectors come from.
enum class Elementary : std::uint8_t {
  library,  ///< the C library's where it has the function, else a text, else one lane after the
            ///< other
  texts,    ///< texts of templates/lanes, else one lane after the other
  scalars,  ///< functions for scalars, one lane after the other
};

inline constexpr std::string_view elementary_names[] = {"library", "own", "scalar"};

/// @brief A function over lanes: bodies made for lanes call it by its name, and printers define it.
struct LaneFunction {
  LaneOp op = LaneOp::call;
  Base base = Base::float64;  ///< of T; of M for `any`
  int lanes = 0;
  std::string function;  ///< of `call` and `power`, else empty
  bool operator==(const LaneFunction&) const = default;
};

/// @brief "op2_blend_float64x8", "op2_sqrt_float32x16", ...
[[nodiscard]] std::string name_of(const LaneFunction& function);
/// @return The function with that name; nothing if it is no function over lanes.
[[nodiscard]] std::optional<LaneFunction> lane_function(std::string_view name);

/// @return "2", "3" or "4" where @p expr is a call of `pow` with that literal as exponent, else
/// empty: products of so few factors err by less than functions of vectors do.
[[nodiscard]] std::string power_of_call(const Expr& expr);

/// @brief The signed integer as wide as @p base: what a mask for its vectors is made of.
[[nodiscard]] Base mask_base(Base base);

/// @brief What the parts of @p base are made of: itself, if it is not complex.
[[nodiscard]] Base part_base(Base base);

}  // namespace op2::kernel
