// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include "base/overload.hpp"
#include "kernel/stores.hpp"
#include "kir/instructions.hpp"
#include "kir/walk.hpp"
#include "lower/items.hpp"
#include "lower/lanes_columns.hpp"
#include "lower/lanes_elements.hpp"
#include "lower/lanes_legal.hpp"
#include "lower/lanes_rows.hpp"
#include "lower/lanes_rule.hpp"
#include "lower/lanes_stores.hpp"
#include "lower/lanes_varying.hpp"
#include "lower/make.hpp"
#include "lower/ragged.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

/// Itself, not in a loop inside.
bool calls_kernel_itself(const kir::Block& block) {
  return std::ranges::any_of(block, [](const kir::Stmt& stmt) {
    return std::holds_alternative<kir::CallUser>(stmt.node);
  });
}

const kir::For* vector_loop(const kir::Block& block) {
  const auto found = std::ranges::find_if(block, [](const kir::Stmt& stmt) {
    const auto* loop = std::get_if<kir::For>(&stmt.node);
    return loop != nullptr && loop->axis == kir::Axis::vector;
  });
  return found == block.end() ? nullptr : &std::get<kir::For>(found->node);
}

/// Strategies may speak of lanes themselves.
bool is_on_lanes(const kir::Stmt& stmt) {
  if (const auto* branch = std::get_if<kir::If>(&stmt.node)) {
    return std::ranges::all_of(branch->then, is_on_lanes);
  }
  return kir::has_scope(stmt, kir::Scope::vectors);
}

/// Number of the parameter of a member's kernel that is the layer: it follows those of the
/// arguments.
std::size_t layer_parameter(const ir::Group& group, std::size_t member) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < group.args.size(); ++i) {
    if (ir::member_of(group, i) != member) continue;
    next = static_cast<std::size_t>(ir::parameter_of(group, i) + 1);
  }
  return next;
}

/// Rewrites one loop that calls the kernels.
///
/// What a kernel gets and gives are packs of vectors. What surrounds it happens lane by lane: the
/// rows that are loaded lie where W expressions say, one for each lane, and everything that is
/// stored is the scalar loop's own statements, in a loop over the lanes.
class LaneLoop {
 public:
  LaneLoop(const Request& request, const kir::Function& function, kernel::NameSet taken)
      : request_(request),
        function_(function),
        lanes_(request.options.lanes),
        elements_(function, std::move(taken), lanes_, request.options.tuning),
        stores_(elements_) {}

  kir::Block run(const kir::For& loop) {
    if (loop.axis != kir::Axis::serial && loop.axis != kir::Axis::grid) {
      refuse("its elements are not visited one after the other");
    }
    const kir::For* sides = vector_loop(loop.body);
    const std::optional<ColumnLoop> columns =
        sides == nullptr ? column_loop(loop) : std::optional<ColumnLoop>();
    kir::Block loops = sides != nullptr ? groups(loop, *sides)
                       : columns        ? column_by_column(loop, *columns)
                                        : one_by_one(loop);
    kir::Block out = std::move(before_);
    std::ranges::move(loops, std::back_inserter(out));
    std::ranges::move(behind_, std::back_inserter(out));
    return out;
  }

 private:
  /// Groups of as many items as there are lanes, each side by side.
  kir::Block groups(const kir::For& loop, const kir::For& sides) {
    live_ = elements_.declare(body_, "live", sides.end);
    std::vector<kir::Expr> numbers;
    for (int lane = 0; lane < lanes_; ++lane) numbers.push_back(kir::integer(lane));
    elements_.add_variable(sides.index, std::move(numbers), LaneElements::lane());
    finish_body(sides.body);
    drop_unused(body_);
    return commented(
        fmt::format("{} targets side by side; what goes beyond the end repeats the last "
                    "one and is not stored.",
                    lanes_),
        {{kir::For{loop.axis, loop.index, loop.begin, loop.end, std::move(body_)}}});
  }

  /// A loop that all lanes go through together, and that calls the kernel. What its iterations
  /// store is stored in it.
  void together(const kir::For& node) {
    kir::Block outer = std::exchange(body_, {});
    LaneStores::Pending pending = stores_.begin_inside();
    statements(node.body);
    std::ranges::move(stores_.finished(live_), std::back_inserter(body_));
    stores_.resume(std::move(pending));
    drop_unused(body_);
    kir::Block inner = std::exchange(body_, std::move(outer));
    body_.push_back({kir::For{node.axis, node.index, node.begin, node.end, std::move(inner)}});
  }

