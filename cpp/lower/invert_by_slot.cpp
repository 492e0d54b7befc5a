// SPDX-License-Identifier: BSD-3-Clause
#include "lower/invert_by_slot.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "base/corner_codes.hpp"
#include "base/error.hpp"
#include "ir/group.hpp"
#include "kir/walk.hpp"
#include "lower/corners.hpp"
#include "lower/incidence.hpp"
#include "lower/items.hpp"
#include "lower/lanes_rule.hpp"
#include "lower/make.hpp"
#include "lower/matrix.hpp"
#include "lower/pairs.hpp"
#include "lower/passes.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

/// The columns of one member that is visited by incidences.
struct MemberColumns {
  std::size_t member;
  Incidence incidence;  // the slots; it has no arrays
  std::string offset;   // [groups + 1] columns
  std::string slot;     // [columns]
  std::string entry;    // [columns, lanes] the element; -1 - another one where there is none
};

/// Corners of a Map's entries: see lower/corners.hpp.
struct Corners {
  abi::CornerMaps maps;
  std::string codes;  // [groups, columns] see base/corner_codes.hpp
  std::string code;   // local: that of a column
};

/// The own slot of a column's incidences; both: lanes have different slots, or no incidence.
enum class Slots { first, second, both };

/// The plan's arrays, and the loop that goes through them.
class BySlotLoop {
 public:
  explicit BySlotLoop(Builder& builder)
      : builder_(builder),
        loop_(builder.request().loop),
        packed_(builder.packed()),
        lanes_(builder.request().options.lanes),
        are_pairs_(builder.request().options.by_pairs),
        function_(packed_.names.take("wrap_" + ir::name_of(loop_))) {
    ask_for_plan();
  }

  void run() {
    accumulators_ = take_accumulators(builder_);
    rows_ = take_rows(builder_);
    kir::Block groups = over_groups();
    std::vector<kir::Parameter> parameters = packed_.parameters;
    parameters.insert(parameters.end(), arrays_.begin(), arrays_.end());
    if (builder_.is_grid()) {
      builder_.add_kernel(function_, Builder::with_range(std::move(parameters)), std::move(groups));
    } else {
      builder_.add_range_function(function_, std::move(parameters), std::move(groups));
    }
    builder_.finish(builder_.over_range(function_, whole_begin(), whole_end()),
                    builder_.slots(whole_begin(), whole_end()));
    builder_.module().items = kir::Items::groups;
  }

 private:
  // --------------------------------------------------------------------------------- the plan

  void ask_for_plan() {
    const Options& options = builder_.request().options;
    const std::vector<std::size_t> inverted = ir::inverted_members(loop_);
    entry_type_ = index_dtype(options.widths.entry_bytes);
    sizes_ = array(kir::PlanArray::sizes, "sizes", DType::int64);
    if (are_pairs_) return ask_for_pairs(inverted);
    add_columns(inverted.front());
    target_ = array(kir::PlanArray::column_targets, "row_target",
                    index_dtype(options.widths.target_bytes));
    abi::ColumnsPlan plan{
        .inversion = {columns_.front().incidence.maps, /*all_targets=*/loop_.members.size() > 1},
        .lanes = lanes_,
        .composed = {{}, options.widths.target_bytes},
        .are_pairs = false};
    add_composed(plan);
    add_further(plan, inverted);
    builder_.module().plan = std::move(plan);
  }

  /// Columns of neighbours of all targets in their order.
  void ask_for_pairs(const std::vector<std::size_t>& inverted) {
    const Options& options = builder_.request().options;
    columns_.push_back({inverted.front(), slots_of_member(inverted.front()), "", "", ""});
    codes_ = array(kir::PlanArray::neighbours, "neighbour", code_type());
    abi::ColumnsPlan plan{.inversion = {columns_.front().incidence.maps, /*all_targets=*/true},
                          .lanes = lanes_,
                          .composed = {{}, options.widths.target_bytes},
                          .are_pairs = true};
    add_composed(plan);
    slot_columns_ = array(kir::PlanArray::slot_columns, "slot_columns", DType::int32);
    for (const abi::CornerMaps& maps : options.corners) {
      plan.corners.push_back(maps);
      corners_[maps.of_elements] = {maps, array(kir::PlanArray::corners, "corner", DType::uint8),
                                    packed_.names.take("corner_code")};
    }
    add_further(plan, inverted);
    builder_.module().plan = std::move(plan);
  }

