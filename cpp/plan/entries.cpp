// SPDX-License-Identifier: BSD-3-Clause
#include "plan/entries.hpp"

#include <fmt/format.h>

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

// Each thread lists the entries of consecutive blocks (Lister): it finds the rows of the matrix
// that a block's elements add to, then which scalar goes to which cell of these rows, then sorts
// scalars by cell, either by counting in a pass over all cells, or, where most have none, by
// comparing. Targets of a Map are sorted (TargetLister). What threads have found is joined at last
// (BlockLister).

std::int64_t scalars_of(const PositionSpec& spec, const EntryLayout& layout) {
  return layout.element_scalars(spec.rows->arity(), spec.columns->arity());
}

constexpr std::int64_t most_summands = std::numeric_limits<std::uint16_t>::max();

void check(const PositionSpec& spec, const EntryLayout& layout) {
  const std::int64_t size = scalars_of(spec, layout);
  if (spec.elements.subset) throw InternalError("list_entries: elements of a Subset");
  if (layout.block_size * size > most_summands) {
    throw UsageError(fmt::format(
        "plan: the matrices of {} elements have {} scalars each, and a block may have {}; make the "
        "blocks smaller (listed_elements)",
        layout.block_size, size, most_summands));
  }
  const std::int64_t n_values = spec.sparsity->n_entries() * layout.place_scalars();
  if (layout.place_bytes == 4 && n_values > std::numeric_limits<std::int32_t>::max()) {
    throw UsageError(
        fmt::format("plan: a matrix with {} values needs wider places than 4 bytes", n_values));
  }
}

void check_blocks(const mesh::MapTable& map, std::int64_t n, std::int64_t block_size) {
  if (block_size >= 1 && n >= 0 && n <= map.n_rows()) return;
  throw UsageError(
      fmt::format("plan: cannot list the targets of {} elements, {} a block, of a "
                  "map of {} rows",
                  n, block_size, map.n_rows()));
}

void check(const mesh::MapTable& map, const TargetLayout& layout) {
  check_blocks(map, layout.n_elements, layout.block_size);
  if (layout.block_size * map.arity() > most_summands) {
    throw UsageError(
        fmt::format("plan: {} elements with {} targets each are too many for a block, which may "
                    "have {} targets; make the blocks smaller (summed_elements)",
                    layout.block_size, map.arity(), most_summands));
  }
  if (layout.place_bytes == 4 && map.n_targets() > std::numeric_limits<std::int32_t>::max()) {
    throw UsageError(
        fmt::format("plan: {} targets need wider numbers than 4 bytes", map.n_targets()));
  }
}

/// The entries of consecutive blocks, as one thread found them.
template <class Index>
struct ListedBlocks {
  RawVector<Index> places;
  RawVector<std::uint16_t> first;       // [places + blocks]
  std::vector<std::int64_t> n_entries;  // [blocks]
};

/// A row of the matrix that a block adds to. Its cells are the places there; those of all rows of
/// the block are numbered one after the other, rows ascending.
struct TouchedRow {
  std::int64_t place;  // of its first cell
  std::int64_t first_cell;
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
        dim_(layout.place_scalars()),
        size_(scalars_of(spec, layout)),
        by_scalar_(spec.row_dim * spec.column_dim > 1) {}

  /// @param[out] slots What goes to each entry, [n_elements * size] of this block.
  template <class Index>
  void list(std::int64_t block, ListedBlocks<Index>& out, std::uint16_t* slots) {
    begin_ = block * layout_.block_size;
    n_ = std::min(layout_.block_size, layout_.n_elements - begin_);
    find_rows();
    find_summands();
    const std::size_t before = out.places.size();
    constexpr std::int64_t sparse = 8;  // cells a summand from which on sorting is faster
    if (n_cells_ > sparse * static_cast<std::int64_t>(summands_.size())) {
      sort(out, slots);
    } else {
      count(out, slots);
    }
    out.n_entries.push_back(static_cast<std::int64_t>(out.places.size() - before));
    std::fill(slots + summands_.size(), slots + n_ * size_, std::uint16_t{0});  // nobody reads them
  }

 private:
  struct Summand {
    std::int64_t cell;
    std::int32_t row;  // of touched_
    std::uint16_t slot;
  };

