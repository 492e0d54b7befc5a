// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "ir/group.hpp"
#include "kir/walk.hpp"
#include "lower/make.hpp"
#include "lower/passes.hpp"
#include "lower/reduce_tree.hpp"

namespace op2::lower {
namespace {

kir::Expr n_chunks(const kir::Expr& items, int chunk) {
  return (items + kir::integer(chunk - 1)) / kir::integer(chunk);
}

/// Unique Globals that the loop reduces into.
std::vector<Reduced> reduced_globals(Builder& builder) {
  const ir::Loop& loop = builder.request().loop;
  std::vector<Reduced> out;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const auto* global = std::get_if<ir::GlobalReduce>(&loop.args[i]);
    if (global == nullptr || global->dim == 0 || !ir::is_stored(loop, i)) continue;
    const std::string& data = builder.packed().args[i].data;
    const auto known = std::ranges::find(out, data, &Reduced::data);
    const bool is_zeroed = ir::starts_at_zero(loop, i);
    if (known != out.end()) {
      known->is_zeroed |= is_zeroed;
      continue;
    }
    Names& names = builder.packed().names;
    out.push_back({i, global->dtype, global->dim, update_of(global->access), data,
                   names.take(data + "_partial"), names.take(data + "_lane"),
                   names.take(data + "_tree"), names.take(data + "_got"), is_zeroed});
  }
  return out;
}

kir::Parameter memory(const std::string& name, DType dtype, bool is_const = false) {
  return {name, {dtype, is_const, true}, true, kir::Role::local, 0};
}

/// The loop over a function's items. Around it there may be what lanes need.
template <class Block>
auto& items_of(Block& body) {
  for (auto& stmt : body) {
    auto* loop = std::get_if<kir::For>(&stmt.node);
    if (loop != nullptr && loop->axis == kir::Axis::grid) return *loop;
  }
  throw InternalError("reduce: a function that does not stride over the grid");
}

/// Items that a loop of @p module takes at a time.
int longest_step(const kir::Module& module) {
  int step = 1;
  for (const kir::Function& function : module.functions) {
    for (const kir::Stmt& stmt : function.body) {
      const auto* loop = std::get_if<kir::For>(&stmt.node);
      if (loop != nullptr) step = std::max(step, loop->step);
    }
  }
  return step;
}

/// Every block of a launch leaves its partial results in a slot of its own. Then they are combined:
/// by the block that is done last, or where blocks cannot see what others have written by a launch
/// of one block after all others.
class Reducer {
 public:
  explicit Reducer(Builder& builder)
      : builder_(builder),
        module_(builder.module()),
        is_fixed_(builder.request().options.semantics.deterministic),
        by_last_block_(builder.request().facts.fences),
        chunk_(builder.request().options.tuning.deterministic_chunk),
        tree_(reduced_globals(builder), builder.request().facts.warp, is_fixed_,
              builder.request().options.tuning,
              is_fixed_ ? static_cast<int>(chunk_ / longest_step(module_)) : 0) {}

  void run() {
    for (const kir::Function& function : module_.functions) {
      if (reduces(function)) functions_.push_back(function.name);
    }
    sets_ = is_written_once();
    if (!sets_) set_to_zero_first();
    if (functions_.empty()) return;
    if (by_last_block_) {
      Names& names = builder_.packed().names;
      counter_ = names.take("n_arrived");
      flag_ = names.take("is_last");
    }
    rewrite_launch();
    for (kir::Function& function : module_.functions) {
      if (is_reducing(function.name)) rewrite(function);
    }
    if (!by_last_block_) add_finish();
  }

 private:
  /// A function of one lane works on the Globals themselves.
  [[nodiscard]] bool reduces(const kir::Function& function) const {
    return uses_globals(function) && !is_single(module_.launch, function.name);
  }

