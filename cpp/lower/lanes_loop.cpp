// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "ir/kernel_facts.hpp"
#include "lower/constants.hpp"
#include "lower/lanes_kernel.hpp"
#include "lower/lanes_varying.hpp"
#include "lower/names_used.hpp"

namespace op2::lower {
namespace {

// Rows of a Map of more entries than this are loaded in a loop over its slots.
constexpr int unrolled_rows = 64;

[[noreturn]] void refuse(std::string why) {
  throw Refusal{std::move(why)};
}

bool calls_kernel(const kir::Block& block) {
  return std::ranges::any_of(block, [](const kir::Stmt& stmt) {
    return std::holds_alternative<kir::CallUser>(stmt.node);
  });
}

/// @p expr with the variable @p from replaced by the expression @p by.
kir::Expr with(const kir::Expr& expr, const std::string& from, const kir::Expr& by) {
  const auto all = [&from, &by](std::vector<kir::Expr> operands) {
    for (kir::Expr& operand : operands) operand = with(operand, from, by);
    return operands;
  };
  return std::visit(
      overload{
          [&](const kir::Integer&) { return expr; },
          [&](const kir::Name& node) { return node.name == from ? by : expr; },
          [&](const kir::Element& node) {
            return kir::Expr{kir::Element{node.array, all(node.subscript)}};
          },
          [&](const kir::Offset& node) {
            return kir::Expr{kir::Offset{node.array, all(node.subscript)}};
          },
          [&](const kir::Binary& node) {
            std::vector<kir::Expr> operands = all(node.operands);
            // Arithmetic folds again where a number came in.
            if (node.op == kir::BinaryOp::add) return operands[0] + operands[1];
            if (node.op == kir::BinaryOp::multiply) return operands[0] * operands[1];
            return kir::Expr{kir::Binary{node.op, std::move(operands)}};
          },
          [&](const kir::Widen& node) { return kir::Expr{kir::Widen{all(node.operands)}}; },
          [&](const kir::Minimum& node) { return kir::Expr{kir::Minimum{all(node.operands)}}; },
          [&](const kir::Select& node) { return kir::Expr{kir::Select{all(node.operands)}}; },
          [&](const kir::ScratchAt& node) { return kir::Expr{kir::ScratchAt{all(node.bytes)}}; },
          [&](const kir::Shuffle&) { return expr; },
          [&](const kir::Stride&) { return expr; },
          [&](const kir::BlocksFor&) { return expr; },
          [&](const kir::Builtin&) { return expr; },
      },
      expr.node);
}

/// Rewrites one loop that calls the kernel.
class LaneLoop {
 public:
  LaneLoop(const Request& request, std::set<std::string> taken)
      : request_(request), lanes_(request.options.lanes), taken_(std::move(taken)) {}

  kir::Block run(const kir::For& loop) {
    if (loop.axis != kir::Axis::serial) refuse("its elements are not visited by a serial loop");
    index_ = kir::name(loop.index);
    live_ = kir::name(fresh("live"));
    element_ = loop.index;
    declare_lanes(loop);
    for (const kir::Stmt& stmt : loop.body) statement(stmt);
    if (!scatter_.updates.empty()) {
      scatter_.n_live = live_;
      body_.push_back({std::move(scatter_)});
    }
    body_.insert(body_.end(), after_.begin(), after_.end());
    kir::Block out = std::move(before_);
    out.push_back({kir::For{loop.axis, loop.index, loop.begin, loop.end, std::move(body_),
                            DType::int64, lanes_}});
    out.insert(out.end(), behind_.begin(), behind_.end());
    return out;
  }

 private:
  std::string fresh(const std::string& wanted) {
    std::string name = wanted;
    while (taken_.contains(name)) name += '_';
    taken_.insert(name);
    return name;
  }