  /// The rows of the block's elements, each once.
  void find_rows() {
    by_row_.clear();
    for (std::int64_t e = 0; e < n_; ++e) {
      for (int i = 0; i < rows_; ++i) {
        const std::int64_t row = spec_.rows->at(begin_ + e, i);
        if (row >= 0) by_row_.emplace_back(row, static_cast<std::int32_t>(e * rows_ + i));
      }
    }
    std::sort(by_row_.begin(), by_row_.end());
    touched_.clear();
    row_of_.assign(at(n_ * rows_), -1);
    n_cells_ = 0;
    const std::vector<std::int64_t>& offset = spec_.sparsity->row_offset;
    std::int64_t last = -1;
    for (const auto& [row, which] : by_row_) {
      if (row != last) {
        touched_.push_back({offset[at(row)] * dim_, n_cells_});
        n_cells_ += (offset[at(row) + 1] - offset[at(row)]) * dim_;
        last = row;
      }
      row_of_[at(which)] = static_cast<std::int32_t>(touched_.size()) - 1;
    }
  }

  void find_summands() {
    summands_.clear();
    for (std::int64_t e = 0; e < n_; ++e) {
      for (int i = 0; i < rows_; ++i) {
        const std::int32_t row = row_of_[at(e * rows_ + i)];
        if (row < 0) continue;
        for (int j = 0; j < columns_; ++j) find_scalars(e, i, j, row);
      }
    }
  }

  /// The scalars of one pair of nodes.
  void find_scalars(std::int64_t e, int i, int j, std::int32_t row) {
    const std::int64_t first = touched_[at(row)].first_cell;
    const std::int64_t n = begin_ + e;
    for (int r = 0; r < layout_.row_dim; ++r) {
      for (int c = 0; c < layout_.col_dim; ++c) {
        const std::int64_t scalar =
            (std::int64_t{i} * layout_.row_dim + r) * columns_ * layout_.col_dim +
            std::int64_t{j} * layout_.col_dim + c;
        const std::int64_t position =
            by_scalar_ ? n * size_ + scalar : (n * rows_ + i) * columns_ + j;
        const Position found = positions_[at(position)];
        if (found == dropped<Position>) continue;
        const std::int64_t within = std::int64_t{r} * layout_.col_dim + c;
        summands_.push_back({first + static_cast<std::int64_t>(found) * dim_ + within, row,
                             static_cast<std::uint16_t>(scalar * layout_.block_size + e)});
      }
    }
  }

  /// One pass over all cells of the rows, of which most have a summand.
  template <class Index>
  void count(ListedBlocks<Index>& out, std::uint16_t* slots) {
    next_.assign(at(n_cells_), 0);
    for (const Summand& summand : summands_) ++next_[at(summand.cell)];
    std::uint32_t written = 0;
    for (std::size_t r = 0; r < touched_.size(); ++r) {
      const auto [place, first] = touched_[r];
      const std::int64_t end = r + 1 < touched_.size() ? touched_[r + 1].first_cell : n_cells_;
      for (std::int64_t cell = first; cell < end; ++cell) {
        const std::uint32_t here = next_[at(cell)];
        if (here == 0) continue;
        out.places.push_back(static_cast<Index>(place + cell - first));
        out.first.push_back(static_cast<std::uint16_t>(written));
        next_[at(cell)] = written;
        written += here;
      }
    }
    out.first.push_back(static_cast<std::uint16_t>(written));
    for (const Summand& summand : summands_) slots[next_[at(summand.cell)]++] = summand.slot;
  }

  /// Where rows are so long that most of their cells have none.
  template <class Index>
  void sort(ListedBlocks<Index>& out, std::uint16_t* slots) {
    std::stable_sort(summands_.begin(), summands_.end(),
                     [](const Summand& a, const Summand& b) { return a.cell < b.cell; });
    std::size_t written = 0;
    for (; written < summands_.size(); ++written) {
      const Summand& summand = summands_[written];
      if (written == 0 || summands_[written - 1].cell != summand.cell) {
        const TouchedRow& row = touched_[at(summand.row)];
        out.places.push_back(static_cast<Index>(row.place + summand.cell - row.first_cell));
        out.first.push_back(static_cast<std::uint16_t>(written));
      }
      slots[written] = summand.slot;
    }
    out.first.push_back(static_cast<std::uint16_t>(written));
  }

