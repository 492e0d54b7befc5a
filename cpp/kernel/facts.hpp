// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/access.hpp"
#include "kernel/body.hpp"
#include "kernel/stores.hpp"

namespace op2::kernel {

/// @brief What one occurrence of an argument's element does.
enum class Use : std::uint8_t {
  load,       ///< its value flows somewhere
  store,      ///< it is overwritten, whatever it held
  increment,  ///< `x += e`, `x -= e`, `x = x + e`, `x++`: its value flows into itself only
  minimum,    ///< `x = fmin(x, e)`, `if (e < x) x = e`, ...: likewise
  maximum,
};
inline constexpr std::size_t n_uses = 5;

/// @brief What a kernel does with the memory behind one parameter, on any path.
///
/// Conservative: where the analysis cannot follow a pointer, it is taken to be loaded and stored.
struct ParameterFacts {
  std::array<int, n_uses> lines{};  ///< of the first occurrence of each Use; 0 for none
  LeftBehind left;                  ///< what it certainly holds in the end

  [[nodiscard]] int line_of(Use use) const { return lines[static_cast<std::size_t>(use)]; }
  [[nodiscard]] bool is_read() const;
  [[nodiscard]] bool is_written() const;
  [[nodiscard]] int first_write_line() const;  ///< 0 for none
  /// @brief Line of the first load whose value flows anywhere but into the update that @p access
  /// allows (INC: its own `+=`; MIN, MAX likewise); 0 for none.
  [[nodiscard]] int foreign_read_line(Access access) const;
  /// @brief True if calls commute: the parameter is only incremented (INC), only minimised (MIN),
  /// only maximised (MAX), or not written (READ).
  [[nodiscard]] bool commutes(Access access) const;
  bool operator==(const ParameterFacts&) const = default;
};

struct KernelFacts {
  std::vector<ParameterFacts> parameters;      ///< of the entry function
  std::vector<std::string> unknown_functions;  ///< called, but neither defined nor known
  std::vector<std::string> free_names;         ///< candidates for a Const by bare name
  /// Floating-point operations of one call: the dearer branch of an if, loops with constant bounds
  /// in full and others once.
  std::int64_t n_operations = 0;
  bool has_open_loops = false;  ///< Work::is_open
  int float_bytes = 0;          ///< Work::float_bytes

  /// @brief True if a call has no effect but through its arguments, so that it may be repeated.
  [[nodiscard]] bool is_pure() const { return unknown_functions.empty(); }
  bool operator==(const KernelFacts&) const = default;
};

/// @brief Derive the facts of a kernel; pointers are followed through locals and helpers.
[[nodiscard]] KernelFacts kernel_facts(const KernelBody& body);

/// @brief The same of a kernel that has a body, found once.
[[nodiscard]] const KernelFacts& kernel_facts(const Kernel& kernel);

}  // namespace op2::kernel
