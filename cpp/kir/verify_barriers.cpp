// SPDX-License-Identifier: BSD-3-Clause
#include "kir/verify_barriers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "kernel/walk.hpp"
#include "kir/dump.hpp"
#include "kir/walk.hpp"

namespace op2::kir {
namespace {

const Expr this_lane{Builtin::lane_id};
const Expr all_lanes{Builtin::n_lanes};

/// A variable of one iteration, or one that is not known. Its name is used for it alone.
struct Index {
  bool varies = false;                ///< lanes have different values of it at the same time
  std::optional<std::int64_t> least;  ///< its range, inclusive
  std::optional<std::int64_t> most;
  std::optional<Expr> first_of_lanes = {};  ///< of a loop over lanes: where it begins
};

/// `atom * factor`
struct Term {
  Expr atom;
  std::int64_t factor;
  bool operator==(const Term&) const = default;
};

/// A subscript: the sum of its terms and a number.
struct Form {
  std::vector<Term> terms;
  std::int64_t number = 0;
};

struct Access {
  int id;
  const Stmt* stmt;
  std::string array;
  Form at;
  bool writes;
  bool is_atomic;
  bool is_handed;  ///< to a function, which says what else of the array it touches
  int turn;        ///< 0: all lanes of the block run it together
  int modulus;     ///< the turn is of lanes that are multiples of it; 0: of the first lane only
};

std::optional<std::int64_t> number_of(const Expr& expr) {
  const auto* number = std::get_if<Integer>(&expr.node);
  return number == nullptr ? std::nullopt : std::optional(number->value);
}

void add_to(Form& form, const Expr& expr, std::int64_t factor) {
  const auto* binary = std::get_if<Binary>(&expr.node);
  if (const auto* wide = std::get_if<Widen>(&expr.node)) {
    return add_to(form, wide->operands.front(), factor);
  }
  if (const auto number = number_of(expr)) {
    form.number += factor * *number;
    return;
  }
  if (binary != nullptr) {
    const Expr& left = binary->operands[0];
    const Expr& right = binary->operands[1];
    if (binary->op == BinaryOp::add || binary->op == BinaryOp::subtract) {
      add_to(form, left, factor);
      return add_to(form, right, binary->op == BinaryOp::add ? factor : -factor);
    }
    if (binary->op == BinaryOp::multiply) {
      if (const auto times = number_of(left)) return add_to(form, right, factor * *times);
      if (const auto times = number_of(right)) return add_to(form, left, factor * *times);
    }
  }
  form.terms.push_back({expr, factor});
}

/// One position of two subscripts that have the same factors: what it is in each of them.
struct Digit {
  std::int64_t factor;
  const Expr* left = nullptr;  // null: the number alone
  const Expr* right = nullptr;
  std::int64_t left_more = 0;  // than its atom
};

class BarrierChecker {
 public:
  explicit BarrierChecker(const Function& function) : function_(function) {}

  void run() {
    for (const Parameter& parameter : function_.parameters) {
      if (parameter.type.is_pointer && !parameter.type.is_const) global_.insert(parameter.name);
    }
    block(function_.body);
  }

 private:
  using Bound = std::optional<std::int64_t>;

  // ------------------------------------------------------------------------------- statements

  void block(const Block& statements) {
    values_.enter();
    for (const Stmt& stmt : statements) {
      stmt_ = &stmt;
      statement(stmt);
    }
    values_.leave();
  }

  void statement(const Stmt& stmt) {
    std::visit(overload{
                   [this](const Decl& decl) { declare(decl); },
                   [this](const Assign& assign) { store(assign.target, assign.value, false); },
                   [this](const Copy& copy) {
                     values_.enter();
                     enter(Copy::index, {true, 0, copy.n - 1});
                     store(copy.target, copy.value, false);
                     values_.leave();
                   },
                   [this](const Atomic& atomic) { store(atomic.target, atomic.value, true); },
                   [this](const CallUser& call) { hand(call.arguments, call.read); },
                   [this](const Call& call) { hand(call.arguments); },
                   [this](const For& loop) { repeat(loop); },
                   [this](const If& branch) { choose(branch); },
                   [this](const Barrier& barrier) { wait(barrier); },
                   [this](const Intrinsic& intrinsic) {
                     hand(intrinsic.operands);
                     has_arrived_ |= intrinsic.name == Instruction::arrive;
                   },
                   [this](const Gather& gather) { rows(gather.rows, false, false); },
                   [this](const Scatter& scatter) {
                     rows(scatter.rows, true, scatter.sync == Sync::atomic);
                   },
                   [this](const MatInsert& insert) {
                     const Entries& entries = insert.entries;
                     touch(entries.data, element(entries.position, entries.element), true,
                           insert.sync == Sync::atomic);
                   },
                   [](const auto& /*of the launch, of a team, or of one lane*/) {},
               },
               stmt.node);
  }