  const PositionSpec& spec_;
  const std::vector<Position>& positions_;
  const EntryLayout& layout_;
  int rows_;
  int columns_;
  int dim_;            // scalars of a place
  std::int64_t size_;  // scalars of an element
  bool by_scalar_;
  std::int64_t begin_ = 0;  // first element of the block at hand
  std::int64_t n_ = 0;      // elements there
  std::int64_t n_cells_ = 0;
  std::vector<std::pair<std::int64_t, std::int32_t>> by_row_;  // row, element * rows + i
  std::vector<TouchedRow> touched_;
  std::vector<std::int32_t> row_of_;  // [n, rows] of touched_, -1: none
  std::vector<Summand> summands_;
  std::vector<std::uint32_t> next_;  // [n_cells]
};

/// The targets of a Map that a block's elements add to.
class TargetLister {
 public:
  TargetLister(const mesh::MapTable& map, const TargetLayout& layout)
      : map_(map), layout_(layout) {}

  /// @param[out] slots What goes to each target, [n_elements * arity] of this block.
  template <class Index>
  void list(std::int64_t block, ListedBlocks<Index>& out, std::uint16_t* slots) {
    const std::int64_t begin = block * layout_.block_size;
    const std::int64_t n = std::min(layout_.block_size, layout_.n_elements - begin);
    found_.clear();
    for (std::int64_t e = 0; e < n; ++e) {
      for (int slot = 0; slot < map_.arity(); ++slot) {
        const std::int64_t target = map_.at(begin + e, slot);
        const auto summand = static_cast<std::uint16_t>(slot * layout_.block_size + e);
        if (target >= 0) found_.emplace_back(target, summand);
      }
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::size_t before = out.places.size();
    std::size_t written = 0;
    for (; written < found_.size(); ++written) {
      const auto [target, summand] = found_[written];
      if (written == 0 || found_[written - 1].first != target) {
        out.places.push_back(static_cast<Index>(target));
        out.first.push_back(static_cast<std::uint16_t>(written));
      }
      slots[written] = summand;
    }
    out.first.push_back(static_cast<std::uint16_t>(written));
    out.n_entries.push_back(static_cast<std::int64_t>(out.places.size() - before));
    std::fill(slots + written, slots + n * map_.arity(), std::uint16_t{0});  // nobody reads them
  }

 private:
  const mesh::MapTable& map_;
  TargetLayout layout_;
  std::vector<std::pair<std::int64_t, std::uint16_t>> found_;  // target, summand
};

/// How elements are cut into blocks, and how many summands each has.
struct Cut {
  std::int64_t n_elements;
  std::int64_t block_size;
  std::int64_t size;

  [[nodiscard]] std::int64_t n_blocks() const { return (n_elements + block_size - 1) / block_size; }
};

template <class Index>
class BlockLister {
 public:
  BlockLister(const Cut& cut, int n_threads) : cut_(cut), n_threads_(n_threads) {}

  /// @param[in] make_lister Makes what lists block after block, one for each thread.
  template <class MakeLister>
  EntryBlocks list(const MakeLister& make_lister) {
    made_.summands.resize(at(cut_.n_elements * cut_.size));
    parts_.resize(at(std::max(n_threads_, 1)));
    parallel_for(
        n_threads_, cut_.n_blocks(),
        [&](std::int64_t begin, std::int64_t end, int thread) {
          auto lister = make_lister();
          ListedBlocks<Index>& part = parts_[at(thread)];
          // Memory that is not written costs nothing; moving what is there would.
          const std::int64_t n_scalars = (end - begin) * cut_.block_size * cut_.size;
          part.places.reserve(at(n_scalars));
          part.first.reserve(at(n_scalars + end - begin));
          for (std::int64_t b = begin; b < end; ++b) {
            lister.list(b, part, made_.summands.data() + b * cut_.block_size * cut_.size);
          }
        },
        entry_grain);
    join();
    return std::move(made_);
  }

