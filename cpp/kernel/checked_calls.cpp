// SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <string>

#include "base/dtype.hpp"
#include "kernel/checked_addresses.hpp"
#include "kernel/checked_function.hpp"
#include "kernel/effects.hpp"
#include "kernel/known_functions.hpp"
#include "kernel/make.hpp"

namespace op2::kernel {
namespace {

/// memcpy, memmove, memset and memcmp: two operands, and a number of bytes.
bool is_of_memory(const Call& node, const Expr& expr) {
  return node.function.find("mem") != std::string::npos && expr.operands.size() == 3;
}

/// A number of bytes, where it can be told.
std::optional<std::int64_t> n_bytes_of(const Expr& expr) {
  if (const auto known = make::value_of(expr)) return known;
  if (std::holds_alternative<Cast>(expr.node)) return n_bytes_of(expr.operands[0]);
  if (const auto* node = std::get_if<SizeOf>(&expr.node)) {
    const Type& type = node->target ? *node->target : expr.operands[0].type;
    const auto dtype = dtype_of(type.base);
    if (!dtype || type.is_pointer()) return std::nullopt;
    return bytes_of(type);
  }
  const auto* binary = std::get_if<Binary>(&expr.node);
  if (binary == nullptr || binary->op != BinaryOp::multiply) return std::nullopt;
  const auto left = n_bytes_of(expr.operands[0]);
  const auto right = n_bytes_of(expr.operands[1]);
  if (!left || !right) return std::nullopt;
  return *left * *right;
}

}  // namespace

/// The call of a function of the library, whose operands @p made holds checked.
Expr CheckedFunction::library_call(const Call& node, const Expr& expr, Expr made) {
  const KnownFunction* known = known_function(node.function);
  for (std::size_t i = 0; known != nullptr && i < known->parameters.size(); ++i) {
    const Type& wanted = known->parameters[i];
    if (i >= expr.operands.size() || !wanted.is_scalar() || !is_integer(wanted.base)) continue;
    made.operands[i] = converted(expr.operands[i], std::move(made.operands[i]), wanted);
  }
  if (node.function == "abs" || node.function == "labs") {
    const std::int64_t is_wide = node.function == "labs" ? 1 : 0;
    made.operands[0] = make::cast(
        known->parameters[0],
        report_overflow("op2_above_least", {std::move(made.operands[0]), make::number(is_wide)},
                        is_wide != 0, expr));
  }
  if (is_of_memory(node, expr)) return memory_call(expr, std::move(made));
  return given(node, expr, std::move(made));
}

/// What a function of the library writes through its pointers has values then.
Expr CheckedFunction::given(const Call& node, const Expr& expr, Expr made) {
  if (!kernel_.has_bits) return made;
  const KnownFunction* known = known_function(node.function);
  for (std::size_t i = 0; i < expr.operands.size(); ++i) {
    const Expr& pointer = without_casts(expr.operands[i]);
    if (pointer.type.derivation.empty() || !has_no_effect(pointer)) continue;
    if (known != nullptr && (i >= known->parameters.size() || !known->writes(i))) continue;
    const auto reach = pointers_.reach(pointer);
    if (!reach || make::value_of(reach->bits)) continue;
    Expr n = known == nullptr ? reach->high : make::number(1);
    made = make::comma(make::call("op2_given", {reach->bits, std::move(n), reach->high}),
                       std::move(made));
  }
  return made;
}

/// Bytes that are copied, set or compared stay inside of what the pointers lead into, and are used
/// as the accesses say.
Expr CheckedFunction::memory_call(const Expr& expr, Expr made) {
  const KnownFunction* known = known_function(std::get<Call>(expr.node).function);
  const auto n_bytes = n_bytes_of(expr.operands[2]);
  if (known == nullptr || !(n_bytes || has_no_effect(expr.operands[2]))) return made;
  std::optional<Expr> before;
  for (std::size_t i = 0; i < 2; ++i) {
    const Expr& pointer = without_casts(expr.operands[i]);
    const auto dtype = dtype_of(pointer.type.base);
    if (pointer.type.derivation.empty() || !has_no_effect(pointer) || !dtype) continue;
    const auto reach = pointers_.reach(pointer);
    if (!reach) continue;
    const auto size = static_cast<std::int64_t>(size_of(*dtype));
    const auto high = make::value_of(reach->high);
    const bool fits = n_bytes && high && *n_bytes >= 0 && *n_bytes <= *high * size;
    if (!fits) {
      made.operands[2] =
          make::cast(scalar(Base::uint64),
                     report("op2_span",
                            {make::cast(scalar(Base::int64), std::move(made.operands[2])),
                             make::number(size), reach->high, reach->who},
                            Check::bounds, pointer));
    }
    Expr n = n_bytes ? make::number(*n_bytes / size)
                     : make::over(make::cast(scalar(Base::int64), value(expr.operands[2])), size);
    auto watch = bytes_used(pointer, *reach, std::move(n), known->writes(i));
    if (!watch) continue;
    before = before ? make::comma(std::move(*before), std::move(*watch)) : std::move(*watch);
  }
  return before ? make::comma(std::move(*before), std::move(made)) : made;
}

/// Watch what @p n scalars are used for; nothing where that is always allowed.
std::optional<Expr> CheckedFunction::bytes_used(const Expr& pointer, const Reach& reach, Expr n,
                                                bool is_stored) {
  const Check check = is_stored ? Check::store : Check::load;
  const auto who = make::value_of(reach.who);
  const auto& accesses = kernel_.input.accesses;
  if (who && *who >= 0) {
    const auto access = accesses[static_cast<std::size_t>(*who)];
    if (!access) return std::nullopt;
    const Use use = is_stored ? Use::store : Use::load;
    const Verdict found = verdict_of_parameter(*access, use, false);
    if (found == Verdict::fine) return std::nullopt;
    if (found == Verdict::wrong) {
      return report("op2_wrong", {make::number(0), make::number(0)}, check, pointer);
    }
  }
  if (is_table(about(pointer).name)) return std::nullopt;
  const bool is_always_fine = is_stored && who;  // into an array of the kernel
  if (!is_always_fine) kernel_.needs_bits = true;
  if (!kernel_.has_bits || make::value_of(reach.bits)) return std::nullopt;
  return report(is_stored ? "op2_stored" : "op2_loaded",
                {reach.bits, std::move(n), reach.high, reach.who}, check, pointer);
}

}  // namespace op2::kernel