  [[nodiscard]] DType code_type() const {
    return size_of(entry_type_) == size_of(DType::uint32) ? DType::uint32 : DType::uint64;
  }

  void add_composed(abi::ColumnsPlan& plan) {
    for (std::size_t i = 0; i < loop_.args.size(); ++i) {
      const auto* dat = std::get_if<ir::IndirectDat>(&loop_.args[i]);
      const bool is_of_first = ir::member_of(loop_, i) == columns_.front().member;
      if (dat == nullptr || !is_of_first || dat->access != Access::read ||
          rows_of_map_.contains(dat->map) || leads_across(*dat)) {
        continue;
      }
      plan.composed.maps.push_back(dat->map);
      rows_of_map_[dat->map] = array(kir::PlanArray::composed_rows, packed_.args[i].map + "_rows",
                                     index_dtype(builder_.request().options.widths.target_bytes));
    }
  }

  void add_further(abi::ColumnsPlan& plan, const std::vector<std::size_t>& inverted) {
    for (std::size_t i = 1; i < inverted.size(); ++i) {
      add_columns(inverted[i]);
      plan.inversion.further.push_back(columns_.back().incidence.maps);
    }
  }

  /// Rows of the target itself, and of its neighbour.
  [[nodiscard]] bool leads_across(const ir::IndirectDat& dat) const {
    return are_pairs_ && dat.map == columns_.front().incidence.maps.front();
  }

  [[nodiscard]] Incidence slots_of_member(std::size_t member) const {
    Incidence incidence;
    incidence.maps = reduced_maps(loop_, member);
    for (const int map : incidence.maps) {
      incidence.n_slots += loop_.maps[static_cast<std::size_t>(map)].arity;
    }
    return incidence;
  }

  /// Of the first member Maps are stored in the columns' order, too. Others have few elements, such
  /// as those at a boundary, and look them up.
  void add_columns(std::size_t member) {
    MemberColumns columns{member, slots_of_member(member), "", "", ""};
    columns.offset = array(kir::PlanArray::column_offset, "column_offset", DType::int64);
    columns.slot = array(kir::PlanArray::column_slot, "column_slot", DType::int32);
    columns.entry = array(kir::PlanArray::column_elements, "incidence", entry_type_);
    columns_.push_back(std::move(columns));
  }

  std::string array(kir::PlanArray array, const std::string& name, DType dtype) {
    arrays_.push_back(builder_.plan_array(array, name, dtype));
    return arrays_.back().name;
  }

  // ---------------------------------------------------------------------------------- the loop

  kir::Block over_groups() {
    if (are_pairs_) return over_pair_groups();
    const kir::Expr lanes = kir::integer(lanes_);
    const kir::Expr first = kir::name("group") * lanes;
    const kir::Expr n_rows = kir::element(sizes_, kir::integer(0));
    const kir::Expr live = kir::minimum(lanes, n_rows - first);
    kir::Stmt sides{
        kir::For{kir::Axis::vector, "side", kir::integer(0), live, of_side(/*is_full=*/false)}};
    const auto over = [&](const kir::Expr& begin, const kir::Expr& end) {
      kir::Block out = sums_of_globals();
      out.push_back({kir::For{kir::Axis::serial, "group", begin, end, {sides}}});
      for (kir::Stmt& fold : folds_of_globals()) out.push_back(std::move(fold));
      return out;
    };
    if (!builder_.is_grid()) return over(whole_begin(), whole_end());
    // threads share out so many targets at a time, as all `owner` loops on lanes do
    const int run = builder_.request().options.tuning.owner_run / lanes_;
    const kir::Expr t = kir::name("k");
    return {
        {kir::For{kir::Axis::grid, "k", whole_begin(), whole_end(),
                  over(t, kir::minimum(t + kir::integer(run), whole_end())), DType::int64, run}}};
  }