  /// Functions have no parameters that they do not use.
  [[nodiscard]] bool uses_globals(const kir::Function& function) const {
    return std::ranges::any_of(function.parameters, [this](const kir::Parameter& parameter) {
      return reduced(parameter) != nullptr;
    });
  }

  static bool is_single(const kir::Block& block, const std::string& function) {
    return kir::any_stmt(block, [&function](const kir::Stmt& stmt) {
      const auto* launch = std::get_if<kir::Launch>(&stmt.node);
      return launch != nullptr && launch->function == function && launch->grid == kir::Grid::single;
    });
  }

  [[nodiscard]] bool is_reducing(const std::string& function) const {
    return std::find(functions_.begin(), functions_.end(), function) != functions_.end();
  }

  /// The Global that @p parameter hands over, if it is reduced; null: another one.
  [[nodiscard]] const Reduced* reduced(const kir::Parameter& parameter) const {
    if (parameter.role != kir::Role::data) return nullptr;
    const auto data_of = [this](std::size_t arg) {
      return ir::alias_of(builder_.request().loop.args[arg]).data;
    };
    const int data = data_of(static_cast<std::size_t>(parameter.index));
    const auto& globals = tree_.globals();
    const auto found = std::ranges::find_if(
        globals, [&](const Reduced& global) { return data_of(global.arg) == data; });
    return found == globals.end() ? nullptr : &*found;
  }

  // ------------------------------------------------------------------------------------ zeros

  /// Is there one launch that gives Globals their values, so that it may overwrite them?
  [[nodiscard]] bool is_written_once() const {
    const auto n_users = std::ranges::count_if(
        module_.functions,
        [this](const kir::Function& function) { return uses_globals(function); });
    if (n_users != static_cast<std::ptrdiff_t>(functions_.size())) return false;
    if (!by_last_block_) return true;  // the last launch of all
    const auto launches = [this](const kir::Stmt& stmt) {
      const auto* launch = std::get_if<kir::Launch>(&stmt.node);
      return launch != nullptr && is_reducing(launch->function);
    };
    int n_launches = 0;  // those that are repeated, too
    kir::for_each_stmt(module_.launch,
                       [&](const kir::Stmt& stmt) { n_launches += launches(stmt) ? 1 : 0; });
    return n_launches == 1 && std::ranges::count_if(module_.launch, launches) == 1;
  }

  /// Globals that count as 0 are, before several launches add to them.
  void set_to_zero_first() {
    kir::Function zero;
    std::vector<kir::Expr> arguments;
    kir::Block body;
    for (const Reduced& global : tree_.globals()) {
      if (!global.is_zeroed) continue;
      zero.parameters.push_back(parameter_of(global));
      arguments.push_back(kir::name(global.data));
      body.push_back(for_components(global.dim, kir::element(global.data, kir::name("c")),
                                    kir::Update::set, kir::integer(0)));
    }
    if (body.empty()) return;
    zero.name = builder_.packed().names.take("zero_" + ir::name_of(builder_.request().loop));
    zero.is_kernel = true;
    zero.body = {on_first_lane(std::move(body))};
    module_.launch.insert(
        module_.launch.begin(),
        {kir::Launch{zero.name, kir::Grid::single, kir::integer(1), std::move(arguments)},
         "Globals that several launches add to are 0 first."});
    module_.functions.push_back(std::move(zero));
  }

  [[nodiscard]] static kir::Parameter parameter_of(const Reduced& global) {
    return {global.data,
            {global.dtype, false, true},
            true,
            kir::Role::data,
            static_cast<int>(global.arg)};
  }

  // -------------------------------------------------------------------------------- functions

