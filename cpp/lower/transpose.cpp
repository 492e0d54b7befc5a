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
  Transposer(const std::string& pack, const kir::Rows& rows, Names& names, int most_sharers)
      : pack_(pack), rows_(rows), names_(names), most_sharers_(most_sharers) {}

  /// Neighbouring lanes load consecutive scalars of one row after the other, and exchange them.
  [[nodiscard]] kir::Block load(const kir::Expr& is_element) {
    return over_groups(is_element, [this](kir::Block& out, const std::string& at, const Group& of) {
      registers_.clear();
      for (int source = 0; source < of.width; ++source) {
        registers_.push_back(names_.take(fmt::format("{}_lane{}", pack_, source)));
        out.push_back({kir::Decl{{rows_.dtype}, registers_.back(), 0, {kir::integer(0)}}});
        const kir::Expr value = kir::name(registers_.back());
        at_row(out, at, of, source, [&value](const kir::Expr& scalar) {
          return kir::Block{{kir::Assign{value, kir::Update::set, scalar}}};
        });
      }
      swap_halves(out, of.width);
      for (int c = 0; c < of.n; ++c) {
        out.push_back({kir::Assign{kir::element(pack_, kir::integer(of.first + c)),
                                   kir::Update::set, register_of(c)}});
      }
    });
  }

  /// Neighbouring lanes exchange scalars, and store consecutive ones of one row after the other.
  [[nodiscard]] kir::Block store(const kir::Expr& is_element, kir::Update update, kir::Sync sync) {
    return over_groups(is_element, [&](kir::Block& out, const std::string& at, const Group& of) {
      if (of.n > 1) exchange(out, of);
      for (int source = 0; source < of.width; ++source) {
        const kir::Expr value =
            of.n > 1 ? register_of(source) : kir::element(pack_, kir::integer(of.first));
        at_row(out, at, of, source, [&](const kir::Expr& scalar) -> kir::Block {
          if (sync != kir::Sync::atomic) return {{kir::Assign{scalar, update, value}}};
          return {{kir::Atomic{kir::memory_dtype(rows_), scalar, update, value}}};
        });
      }
    });
  }

 private:
  /// Components [base, base + n) of a row, which the pack has from `first` on, by `width` lanes.
  struct Group {
    int first;
    int base;
    int n;
    int width;
  };

  template <class OfGroup>
  kir::Block over_groups(const kir::Expr& is_element, const OfGroup& of_group) {
    kir::Block out;
    for (int i = 0; i < rows_.arity; ++i) {
      const std::string at = names_.take(fmt::format("{}_at{}", pack_, i));
      // lanes without an element take part, with nothing to add
      const kir::Expr start = row_start(rows_, kir::integer(i));
      out.push_back(index_decl(at, kir::select(is_element, start, kir::integer(-1))));
      for (int base = 0; base < rows_.dim; base += most_sharers_) {
        const int n = std::min(most_sharers_, rows_.dim - base);
        of_group(out, at, Group{i * rows_.dim + base, base, n, power_of_two_from(n)});
      }
    }
    return out;
  }

  [[nodiscard]] kir::Expr register_of(int lane) const {
    return kir::name(registers_[static_cast<std::size_t>(lane)]);
  }

  /// Lane m of a group has component m of all its lanes afterwards, that of lane s in register s.
  void exchange(kir::Block& out, const Group& of) {
    registers_.clear();
    for (int c = 0; c < of.width; ++c) {
      registers_.push_back(names_.take(fmt::format("{}_lane{}", pack_, c)));
      const kir::Expr own = kir::element(pack_, kir::integer(of.first + c));
      out.push_back(
          {kir::Decl{{rows_.dtype}, registers_.back(), 0, {c < of.n ? own : kir::integer(0)}}});
    }
    swap_halves(out, of.width);
  }

  /// Transpose the registers of a group of lanes: halves are swapped in log2(width) steps
  /// (Eklundh, IEEE Trans. Comput. C-21, 1972).
  void swap_halves(kir::Block& out, int width) {
    for (int half = 1; half < width; half *= 2) {
      const kir::Expr is_upper = lane_id() / kir::integer(half) % kir::integer(2);
      const std::string upper = names_.take(fmt::format("{}_upper", pack_));
      const std::string partner = names_.take(fmt::format("{}_partner", pack_));
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
    const std::string got = names_.take(fmt::format("{}_got", pack_));
    const kir::Expr sent = kir::select(kir::name(upper), a, b);
    out.push_back(
        {kir::Decl{{rows_.dtype}, got, 0, {kir::shuffle(sent, kir::name(partner), width)}}});
    out.push_back(
        {kir::Assign{a, kir::Update::set, kir::select(kir::name(upper), kir::name(got), a)}});
    out.push_back(
        {kir::Assign{b, kir::Update::set, kir::select(kir::name(upper), b, kir::name(got))}});
  }

  /// What @p of_scalar does for the scalar of the row of lane @p source that is this lane's turn:
  /// consecutive lanes have consecutive scalars.
  template <class OfScalar>
  void at_row(kir::Block& out, const std::string& at, const Group& of, int source,
              const OfScalar& of_scalar) {
    const std::string to = names_.take(fmt::format("{}_to", pack_));
    out.push_back(index_decl(to, kir::shuffle(kir::name(at), kir::integer(source), of.width)));
    const kir::Expr member = lane_id() % kir::integer(of.width);
    kir::Block body =
        of_scalar(kir::element(rows_.data, kir::name(to) + kir::integer(of.base) + member));
    if (of.n < of.width) {
      body = {{kir::If{kir::less(member, kir::integer(of.n)), std::move(body)}}};
    }
    out.push_back({kir::If{kir::less(kir::integer(-1), kir::name(to)), std::move(body)}});
  }

  const std::string& pack_;
  const kir::Rows& rows_;
  Names& names_;
  int most_sharers_;  // more would exchange more registers than the sums are worth
  std::vector<std::string> registers_;
};