  /// Rows of full groups lie side by side, and compilers are told so. The last group may have fewer
  /// targets: its other lanes repeat the last one.
  kir::Block over_pair_groups() {
    const kir::Expr lanes = kir::integer(lanes_);
    const kir::Expr first = kir::name("group") * lanes;
    const kir::Expr n_rows = kir::element(sizes_, kir::integer(0));
    const std::string full_name = packed_.names.take("n_full");
    const kir::Expr n_full = kir::name(full_name);
    const std::vector<PackedArg> args = packed_.args;
    const kir::Block full = of_side(/*is_full=*/true);
    packed_.args = args;
    const kir::Block last = of_side(/*is_full=*/false);
    const auto over = [](const kir::Expr& begin, const kir::Expr& end, const kir::Expr& live,
                         const kir::Block& body) {
      kir::Stmt sides{kir::For{kir::Axis::vector, "side", kir::integer(0), live, body}};
      return kir::Stmt{kir::For{kir::Axis::serial, "group", begin, end, {sides}}};
    };
    const kir::Expr begin = whole_begin();
    const kir::Expr end = whole_end();
    const kir::Expr rest = kir::select(kir::less(begin, n_full), n_full, begin);
    return {index_decl(full_name, n_rows / lanes),
            over(begin, kir::minimum(end, n_full), lanes, full),
            {kir::If{kir::less(n_full, end),
                     {over(rest, end, kir::minimum(lanes, n_rows - first), last)}}}};
  }

  /// What one target does: members one after the other, some for each of its incidences, the others
  /// for itself. Sides without a target repeat the last one, and do not store.
  /// @param[in] is_full Whether all sides of the group have a target, in columns of pairs.
  kir::Block of_side(bool is_full) {
    const kir::Expr t = kir::name("t");
    const kir::Expr last = kir::element(sizes_, kir::integer(0)) - kir::integer(1);
    const kir::Expr row = kir::name("group") * kir::integer(lanes_) + kir::name("side");
    kir::Block body{index_decl("t", is_full ? row : kir::minimum(row, last)),
                    index_decl("target", are_pairs_ ? t : kir::element(target_, t))};
    if (has_others()) append(body, packed_.constants);
    for_sums([&](std::size_t arg, const kir::Rows& rows, const std::string& sum) {
      const bool is_zero = ir::starts_at_zero(loop_, arg);
      kir::Block start{private_array(rows.dtype, sum, rows.dim, is_zero)};
      if (!is_zero) start.push_back({kir::Gather{sum, rows}});
      append(body, for_arg(arg, std::move(start)));
    });
    std::size_t next = 0;
    for (const MemberColumns& columns : columns_) {
      append(body, of_members(next, columns.member));
      if (is_paired(columns)) {
        append(body, own_rows_of_pairs());
        append(body, is_full ? over_slots(columns) : kir::Block{over_pairs(columns)});
      } else {
        body.push_back(over_columns(columns));
      }
      next = columns.member + 1;
    }
    append(body, of_members(next, loop_.members.size()));
    for_sums([&](std::size_t arg, const kir::Rows& rows, const std::string& sum) {
      if (!ir::is_stored(loop_, arg)) return;
      kir::Scatter store{sum, rows, kir::Update::set, kir::Sync::none};
      if (are_pairs_) store.rows.which = kir::OwnRow{own_target()};
      append(body, for_arg(arg, {{store}}));
    });
    return body;
  }

  [[nodiscard]] bool has_others() const { return loop_.members.size() > 1; }

  [[nodiscard]] bool is_paired(const MemberColumns& columns) const {
    return are_pairs_ && columns.member == columns_.front().member;
  }

  [[nodiscard]] kir::Expr n_columns() const { return kir::element(sizes_, kir::integer(1)); }

  kir::Stmt over_columns(const MemberColumns& columns) {
    const kir::Expr group = kir::name("group");
    return {kir::For{kir::Axis::serial, "k", kir::element(columns.offset, group),
                     kir::element(columns.offset, group + kir::integer(1)), of_column(columns)},
            "A column has an element that leads to each target, by the same slot; or to none."};
  }