  void rewrite(kir::Function& function) {
    rewrite_parameters(function);
    kir::Block body = tree_.declarations();
    if (by_last_block_) {
      body.push_back({kir::Decl{{DType::int32}, flag_, 0, {}, kir::Storage::block}});
    }
    kir::Expr n_slots = kir::builtin(kir::Builtin::n_blocks);
    if (is_fixed_) n_slots = n_chunks_of(function);
    append(body, is_fixed_ ? in_chunks(std::move(function.body)) : by_lanes(function.body));
    if (by_last_block_) append(body, last_block(n_slots));
    function.body = std::move(body);
    if (!is_fixed_) limit_to_tree(function);
  }

  void limit_to_tree(kir::Function& function) const {
    const bool has_limit = function.max_lanes > 0 && function.max_lanes <= tree_.n_lanes();
    if (!has_limit) function.max_lanes = tree_.n_lanes();
  }

  /// Beside a Global its partial results. If another launch combines them, MIN and MAX are left
  /// with the value that they start at, and sums do not see the Global.
  void rewrite_parameters(kir::Function& function) const {
    std::vector<kir::Parameter> parameters;
    for (kir::Parameter& parameter : function.parameters) {
      const Reduced* global = reduced(parameter);
      if (global == nullptr) {
        parameters.push_back(std::move(parameter));
        continue;
      }
      parameter.type.is_const = !by_last_block_;
      if (by_last_block_ || !global->starts_at_zero()) parameters.push_back(std::move(parameter));
      parameters.push_back(memory(global->partial, global->dtype));
    }
    parameters.push_back(by_last_block_ ? memory(counter_, DType::uint32) : number("slot"));
    function.parameters = std::move(parameters);
  }

  [[nodiscard]] kir::Expr slot(const kir::Expr& of_launch) const {
    return by_last_block_ ? of_launch : kir::name("slot") + of_launch;
  }

  /// Each lane keeps a value of its own over all its items; at last the block combines them.
  [[nodiscard]] kir::Block by_lanes(kir::Block work) const {
    kir::Block out;
    for (const Reduced& global : tree_.globals()) {
      kir::rename(work, global.data, global.lane);
      // sums were declared as zero
      if (global.starts_at_zero()) continue;
      out.push_back(for_components(global.dim, {{kir::Assign{tree_.own(global, kir::name("c")),
                                                             kir::Update::set, global.start()}}}));
    }
    append(out, std::move(work));
    append(out, tree_.combined());
    out.push_back(on_first_lane(tree_.to_slot(slot(kir::builtin(kir::Builtin::block_id)))));
    return out;
  }

  [[nodiscard]] kir::Expr n_chunks_of(const kir::Function& function) const {
    const kir::For& items = items_of(function.body);
    return n_chunks(items.end - items.begin, chunk_);
  }

  /// Chunks of a fixed size, a fixed share of each for every leaf of a fixed tree: the same sums
  /// in the same order, whatever lanes and blocks there are.
  [[nodiscard]] kir::Block in_chunks(kir::Block work) const {
    const kir::For items = items_of(work);
    kir::Block leaves = tree_.starts();
    append(leaves, items.step > 1 ? run_of_leaf(std::move(work)) : items_of_leaf(items));
    kir::Block chunk{{kir::For{kir::Axis::lane, "lane", kir::integer(0),
                               kir::integer(tree_.n_lanes()), std::move(leaves)}}};
    append(chunk, tree_.combined());
    chunk.push_back(on_first_lane(tree_.to_slot(slot(kir::name("chunk")))));
    return {{kir::For{kir::Axis::block, "chunk", kir::integer(0),
                      n_chunks(items.end - items.begin, chunk_), std::move(chunk)}}};
  }

  /// Neighbouring leaves take neighbouring items, one a round.
  [[nodiscard]] kir::Block items_of_leaf(kir::For items) const {
    for (const Reduced& global : tree_.globals()) replace_components(items.body, global);
    const kir::Expr n_leaves = kir::integer(tree_.n_lanes());
    const kir::Expr at = items.begin + kir::name("chunk") * kir::integer(chunk_) +
                         kir::name("round") * n_leaves + kir::name("lane");
    kir::Block one_item{
        index_decl(items.index, at),
        {kir::If{kir::less(kir::name(items.index), items.end), std::move(items.body)}}};
    return {{kir::For{kir::Axis::serial, "round", kir::integer(0),
                      kir::integer(chunk_ / tree_.n_lanes()), std::move(one_item)}}};
  }

