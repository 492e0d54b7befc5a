// SPDX-License-Identifier: BSD-3-Clause
#include "plan/entries.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "base/parallel.hpp"
#include "mesh/map_table.hpp"
#include "plan/at.hpp"

namespace op2::plan {
namespace {

constexpr std::int64_t entry_grain = 16;  // blocks that are worth a thread

void check(const PositionSpec& spec, const EntryLayout& layout, std::int64_t size) {
  if (spec.elements.subset) throw InternalError("list_entries: elements of a Subset");
  constexpr std::int64_t most = std::numeric_limits<std::uint16_t>::max();
  if (layout.block_size * size > most) {
    throw UsageError(fmt::format(
        "plan: the matrices of {} elements have {} scalars each, and a block may have {}; make the "
        "blocks smaller (listed_elements)",
        layout.block_size, size, most));
  }
}

/// A scalar of an element's matrix, and where it goes.
struct Summand {
  std::int64_t place;
  std::uint16_t slot;
};

/// The entries of one block, with those that have many summands first.
struct Listed {
  std::vector<std::int64_t> places;
  std::vector<std::uint16_t> first;  // [places + 1]
};

template <class Position>
class Lister {
 public:
  Lister(const PositionSpec& spec, const std::vector<Position>& positions,
         const EntryLayout& layout)
      : spec_(spec),
        positions_(positions),
        layout_(layout),
        rows_(spec.rows->arity()),
        columns_(spec.columns->arity()),
        by_scalar_(spec.row_dim * spec.column_dim > 1) {}

  /// @param[out] slots What goes to each entry, [n_elements * size] of this block.
  Listed list(std::int64_t block, std::uint16_t* slots) {
    find(block);
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Summand& a, const Summand& b) { return a.place < b.place; });
    return grouped(slots);
  }

 private:
  void find(std::int64_t block) {
    found_.clear();
    const std::int64_t begin = block * layout_.block_size;
    const std::int64_t end = std::min(begin + layout_.block_size, layout_.n_elements);
    for (std::int64_t n = begin; n < end; ++n) {
      for (int i = 0; i < rows_; ++i) {
        const std::int64_t row = spec_.rows->at(n, i);
        if (row < 0) continue;
        for (int j = 0; j < columns_; ++j) find(n, n - begin, {i, j}, row);
      }
    }
  }

  struct Pair {
    int i;
    int j;
  };

  /// The scalars of one pair of nodes.
  void find(std::int64_t n, std::int64_t within, Pair at_nodes, std::int64_t row) {
    const std::int64_t first = spec_.sparsity->row_offset[at(row)];
    const int dim = layout_.row_dim * layout_.col_dim;
    for (int r = 0; r < layout_.row_dim; ++r) {
      for (int c = 0; c < layout_.col_dim; ++c) {
        const std::int64_t scalar =
            (std::int64_t{at_nodes.i} * layout_.row_dim + r) * columns_ * layout_.col_dim +
            std::int64_t{at_nodes.j} * layout_.col_dim + c;
        const std::int64_t position = by_scalar_ ? n * rows_ * columns_ * dim + scalar
                                                 : (n * rows_ + at_nodes.i) * columns_ + at_nodes.j;
        const Position found = positions_[at(position)];
        if (found == dropped<Position>) continue;
        found_.push_back({(first + static_cast<std::int64_t>(found)) * dim +
                              std::int64_t{r} * layout_.col_dim + c,
                          static_cast<std::uint16_t>(scalar * layout_.block_size + within)});
      }
    }
  }

  /// What goes to one place stands together; places with many summands first, then ascending.
  Listed grouped(std::uint16_t* slots) {
    groups_.clear();
    for (std::size_t i = 0; i < found_.size(); ++i) {
      if (i == 0 || found_[i].place != found_[i - 1].place) groups_.push_back({i, 0});
      ++groups_.back().second;
    }
    std::stable_sort(groups_.begin(), groups_.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    Listed out;
    out.places.reserve(groups_.size());
    out.first.reserve(groups_.size() + 1);
    std::size_t written = 0;
    for (const auto& [begin, count] : groups_) {
      out.places.push_back(found_[begin].place);
      out.first.push_back(static_cast<std::uint16_t>(written));
      for (std::size_t i = begin; i < begin + count; ++i) slots[written++] = found_[i].slot;
    }
    out.first.push_back(static_cast<std::uint16_t>(written));
    return out;
  }

  const PositionSpec& spec_;
  const std::vector<Position>& positions_;
  const EntryLayout& layout_;
  int rows_;
  int columns_;
  bool by_scalar_;
  std::vector<Summand> found_;
  std::vector<std::pair<std::size_t, std::size_t>> groups_;  // first of found_, number
};

template <class Index>
std::vector<Index> narrowed(const std::vector<Listed>& blocks, const EntryBlocks& made,
                            int n_threads) {
  std::vector<Index> out(at(made.first_entry.back()));
  const auto n_blocks = static_cast<std::int64_t>(blocks.size());
  parallel_for(
      n_threads, n_blocks,
      [&](std::int64_t begin, std::int64_t end, int) {
        for (std::int64_t b = begin; b < end; ++b) {
          auto* to = out.data() + made.first_entry[at(b)];
          for (const std::int64_t place : blocks[at(b)].places) {
            if (place > std::numeric_limits<Index>::max()) {
              throw UsageError(
                  fmt::format("plan: a matrix with {} values needs wider places than "
                              "{} bytes",
                              place, sizeof(Index)));
            }
            *to++ = static_cast<Index>(place);
          }
        }
      },
      entry_grain);
  return out;
}

}  // namespace

std::int64_t EntryBlocks::bytes() const {
  return bytes_of(first_entry) + bytes_of(places) + bytes_of(first_summand) + bytes_of(summands);
}

EntryBlocks list_entries(const PositionSpec& spec, const Positions& positions,
                         const EntryLayout& layout, int n_threads) {
  const std::int64_t size =
      std::int64_t{spec.rows->arity()} * layout.row_dim * spec.columns->arity() * layout.col_dim;
  check(spec, layout, size);
  const std::int64_t n_blocks = (layout.n_elements + layout.block_size - 1) / layout.block_size;
  EntryBlocks made;
  made.summands.resize(at(layout.n_elements * size));
  std::vector<Listed> blocks(at(n_blocks));
  std::visit(
      [&](const auto& values) {
        parallel_for(
            n_threads, n_blocks,
            [&](std::int64_t begin, std::int64_t end, int) {
              Lister lister(spec, values, layout);
              for (std::int64_t b = begin; b < end; ++b) {
                blocks[at(b)] = lister.list(b, made.summands.data() + b * layout.block_size * size);
              }
            },
            entry_grain);
      },
      positions.values);
  made.first_entry.push_back(0);
  for (const Listed& block : blocks) {
    made.first_entry.push_back(made.first_entry.back() +
                               static_cast<std::int64_t>(block.places.size()));
    made.first_summand.insert(made.first_summand.end(), block.first.begin(), block.first.end());
  }
  if (layout.place_bytes == 4) {
    made.places = narrowed<std::int32_t>(blocks, made, n_threads);
  } else {
    made.places = narrowed<std::int64_t>(blocks, made, n_threads);
  }
  return made;
}

}  // namespace op2::plan