  /// Members for the target itself.
  kir::Block of_members(std::size_t begin, std::size_t end) {
    kir::Block out;
    for (std::size_t member = begin; member < end; ++member) {
      append(out, loads(packed_, member));
      append_call(out, packed_.members[member]);
      for (kir::Stmt& stmt : stores(packed_, member)) {
        if (are_pairs_) {  // lanes that repeat the last target store the same once more
          out.push_back(std::move(stmt));
          continue;
        }
        if (auto* scatter = std::get_if<kir::Scatter>(&stmt.node)) at_target(scatter->rows);
        out.push_back(std::move(stmt));
      }
    }
    return out;
  }

  /// Rows of `target`, which is not the lane's own one where lanes repeat the last target.
  static void at_target(kir::Rows& rows) {
    if (is_own(rows)) repeat_row(rows, own_target());
  }

  /// Call @p f for each sum with an argument that adds to it, and the row that it belongs to.
  template <class F>
  void for_sums(const F& f) {
    const std::vector<std::size_t> args = reduced_args(loop_);
    for (std::size_t i = 0; i < args.size(); ++i) {
      const auto first = std::find(accumulators_.begin(), accumulators_.end(), accumulators_[i]);
      if (first - accumulators_.begin() != static_cast<std::ptrdiff_t>(i)) continue;
      const auto& dat = std::get<ir::IndirectDat>(loop_.args[args[i]]);
      const std::string& data = packed_.args[args[i]].data;
      f(args[i], row_of(dat, data, own_target()), accumulators_[i]);
    }
  }

  // ------------------------------------------------------------------------ a column of pairs

  /// Call @p f for each argument of the first member that is read from both targets.
  template <class F>
  void for_both(const F& f) {
    for (std::size_t i = 0; i < loop_.args.size(); ++i) {
      const auto* dat = std::get_if<ir::IndirectDat>(&loop_.args[i]);
      if (dat == nullptr || ir::member_of(loop_, i) != columns_.front().member ||
          dat->access != Access::read || !leads_across(*dat) || packed_.args[i].load.empty()) {
        continue;
      }
      f(i, std::get<kir::Gather>(packed_.args[i].load.front().node));
    }
  }

  /// What a target's own rows hold is loaded once; each column picks where it belongs.
  kir::Block own_rows_of_pairs() {
    kir::Block out;
    for_both([&](std::size_t arg, const kir::Gather& gather) {
      const std::string& own = name_of(own_of_arg_, arg, gather.pack + "_own");
      append(out, for_arg(arg, single_row(gather.rows, own, own_target())));
    });
    return out;
  }

  /// The pack's name in all loops over columns.
  const std::string& name_of(std::map<std::size_t, std::string>& names, std::size_t arg,
                             const std::string& wanted) {
    std::string& name = names[arg];
    if (name.empty()) name = packed_.names.take(wanted);
    return name;
  }

  /// Columns by the slots of their incidences: where all have one slot nothing is picked, and what
  /// a kernel computes of the target's own rows is computed once, before the loop.
  kir::Block over_slots(const MemberColumns& columns) {
    kir::Block out = own_rows_of_corners(columns);
    const kir::Expr at = kir::name("group") * kir::integer(2);
    const std::string mixed = packed_.names.take("mixed");
    const std::string second = packed_.names.take("second");
    out.push_back(index_decl(mixed, kir::element(slot_columns_, at)));
    out.push_back(index_decl(second, kir::element(slot_columns_, at + kir::integer(1))));
    const std::vector<PackedArg> args = packed_.args;
    const auto over = [&](const kir::Expr& begin, const kir::Expr& end, Slots slots) {
      packed_.args = args;
      out.push_back(
          {kir::For{kir::Axis::serial, "k", begin, end, of_pairs(columns, slots)},
           slots == Slots::first
               ? "Columns of slot 0 come first, then columns of both slots or with holes, then "
                 "columns of slot 1."
               : ""});
    };
    over(kir::integer(0), kir::name(mixed), Slots::first);
    over(kir::name(mixed), kir::name(second), Slots::both);
    over(kir::name(second), n_columns(), Slots::second);
    return out;
  }