  /// A leaf's items follow each other, and are taken several at a time.
  [[nodiscard]] kir::Block run_of_leaf(kir::Block work) const {
    kir::For& items = items_of(work);
    const kir::Expr n_items = kir::integer(chunk_ / tree_.n_lanes());
    items.axis = kir::Axis::serial;
    items.begin =
        items.begin + kir::name("chunk") * kir::integer(chunk_) + kir::name("lane") * n_items;
    items.end = kir::minimum(items.begin + n_items, items.end);
    kir::Block out;
    for (const Reduced& global : tree_.globals()) {
      kir::rename(work, global.data, global.lane);
      out.push_back({kir::Decl{{global.dtype}, global.lane, global.dim, {}}});
      out.push_back(
          for_components(global.dim, {{kir::Assign{kir::element(global.lane, kir::name("c")),
                                                   kir::Update::set, global.start()}}}));
    }
    append(out, std::move(work));
    for (const Reduced& global : tree_.globals()) {
      out.push_back(
          for_components(global.dim, {{kir::Assign{tree_.own(global, kir::name("c")), global.update,
                                                   kir::element(global.lane, kir::name("c"))}}}));
    }
    return out;
  }

  /// A leaf stands in for the Global.
  void replace_components(kir::Block& block, const Reduced& global) const {
    block = kir::map_exprs(std::move(block), [&](const kir::Expr& expr) {
      const auto* element = std::get_if<kir::Element>(&expr.node);
      if (element == nullptr || element->array != global.data) return std::optional<kir::Expr>();
      return std::optional(tree_.own(global, element->subscript.front()));
    });
  }

  /// The last block of a launch has the partial results of all.
  [[nodiscard]] kir::Block last_block(const kir::Expr& n_slots) const {
    kir::Block rest = tree_.combined_partials(n_slots);
    rest.push_back(on_first_lane(tree_.to_globals(sets_)));
    return commented("The block that is done last combines the results of all.",
                     {on_first_lane({{kir::Intrinsic{kir::Instruction::arrive,
                                                     {kir::name(flag_), kir::name(counter_),
                                                      kir::builtin(kir::Builtin::n_blocks)}}}}),
                      {kir::Barrier{}},
                      {kir::If{kir::name(flag_), std::move(rest)}}});
  }

  // ----------------------------------------------------------------------------------- launch

  /// Slots that one launch fills.
  [[nodiscard]] static kir::Expr slots_of(const kir::Launch& launch) {
    if (launch.grid == kir::Grid::blocks) return launch.items;
    return kir::blocks_for(launch.items);
  }

  void rewrite_launch() {
    kir::Expr n_slots_max = kir::integer(0);
    kir::Block work = rewritten(std::move(module_.launch), kir::integer(1), n_slots_max);
    kir::Block out;
    for (const Reduced& global : tree_.globals()) {
      out.push_back(
          {kir::Scratch{global.dtype, global.partial, n_slots_max * kir::integer(global.dim)}});
    }
    if (by_last_block_) {
      out.push_back({kir::Scratch{DType::uint32, counter_, kir::integer(1), /*is_zero=*/true}});
    } else {
      out.push_back({kir::Decl{{DType::int64}, "n_slots", 0, {kir::integer(0)}}});
    }
    append(out, std::move(work));
    module_.launch = std::move(out);
  }

