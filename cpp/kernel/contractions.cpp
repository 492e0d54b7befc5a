// SPDX-License-Identifier: BSD-3-Clause
#include "kernel/contractions.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "kernel/contraction_sums.hpp"
#include "kernel/contraction_terms.hpp"
#include "kernel/cost.hpp"
#include "kernel/fresh_names.hpp"
#include "kernel/integers.hpp"
#include "kernel/types.hpp"
#include "kernel/unique_names.hpp"

namespace op2::kernel::contraction {
namespace {

/// Bytes of the arrays of one nest: what a processor keeps near, for some elements side by side.
constexpr std::int64_t most_bytes = 128 << 10;

/// @brief Rewrites the sums of one nest of points; false, and no change, if arrays were too large.
///
/// Each loop over points begins with the sums of its dimension, and ends with the transposed ones.
/// So arrays hold no points, and are small: of p functions a direction in three dimensions, p^2
/// values in the outermost loop, p in the next, and 1 at a point.
bool rewrite(const Points& points, const std::vector<Term>& terms, FreshNames& names) {
  Sums sums(points, terms, names);
  if (sums.bytes() > most_bytes) return false;
  sums.replace_terms();
  // a body that grows moves the loops within
  for (std::size_t dim = sums.n_dims(); dim-- > 0;) {
    const bool is_point = dim + 1 == sums.n_dims();  // its values are declared where they are known
    Body inside;
    for (const Root& root : sums.roots()) {
      if (!is_point) Sums::add_zeros(root.children, dim, inside);
    }
    for (const Stage& stage : sums.stages(dim)) sums.add_stage(stage, inside);
    Body& outer = within(*points.loops[dim]);
    append(inside, std::move(outer));
    for (const Root& root : sums.roots()) {
      Sums::add_sums(root.children, root.target, ranges_of(root.groups, dim, sums.n_dims()), dim,
                     inside);
    }
    outer = std::move(inside);
  }
  return true;
}

/// @brief Rewrites all nests of a function.
class Contractor {
 public:
  Contractor(FreshNames& names, Integers known)
      : names_(names), loop_names_(names), known_(std::move(known)) {}

  void statements(Body& body) {
    for (Stmt& stmt : body) {
      auto* loop = std::get_if<For>(&stmt.node);
      if (loop != nullptr && nest(*loop)) continue;
      if (loop != nullptr) {
        statements(loop->body);
      } else if (auto* block = std::get_if<Block>(&stmt.node)) {
        statements(block->body);
      }
    }
  }

  [[nodiscard]] int n_sums() const { return n_sums_; }

 private:
  /// @brief Rewrite a nest that begins with @p loop; the longest with such sums in the body.
  bool nest(For& loop) {
    Points points = points_from(loop, known_);
    for (auto terms = longest_terms(points, known_, loop_names_); !terms.empty();
         terms = longest_terms(points, known_, loop_names_)) {
      if (rewrite(points, terms, names_)) {
        n_sums_ += static_cast<int>(terms.size());
        return true;
      }
      points.drop_innermost();
    }
    return false;
  }

  FreshNames& names_;
  LoopNames loop_names_;
  Integers known_;
  int n_sums_ = 0;
};

/// @brief How many loops stand within each other, as Contractor::statements() finds them.
int depth_of(const Body& body) {
  int depth = 0;
  for (const Stmt& stmt : body) {
    const auto* loop = std::get_if<For>(&stmt.node);
    const auto* block = std::get_if<Block>(&stmt.node);
    if (loop != nullptr) depth = std::max(depth, 1 + depth_of(loop->body));
    if (block != nullptr) depth = std::max(depth, depth_of(block->body));
  }
  return depth;
}

/// @brief Loops of the smallest nest: two over points, two of a sum.
constexpr int least_depth = 4;

}  // namespace
}  // namespace op2::kernel::contraction

namespace op2::kernel {

std::optional<Contracted> contracted(const KernelBody& body) {
  const auto is_deep = [](const FunctionDef& function) {
    return contraction::depth_of(function.body) >= contraction::least_depth;
  };
  if (std::ranges::none_of(body.functions, is_deep)) return std::nullopt;
  KernelBody made = with_unique_names(body);
  FreshNames names(made);
  const Integers known = constant_integers(body);
  Contracted found;
  for (FunctionDef& function : made.functions) {
    contraction::Contractor contractor(names, known);
    contractor.statements(function.body);
    found.done.n_sums += contractor.n_sums();
  }
  if (found.done.n_sums == 0) return std::nullopt;
  found.body = infer_types(spelled(std::move(made)));
  found.done.before = n_operations(body);
  found.done.after = n_operations(found.body);
  if (found.done.after >= found.done.before) return std::nullopt;
  return found;
}

}  // namespace op2::kernel
