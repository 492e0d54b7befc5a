// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <set>

#include "kernel/run.hpp"

namespace op2::kernel {

/// @brief What an abstract run proves of each expression, so that no check is needed there.
///
/// An expression that the run never met, or any expression if the run was too long, is unproven.
class KernelProofs : public RunListener {
 public:
  /// @param[in] named The kernel, with unique names; outlives this object.
  KernelProofs(const KernelBody& named, const RunInput& input);

  /// @brief A subscript or dereference is always inside of its array.
  [[nodiscard]] bool is_inside(const Expr& site) const;
  /// @brief A local scalar always has a value where it is used.
  [[nodiscard]] bool has_value(const Expr& name) const;
  /// @brief An operator on integers is always defined.
  [[nodiscard]] bool is_defined(const Expr& expr) const;
  /// @brief What a scalar in memory that is loaded or stored at @p site always lies in.
  [[nodiscard]] const RunObject* object(const Expr& site) const;
  /// @brief ... and whether it was always written before.
  [[nodiscard]] bool is_set(const Expr& site) const;
  /// @brief Scalars of parameter @p i that are written on every path: 0 to this - 1.
  [[nodiscard]] std::int64_t n_stored(std::size_t i) const;

  void subscript(const RunSubscript& met) override;
  void touch(const Expr& site, const RunObject* object, bool is_set) override;
  void use(const Expr& name, bool is_set) override;
  void compute(const Expr& expr, bool is_known) override;

 private:
  struct Touched {
    std::optional<RunObject> object;  // nothing: not always the same
    bool is_set = true;
  };
  static void note(std::map<const Expr*, bool>& facts, const Expr& expr, bool holds);
  [[nodiscard]] bool holds(const std::map<const Expr*, bool>& facts, const Expr& expr) const;

  RunResult result_;
  std::map<const Expr*, bool> inside_;
  std::map<const Expr*, bool> valued_;
  std::map<const Expr*, bool> defined_;
  std::map<const Expr*, Touched> touched_;
};

}  // namespace op2::kernel