  /// `live` lanes have an element of their own; the others repeat the last one.
  void declare_lanes(const kir::For& loop) {
    const kir::VariableType type{DType::int64, true, false};
    body_.push_back({kir::Decl{type,
                               std::get<kir::Name>(live_.node).name,
                               0,
                               {kir::minimum(kir::integer(lanes_), loop.end - index_)}}});
    for (int lane = 0; lane < lanes_; ++lane) {
      const kir::Expr number = kir::integer(lane);
      const kir::Expr at = kir::select(kir::less(number, live_), index_ + number,
                                       index_ + (live_ - kir::integer(1)));
      position_.push_back(fresh(fmt::format("lane{}", lane)));
      body_.push_back({kir::Decl{type, position_.back(), 0, {lane == 0 ? index_ : at}}});
    }
  }

  /// @p expr for the element of one lane.
  [[nodiscard]] kir::Expr on_lane(const kir::Expr& expr, int lane) const {
    return with(expr, element_, kir::name(position_[static_cast<std::size_t>(lane)]));
  }

  [[nodiscard]] std::vector<kir::Expr> on_lanes(const kir::Expr& expr) const {
    std::vector<kir::Expr> out;
    for (int lane = 0; lane < lanes_; ++lane) out.push_back(on_lane(expr, lane));
    return out;
  }

  void statement(const kir::Stmt& stmt) {
    std::visit(overload{
                   [this](const kir::Decl& node) { declare(node); },
                   [this](const kir::Gather& node) { gather(node); },
                   [this](const kir::CallUser& node) { call(node); },
                   [this](const kir::Scatter& node) { scatter(node); },
                   [this](const kir::For& node) { components(node); },
                   [](const kir::Assign&) { unknown(); },
                   [](const kir::Atomic&) { unknown(); },
                   [](const kir::Call&) { unknown(); },
                   [](const kir::If&) { unknown(); },
                   [](const kir::Region&) { unknown(); },
                   [](const kir::Barrier&) { unknown(); },
                   [](const kir::Arrive&) { unknown(); },
                   [](const kir::Launch&) { unknown(); },
                   [](const kir::Scratch&) { unknown(); },
                   [](const kir::MatInsert&) { refuse("it adds to a matrix"); },
                   [](const kir::LaneGather&) { unknown(); },
                   [](const kir::LaneScatter&) { unknown(); },
                   [](const kir::LaneAdd&) { unknown(); },
                   [](const kir::LaneFold&) { unknown(); },
               },
               stmt.node);
  }

  [[noreturn]] static void unknown() { refuse("its strategy surrounds the kernel by other steps"); }

  void declare(const kir::Decl& node) {
    if (node.extent == 0) {  // the element, found at a position
      for (int lane = 0; lane < lanes_; ++lane) {
        const std::string name = fresh(fmt::format("{}{}", node.name, lane));
        body_.push_back({kir::Decl{node.type, name, 0, {on_lane(node.value.front(), lane)}}});
        position_[static_cast<std::size_t>(lane)] = name;
      }
      element_ = node.name;
      return;
    }
    kir::Decl out = node;
    out.type = vector(node.type.dtype);
    body_.push_back({std::move(out)});
  }

  [[nodiscard]] kir::VariableType vector(DType dtype) const {
    if (is_complex(dtype)) refuse("it holds complex numbers");
    return {dtype, false, false, lanes_};
  }

  [[nodiscard]] static kir::Expr row_start(const kir::Rows& rows, const kir::Expr& i) {
    const kir::Expr entry = kir::element(rows.map, rows.element * kir::integer(rows.arity) + i);
    const int stride = rows.stride == 0 ? rows.dim : rows.stride;
    return kir::widen(entry) * kir::integer(stride) + kir::integer(rows.component);
  }

  [[nodiscard]] kir::LaneRows rows_of(const std::string& pack, const kir::Rows& rows,
                                      const kir::Expr& i) const {
    return {pack,      i * kir::integer(rows.dim),  rows.dtype, rows.dim,
            rows.data, on_lanes(row_start(rows, i))};
  }

  static void check_path(const kir::Rows& rows) {
    if (!rows.entries.empty()) refuse("a Dat is reached by more than the entries of one Map");
  }