  /// A branch that all lanes take together, or none.
  void branch(const kir::If& node) {
    if (elements_.varies(node.condition) || calls_kernel(node.then)) unknown();
    kir::Block outer = std::exchange(body_, {});
    for (const kir::Stmt& stmt : node.then) put_on_lanes(stmt);
    kir::Block inner = std::exchange(body_, std::move(outer));
    body_.push_back({kir::If{node.condition, std::move(inner)}});
  }

  kir::Block one_by_one(const kir::For& loop) {
    live_ = elements_.declare(body_, "live",
                              kir::minimum(kir::integer(lanes_), loop.end - kir::name(loop.index)));
    declare_lanes(body_, loop.index);
    stores_.go_in_order(loop.index, live_);
    finish_body(loop.body);
    drop_unused(body_);
    return commented(
        fmt::format("{} elements side by side; what goes beyond the end repeats the last "
                    "one and is not stored.",
                    lanes_),
        {{kir::For{loop.axis, loop.index, loop.begin, loop.end, std::move(body_), DType::int64,
                   lanes_}}});
  }

  /// Lanes side by side in as many columns.
  kir::Block column_by_column(const kir::For& loop, const ColumnLoop& found) {
    const std::string& row = found.columns.row;
    const ColumnNames names{elements_.fresh("live"), elements_.fresh("bottom"),
                            elements_.fresh("step")};
    live_ = kir::name(names.live);
    const kir::Expr step = kir::name(names.step);
    const kir::Expr position = kir::name(row) * found.columns.n_cells + step;
    kir::Block columns;
    declare_lanes(columns, row);
    elements_.add_variable(loop.index, elements_.on_lanes(position), elements_.in_lane(position));
    if (found.has_levels) {
      body_.push_back(index_decl(found.columns.level, kir::name(names.bottom) + step));
    }
    if (request_.options.gather_bytes == 0) {  // its instructions ask for offsets
      tables_.emplace(function_, found.columns, kir::name(names.bottom), step, elements_);
      stores_.use(*tables_);
    }
    std::optional<kir::Expr> element;
    if (found.element) {
      element = found.element->value;
      body_.swap(columns);  // which element a column is, is known before its cells
      declare(*found.element);
      body_.swap(columns);
    }
    finish_body(found.body);
    if (tables_) {
      std::ranges::move(tables_->filled(live_, element), std::back_inserter(columns));
    }
    kir::Block out =
        over_columns(loop, found, names, elements_, std::move(columns), std::move(body_));
    drop_unused_in_loops(out);
    return out;
  }

  void finish_body(const kir::Block& body) {
    statements(body);
    std::ranges::move(stores_.finished(live_), std::back_inserter(body_));
    std::ranges::move(after_, std::back_inserter(body_));
  }

  /// What follows the last call of a kernel, or the last loop that calls one, stores.
  void statements(const kir::Block& body) {
    const auto stores = std::find_if(body.rbegin(), body.rend(), [](const kir::Stmt& stmt) {
                          return calls_kernel({stmt});
                        }).base();
    for (auto stmt = body.begin(); stmt != body.end(); ++stmt) {
      const std::size_t n_before = body_.size();
      stmt < stores ? put_on_lanes(*stmt) : put_store_on_lanes(*stmt);
      if (n_before < body_.size() && body_[n_before].comment.empty()) {
        body_[n_before].comment = stmt->comment;
      }
    }
  }

  /// The argument, unless the kernel gets it joined with others: then each lane has its own.
  template <class Arg>
  [[nodiscard]] const Arg* alone(int arg) const {
    const auto at = static_cast<std::size_t>(arg);
    return arg == kir::no_arg || ir::is_part(request_.loop, at)
               ? nullptr
               : std::get_if<Arg>(&request_.loop.args[at]);
  }

  [[nodiscard]] const ir::GlobalReduce* reduction_of(int arg) const {
    return alone<ir::GlobalReduce>(arg);
  }

  /// A pack that all elements share: that of a Global that is only read, or of a Const.
  [[nodiscard]] bool is_uniform(int arg) const {
    return arg == kir::no_arg || alone<ir::GlobalRead>(arg) != nullptr;
  }

  // ------------------------------------------------------------------------------- the elements