/// True for rows with scalars side by side, few enough for registers.
bool can_share(const kir::Rows& rows, const Facts& facts, const Tuning& tuning) {
  const std::variant<kir::Together, kir::Apart> whole = kir::Together{rows.dim};
  return !n_rows(rows) && facts.warp >= tuning.sharing_lanes && rows.dim > 1 &&
         listed_of(rows) == nullptr && rows.layout == whole && rows.component == 0 &&
         !is_complex(rows.dtype) && size_of(rows.dtype) >= 4 &&
         rows.arity * rows.dim <= tuning.transposed_scalars;
}

}  // namespace

bool can_transpose(const kir::Scatter& scatter, const Facts& facts, const Tuning& tuning) {
  if (scatter.sync != kir::Sync::atomic) return is_wide(scatter.rows, facts, tuning);
  return tuning.transposed && can_share(scatter.rows, facts, tuning);
}

bool is_wide(const kir::Rows& rows, const Facts& facts, const Tuning& tuning) {
  const DType dtype = kir::memory_dtype(rows);
  const int n_bytes = rows.dim * static_cast<int>(size_of(dtype));
  return is_own(rows) && dtype == rows.dtype && tuning.exchanged_bytes > 0 &&
         n_bytes >= tuning.exchanged_bytes && can_share(rows, facts, tuning);
}

kir::Block loaded_together(const kir::Gather& gather, const kir::Expr& is_element, Names& names,
                           const Tuning& tuning) {
  return Transposer(gather.pack, gather.rows, names, tuning.sharing_lanes).load(is_element);
}

kir::Block transposed(const kir::Scatter& scatter, const kir::Expr& is_element, Names& names,
                      const Tuning& tuning) {
  return Transposer(scatter.pack, scatter.rows, names, tuning.sharing_lanes)
      .store(is_element, scatter.update, scatter.sync);
}

}  // namespace op2::lower
