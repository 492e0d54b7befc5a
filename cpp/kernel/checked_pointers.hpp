// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kernel/checks.hpp"

namespace op2::kernel {

/// @brief Where a pointer may lead, in expressions that stand beside it in the program.
struct Reach {
  Expr low;   ///< scalars before it, negative or 0
  Expr high;  ///< scalars from it to the end
  Expr who;   ///< parameter of the entry function that it leads into; -1: none
  Expr bits;  ///< what each scalar may be used for, from it on; a null pointer: not watched
  bool may_be_null = false;  ///< that is known only when the kernel runs
};

/// @brief Follows the pointers of one function: each that can change has companions, variables that
/// say how far it reaches.
class CheckedPointers {
 public:
  /// @param[in] value The checked form of an expression that is evaluated.
  CheckedPointers(const FunctionDef& function, const KernelBody& body, const CheckInput& input,
                  bool has_bits, std::function<Expr(const Expr&)> value);

  /// @brief How far the value of @p pointer reaches, before it is evaluated; nothing: not known.
  [[nodiscard]] std::optional<Reach> reach(const Expr& pointer) const;

  /// @brief Assignments to the companions of @p name for @p pointer, as one expression; nothing if
  /// it has no companions.
  [[nodiscard]] std::optional<Expr> follow(const std::string& name, const Expr& pointer) const;

  /// @brief The companions' parameters of a function, behind its own.
  [[nodiscard]] static std::vector<Parameter> companions(const FunctionDef& function,
                                                         bool has_bits);
  /// @brief The arguments for them, of a call.
  [[nodiscard]] std::vector<Expr> arguments(const FunctionDef& callee, const Expr& call) const;

  /// @brief Declarations of the companions of locals, and of parameters that change.
  [[nodiscard]] Body declarations() const;

  [[nodiscard]] bool has_bits() const { return has_bits_; }
  /// @brief Whether @p type is a pointer to scalars, or to arrays of them.
  [[nodiscard]] static bool is_followed(const Type& type);
  [[nodiscard]] static std::string bits_of(const std::string& array) { return "op2_bits_" + array; }

 private:
  struct Fixed {
    Expr extent;
    int parameter;
    bool is_watched;
  };
  [[nodiscard]] Reach reach_of(const Fixed& fixed, const std::string& name) const;
  [[nodiscard]] std::optional<Reach> of_name(const Expr& expr, const std::string& name) const;
  [[nodiscard]] std::optional<Reach> of_unary(UnaryOp op, const Expr& expr) const;
  [[nodiscard]] std::optional<Reach> of_ternary(const Expr& expr) const;
  [[nodiscard]] std::optional<Reach> of_address(const Expr& place) const;
  [[nodiscard]] std::optional<Reach> moved(std::optional<Reach> from, const Expr& by, int sign,
                                           const Type& element) const;
  [[nodiscard]] std::optional<Reach> moved_by(std::optional<Reach> from, const Expr& count,
                                              int sign, const Type& element) const;

  const CheckInput& input_;
  bool has_bits_;
  std::function<Expr(const Expr&)> value_;
  std::map<std::string, Fixed> fixed_;      // the entry function's parameters that never change
  std::map<std::string, Type> companions_;  // names that have them
  std::set<std::string> parameters_;        // of companions_, those that come with values
  std::map<std::string, Fixed> start_;      // of companions_, those of the entry function
  std::set<std::string> arrays_;            // declared here, and watched
};

}  // namespace op2::kernel
