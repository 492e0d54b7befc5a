// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "exec/program.hpp"

namespace op2::exec {

/// The launches of a device for a loop, as a value that can be written to a file: kernels and
/// arguments, computed once a plan from the plan's arrays and sizes. Arguments are numbers in
/// Executable::arguments; the variables `begin` and `end` exist from the start.

// ---------------------------------------------------------------------------------- expressions

struct Value;

struct Number {
  std::int64_t value = 0;
  bool operator==(const Number&) const = default;
};

struct Variable {
  std::string name;
  bool operator==(const Variable&) const = default;
};

/// @brief An entry of a plan's array, read by the host: `at` holds a single expression.
struct Entry {
  int argument = 0;
  int n_bytes = 8;  ///< of an entry: 4 or 8
  std::vector<Value> at;
  bool operator==(const Entry&) const = default;
};

/// @brief 1 if the plan has the array, else 0.
struct IsThere {
  int argument = 0;
  bool operator==(const IsThere&) const = default;
};

enum class Operator : std::uint8_t { add, subtract, multiply, divide, modulo, less, equal, least };

struct Operation {
  Operator op = Operator::add;
  std::vector<Value> operands;  // [2]
  bool operator==(const Operation&) const = default;
};

/// @brief `condition != 0 ? then : otherwise`.
struct Choice {
  std::vector<Value> operands;  // [3]
  bool operator==(const Choice&) const = default;
};

/// @brief How many blocks a launch over `items` work items gets.
struct BlocksOf {
  std::vector<Value> items;  // [1]
  bool operator==(const BlocksOf&) const = default;
};

/// @brief Scalars from a component to the next of the Dat of the loop's argument `data`.
struct StrideOf {
  int data = 0;
  bool operator==(const StrideOf&) const = default;
};

struct Value {
  std::variant<Number, Variable, Entry, IsThere, Operation, Choice, BlocksOf, StrideOf> node;
  bool operator==(const Value&) const = default;
};

// ----------------------------------------------------------------------------------- statements

struct Step;
using Steps = std::vector<Step>;

struct Set {
  std::string variable;
  Value value;
  bool operator==(const Set&) const = default;
};

/// @brief `body` for `variable` = begin, ..., end - 1.
struct Repeat {
  std::string variable;
  Value begin;
  Value end;
  Steps body;
  bool operator==(const Repeat&) const = default;
};

struct When {
  Value condition;
  Steps then;
  bool operator==(const When&) const = default;
};

/// @brief Memory of the device until the last launch; `is_zero`: zero at first, and later with the
/// values left by earlier launches.
struct Allocate {
  int scratch = 0;  ///< number of the scratch memory
  int item_bytes = 8;
  Value extent;
  bool is_zero = false;
  bool operator==(const Allocate&) const = default;
};

/// @brief Memory taken by a kernel: argument `index`, or scratch number `index`.
struct MemorySlot {
  bool is_scratch = false;
  int index = 0;
  bool operator==(const MemorySlot&) const = default;
};

enum class GridKind : std::uint8_t {
  items,   ///< enough lanes for the items, or fewer with a stride
  blocks,  ///< as many blocks as there are items
  single,  ///< a single block
  teams,   ///< as many blocks as there are items, each of LaunchedKernel::max_lanes lanes
};
/// @brief Names of all GridKind in texts.
inline constexpr std::array<std::string_view, 4> grid_names = {"items", "blocks", "single",
                                                               "teams"};

/// @brief Nothing is launched for no items.
struct LaunchStep {
  int kernel = 0;  ///< of LaunchProgram::kernels
  GridKind grid = GridKind::items;
  Value items;
  std::vector<std::variant<MemorySlot, Value>> arguments;
  bool operator==(const LaunchStep&) const = default;
};

struct Step {
  std::variant<Set, Repeat, When, Allocate, LaunchStep> node;
  bool operator==(const Step&) const = default;
};

struct LaunchedKernel {
  std::string name;   ///< in the Program
  int max_lanes = 0;  ///< a block may have; 0: any number
  bool operator==(const LaunchedKernel&) const = default;
};

struct LaunchProgram {
  std::vector<LaunchedKernel> kernels;
  Steps steps;
  bool operator==(const LaunchProgram&) const = default;
};

/// @brief Whether the program asks how many blocks there will be.
[[nodiscard]] bool asks_for_blocks(const LaunchProgram& program);

/// @brief The program as canonical text: equal programs, and only these, have equal texts.
[[nodiscard]] std::string canonical(const LaunchProgram& program);

/// @brief The sizes of everything that a program names by number.
struct LaunchScope {
  std::size_t n_arguments = 0;  ///< of Executable::arguments
  std::size_t n_data = 0;       ///< of the loop
};

/// @brief The program behind a text of canonical(). The program uses nothing outside @p scope, and
/// no scratch memory or variable before its definition.
/// @throws UsageError with the error and its place.
[[nodiscard]] LaunchProgram read_launch_program(std::string_view text, const LaunchScope& scope);

}  // namespace op2::exec