  void gather(const kir::Gather& node) {
    check_path(node.rows);
    if (node.rows.arity <= unrolled_rows) {
      for (int i = 0; i < node.rows.arity; ++i) {
        body_.push_back({kir::LaneGather{rows_of(node.pack, node.rows, kir::integer(i))}});
      }
      return;
    }
    body_.push_back({kir::For{kir::Axis::serial,
                              "i",
                              kir::integer(0),
                              kir::integer(node.rows.arity),
                              {{kir::LaneGather{rows_of(node.pack, node.rows, kir::name("i"))}}}}});
  }

  void scatter(const kir::Scatter& node) {
    check_path(node.rows);
    if (node.rows.arity > unrolled_rows) refuse("its Map has too many entries to write through");
    for (int i = 0; i < node.rows.arity; ++i) {
      scatter_.updates.push_back(
          {rows_of(node.pack, node.rows, kir::integer(i)), node.update, node.sync});
    }
  }

  void call(const kir::CallUser& node) {
    kir::CallUser out = node;
    for (std::size_t i = 0; i < request_.loop.args.size(); ++i) {
      const auto* dat = std::get_if<ir::DirectDat>(&request_.loop.args[i]);
      if (dat != nullptr) out.arguments[i] = live_rows(*dat, i, node.arguments[i]);
    }
    body_.push_back({std::move(out)});
  }

  /// A direct argument, which the kernel reads and writes in place: rows like any others.
  kir::Expr live_rows(const ir::DirectDat& dat, std::size_t i, const kir::Expr& argument) {
    const auto* offset = std::get_if<kir::Offset>(&argument.node);
    const auto* plain = std::get_if<kir::Name>(&argument.node);
    if (offset == nullptr && plain == nullptr) unknown();
    const std::string data = offset != nullptr ? offset->array : plain->name;
    const kir::Expr start =
        kir::name(element_) * kir::integer(ir::stride_of(dat)) + kir::integer(dat.component);
    const std::string pack = fresh(data + "_lanes");
    body_.push_back({kir::Decl{vector(dat.dtype), pack, std::max(dat.dim, 1), {}}});
    const kir::LaneRows rows{pack, kir::integer(0), dat.dtype, dat.dim, data, on_lanes(start)};
    if (dat.dim > 0) {
      if (dat.access != Access::write || !is_overwritten(i, dat.dim)) {
        body_.push_back({kir::LaneGather{rows}});
      }
      if (writes(dat.access)) {
        scatter_.updates.push_back({rows, kir::Update::set, kir::Sync::none});
      }
    }
    return kir::name(pack);
  }

  [[nodiscard]] bool is_overwritten(std::size_t i, int dim) {
    if (!facts_) facts_ = ir::kernel_facts(*request_.loop.kernel->body);
    return facts_->parameters[i].n_surely_written >= dim;
  }

  /// `for (c...) target = value` that carries a reduction or a result to memory and back.
  void components(const kir::For& node) {
    const auto* assign =
        node.body.size() == 1 ? std::get_if<kir::Assign>(&node.body[0].node) : nullptr;
    if (assign == nullptr) unknown();
    const auto* target = std::get_if<kir::Element>(&assign->target.node);
    const auto* value = std::get_if<kir::Element>(&assign->value.node);
    const auto* extent = std::get_if<kir::Integer>(&node.end.node);
    if (target == nullptr || value == nullptr || extent == nullptr) unknown();
    const int n = static_cast<int>(extent->value);
    if (const ir::GlobalReduce* global = reduced_into(value->array)) {  // value: a pack
      reduce(*global, target->array, value->array, n);
    } else if (const ir::GlobalReduce* start = reduced_into(target->array)) {
      for (int c = 0; c < n; ++c) {
        body_.push_back({kir::LaneGather{
            {target->array, kir::integer(c), start->dtype, 1, value->array,
             std::vector<kir::Expr>(static_cast<std::size_t>(lanes_), kir::integer(c))}}});
      }
    } else {
      keep(*target, value->array, node.index, n);
    }
  }