  /// @param[in] n_times How often the block runs; its launches then share the items out.
  kir::Block rewritten(kir::Block block, const kir::Expr& n_times, kir::Expr& n_slots_max) {
    kir::Block out;
    for (kir::Stmt& stmt : block) {
      if (auto* loop = std::get_if<kir::For>(&stmt.node)) {
        loop->body = rewritten(std::move(loop->body), loop->end - loop->begin, n_slots_max);
      }
      auto* launch = std::get_if<kir::Launch>(&stmt.node);
      if (launch == nullptr || !is_reducing(launch->function)) {
        out.push_back(std::move(stmt));
        continue;
      }
      if (is_fixed_) {
        launch->items = n_chunks(launch->items, chunk_);
        launch->grid = kir::Grid::blocks;
      }
      launch->arguments = arguments_of(*launch);
      n_slots_max = n_slots_max + bound(*launch, n_times);
      const kir::Expr slots = slots_of(*launch);
      out.push_back(std::move(stmt));
      if (by_last_block_) continue;
      out.push_back(
          {kir::Assign{kir::name("n_slots"), kir::Update::set, kir::name("n_slots") + slots}});
    }
    return out;
  }

  /// Launches that combine their own results use the same slots one after the other.
  [[nodiscard]] kir::Expr bound(const kir::Launch& launch, const kir::Expr& n_times) const {
    if (n_times == kir::integer(1)) return slots_of(launch);
    const kir::Expr items = whole_end() - whole_begin();
    const kir::Expr n_sharing = by_last_block_ ? kir::integer(1) : n_times;
    if (is_fixed_) return n_chunks(items, chunk_) + n_sharing;
    return launch.grid == kir::Grid::blocks ? items : kir::blocks_for(items) * n_sharing;
  }

  /// What rewrite_parameters() will do, for the arguments.
  [[nodiscard]] std::vector<kir::Expr> arguments_of(const kir::Launch& launch) const {
    const auto& parameters = kir::function_of(module_, launch.function).parameters;
    std::vector<kir::Expr> arguments;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Reduced* global = reduced(parameters[i]);
      if (global == nullptr || by_last_block_ || !global->starts_at_zero()) {
        arguments.push_back(launch.arguments[i]);
      }
      if (global != nullptr) arguments.push_back(kir::name(global->partial));
    }
    arguments.push_back(kir::name(by_last_block_ ? counter_ : "n_slots"));
    return arguments;
  }

  /// One block combines the partial results of all launches.
  void add_finish() {
    kir::Function finish;
    finish.name = builder_.packed().names.take("finish_" + ir::name_of(builder_.request().loop));
    finish.is_kernel = true;
    finish.max_lanes = is_fixed_ ? 0 : tree_.n_lanes();
    std::vector<kir::Expr> arguments;
    for (const Reduced& global : tree_.globals()) {
      finish.parameters.push_back(parameter_of(global));
      finish.parameters.push_back(memory(global.partial, global.dtype, /*is_const=*/true));
      arguments.push_back(kir::name(global.data));
      arguments.push_back(kir::name(global.partial));
    }
    finish.parameters.push_back(number("n_slots"));
    arguments.push_back(kir::name("n_slots"));
    finish.body = tree_.declarations();
    append(finish.body, tree_.combined_partials(kir::name("n_slots")));
    finish.body.push_back(on_first_lane(tree_.to_globals(sets_)));
    module_.launch.push_back(
        {kir::Launch{finish.name, kir::Grid::single, kir::integer(1), std::move(arguments)},
         "The values of all blocks become one."});
    module_.functions.push_back(std::move(finish));
  }

  Builder& builder_;
  kir::Module& module_;
  bool is_fixed_;
  bool by_last_block_;
  int chunk_;  // elements of a partial sum in a fixed order
  ReductionTree tree_;
  std::vector<std::string> functions_;  // that reduce
  bool sets_ = false;                   // Globals that count as 0 are overwritten
  std::string counter_;                 // of the blocks that are done
  std::string flag_;                    // whether this one was the last
};

}  // namespace

void reduce(Builder& builder) {
  Reducer(builder).run();
}

}  // namespace op2::lower
