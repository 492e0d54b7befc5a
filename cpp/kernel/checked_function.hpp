// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel/checked_pointers.hpp"
#include "kernel/checks.hpp"
#include "kernel/facts.hpp"
#include "kernel/proofs.hpp"
#include "kernel/updates.hpp"

namespace op2::kernel {

/// @brief Numbers the checks of a kernel.
class CheckSites {
 public:
  /// @brief The number of a check at @p expr, the same if asked again.
  std::int64_t number(Check check, const Expr& expr, const RunObject& about);
  /// @brief An expression made for checks, at an address that stays.
  const Expr& keep(Expr expr);
  [[nodiscard]] std::vector<CheckSite> take() { return std::move(sites_); }

 private:
  std::map<std::pair<const Expr*, Check>, std::int64_t> known_;
  std::vector<CheckSite> sites_;
  std::deque<Expr> kept_;
};

/// @brief Whether this is a signed integer, of any width.
[[nodiscard]] bool has_sign(Base base);

/// @brief What the functions of one kernel are checked with.
struct CheckedKernel {
  const KernelBody& body;  ///< with unique names
  const CheckInput& input;
  const KernelProofs& proofs;
  CheckSites& sites;
  bool has_bits = false;
  bool needs_bits = false;  ///< found out: something can be told by all checks only
  /// Values are not checked one by one: differences that are 0 where they are finite are summed.
  bool suspects = false;
};

/// @brief Adds the checks to one function.
class CheckedFunction {
 public:
  CheckedFunction(CheckedKernel& kernel, const FunctionDef& function);

  [[nodiscard]] FunctionDef run();

 private:
  // statements
  Body statements(const Body& body);
  void statement(const Stmt& stmt, Body& into);
  void declare(const Declare& node, int line, Body& into);
  [[nodiscard]] Expr until_found(Expr condition) const;
  void before_declaration(const Variable& variable, Body& into);
  void after_declaration(const Variable& variable, Body& into);
  Body head_of(const For& node, Body& into);

  // expressions that are evaluated, and places that are used
  Expr value(const Expr& expr);
  Expr effect(const Expr& expr);
  Expr operands(const Expr& expr);
  Expr name_used(const Expr& expr);
  [[nodiscard]] bool is_watched_use(const Expr& expr) const;
  Expr has_value(const Expr& name);
  Expr unary(UnaryOp op, const Expr& expr);
  Expr step(UnaryOp op, const Expr& expr);
  [[nodiscard]] RunObject goes_to(const std::string& variable) const;
  Expr binary(BinaryOp op, const Expr& expr);
  Expr call(const Call& node, const Expr& expr);
  Expr cast(const Expr& expr);
  Expr library_call(const Call& node, const Expr& expr, Expr made);
  Expr given(const Call& node, const Expr& expr, Expr made);
  Expr memory_call(const Expr& expr, Expr made);
  std::optional<Expr> bytes_used(const Expr& pointer, const Reach& reach, Expr n, bool is_stored);
  Expr assign(const Assign& node, const Expr& expr);
  /// What an assignment does to its target.
  struct Assigning {
    std::optional<Update> update;
    Use use = Use::store;
    bool is_foreign = false;    ///< `*=` and the like: uses the value and replaces it
    bool is_read = false;       ///< `is_foreign`, of more than a variable
    bool is_summed = false;     ///< added to what suspects are summed of
    bool spells_out = false;    ///< is checked as `a = a op b`
    Base made_in = Base::none;  ///< the type that `op` works in
  };
  Expr assigned_to(const Expr& target, const Assign& node, const Expr& expr);
  [[nodiscard]] Assigning assigning(const Expr& target, const Assign& node, const Expr& expr);
  Expr old_value(const Expr& target, const Assigning& how, std::optional<Expr>& before);
  Expr spelt_out(const Expr& target, BinaryOp op, const Expr& expr, Base made_in, Expr old,
                 Expr by);
  Expr update_operand(BinaryOp op, const Expr& target, const Expr& expr, Expr by);
  Expr with_flag(const Expr& target, Expr from);
  Expr updated(BinaryOp op, const Expr& expr, const Expr& target, Expr old, Expr by);
  Expr assigned_pointer(const Assign& node, const Expr& expr);
  Expr place(const Expr& expr, std::optional<Use> use);

  // checks of a subscript
  Expr inside(const Expr& site, Expr index, const std::optional<Reach>& reach);
  Expr used(const Expr& site, Expr index, const std::optional<Reach>& reach, Use use);
  enum class Verdict : std::uint8_t { fine, mark, wrong, ask };
  [[nodiscard]] Verdict verdict(const Expr& site, Use use) const;
  [[nodiscard]] Verdict verdict_of_parameter(Access access, Use use, bool is_set) const;
  [[nodiscard]] bool is_table(const std::string& name) const;
  [[nodiscard]] bool is_incremented(const Expr& target);
  [[nodiscard]] RunObject about(const Expr& site) const;

  // checks of values
  Expr finite(const Expr& original, Expr checked, const Type& target);
  Expr made_of(const Expr& site, Expr checked, const Type& target, const std::vector<Expr>& given);
  [[nodiscard]] bool may_make(const Expr& original, const Type& target) const;
  void leaves(const Expr& expr, std::vector<Expr>& found);
  Expr suspected(const Expr& site, Expr checked, const Type& target);
  Expr in_range(BinaryOp op, const Expr& expr, Expr left, Expr right, const Type& type);
  Expr narrow(const Expr& expr, Expr value);
  Expr shifted(const Expr& site, Expr left, Expr n_bits, const Type& type);
  Expr converted(const Expr& original, Expr checked, const Type& target);
  Expr fitted(const Expr& site, Expr value, Base from, Base to);
  Expr quotient(BinaryOp op, const Expr& expr, Expr left, Expr right, const Type& type);
  Expr divisor(const Expr& site, Expr value, const Type& type);
  Expr shift(const Expr& site, Expr value, const Type& left);

  Expr report(std::string function, std::vector<Expr> arguments, Check check, const Expr& site);
  Expr report_overflow(std::string function, std::vector<Expr> arguments, bool is_wide,
                       const Expr& site);
  std::string temporary(const Type& type);
  [[nodiscard]] bool lacks_result() const;
  [[nodiscard]] std::set<std::string> watched_scalars() const;

  CheckedKernel& kernel_;
  const FunctionDef& function_;
  std::set<std::string> arrays_;  // declared here
  std::set<std::string> flags_;   // scalars whose having a value is watched
  RunObject target_;              // what the assignment under way gives a value to
  std::vector<const Expr*> own_;  // where the updates under way read their targets
  const Stmt* next_ = nullptr;    // the statement behind this one
  Body declarations_;
  CheckedPointers pointers_;
};

}  // namespace op2::kernel