  [[nodiscard]] const ir::GlobalReduce* reduced_into(const std::string& pack) const {
    const auto call = std::ranges::find_if(
        reduction_packs_, [&pack](const auto& entry) { return entry.first == pack; });
    return call == reduction_packs_.end() ? nullptr : call->second;
  }

  void reduce(const ir::GlobalReduce& global, const std::string& data, const std::string& pack,
              int n) {
    const kir::VariableType type = vector(global.dtype);
    if (global.access != Access::inc) {
      after_.push_back({kir::LaneFold{data, pack, type, n, update_of(global.access)}});
      return;
    }
    const std::string sum = fresh(data + "_lanes");
    before_.push_back({kir::Decl{type, sum, std::max(n, 1), {kir::integer(0)}}});
    after_.push_back({kir::LaneAdd{sum, pack, type, n, live_}});
    behind_.push_back({kir::LaneFold{data, sum, type, n, kir::Update::add}});
  }

  /// `values[n * extent + c] = pack[c]`
  void keep(const kir::Element& target, const std::string& pack, const std::string& component,
            int extent) {
    const kir::Expr start = with(target.subscript.front(), component, kir::integer(0));
    const auto arg = std::ranges::find_if(request_.loop.args, [this, &pack](const ir::Arg& other) {
      const auto i = static_cast<std::size_t>(&other - request_.loop.args.data());
      return pack_of_arg(i) == pack;
    });
    if (arg == request_.loop.args.end()) unknown();
    scatter_.updates.push_back(
        {{pack, kir::integer(0), ir::dtype_of(*arg), extent, target.array, on_lanes(start)},
         kir::Update::set,
         kir::Sync::none});
  }

  [[nodiscard]] std::string pack_of_arg(std::size_t i) const {
    const auto* plain = std::get_if<kir::Name>(&arguments_[i].node);
    return plain == nullptr ? "" : plain->name;
  }

 public:
  /// Remember what the kernel is called with: it tells packs and reductions apart.
  void learn(const kir::CallUser& call) {
    arguments_ = call.arguments;
    for (std::size_t i = 0; i < request_.loop.args.size(); ++i) {
      if (const auto* global = std::get_if<ir::GlobalReduce>(&request_.loop.args[i])) {
        reduction_packs_.emplace_back(pack_of_arg(i), global);
      }
    }
  }