  kir::Stmt over_pairs(const MemberColumns& columns) {
    return {kir::For{kir::Axis::serial, "k", kir::integer(0), n_columns(),
                     of_pairs(columns, Slots::both)},
            "A column has a neighbour of each target, or repeats one that adds nothing."};
  }

  /// Rows that targets read by their own Map, and that elements find there.
  kir::Block own_rows_of_corners(const MemberColumns& columns) {
    kir::Block out;
    for (std::size_t i = 0; i < loop_.args.size(); ++i) {
      const auto held = held_by_targets(columns, i);
      if (!held || ir::member_of(loop_, *held) < columns.member) continue;
      PackedArg& own = packed_.args[*held];
      append(out, for_arg(*held, std::exchange(own.decl, {})));
      append(out, for_arg(*held, std::exchange(own.load, {})));
    }
    return out;
  }

  /// The argument of another member with the rows behind the corners of argument @p arg.
  [[nodiscard]] std::optional<std::size_t> held_by_targets(const MemberColumns& columns,
                                                           std::size_t arg) const {
    const auto* dat = std::get_if<ir::IndirectDat>(&loop_.args[arg]);
    if (dat == nullptr || ir::member_of(loop_, arg) != columns.member) return std::nullopt;
    const auto found = corners_.find(dat->map);
    return found == corners_.end() ? std::nullopt : same_rows(loop_, arg, found->second.maps);
  }

  /// Take rows from what the targets hold, where all lanes have the same corners.
  void take_corners(const MemberColumns& columns) {
    for (std::size_t i = 0; i < loop_.args.size(); ++i) {
      const auto held = held_by_targets(columns, i);
      if (!held || packed_.args[i].load.empty()) continue;  // an earlier argument loads the pack
      const auto& dat = std::get<ir::IndirectDat>(loop_.args[i]);
      const auto& own = std::get<ir::IndirectDat>(loop_.args[*held]);
      const int n_corners = loop_.maps[static_cast<std::size_t>(own.map)].arity;
      const int n_entries = loop_.maps[static_cast<std::size_t>(dat.map)].arity;
      const kir::Expr code = kir::name(corners_.at(dat.map).code);
      const kir::Expr is_apart = code % kir::integer(2);
      kir::Block taken;
      for (int entry = 0; entry < n_entries; ++entry) {
        const kir::Expr corner = code / kir::integer(abi::corner_bit(entry, 0, n_corners)) %
                                 kir::integer(std::int64_t{1} << abi::corner_bits(n_corners));
        const kir::Expr c = kir::name("c");
        taken.push_back(for_components(
            dat.dim, kir::element(packed_.args[i].pack, kir::integer(entry * dat.dim) + c),
            kir::Update::set,
            kir::element(packed_.args[*held].pack, corner * kir::integer(dat.dim) + c)));
      }
      kir::Block& load = packed_.args[i].load;
      load = {{kir::If{kir::equal(is_apart, kir::integer(1)), for_arg(i, std::move(load))}},
              {kir::If{kir::equal(is_apart, kir::integer(0)), for_arg(i, std::move(taken))}}};
    }
  }

  kir::Expr codes() const {
    return kir::offset(codes_,
                       (kir::name("group") * n_columns() + kir::name("k")) * kir::integer(lanes_));
  }

  [[nodiscard]] kir::Stmt pick(kir::Instruction instruction, std::size_t arg, kir::Expr to,
                               kir::Expr one, kir::Expr other, int dim) const {
    return {kir::Intrinsic{instruction,
                           {std::move(to), codes(), std::move(one), std::move(other)},
                           vector(arg),
                           dim,
                           kir::Update::set,
                           builder_.request().options.tuning.unrolled_shares,
                           static_cast<int>(size_of(entry_type_))}};
  }