  void declare(const Decl& decl) {
    if (decl.value) read(*decl.value);
    if (decl.storage == Storage::block) {
      shared_.insert(decl.name);
    } else if (decl.extent == 0 && decl.value && (decl.type.is_const || decl.type.is_pointer)) {
      values_.declare(decl.name, resolved(*decl.value));
    } else {
      enter(decl.name, {true, {}, {}});
    }
  }

  /// A new variable of this name.
  void enter(const std::string& variable, Index index) {
    const std::string own = fmt::format("{}#{}", variable, indices_.size());
    indices_.emplace(own, std::move(index));
    values_.declare(variable, name(own));
  }

  void store(const Expr& target, const Expr& value, bool is_atomic) {
    read(value);
    for (const Expr& operand : operands_of(target)) read(operand);
    if (const std::string* array = variable_of(target)) {
      const bool is_element = std::holds_alternative<Element>(target.node);
      touch(*array, is_element ? operands_of(target).front() : integer(0), true, is_atomic);
    }
  }

  void read(const Expr& expr) {
    for_each_expr(expr, [this](const Expr& part) {
      if (const auto* loaded = std::get_if<Element>(&part.node)) {
        touch(loaded->array, loaded->subscript.front(), false);
      } else if (const auto* plain = std::get_if<Name>(&part.node); plain != nullptr) {
        if (shared_.contains(plain->name)) touch(plain->name, integer(0), false);
      }
    });
  }

  /// @param[in] read_only Places of arrays that the callee does not write.
  void hand(const std::vector<Expr>& arguments, const std::vector<int>& read_only = {}) {
    for (int i = 0; i < std::ssize(arguments); ++i) {
      const Expr& argument = arguments[static_cast<std::size_t>(i)];
      const std::string* array = variable_of(argument);
      const bool is_element = std::holds_alternative<Element>(argument.node);
      if (array == nullptr || is_element) {
        read(argument);
        continue;
      }
      const auto operands = operands_of(argument);
      const bool writes = std::ranges::count(read_only, i) == 0;
      touch(*array, operands.empty() ? integer(0) : operands.front(), writes, false, true);
    }
  }

  void rows(const Rows& rows, bool writes, bool is_atomic) {
    const auto at =
        std::visit(overload{
                       [&](const OwnRow& own) { return own.element * integer(rows.dim); },
                       [&](const MapRows& through) {
                         if (through.ragged) {
                           return element(through.map, element(through.map, through.element));
                         }
                         return element(through.map, through.element * integer(rows.arity));
                       },
                       [](const ListedRows& listed) { return listed.entries.front(); },
                   },
                   rows.which);
    touch(rows.data, at, writes, is_atomic);
  }

  // ------------------------------------------------------------------------------------- paths

  /// Iterations are walked twice, so that each meets the one before it.
  void repeat(const For& loop) {
    read(loop.begin);
    read(loop.end);
    const Expr begin = resolved(loop.begin);
    const Expr end = resolved(loop.end);
    const bool is_over_lanes = loop.axis == Axis::lane;
    const bool is_of_grid =
        loop.axis == Axis::grid || (!is_over_lanes && turn_ == 0 && varies(begin));
    const auto first = least(begin);
    const auto past = most(end);
    const bool is_once = first && past && *past - *first <= 1;
    Index index{turn_ != 0 || is_over_lanes || is_of_grid, first,
                past ? std::optional(*past - 1) : std::nullopt};
    if (is_over_lanes && loop.step == 1 && loop.step_name.empty()) index.first_of_lanes = begin;
    const bool is_turn = is_over_lanes || is_of_grid;
    inside(is_turn, modulus_, [&] {
      const bool was_on_grid = std::exchange(is_on_grid_, is_on_grid_ || is_of_grid);
      const int first_access = n_accesses_;
      for (int pass = 0; pass < (is_turn || is_once ? 1 : 2); ++pass) {
        if (loop.axis == Axis::block) forget_global(first_access);
        values_.enter();
        enter(loop.index, index);
        block(loop.body);
        values_.leave();
      }
      is_on_grid_ = was_on_grid;
    });
  }