  /// `live` lanes have an element of their own; the others repeat the last one.
  void declare_lanes(kir::Block& block, const std::string& name) {
    const kir::Expr index = kir::name(name);
    const kir::Expr last = elements_.declare(block, "final", index + (live_ - kir::integer(1)));
    std::vector<kir::Expr> each{index};
    for (int lane = 1; lane < lanes_; ++lane) {
      const kir::Expr at = index + kir::integer(lane);
      each.push_back(elements_.declare(block, fmt::format("lane{}", lane), kir::minimum(at, last)));
    }
    elements_.add_variable(name, std::move(each),
                           stores_.local(name + "_lane", index + LaneElements::lane()));
  }

  // ------------------------------------------------------------------------------- statements

  /// Behind the kernel's call: lane by lane, unless the statement works on whole packs.
  void put_store_on_lanes(const kir::Stmt& stmt) {
    const bool is_by_lane = !is_on_lanes(stmt) && stores_itself(stmt);
    is_by_lane ? stores_.by_lane(stmt) : put_on_lanes(stmt);
  }

  void put_on_lanes(const kir::Stmt& stmt) {
    if (is_on_lanes(stmt)) return body_.push_back(stmt);
    std::visit(overload{
                   [this](const kir::Decl& node) { declare(node); },
                   [this](const kir::Gather& node) { gather(node); },
                   [this](const kir::CallUser& node) { call(node); },
                   [this](const kir::Scatter& node) { stores_.scatter(node); },
                   [this](const kir::MatInsert& node) { stores_.insert(node); },
                   [this](const kir::Copy& node) { components(node); },
                   [this](const kir::If& node) { branch(node); },
                   [this](const kir::For& node) {
                     calls_kernel_itself(node.body) ? together(node) : unknown();
                   },
                   [](const auto& /*another step*/) { unknown(); },
               },
               stmt.node);
  }

  [[nodiscard]] bool stores_itself(const kir::Stmt& stmt) const {
    if (const auto* copy = std::get_if<kir::Copy>(&stmt.node)) return !is_of_packs(*copy);
    return std::holds_alternative<kir::Decl>(stmt.node) ||
           std::holds_alternative<kir::Assign>(stmt.node) ||
           std::holds_alternative<kir::For>(stmt.node) ||
           std::holds_alternative<kir::If>(stmt.node);
  }

  [[noreturn]] static void unknown() { refuse("its strategy surrounds the kernel by other steps"); }

  void declare(const kir::Decl& node) {
    if (node.extent > 0) {
      return is_uniform(node.arg)
                 ? body_.push_back({node})
                 : declare_pack(node.name, node.type.dtype, node.extent, node.value);
    }
    if (!elements_.varies(*node.value)) return body_.push_back({node});
    std::vector<kir::Expr> names;
    for (int lane = 0; lane < lanes_; ++lane) {
      names.push_back(elements_.declare(body_, fmt::format("{}{}", node.name, lane),
                                        elements_.on_lane(*node.value, lane)));
    }
    const kir::Expr value = elements_.in_lane(*node.value);
    elements_.add_variable(node.name, std::move(names), stores_.local(node.name + "_lane", value));
  }

  void declare_pack(const std::string& name, DType dtype, int extent,
                    std::optional<kir::Expr> value) {
    body_.push_back({kir::Decl{elements_.vector(dtype), name, extent, std::move(value)}});
    elements_.add_pack(name, dtype);
  }

  /// Over columns, where it is known once for many cells where rows are, light kernels do little
  /// but load them: loops would cost a third of the time there.
  [[nodiscard]] int most_unrolled(const kir::Rows& rows) const {
    const LaneWork work = lane_work(request_.loop, request_.options.tuning);
    const int pieces = request_.options.tuning.unrolled_pieces;
    const bool is_light =
        work.n_operations < lane_rule(request_).operations_a_scalar_for_wide * work.n_scalars;
    if (is_light && listed_of(rows) != nullptr) return 4 * pieces;
    // a row of one component takes a load for each lane, and gains nothing from being turned
    return rows.dim == 1 ? pieces - 1 : pieces;
  }

  /// Of one row: compilers take long for hundreds of statements.
  [[nodiscard]] int most_vectors() const { return 4 * request_.options.tuning.unrolled_pieces; }