  kir::Block of_pairs(const MemberColumns& columns, Slots slots) {
    for_both([&](std::size_t arg, const kir::Gather& found) {
      const kir::Gather gather = found;
      const int dim = gather.rows.dim;
      const std::string& other = name_of(other_of_arg_, arg, gather.pack + "_other");
      const std::string& mine = own_of_arg_.at(arg);
      kir::Block load = single_row(gather.rows, other, kir::name("across"));
      const auto row = [&](int slot, const std::string& one, const std::string& two) {
        const kir::Expr at = kir::integer(slot * dim);
        if (slots == Slots::both) {
          load.push_back(pick(kir::Instruction::lane_pick, arg, kir::offset(gather.pack, at),
                              kir::name(one), kir::name(two), dim));
          return;
        }
        const kir::Expr c = kir::name("c");
        load.push_back(for_components(dim, kir::element(gather.pack, at + c), kir::Update::set,
                                      kir::element(slots == Slots::first ? one : two, c)));
      };
      row(0, mine, other);
      row(1, other, mine);
      packed_.args[arg].load = std::move(load);
    });
    point_to_columns(columns);
    if (slots != Slots::both) take_corners(columns);
    kir::Block visit = loads_of(columns);
    append_call(visit, packed_.members[columns.member]);
    const std::vector<std::size_t> args = reduced_args(loop_);
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (ir::member_of(loop_, args[i]) != columns.member) continue;
      const int dim = std::get<ir::IndirectDat>(loop_.args[args[i]]).dim;
      const std::string& pack = packed_.args[args[i]].pack;
      if (slots == Slots::both) {
        visit.push_back(pick(kir::Instruction::lane_pick_share, args[i],
                             kir::name(accumulators_[i]), kir::name(pack),
                             kir::offset(pack, kir::integer(dim)), dim));
        continue;
      }
      const kir::Expr c = kir::name("c");
      const kir::Expr value = slots == Slots::first ? c : kir::integer(dim) + c;  // of the own slot
      append(visit,
             for_arg(args[i], {for_components(dim, kir::element(accumulators_[i], c),
                                              kir::Update::add, kir::element(pack, value))}));
    }
    const kir::Expr at =
        (kir::name("group") * n_columns() + kir::name("k")) * kir::integer(lanes_) +
        kir::name("side");
    std::vector<std::pair<std::string, kir::Expr>> values{
        {"across", kir::name("code") / kir::integer(4)},
        {"code", kir::element(codes_, kir::name("at"))},
        {"at", at}};
    const kir::Expr column = kir::name("group") * n_columns() + kir::name("k");
    for (const auto& [map, corners] : corners_) {
      values.emplace_back(corners.code, kir::element(corners.codes, column));
    }
    return after_used(std::move(visit), values);
  }

  /// @p visit after the declarations of those names that it uses, the last one first.
  static kir::Block after_used(kir::Block visit,
                               const std::vector<std::pair<std::string, kir::Expr>>& values) {
    for (const auto& [name, value] : values) {
      if (!kir::names_used(visit).contains(name)) continue;
      visit.insert(visit.begin(), index_decl(name, value));
    }
    return visit;
  }

  // -------------------------------------------------------------------------------- one column

  kir::Block of_column(const MemberColumns& columns) {
    point_to_columns(columns);
    kir::Block visit = loads_of(columns);
    append_call(visit, packed_.members[columns.member]);
    const std::vector<std::size_t> args = reduced_args(loop_);
    for (std::size_t i = 0; i < args.size(); ++i) {
      if (ir::member_of(loop_, args[i]) != columns.member) continue;
      const auto& dat = std::get<ir::IndirectDat>(loop_.args[args[i]]);
      const SlotRange slots = slots_of(columns.incidence, loop_, dat.map);
      const kir::Expr row = (kir::name("o") - kir::integer(slots.first)) * kir::integer(dat.dim);
      kir::Stmt one =
          share(columns, accumulators_[i], args[i], row, dat.dim, update_of(dat.access));
      visit.push_back(where_slot_is(columns.incidence, slots, {std::move(one)}));
    }
    for (kir::Stmt& stmt : shares_of_globals(columns)) visit.push_back(std::move(stmt));
    if (kir::Block add = added_to_rows(columns); !add.empty()) {
      visit.push_back({kir::If{kir::less(kir::integer(-1), kir::name("entry")), std::move(add)}});
    }
    return positioned(columns, located(packed_.items, std::move(visit)));
  }

  /// Rows of matrices are added to where they are, side by side.
  kir::Block added_to_rows(const MemberColumns& columns) {
    std::vector<OwnedRow> own;
    std::ranges::copy_if(rows_, std::back_inserter(own), [&](const OwnedRow& row) {
      return ir::member_of(loop_, row.arg) == columns.member;
    });
    kir::Block out = declare_rows(builder_, own);
    for (const OwnedRow& row : own) out.push_back(add_to_row(builder_, columns.incidence, row));
    return out;
  }

  /// @p visit after the names that it uses: a column, its slot, and each side's place and element.
  kir::Block positioned(const MemberColumns& columns, kir::Block visit) const {
    const kir::Expr entry = kir::name("entry");
    const kir::Expr at = kir::name("k") * kir::integer(lanes_) + kir::name("side");
    const kir::Expr none = kir::less(entry, kir::integer(0));
    return after_used(std::move(visit),
                      {{packed_.items.position, kir::select(none, kir::integer(-1) - entry, entry)},
                       {"entry", kir::element(columns.entry, kir::name("at"))},
                       {"at", at},
                       {"o", kir::element(columns.slot, kir::name("k"))}});
  }

  /// As for one element, but that Maps are read by column, and that MIN and MAX start at the
  /// target's value in every row: what other slots get does not matter.
  void point_to_columns(const MemberColumns& columns) {
    const std::vector<std::size_t> reduced = reduced_args(loop_);
    for (std::size_t i = 0; i < reduced.size(); ++i) {
      if (ir::member_of(loop_, reduced[i]) != columns.member) continue;
      kir::Block& load = packed_.args[reduced[i]].load;
      if (load.empty()) continue;
      load = own_rows(std::get<kir::Gather>(load.front().node), accumulators_[i]);
    }
    for (std::size_t i = 0; i < loop_.args.size(); ++i) {
      const auto* dat = std::get_if<ir::IndirectDat>(&loop_.args[i]);
      const bool is_composed =
          columns.member == columns_.front().member && ir::member_of(loop_, i) == columns.member;
      if (dat == nullptr || !is_composed || dat->access != Access::read ||
          packed_.args[i].load.empty() || leads_across(*dat)) {
        continue;
      }
      kir::Rows& rows = std::get<kir::Gather>(packed_.args[i].load.front().node).rows;
      rows.which = kir::MapRows{rows_of_map_.at(dat->map), kir::name("at")};
    }
  }

  [[nodiscard]] kir::Block loads_of(const MemberColumns& columns) const {
    return has_others() ? loads(packed_, columns.member) : loads(packed_);
  }

  static kir::Block own_rows(const kir::Gather& gather, const std::string& sum) {
    kir::Block out;
    const int dim = gather.rows.dim;
    const kir::Expr c = kir::name("c");
    for (int i = 0; i < gather.rows.arity; ++i) {
      out.push_back(for_components(dim, kir::element(gather.pack, kir::integer(i * dim) + c),
                                   kir::Update::set, kir::element(sum, c)));
    }
    return out;
  }

  [[nodiscard]] kir::Stmt share(const MemberColumns& columns, const std::string& sum,
                                std::size_t arg, const kir::Expr& row, int dim,
                                kir::Update update) const {
    const kir::Expr first = kir::name("k") * kir::integer(lanes_);
    return {kir::Intrinsic{kir::Instruction::lane_share,
                           {kir::name(sum), kir::offset(packed_.args[arg].pack, row),
                            kir::offset(columns.entry, first)},
                           vector(arg),
                           dim,
                           update,
                           builder_.request().options.tuning.unrolled_shares,
                           static_cast<int>(size_of(entry_type_))}};
  }

  [[nodiscard]] kir::VariableType vector(std::size_t arg) const {
    return {ir::dtype_of(loop_.args[arg]), false, false, lanes_};
  }

  // ----------------------------------------------------------------------------------- Globals

  /// Call @p f for each Global that members reduce into at incidences, and the name of its sum. The
  /// others are reduced once a target, by the pass that puts loops on lanes.
  template <class F>
  void for_globals(const F& f) {
    for (std::size_t i = 0; i < loop_.args.size(); ++i) {
      const auto* global = std::get_if<ir::GlobalReduce>(&loop_.args[i]);
      if (global == nullptr || !ir::is_at_incidences(loop_, i) || !ir::is_stored(loop_, i))
        continue;
      auto known = sum_of_global_.find(i);
      if (known == sum_of_global_.end()) {
        known = sum_of_global_.emplace(i, packed_.names.take(packed_.args[i].data + "_sum")).first;
      }
      f(i, *global, known->second);
    }
  }

  kir::Block sums_of_globals() {
    kir::Block out;
    for_globals([&](std::size_t i, const ir::GlobalReduce& global, const std::string& sum) {
      if (global.access != Access::inc) return;
      out.push_back({kir::Decl{vector(i), sum, std::max(global.dim, 1), {kir::integer(0)}}});
    });
    return out;
  }

  kir::Block folds_of_globals() {
    kir::Block out;
    for_globals([&](std::size_t i, const ir::GlobalReduce& global, const std::string& sum) {
      if (global.access != Access::inc) return;
      out.push_back(folded(packed_.args[i].data, sum, vector(i), global.dim, kir::Update::add));
    });
    return out;
  }

  /// An INC counts once an element, in the columns of the slot that every element has; MIN and MAX
  /// may be repeated.
  kir::Block shares_of_globals(const MemberColumns& columns) {
    kir::Block once;
    kir::Block out;
    for_globals([&](std::size_t i, const ir::GlobalReduce& global, const std::string& sum) {
      if (ir::member_of(loop_, i) != columns.member) return;
      if (global.access == Access::inc) {
        once.push_back(share(columns, sum, i, kir::integer(0), global.dim, kir::Update::add));
      } else {
        out.push_back(folded(packed_.args[i].data, packed_.args[i].pack, vector(i), global.dim,
                             update_of(global.access)));
      }
    });
    if (!once.empty()) {
      const kir::Expr slot =
          kir::integer(counting_slot(loop_, builder_.request().maps, columns.member).value());
      out.push_back({kir::If{kir::equal(kir::name("o"), slot), std::move(once)}});
    }
    return out;
  }

  Builder& builder_;
  const ir::Loop& loop_;
  PackedLoop& packed_;
  int lanes_;
  bool are_pairs_;
  std::string function_;
  std::vector<MemberColumns> columns_;
  std::string sizes_;                                // [1] targets
  std::string target_;                               // [targets] of each lane, group by group
  std::string codes_;                                // [groups, columns, lanes] neighbours of pairs
  std::string slot_columns_;                         // [groups, 2] columns of pairs by their slots
  std::map<int, Corners> corners_;                   // by Maps of the elements
  std::map<std::size_t, std::string> own_of_arg_;    // packs of rows of the target itself
  std::map<std::size_t, std::string> other_of_arg_;  // and of its neighbour
  DType entry_type_ = DType::int32;
  std::map<int, std::string> rows_of_map_;  // [columns, lanes, arity] of the first member
  std::vector<kir::Parameter> arrays_;      // all of them
  std::vector<std::string> accumulators_;   // [reduced arguments]
  std::map<std::size_t, std::string> sum_of_global_;
  std::vector<OwnedRow> rows_;  // of matrices
};

}  // namespace

// Lanes without an incidence compute in vain. A light kernel gains more by going through memory in
// order than that costs; a heavy one gains little.
double least_fill(const ir::Loop& loop, const Tuning& tuning) {
  const LaneWork work = lane_work(loop, tuning);
  const bool is_heavy = work.n_operations >= tuning.heavy_operations_a_scalar * work.n_scalars;
  return is_heavy ? tuning.column_fill_heavy : tuning.column_fill_light;
}

void invert_by_slot(Builder& builder) {
  BySlotLoop(builder).run();
}

}  // namespace op2::lower