 private:
  const Request& request_;
  int lanes_;
  std::set<std::string> taken_;
  kir::Expr index_;
  kir::Expr live_;
  std::string element_;                // variable that numbers the element
  std::vector<std::string> position_;  // [lanes] what it is for each lane
  std::vector<kir::Expr> arguments_;
  std::vector<std::pair<std::string, const ir::GlobalReduce*>> reduction_packs_;
  kir::Block before_;  // the loop
  kir::Block body_;
  kir::LaneScatter scatter_;
  kir::Block after_;   // the scatters
  kir::Block behind_;  // the loop
  std::optional<ir::KernelFacts> facts_;
};

/// Names that nothing new in @p function may have.
std::set<std::string> taken_names(const kir::Function& function, const Request& request) {
  std::set<std::string> names = names_used(function.body);
  for (const kir::Parameter& parameter : function.parameters) names.insert(parameter.name);
  for (const std::string_view name : kir::local_names()) names.emplace(name);
  for (const ir::FunctionDef& other : request.loop.kernel->body->functions)
    names.insert(other.name);
  for (const ir::Variable& table : request.loop.kernel->body->tables) names.insert(table.name);
  return names;
}

/// @return Whether a loop that calls the kernel was found in @p block, and rewritten.
bool rewrite(kir::Block& block, const kir::Function& function, const Request& request) {
  bool found = false;
  kir::Block out;
  for (kir::Stmt& stmt : block) {
    auto* loop = std::get_if<kir::For>(&stmt.node);
    if (loop != nullptr && calls_kernel(loop->body)) {
      LaneLoop lanes(request, taken_names(function, request));
      for (const kir::Stmt& inner : loop->body) {
        if (const auto* call = std::get_if<kir::CallUser>(&inner.node)) lanes.learn(*call);
      }
      for (kir::Stmt& made : lanes.run(*loop)) out.push_back(std::move(made));
      found = true;
      continue;
    }
    if (loop != nullptr && rewrite(loop->body, function, request)) {
      refuse("the kernel is called from a loop inside a loop");
    }
    out.push_back(std::move(stmt));
  }
  block = std::move(out);
  return found;
}

/// Elements of one pass must not see each other's results.
void check_arguments(const Request& request) {
  if (request.facts.lanes == Lanes::grid) refuse("the backend spreads elements over lanes itself");
  const ir::Loop& loop = request.loop;
  if (loop.iteration.layers != ir::Layers::none) refuse("its elements are cells of columns");
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    if (ir::is_part(loop, i)) refuse("a parameter of the kernel is joined from several Dats");
  }
  const Races races = find_races(loop, request.maps);
  if (races.overlaps) refuse("written memory overlaps other arguments");
  if (races.reads_written) refuse("memory that is incremented is also read through a Map");
  if (!races.overwrites.empty() && request.strategy != Strategy::colour) {
    const std::size_t arg = races.overwrites.front();
    if (ir::access_of(loop.args[arg]) == Access::rw) {
      refuse(fmt::format("arg {} is RW through a Map whose targets elements share", arg));
    }
  }
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const Access access = ir::access_of(loop.args[i]);
    for (std::size_t j = 0; j < i; ++j) {
      const bool same = ir::alias_of(loop.args[i]).memory == ir::alias_of(loop.args[j]).memory;
      const Access other = ir::access_of(loop.args[j]);
      if (!same || (!writes(access) && !writes(other))) continue;
      const bool both_add = std::holds_alternative<ir::IndirectDat>(loop.args[i]) &&
                            std::holds_alternative<ir::IndirectDat>(loop.args[j]) &&
                            access == Access::inc && other == Access::inc;
      if (!both_add) refuse(fmt::format("args {} and {} share written memory", j, i));
    }
    const bool is_extremum = access == Access::min || access == Access::max;
    if (is_extremum && std::holds_alternative<ir::IndirectDat>(loop.args[i]) &&
        !ir::kernel_facts(*loop.kernel->body).parameters[i].commutes(access)) {
      refuse(fmt::format("arg {} is MIN or MAX, and the kernel uses its value", i));
    }
  }
}

std::vector<bool> varying_parameters(const ir::Loop& loop) {
  std::vector<bool> varies;
  for (const ir::Arg& arg : loop.args) {
    varies.push_back(!std::holds_alternative<ir::GlobalRead>(arg));
  }
  varies.resize(loop.args.size() + loop.constants.size(), false);
  return varies;
}

std::shared_ptr<const ir::Kernel> retyped_kernel(const Request& request) {
  if (!request.loop.kernel->body) {
    refuse(fmt::format("the kernel is opaque ({})", request.loop.kernel->opaque_reason));
  }
  auto kernel = std::make_shared<ir::Kernel>(with_constants(request.loop));
  KernelOnLanes made =
      kernel_on_lanes(*kernel->body, varying_parameters(request.loop), request.options.lanes);
  if (!made.body) refuse(made.why);
  kernel->body = std::move(made.body);
  kernel->key += fmt::format(":lanes{}", request.options.lanes);
  return kernel;
}

}  // namespace

LoopOnLanes loop_on_lanes(const kir::Module& module, const Request& request) {
  try {
    kir::Module out = module;
    out.kernel_on_lanes = retyped_kernel(request);
    check_arguments(request);
    bool found = false;
    for (kir::Function& function : out.functions) {
      found |= rewrite(function.body, kir::Function(function), request);
    }
    if (!found) refuse("its strategy calls the kernel in another way");
    return {std::move(out), ""};
  } catch (const Refusal& refusal) {
    return {std::nullopt, refusal.why};
  }
}

}  // namespace op2::lower
