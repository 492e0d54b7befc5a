// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lower/make.hpp"
#include "lower/passes.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

int power_of_two_from(int n) {
  int power = 1;
  while (power < n) power *= 2;
  return power;
}

/// Writes the exchange of one pack's rows between neighbouring lanes.
class Transposer {
 public:
  Transposer(const kir::Scatter& scatter, Names& names, int most_sharers)
      : scatter_(scatter), names_(names), most_sharers_(most_sharers) {}

  [[nodiscard]] kir::Block run(const kir::Expr& is_element) {
    const kir::Rows& rows = scatter_.rows;
    kir::Block out;
    for (int i = 0; i < rows.arity; ++i) {
      const std::string at = fmt::format("{}_at{}", scatter_.pack, i);
      // lanes without an element take part, with nothing to add
      const kir::Expr start = row_start(rows, kir::integer(i));
      out.push_back(index_decl(at, kir::select(is_element, start, kir::integer(-1))));
      for (int base = 0; base < rows.dim; base += most_sharers_) {
        one_group(out, at, i * rows.dim, base, std::min(most_sharers_, rows.dim - base));
      }
    }
    return out;
  }

 private:
  /// Components [base, base + n) of the row that starts at @p start of the pack, by n lanes.
  void one_group(kir::Block& out, const std::string& at, int start, int base, int n) {
    const int width = power_of_two_from(n);
    if (n > 1) exchange(out, start + base, n, width);
    for (int source = 0; source < width; ++source) {
      add_row(out, at, start + base, {source, base, n, width});
    }
  }

  /// Lane m of a group has component m of all its lanes afterwards, that of lane s in register s.
  /// Halves are swapped in log2(width) steps (Eklundh, IEEE Trans. Comput. C-21, 1972).
  void exchange(kir::Block& out, int start, int n, int width) {
    registers_.clear();
    for (int c = 0; c < width; ++c) {
      registers_.push_back(names_.take(fmt::format("{}_lane{}", scatter_.pack, c)));
      const kir::Expr own = kir::element(scatter_.pack, kir::integer(start + c));
      out.push_back({kir::Decl{
          {scatter_.rows.dtype}, registers_.back(), 0, {c < n ? own : kir::integer(0)}}});
    }
    for (int half = 1; half < width; half *= 2) {
      const kir::Expr is_upper = lane_id() / kir::integer(half) % kir::integer(2);
      const std::string upper = names_.take(fmt::format("{}_upper", scatter_.pack));
      const std::string partner = names_.take(fmt::format("{}_partner", scatter_.pack));
      const kir::Expr member = lane_id() % kir::integer(width);
      out.push_back(index_decl(upper, is_upper));
      out.push_back(index_decl(partner, kir::select(kir::name(upper), member - kir::integer(half),
                                                    member + kir::integer(half))));
      for (int low = 0; low < width; ++low) {
        if (low / half % 2 == 0) swap(out, low, low + half, upper, partner, width);
      }
    }
  }

  void swap(kir::Block& out, int low, int high, const std::string& upper,
            const std::string& partner, int width) {
    const kir::Expr a = kir::name(registers_[static_cast<std::size_t>(low)]);
    const kir::Expr b = kir::name(registers_[static_cast<std::size_t>(high)]);
    const std::string got = names_.take(fmt::format("{}_got", scatter_.pack));
    const kir::Expr sent = kir::select(kir::name(upper), a, b);
    out.push_back({kir::Decl{
        {scatter_.rows.dtype}, got, 0, {kir::shuffle(sent, kir::name(partner), width)}}});
    out.push_back(
        {kir::Assign{a, kir::Update::set, kir::select(kir::name(upper), kir::name(got), a)}});
    out.push_back(
        {kir::Assign{b, kir::Update::set, kir::select(kir::name(upper), b, kir::name(got))}});
  }

  struct Group {
    int source;
    int base;
    int n;
    int width;
  };

  /// All lanes of a group add to the row of lane `source`: consecutive lanes, consecutive scalars.
  void add_row(kir::Block& out, const std::string& at, int start, const Group& group) {
    const std::string to = names_.take(fmt::format("{}_to", scatter_.pack));
    out.push_back(
        index_decl(to, kir::shuffle(kir::name(at), kir::integer(group.source), group.width)));
    const kir::Expr member = lane_id() % kir::integer(group.width);
    const kir::Expr value = group.n > 1
                                ? kir::name(registers_[static_cast<std::size_t>(group.source)])
                                : kir::element(scatter_.pack, kir::integer(start));
    kir::Block add{{kir::Atomic{
        kir::memory_dtype(scatter_.rows),
        kir::element(scatter_.rows.data, kir::name(to) + kir::integer(group.base) + member),
        scatter_.update, value}}};
    if (group.n < group.width) {
      add = {{kir::If{kir::less(member, kir::integer(group.n)), std::move(add)}}};
    }
    out.push_back({kir::If{kir::less(kir::integer(-1), kir::name(to)), std::move(add)}});
  }

  const kir::Scatter& scatter_;
  Names& names_;
  int most_sharers_;  // more would exchange more registers than the sums are worth
  std::vector<std::string> registers_;
};

}  // namespace

bool can_transpose(const kir::Scatter& scatter, const Facts& facts, const Tuning& tuning) {
  const kir::Rows& rows = scatter.rows;
  const std::variant<kir::Together, kir::Apart> whole = kir::Together{rows.dim};
  return !n_rows(rows) && facts.warp >= tuning.sharing_lanes && scatter.sync == kir::Sync::atomic &&
         rows.dim > 1 && listed_of(rows) == nullptr && rows.layout == whole &&
         rows.component == 0 && !is_complex(rows.dtype) && size_of(rows.dtype) >= 4 &&
         rows.arity * rows.dim <= tuning.transposed_scalars;
}

kir::Block transposed(const kir::Scatter& scatter, const kir::Expr& is_element, Names& names,
                      const Tuning& tuning) {
  return Transposer(scatter, names, tuning.sharing_lanes).run(is_element);
}

}  // namespace op2::lower