  void gather(const kir::Gather& node) {
    if (is_uniform(node.arg)) return body_.push_back({node});
    const kir::Rows& rows = node.rows;
    if (rows.stored) return gather_converted(node);
    if (rows.arity == 1 && !is_by_map(rows)) {
      const kir::Expr start = row_start(rows, kir::integer(0));
      if (stores_.is_in_order(rows.dtype, rows.dim, start)) {
        return body_.push_back(
            read(kir::name(node.pack), rows.dtype, kir::offset(rows.data, start)));
      }
    }
    const bool is_known =
        tables_ && tables_->address(rows, kir::integer(0), kir::integer(0)).has_value();
    const auto load = [&](const kir::Expr& i) -> kir::Stmt {
      return gathered(kir::offset(node.pack, i * kir::integer(rows.dim)), rows.dtype, rows.dim,
                      row_starts(rows, i), is_known ? 0 : request_.options.gather_bytes);
    };
    const bool is_loop = is_known ? tables_->is_even(rows) : is_regular(rows);
    if (is_loop && rows.arity * elements_.n_pieces(rows.dim) > most_unrolled(rows)) {
      body_.push_back(serial("i", rows.arity, {load(kir::name("i"))}));
      return;
    }
    for (int i = 0; i < rows.arity; ++i) body_.push_back(load(kir::integer(i)));
  }

  /// What memory holds is turned, then whole vectors are converted.
  void gather_converted(kir::Gather node) {
    const std::string pack = std::exchange(node.pack, elements_.fresh(node.pack + "_stored"));
    const int n = node.rows.arity * node.rows.dim;
    const kir::VariableType type = elements_.vector(node.rows.dtype);
    node.rows.dtype = *node.rows.stored;
    node.rows.stored = {};
    declare_pack(node.pack, node.rows.dtype, std::max(n, 1), {});
    gather(node);
    body_.push_back(converted_vectors(pack, node.pack, type, n, node.rows.dtype));
  }

  /// Values side by side, one for each lane.
  [[nodiscard]] kir::Stmt read(kir::Expr pack, DType dtype, kir::Expr from) const {
    return {kir::Intrinsic{kir::Instruction::lane_read,
                           {std::move(pack), std::move(from), live_},
                           elements_.vector(dtype)}};
  }

  [[nodiscard]] kir::Stmt gathered(kir::Expr pack, DType dtype, int dim,
                                   std::vector<kir::Expr> rows, int gather_bytes) const {
    rows.insert(rows.begin(), std::move(pack));
    return {kir::Intrinsic{kir::Instruction::lane_gather, std::move(rows), elements_.vector(dtype),
                           dim, kir::Update::set, most_vectors(), gather_bytes}};
  }

  /// The address of row number @p i for each lane.
  std::vector<kir::Expr> row_starts(const kir::Rows& rows, const kir::Expr& i) {
    std::vector<kir::Expr> starts;
    for (int lane = 0; tables_ && lane < lanes_; ++lane) {
      const auto address = tables_->address(rows, i, kir::integer(lane));
      if (address) starts.push_back(*address);
    }
    return starts.empty() ? elements_.on_lanes(kir::offset(rows.data, row_start(rows, i))) : starts;
  }

  void call(const kir::CallUser& node) {
    kir::CallUser out = node;
    const ir::Group& loop = request_.loop;
    const auto member = static_cast<std::size_t>(node.kernel);
    for (std::size_t i = 0; i < loop.args.size(); ++i) {
      const auto* dat = std::get_if<ir::DirectDat>(&loop.args[i]);
      if (dat == nullptr || ir::member_of(loop, i) != member || ir::is_part(loop, i)) continue;
      kir::Expr& argument = out.arguments[static_cast<std::size_t>(ir::parameter_of(loop, i))];
      const std::string* array = kir::variable_of(argument);
      if (array == nullptr) unknown();
      if (!elements_.is_pack(*array)) argument = live_rows(*dat, i, *array);
    }
    if (loop.iteration.pass_layer) {
      kir::Expr& layer = out.arguments[layer_parameter(loop, member)];
      layer = vector_of(layer, member);
    }
    body_.push_back({std::move(out)});
  }

  /// An index that differs by lane as the vector that the kernel takes.
  kir::Expr vector_of(const kir::Expr& index, std::size_t member) {
    const kernel::FunctionDef& entry = request_.loop.members[member].kernel->body->entry();
    const std::size_t parameter = layer_parameter(request_.loop, member);
    const auto dtype = kernel::dtype_of(entry.parameters[parameter].type.base);
    if (!dtype) refuse("the layer is passed as something else than a number");
    const std::string pack = elements_.fresh("layers_by_lane");
    declare_pack(pack, *dtype, 1, {});
    for (int lane = 0; lane < lanes_; ++lane) {
      body_.push_back({kir::Assign{kir::lane_of(pack, kir::integer(0), kir::integer(lane)),
                                   kir::Update::set, elements_.on_lane(index, lane)}});
    }
    return kir::element(pack, kir::integer(0));
  }

