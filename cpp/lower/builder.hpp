// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/loop.hpp"
#include "kir/nodes.hpp"
#include "lower/options.hpp"
#include "lower/pack.hpp"
#include "lower/strategy.hpp"

namespace op2::lower {

/// @brief Everything a strategy pass may look at.
struct Request {
  const ir::Loop& loop;
  Strategy strategy;
  const Facts& facts;
  const std::vector<MapFacts>& maps;
  const Options& options;
};

/// @brief What the strategy passes share: argv, wrapper functions, partial results of reductions
/// and the ranges that lanes work on. A strategy pass uses it to fill one Module.
class Builder {
 public:
  Builder(const Request& request, PackedLoop packed);

  [[nodiscard]] const Request& request() const { return request_; }
  [[nodiscard]] PackedLoop& packed() { return packed_; }
  [[nodiscard]] const PackedLoop& packed() const { return packed_; }
  [[nodiscard]] kir::Module& module() { return module_; }
  [[nodiscard]] const kir::Module& module() const { return module_; }

  /// @brief Append an array to argv that the plan provides. Returns its parameter.
  kir::Parameter plan_array(kir::PlanArray array, const std::string& name, DType dtype);

  /// @brief Add the wrapper over work items: @p index counts [begin, end) around @p body.
  /// Parameters that the body does not use are left out.
  void add_function(const std::string& name, std::vector<kir::Parameter> parameters,
                    const std::string& index, kir::Block body);

  /// @brief Add the wrapper that calls the kernels for each element at positions [begin, end).
  void add_element_function(const std::string& name, std::vector<kir::Parameter> parameters);

  /// @brief Add a wrapper that says itself what it does with its range [begin, end).
  void add_range_function(const std::string& name, std::vector<kir::Parameter> parameters,
                          kir::Block body);

  /// @brief Add a function that is launched and says itself what each lane does. @p parameters are
  /// in the order of the convention; those that the body does not use are left out.
  void add_kernel(const std::string& name, std::vector<kir::Parameter> parameters, kir::Block body);

  /// @brief A number that launches hand to the functions that use it: @p value, in their terms.
  kir::Parameter launch_number(const std::string& name, kir::Expr value);

  /// @brief Component @p c of @p target in the Dat of argument @p arg, which is reached through a
  /// Map.
  [[nodiscard]] kir::Expr scalar(std::size_t arg, const kir::Expr& target,
                                 const kir::Expr& c) const;

  /// @brief @p parameters and the range of a launched function.
  [[nodiscard]] static std::vector<kir::Parameter> with_range(
      std::vector<kir::Parameter> parameters);

  /// @brief Launch of @p function: each parameter gets what the launch knows by its name, or the
  /// value that @p numbers names for it.
  [[nodiscard]] kir::Stmt launch(
      const std::string& function, kir::Grid grid, const kir::Expr& items,
      const std::vector<std::pair<std::string, kir::Expr>>& numbers) const;

  /// @brief Statements that run @p function over [begin, end), spread over the lanes in slots.
  [[nodiscard]] kir::Block over_range(const std::string& function, const kir::Expr& begin,
                                      const kir::Expr& end);

  /// @brief Call of @p function on one range; reductions go to the partial results of @p slot.
  [[nodiscard]] kir::Stmt call(const std::string& function, const kir::Expr& begin,
                               const kir::Expr& end, const kir::Expr& slot) const;

  /// @brief Number of slots for a range: one a thread, or one a chunk of fixed size.
  [[nodiscard]] kir::Expr slots(const kir::Expr& begin, const kir::Expr& end) const;

  /// @brief Begin and end of a slot's part of a range.
  [[nodiscard]] kir::Expr slot_begin(const kir::Expr& begin, const kir::Expr& end,
                                     const kir::Expr& slot) const;
  [[nodiscard]] kir::Expr slot_end(const kir::Expr& begin, const kir::Expr& end,
                                   const kir::Expr& slot) const;

  /// @brief Wrap the launch's work: scratch pointers and partial results before, combining after.
  void finish(kir::Block work, const kir::Expr& n_slots);

  /// @brief A private array for the results of every work item of argument @p arg, in scratch.
  kir::Parameter item_results(std::size_t arg, int extent);

  [[nodiscard]] bool has_partials() const { return !partials_.empty(); }
  /// @brief Whether slots are chunks of `deterministic_chunk` items: for `deterministic`, and on
  /// the host for sums of 32 bits. Such a sum takes no more summands once it has 2^24 times their
  /// size, so chunks bound how many summands one sum gets.
  [[nodiscard]] bool has_chunks() const;
  [[nodiscard]] bool spreads() const { return request_.facts.lanes != Lanes::one; }
  [[nodiscard]] bool is_grid() const { return request_.facts.lanes == Lanes::grid; }

 private:
  struct Partial {
    std::size_t arg;
    std::string name;
    int stride;           // scalars between slots
    std::int64_t offset;  // bytes into a slot's scratch, times the number of slots
  };
  struct ItemResult {
    std::string name;
    DType dtype;
    std::int64_t offset;  // bytes an item of the results before it
    int extent;           // scalars an item
  };

  void declare_arguments();
  void find_partials();
  [[nodiscard]] kir::Stmt combined(const Partial& partial, const kir::Expr& n_slots) const;
  void finish_team(kir::Block work, const kir::Expr& n_slots);
  void finish_grid(kir::Block work);
  void add_loop(const std::string& name, std::vector<kir::Parameter> parameters, kir::For loop);
  [[nodiscard]] kir::Axis item_axis() const {
    return is_grid() ? kir::Axis::grid : kir::Axis::serial;
  }

  const Request& request_;
  PackedLoop packed_;
  kir::Module module_;
  std::vector<Partial> partials_;
  std::vector<ItemResult> item_results_;
  std::vector<std::pair<std::string, kir::Expr>> numbers_;
};

/// @brief Append the calls of the kernels, and what takes joined packs apart again.
void append_call(kir::Block& block, const PackedLoop& packed);
/// @brief The call of one member alone.
void append_call(kir::Block& block, const PackedCall& member);

/// @brief What happens for the item at `items.position`: find the element, load, call, store.
[[nodiscard]] kir::Block element_body(const PackedLoop& packed);

/// @brief The launch's own range, [begin, end).
[[nodiscard]] kir::Expr whole_begin();
[[nodiscard]] kir::Expr whole_end();

}  // namespace op2::lower