  /// Of an iteration that another block might as well have run: no Barrier would order them.
  void forget_global(int first_access) {
    std::erase_if(open_, [&](const Access& access) {
      return access.id >= first_access && !shared_.contains(access.array);
    });
  }

  void choose(const If& branch) {
    read(branch.condition);
    const Expr condition = resolved(branch.condition);
    int modulus = modulus_;
    if (condition == equal(this_lane, integer(0))) modulus = 0;
    const auto* same = std::get_if<Binary>(&condition.node);
    if (same != nullptr && same->op == BinaryOp::equal && same->operands[1] == integer(0)) {
      const auto* rest = std::get_if<Binary>(&same->operands[0].node);
      if (rest != nullptr && rest->op == BinaryOp::modulo && rest->operands[0] == this_lane) {
        modulus = static_cast<int>(number_of(rest->operands[1]).value_or(1));
      }
    }
    const std::vector<Access> before = open_;
    inside(varies(condition), modulus, [&] { block(branch.then); });
    std::vector<Access> all;  // the branch may not be taken
    std::ranges::set_union(before, open_, std::back_inserter(all), {}, &Access::id, &Access::id);
    open_ = std::move(all);
  }

  /// Walk what only some lanes run, if @p is_turn.
  template <class Walk>
  void inside(bool is_turn, int modulus, const Walk& walk) {
    const int turn = std::exchange(turn_, is_turn && turn_ == 0 ? ++n_turns_ : turn_);
    const int was = std::exchange(modulus_, modulus);
    walk();
    turn_ = turn;
    modulus_ = was;
  }

  /// What was read of global memory is safe behind every Barrier; what was written is not seen.
  void wait(const Barrier& barrier) {
    if (turn_ != 0) fail_barrier("a barrier that not all lanes of a block get to");
    const bool is_of_all = barrier.global_memory || std::exchange(has_arrived_, false);
    std::erase_if(open_, [&](const Access& access) {
      return is_of_all || !access.writes || shared_.contains(access.array);
    });
  }

  // ---------------------------------------------------------------------------------- accesses

  void touch(const std::string& name, const Expr& subscript, bool writes, bool is_atomic = false,
             bool is_handed = false) {
    const Expr* behind = values_.find(name);  // a pointer to somewhere in an array
    const std::string* base = behind == nullptr ? &name : variable_of(*behind);
    if (base == nullptr) return;
    const std::string& array = *base;
    const bool is_shared = shared_.contains(array);
    const bool is_by_table = global_.contains(array) && turn_ != 0 && !is_on_grid_;
    if (!is_shared && !is_by_table) return;
    Expr at = resolved(subscript);
    if (behind != nullptr && !operands_of(*behind).empty()) {
      at = operands_of(*behind).front() + std::move(at);
    }
    Access access{n_accesses_++, stmt_, array, {}, writes, is_atomic, is_handed, turn_, modulus_};
    add_to(access.at, at, 1);
    if (is_by_table && way_to(access).tables.empty()) return;
    for (const Access& earlier : open_) {
      if (earlier.array != array || !meet(earlier, access)) continue;
      fail_barrier(fmt::format("lanes touch '{}' without a barrier between '{}' and '{}'", array,
                               line_of(*earlier.stmt), line_of(*stmt_)));
    }
    open_.push_back(std::move(access));
  }

  [[noreturn]] void fail_barrier(const std::string& what) const {
    throw InternalError(fmt::format("{}: {}", function_.name, what));
  }

  static std::string line_of(const Stmt& stmt) {
    const std::string text = dump(stmt);
    return text.substr(0, text.find('\n'));
  }

  /// @p expr with what its variables are known to be.
  [[nodiscard]] Expr resolved(const Expr& expr) const {
    return map_expr(expr, [this](const Expr& part) -> std::optional<Expr> {
      const auto* variable = std::get_if<Name>(&part.node);
      const Expr* value = variable == nullptr ? nullptr : values_.find(variable->name);
      return value == nullptr ? std::nullopt : std::optional(*value);
    });
  }

  /// May lanes have different values of a resolved @p expr?
  [[nodiscard]] bool varies(const Expr& expr) const {
    return any_expr(expr, [this](const Expr& part) {
      const Index* index = index_of(&part);
      return part == this_lane || part == Expr{Builtin::global_id} ||
             std::holds_alternative<Shuffle>(part.node) || (index != nullptr && index->varies);
    });
  }