  /// A direct argument, which the kernel reads and writes in place: rows like any others.
  kir::Expr live_rows(const ir::DirectDat& dat, std::size_t i, const std::string& data) {
    const kir::Rows rows = rows_of(dat, data, own_element());
    const std::string pack = elements_.fresh(data + "_lanes");
    declare_pack(pack, dat.dtype, std::max(dat.dim, 1), {});
    if (dat.dim > 0) {
      const kir::Expr start = row_start(rows, kir::integer(0));
      const bool is_read = !is_overwritten(i, dat);
      if (is_read && stores_.is_in_order(dat.dtype, dat.dim, start)) {
        body_.push_back(read(kir::name(pack), dat.dtype, kir::offset(data, start)));
      } else if (is_read) {
        body_.push_back(gathered(kir::name(pack), dat.dtype, dat.dim,
                                 elements_.on_lanes(kir::offset(data, start)),
                                 request_.options.gather_bytes));
      }
      if (writes(dat.access)) {
        stores_.scatter({pack, rows, kir::Update::set, kir::Sync::none, static_cast<int>(i)});
      }
    }
    return kir::name(pack);
  }

  [[nodiscard]] bool is_overwritten(std::size_t i, const ir::DirectDat& dat) const {
    const auto at = static_cast<std::size_t>(ir::parameter_of(request_.loop, i));
    return kernel::overwrites(ir::kernel_of(request_.loop, i), at, dat.dim, dat.access);
  }

  // ------------------------------------------------------------------ loops over components

  /// Between arrays: nothing if another value is copied.
  struct Arrays {
    const kir::Element& target;
    const kir::Element& value;
  };

  [[nodiscard]] static std::optional<Arrays> arrays_of(const kir::Copy& node) {
    const auto* target = std::get_if<kir::Element>(&node.target.node);
    const auto* value = std::get_if<kir::Element>(&node.value.node);
    if (target == nullptr || value == nullptr) return std::nullopt;
    return Arrays{*target, *value};
  }

  /// Between packs, out of the pack of a Global that is reduced, or a pack that is kept.
  [[nodiscard]] bool is_of_packs(const kir::Copy& node) const {
    const auto arrays = arrays_of(node);
    if (!arrays) return false;
    return node.update == kir::Update::set || reduction_of(node.arg) != nullptr ||
           (elements_.is_pack(arrays->target.array) && elements_.is_pack(arrays->value.array));
  }

  void components(const kir::Copy& node) {
    const auto arrays = arrays_of(node);
    if (!arrays) unknown();
    const auto& [target, value] = *arrays;
    const ir::GlobalReduce* global = reduction_of(node.arg);
    if (global != nullptr && node.update != kir::Update::set) {
      reduce(*global, target.array, value.array, node.n);
    } else if (global != nullptr) {
      body_.push_back(spread(target.array, value.array, node.n));
    } else if (elements_.is_pack(target.array) && elements_.is_pack(value.array)) {
      body_.push_back({node});
    } else if (elements_.is_pack(value.array)) {
      stores_.keep(node, target, value.array);
    } else {
      unknown();
    }
  }

  /// What all elements start from: on a grid the Global's place is taken by private memory.
  [[nodiscard]] kir::Stmt spread(const std::string& pack, const std::string& data, int n) const {
    const kir::Expr c = kir::name("c");
    const kir::Expr value = kir::lane_of(pack, c, LaneElements::lane());
    kir::Stmt all =
        serial("lane", lanes_, {{kir::Assign{value, kir::Update::set, kir::element(data, c)}}});
    return serial("c", n, {std::move(all)});
  }

  void reduce(const ir::GlobalReduce& global, const std::string& data, const std::string& pack,
              int n) {
    const kir::VariableType type = elements_.vector(global.dtype);
    if (global.access != Access::inc) {
      after_.push_back(folded(data, pack, type, n, update_of(global.access)));
      return;
    }
    const std::string sum = elements_.fresh(data + "_lanes");
    before_.push_back({kir::Decl{type, sum, std::max(n, 1), {kir::integer(0)}}});
    after_.push_back({kir::Intrinsic{kir::Instruction::lane_add,
                                     {kir::name(sum), kir::name(pack), live_},
                                     type,
                                     n,
                                     kir::Update::add}});
    behind_.push_back(folded(data, sum, type, n, kir::Update::add));
  }