 private:
  /// Parts of threads one after the other.
  void join() {
    std::vector<std::int64_t> first_of(parts_.size() + 1, 0);  // entries before each part
    std::vector<std::int64_t> bounds_before(parts_.size() + 1, 0);
    made_.first_entry.reserve(at(cut_.n_blocks() + 1));
    made_.first_entry.push_back(0);
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      for (const std::int64_t n : parts_[p].n_entries) {
        made_.first_entry.push_back(made_.first_entry.back() + n);
      }
      first_of[p + 1] = first_of[p] + static_cast<std::int64_t>(parts_[p].places.size());
      bounds_before[p + 1] = bounds_before[p] + static_cast<std::int64_t>(parts_[p].first.size());
    }
    RawVector<Index> places(at(first_of.back()));
    made_.first_summand.resize(at(bounds_before.back()));
    parallel_for(
        n_threads_, static_cast<std::int64_t>(parts_.size()),
        [&](std::int64_t begin, std::int64_t end, int) {
          for (std::int64_t p = begin; p < end; ++p) {
            ListedBlocks<Index>& part = parts_[at(p)];
            std::copy(part.places.begin(), part.places.end(), places.begin() + first_of[at(p)]);
            std::copy(part.first.begin(), part.first.end(),
                      made_.first_summand.begin() + bounds_before[at(p)]);
            part = {};
          }
        },
        1);
    made_.places = std::move(places);
  }

  Cut cut_;
  int n_threads_;
  std::vector<ListedBlocks<Index>> parts_;  // [n_threads]
  EntryBlocks made_;
};

template <class MakeLister>
EntryBlocks list_blocks(const Cut& cut, int place_bytes, int n_threads,
                        const MakeLister& make_lister) {
  if (place_bytes == 4) return BlockLister<std::int32_t>(cut, n_threads).list(make_lister);
  return BlockLister<std::int64_t>(cut, n_threads).list(make_lister);
}

}  // namespace

std::int64_t EntryBlocks::bytes() const {
  return bytes_of(first_entry) +
         std::visit([](const auto& values) { return bytes_of(values); }, places) +
         bytes_of(first_summand) + bytes_of(summands);
}

EntryBlocks list_entries(const PositionSpec& spec, const Positions& positions,
                         const EntryLayout& layout, int n_threads) {
  check(spec, layout);
  const Cut cut{layout.n_elements, layout.block_size, scalars_of(spec, layout)};
  return std::visit(
      [&](const auto& values) {
        return list_blocks(cut, layout.place_bytes, n_threads,
                           [&] { return Lister(spec, values, layout); });
      },
      positions.values);
}

EntryBlocks list_targets(const mesh::MapTable& map, const TargetLayout& layout, int n_threads) {
  check(map, layout);
  return list_blocks({layout.n_elements, layout.block_size, map.arity()}, layout.place_bytes,
                     n_threads, [&] { return TargetLister(map, layout); });
}

double distinct_targets(const mesh::MapTable& map, std::int64_t n, std::int64_t block_size) {
  check_blocks(map, n, block_size);  // nothing is listed, so a block may have any number
  constexpr std::int64_t most_blocks = 32;
  const std::int64_t n_blocks = (n + block_size - 1) / block_size;
  const std::int64_t n_samples = std::min(n_blocks, most_blocks);
  std::int64_t n_entries = 0;
  std::int64_t n_distinct = 0;
  std::vector<std::int64_t> targets;
  for (std::int64_t sample = 0; sample < n_samples; ++sample) {
    const std::int64_t begin = sample * n_blocks / n_samples * block_size;
    targets.clear();
    for (std::int64_t e = begin; e < std::min(n, begin + block_size); ++e) {
      for (int slot = 0; slot < map.arity(); ++slot) {
        if (const std::int64_t target = map.at(e, slot); target >= 0) targets.push_back(target);
      }
    }
    n_entries += static_cast<std::int64_t>(targets.size());
    std::sort(targets.begin(), targets.end());
    n_distinct += std::unique(targets.begin(), targets.end()) - targets.begin();
  }
  return n_entries > 0 ? static_cast<double>(n_distinct) / static_cast<double>(n_entries) : 0.0;
}

}  // namespace op2::plan