  [[nodiscard]] const Index* index_of(const Expr* atom) const {
    const auto* variable = atom == nullptr ? nullptr : std::get_if<Name>(&atom->node);
    const auto found = variable == nullptr ? indices_.end() : indices_.find(variable->name);
    return found == indices_.end() ? nullptr : &found->second;
  }

  // --------------------------------------------------------------------------------- conflicts

  /// The tables that lanes go through to an element, and the iterations of all lanes that it is of.
  struct Way {
    std::set<std::string> tables;
    std::set<std::string> steps;
  };
  [[nodiscard]] Way way_to(const Access& access) const {
    Way way;
    for (const Term& term : access.at.terms) {
      for_each_expr(term.atom, [&](const Expr& part) {
        const auto* load = std::get_if<Element>(&part.node);
        if (load != nullptr && varies(part)) way.tables.insert(load->array);
        const Index* index = index_of(&part);
        if (index != nullptr && !index->varies) way.steps.insert(*variable_of(part));
      });
    }
    return way;
  }

  [[nodiscard]] bool meet(const Access& a, const Access& b) const {
    if ((!a.writes && !b.writes) || (a.is_atomic && b.is_atomic)) return false;
    if (a.modulus == 0 && b.modulus == 0) return false;
    const bool is_one_turn = a.turn == b.turn && a.turn != 0;
    if (is_one_turn && (a.is_handed || b.is_handed)) return false;
    const bool is_global = global_.contains(a.array);
    if (is_one_turn || is_global) {
      const Way left = way_to(a);
      const Way right = way_to(b);
      if (is_one_turn && !left.tables.empty() && !right.tables.empty()) return false;
      // other elements of the loop: whether their targets differ is known where the strategy is
      // chosen
      if (is_global && left.tables == right.tables && left.steps != right.steps) return false;
    }
    return !are_apart(a, b);
  }

  /// Whether the elements of two accesses are known to differ wherever their lanes do: written as
  /// digits that do not overlap, equal numbers have equal digits.
  [[nodiscard]] bool are_apart(const Access& a, const Access& b) const {
    std::vector<Term> left = a.at.terms;
    std::vector<Term> right = b.at.terms;
    for (const Term& term : a.at.terms) {
      if (varies(term.atom)) continue;
      const auto same = std::ranges::find(right, term);
      if (same == right.end()) continue;
      right.erase(same);
      left.erase(std::ranges::find(left, term));
    }
    std::vector<Digit> digits;
    std::int64_t more = a.at.number - b.at.number;
    const auto add = [&](const std::vector<Term>& terms, const Expr* Digit::*side, int sign) {
      return std::ranges::all_of(terms, [&](const Term& term) {
        const Bound value = least(term.atom);
        const bool is_number = value && value == most(term.atom) && index_of(&term.atom) == nullptr;
        if (!is_number) return put(digits, term, side);
        more += sign * term.factor * *value;
        return true;
      });
    };
    if (!add(left, &Digit::left, 1) || !add(right, &Digit::right, -1)) return false;
    spread(digits, more);
    std::int64_t below = 0;  // the most that the lower digits can differ by
    for (const Digit& digit : digits) {
      const Bound difference = most_apart(digit);
      const bool is_last = &digit == &digits.back();
      if (digit.factor <= below || (!difference && !is_last)) return false;
      below += digit.factor * difference.value_or(0);
    }
    return std::ranges::any_of(digits, [&](const Digit& digit) {
      return are_disjoint(digit) || is_same_lane(digit, a, b);
    });
  }

  static bool put(std::vector<Digit>& digits, const Term& term, const Expr* Digit::*side) {
    if (term.factor <= 0) return false;
    auto place = std::ranges::lower_bound(digits, term.factor, {}, &Digit::factor);
    if (place == digits.end() || place->factor != term.factor) {
      place = digits.insert(place, {term.factor});
    }
    if ((*place).*side != nullptr) return false;
    (*place).*side = &term.atom;
    return true;
  }

  /// @p more on the left side, as digits.
  static void spread(std::vector<Digit>& digits, std::int64_t more) {
    for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
      digit->left_more = more / digit->factor;
      more %= digit->factor;
    }
    if (more != 0) digits.insert(digits.begin(), {1, nullptr, nullptr, more});
  }

  [[nodiscard]] Bound least(const Expr& expr) const {
    if (const Index* index = index_of(&expr)) return index->least;
    const bool is_count = expr == this_lane || expr == all_lanes || is_part_of_lane(expr);
    return is_count ? Bound(0) : number_of(expr);
  }