  /// Variables that nothing uses, as some by lane: the loop over lanes has its own.
  static void drop_unused(kir::Block& body) {
    kir::Block kept;
    std::set<std::string> used;
    for (auto stmt = body.rbegin(); stmt != body.rend(); ++stmt) {
      const auto* decl = std::get_if<kir::Decl>(&stmt->node);
      if (decl != nullptr && decl->extent == 0 && !used.contains(decl->name)) continue;
      used.merge(kir::names_used({*stmt}));
      kept.push_back(std::move(*stmt));
    }
    std::ranges::reverse(kept);
    body = std::move(kept);
  }

  /// The same inside loops, from the innermost one outwards.
  static void drop_unused_in_loops(kir::Block& body) {
    for (kir::Stmt& stmt : body) {
      auto* loop = std::get_if<kir::For>(&stmt.node);
      if (loop != nullptr && calls_kernel(loop->body)) drop_unused_in_loops(loop->body);
    }
    drop_unused(body);
  }

  const Request& request_;
  const kir::Function& function_;
  int lanes_;
  LaneElements elements_;
  LaneStores stores_;
  std::optional<RowTables> tables_;  // over columns
  kir::Expr live_;
  kir::Block before_;  // the loop
  kir::Block body_;
  kir::Block after_;   // the stores
  kir::Block behind_;  // the loop
};

/// Names that nothing new in @p function may have.
kernel::NameSet taken_names(const kir::Function& function, const Request& request) {
  kernel::NameSet names;
  names.merge(kir::names_used(function.body));
  for (const kir::Parameter& parameter : function.parameters) names.insert(parameter.name);
  for (const std::string_view name : kir::local_names()) names.emplace(name);
  for (const ir::Member& member : request.loop.members) {
    for (const kernel::FunctionDef& other : member.kernel->body->functions)
      names.insert(other.name);
    for (const kernel::Variable& table : member.kernel->body->tables) names.insert(table.name);
  }
  return names;
}

/// @param[in,out] around What earlier loops of the function have declared around them.
/// @return Whether a loop that calls the kernel was found in @p block, and rewritten.
bool rewrite(kir::Block& block, const kir::Function& function, const Request& request,
             kernel::NameSet& around) {
  bool found = false;
  kir::Block out;
  for (kir::Stmt& stmt : block) {
    auto* loop = std::get_if<kir::For>(&stmt.node);
    if (loop != nullptr &&
        (calls_kernel_itself(loop->body) || vector_loop(loop->body) != nullptr)) {
      kernel::NameSet taken = taken_names(function, request);
      taken.insert(around.begin(), around.end());
      LaneLoop lanes(request, function, std::move(taken));
      for (kir::Stmt& made : lanes.run(*loop)) {
        if (const auto* decl = std::get_if<kir::Decl>(&made.node)) around.insert(decl->name);
        out.push_back(std::move(made));
      }
      found = true;
      continue;
    }
    if (loop != nullptr && rewrite(loop->body, function, request, around)) {
      // of a group of targets, or of a block of elements, the passes are many
      if (loop->step == 1 && loop->axis != kir::Axis::block) {
        refuse("the kernel is called from a loop inside a loop");
      }
      found = true;
    }
    auto* branch = std::get_if<kir::If>(&stmt.node);
    if (branch != nullptr) found |= rewrite(branch->then, function, request, around);
    out.push_back(std::move(stmt));
  }
  block = std::move(out);
  return found;
}

}  // namespace

LoopOnLanes loop_on_lanes(const kir::Module& module, const Request& request) {
  if (is_ragged(request.loop)) return {std::nullopt, ragged_rows};
  try {
    kir::Module out = module;
    out.kernels = kernels_for_lanes(request);
    out.lanes = request.options.lanes;
    check_side_by_side(request);
    bool found = false;
    for (kir::Function& function : out.functions) {
      kernel::NameSet around;
      found |= rewrite(function.body, kir::Function(function), request, around);
    }
    if (!found) refuse("its strategy calls the kernel in another way");
    return {std::move(out), ""};
  } catch (const Refusal& refusal) {
    return {std::nullopt, refusal.why};
  }
}

}  // namespace op2::lower