  [[nodiscard]] Bound most(const Expr& expr) const {
    if (const Index* index = index_of(&expr)) return index->most;
    if (expr == this_lane && function_.max_lanes > 0) return function_.max_lanes - 1;
    if (const auto* smaller = std::get_if<Minimum>(&expr.node)) {
      const Bound one = most(smaller->operands[0]);
      const Bound other = most(smaller->operands[1]);
      return one && other ? std::min(*one, *other) : (one ? one : other);
    }
    const auto* binary = std::get_if<Binary>(&expr.node);
    if (binary == nullptr || !is_part_of_lane(expr)) return number_of(expr);
    const std::int64_t by = *number_of(binary->operands[1]);
    if (binary->op == BinaryOp::modulo) return by - 1;
    const Bound whole = most(binary->operands[0]);
    return whole ? Bound(*whole / by) : std::nullopt;
  }

  /// `x / number` or `x % number` of what is not negative.
  [[nodiscard]] bool is_part_of_lane(const Expr& expr) const {
    const auto* binary = std::get_if<Binary>(&expr.node);
    if (binary == nullptr) return false;
    const bool is_part = binary->op == BinaryOp::divide || binary->op == BinaryOp::modulo;
    return is_part && number_of(binary->operands[1]).value_or(0) > 0 &&
           least(binary->operands[0]).value_or(-1) >= 0;
  }

  struct Bounds {
    Bound least;
    Bound most;
  };
  [[nodiscard]] Bounds bounds(const Expr* atom, std::int64_t more) const {
    if (atom == nullptr) return {more, more};
    Bounds of{least(*atom), most(*atom)};
    if (of.least) *of.least += more;
    if (of.most) *of.most += more;
    return of;
  }

  /// The most that both sides of @p digit can differ by.
  [[nodiscard]] Bound most_apart(const Digit& digit) const {
    const Bounds left = bounds(digit.left, digit.left_more);
    const Bounds right = bounds(digit.right, 0);
    if (!left.least || !left.most || !right.least || !right.most) return std::nullopt;
    return std::max(std::abs(*left.most - *right.least), std::abs(*right.most - *left.least));
  }

  [[nodiscard]] bool are_disjoint(const Digit& digit) const {
    const Bounds left = bounds(digit.left, digit.left_more);
    const Bounds right = bounds(digit.right, 0);
    if ((left.most && right.least && *left.most < *right.least) ||
        (right.most && left.least && *right.most < *left.least))
      return true;
    const auto is_past = [this](const Expr* atom, const Expr* lane) {
      const Index* index = index_of(atom);
      return index != nullptr && index->first_of_lanes == all_lanes && lane != nullptr &&
             *lane == this_lane;
    };
    return digit.left_more == 0 &&
           (is_past(digit.left, digit.right) || is_past(digit.right, digit.left));
  }

  /// Whether equal values of a digit are of the same lane.
  [[nodiscard]] bool is_same_lane(const Digit& digit, const Access& a, const Access& b) const {
    if (digit.left_more != 0) return false;
    const auto left = lane_begin(digit.left, a);
    return left && left == lane_begin(digit.right, b);
  }

  /// Value `v` of @p atom is of lane `v - begin`, of those that loops go round with; nothing if it
  /// does not say which lane. In each access of the first lane the number 0 is.
  [[nodiscard]] std::optional<Expr> lane_begin(const Expr* atom, const Access& access) const {
    if (atom == nullptr) return access.modulus == 0 ? std::optional(integer(0)) : std::nullopt;
    if (*atom == this_lane) return integer(0);
    if (access.modulus > 1 && *atom == this_lane / integer(access.modulus)) return *atom;
    const Index* index = index_of(atom);
    return index == nullptr ? std::nullopt : index->first_of_lanes;
  }

  const Function& function_;
  std::set<std::string> global_;  // arrays that lanes may write
  std::set<std::string> shared_;
  std::map<std::string, Index> indices_;
  kernel::ScopeStack<Expr> values_;
  std::vector<Access> open_;  // since the last Barrier, on any path; in the order of their ids
  const Stmt* stmt_ = nullptr;
  int n_accesses_ = 0;
  int n_turns_ = 0;
  int turn_ = 0;
  int modulus_ = 1;
  bool is_on_grid_ = false;
  bool has_arrived_ = false;
};

}  // namespace

void verify_barriers(const Function& function) {
  BarrierChecker(function).run();
}

}  // namespace op2::kir
