// SPDX-License-Identifier: BSD-3-Clause
#include "move/combinators.hpp"

#include <algorithm>

#include "move/kernel_type.hpp"
#include "move/values.hpp"

namespace op2::move {
namespace {

constexpr std::int64_t rows_at_once = 64;  // of a dim up to 64 they fit in the first-level cache

void destroy_at(Prefix* kernel) {
  if (kernel->destroy != nullptr) kernel->destroy(kernel);
}

template <class Kernel>
void destroy_child(Prefix* self) {
  destroy_at(const_cast<Prefix*>(child_of<Kernel>(self)));
}

/// The second child of two is where the first one ends; 0: there is none yet.
template <class Kernel>
const Prefix* second_of(const Prefix* self) {
  return reinterpret_cast<const Prefix*>(reinterpret_cast<const char*>(self) +
                                         data_of<Kernel>(self).second);
}

template <class Kernel>
void destroy_both(Prefix* self) {
  destroy_child<Kernel>(self);
  if (data_of<Kernel>(self).second == 0) return;
  destroy_at(const_cast<Prefix*>(second_of<Kernel>(self)));
}

Items inner(const Items& items, const Within& within) {
  return {.to = items.to,
          .to_stride = within.to_stride,
          .from = items.from,
          .from_stride = within.from_stride};
}

struct DimKernel {
  Prefix prefix;
  Within within;

  static std::int64_t one(const Prefix* self, const Items& items, char* scratch) {
    const Within& within = data_of<DimKernel>(self).within;
    const std::int64_t found =
        call(child_of<DimKernel>(self), inner(items, within), within.n, scratch);
    return found == all_fit ? all_fit : 0;
  }
};

struct ColumnsKernel {
  Prefix prefix;
  Within within;

  /// The items of a component.
  static Items component(const Items& items, const Within& within, std::int64_t k) {
    Items found = items;
    found.to += k * within.to_stride;
    for (std::size_t s = 0; s < most_sources; ++s) found.from[s] += k * within.from_stride[s];
    return found;
  }
  /// Call @p f(items of a component, first row, number of rows) for tiles; the first unfit row.
  template <class F>
  static std::int64_t tiled(const Within& within, const Items& items, std::int64_t n, const F& f) {
    for (std::int64_t begin = 0; begin < n; begin += rows_at_once) {
      const std::int64_t n_rows = std::min(rows_at_once, n - begin);
      std::int64_t first = n_rows;
      for (std::int64_t k = 0; k < within.n; ++k) {
        const std::int64_t found = f(component(items, within, k), begin, n_rows);
        if (found != all_fit) first = std::min(first, found);
      }
      if (first != n_rows) return begin + first;
    }
    return all_fit;
  }
  static std::int64_t one(const Prefix* self, const Items& items, char* scratch) {
    const Prefix* const child = child_of<ColumnsKernel>(self);
    return tiled(data_of<ColumnsKernel>(self).within, items, 1,
                 [child, scratch](const Items& column, std::int64_t /*begin*/, std::int64_t /*n*/) {
                   return call(child, column, scratch);
                 });
  }
  static std::int64_t at_strides(const Prefix* self, const Items& items, std::int64_t n,
                                 char* scratch) {
    const Prefix* const child = child_of<ColumnsKernel>(self);
    return tiled(data_of<ColumnsKernel>(self).within, items, n,
                 [child, scratch](const Items& column, std::int64_t begin, std::int64_t n_rows) {
                   return call(child, column.behind(begin), n_rows, scratch);
                 });
  }
  static std::int64_t at_places(const Prefix* self, const Items& items, const Lists& lists,
                                std::int64_t n, char* scratch) {
    const Prefix* const child = child_of<ColumnsKernel>(self);
    return tiled(
        data_of<ColumnsKernel>(self).within, items, n,
        [child, &lists, scratch](const Items& column, std::int64_t begin, std::int64_t n_rows) {
          Items rows = column;  // without a list they go on one after the other
          if (lists.to == nullptr) rows.to += begin * column.to_stride;
          for (std::size_t s = 0; lists.from == nullptr && s < most_sources; ++s) {
            rows.from[s] += begin * column.from_stride[s];
          }
          return call(child, rows, lists.behind(begin), n_rows, scratch);
        });
  }
};

struct VarDimKernel {
  Prefix prefix;
  Outside<char> to;
  Outside<const char> from;
  std::int64_t to_stride;
  std::int64_t from_stride;

  static std::int64_t one(const Prefix* self, const Items& items, char* scratch) {
    const auto& data = data_of<VarDimKernel>(self);
    constexpr auto next = static_cast<std::int64_t>(sizeof(std::int64_t));
    const auto begin = value_at<std::int64_t>(items.to);
    const std::int64_t n = value_at<std::int64_t>(items.to + next) - begin;
    Items row{.to = data.to.pointer + begin * data.to_stride,
              .to_stride = data.to_stride,
              .from = items.from,
              .from_stride = {}};
    if (data.from.pointer != nullptr) {
      const auto first = value_at<std::int64_t>(items.from[0]);
      const std::int64_t n_given = value_at<std::int64_t>(items.from[0] + next) - first;
      if (n_given != n && n_given != 1) return 0;
      row.from[0] = data.from.pointer + first * data.from_stride;
      if (n_given != 1) row.from_stride[0] = data.from_stride;
    }
    return call(child_of<VarDimKernel>(self), row, n, scratch) == all_fit ? all_fit : 0;
  }
};

struct PlacesKernel {
  Prefix prefix;
  Within within;
  Outside<const std::int64_t> to_rows;
  Outside<const std::int64_t> from_rows;

  static std::int64_t one(const Prefix* self, const Items& items, char* scratch) {
    const auto& data = data_of<PlacesKernel>(self);
    const Lists lists{data.to_rows.pointer, data.from_rows.pointer};
    const std::int64_t found = call(child_of<PlacesKernel>(self), inner(items, data.within), lists,
                                    data.within.n, scratch);
    return found == all_fit ? all_fit : 0;
  }
};

struct ChainKernel {
  Prefix prefix;
  std::int64_t n_bytes;
  std::size_t buffer;  // in the scratch
  std::size_t second;

  /// Call @p f(items before the buffer, items behind it, first item, number of items) in pieces.
  template <class F>
  static std::int64_t in_pieces(const ChainKernel& data, const Items& items, std::int64_t n,
                                char* scratch, const F& f) {
    Items before = items;
    before.to = scratch + data.buffer;
    before.to_stride = data.n_bytes;
    Items behind = items;
    behind.from[0] = before.to;
    behind.from_stride[0] = data.n_bytes;
    for (std::int64_t begin = 0; begin < n; begin += items_at_once) {
      const std::int64_t found = f(before, behind, begin, std::min(items_at_once, n - begin));
      if (found != all_fit) return begin + found;
    }
    return all_fit;
  }
  static std::int64_t one(const Prefix* self, const Items& items, char* scratch) {
    return in_pieces(
        data_of<ChainKernel>(self), items, 1, scratch,
        [self, scratch](const Items& before, const Items& behind, std::int64_t, std::int64_t) {
          const std::int64_t found = call(child_of<ChainKernel>(self), before, scratch);
          if (found != all_fit) return found;
          return call(second_of<ChainKernel>(self), behind, scratch);
        });
  }
  static std::int64_t at_strides(const Prefix* self, const Items& items, std::int64_t n,
                                 char* scratch) {
    return in_pieces(
        data_of<ChainKernel>(self), items, n, scratch,
        [self, scratch](Items before, Items behind, std::int64_t begin, std::int64_t n_now) {
          for (std::size_t s = 0; s < most_sources; ++s) {
            before.from[s] += begin * before.from_stride[s];
          }
          behind.to += begin * behind.to_stride;
          const std::int64_t found = call(child_of<ChainKernel>(self), before, n_now, scratch);
          if (found != all_fit) return found;
          return call(second_of<ChainKernel>(self), behind, n_now, scratch);
        });
  }
  static std::int64_t at_places(const Prefix* self, const Items& items, const Lists& lists,
                                std::int64_t n, char* scratch) {
    return in_pieces(
        data_of<ChainKernel>(self), items, n, scratch,
        [self, &lists, scratch](Items before, Items behind, std::int64_t begin,
                                std::int64_t n_now) {
          const Lists now = lists.behind(begin);
          for (std::size_t s = 0; lists.from == nullptr && s < most_sources; ++s) {
            before.from[s] += begin * before.from_stride[s];
          }
          if (lists.to == nullptr) behind.to += begin * behind.to_stride;
          const std::int64_t found =
              call(child_of<ChainKernel>(self), before, Lists{nullptr, now.from}, n_now, scratch);
          if (found != all_fit) return found;
          return call(second_of<ChainKernel>(self), behind, Lists{now.to, nullptr}, n_now, scratch);
        });
  }
};

struct SequenceKernel {
  Prefix prefix;
  std::size_t second;

  template <class... Given>
  static std::int64_t both(const Prefix* self, const Given&... given) {
    const std::int64_t found = call(child_of<SequenceKernel>(self), given...);
    return found != all_fit ? found : call(second_of<SequenceKernel>(self), given...);
  }
  static std::int64_t one(const Prefix* self, const Items& items, char* scratch) {
    return both(self, items, scratch);
  }
  static std::int64_t at_strides(const Prefix* self, const Items& items, std::int64_t n,
                                 char* scratch) {
    return both(self, items, n, scratch);
  }
  static std::int64_t at_places(const Prefix* self, const Items& items, const Lists& lists,
                                std::int64_t n, char* scratch) {
    return both(self, items, lists, n, scratch);
  }
};

/// Place a kernel with a child: room for the child's prefix first, then what destroys it.
template <class Kernel>
std::size_t add_parent(Builder& builder, std::size_t at, const Kernel& data, Request request,
                       Request of_child, const Child& child) {
  builder.ensure_capacity(at + sizeof(Kernel));
  auto* const kernel = builder.at<Kernel>(at);
  *kernel = data;
  kernel->prefix = {.function = function_for<Kernel>(request), .destroy = &destroy_child<Kernel>};
  builder.enter();
  const std::size_t end = child(builder, at + sizeof(Kernel), of_child);
  builder.leave();
  return end;
}

template <class Kernel>
std::size_t add_parent_of_two(Builder& builder, std::size_t at, const Kernel& data, Request request,
                              const Child& first, const Child& second) {
  builder.ensure_capacity(at + sizeof(Kernel));
  auto* kernel = builder.at<Kernel>(at);
  *kernel = data;
  kernel->prefix = {.function = function_for<Kernel>(request), .destroy = &destroy_both<Kernel>};
  builder.enter();
  const std::size_t middle = first(builder, at + sizeof(Kernel), request);
  builder.ensure_capacity(middle);
  builder.at<Kernel>(at)->second = middle - at;  // the memory may have moved
  const std::size_t end = second(builder, middle, request);
  builder.leave();
  return end;
}

}  // namespace

std::size_t add_dim(Builder& builder, std::size_t at, const Within& within, Request request,
                    const Child& child) {
  builder.note("for {} items of each, {} bytes apart in the target, {} in the source", within.n,
               within.to_stride, within.from_stride[0]);
  return add_parent(builder, at, DimKernel{{}, within}, request, Request::strided, child);
}

std::size_t add_columns(Builder& builder, std::size_t at, const Within& within, Request request,
                        const Child& child) {
  builder.note("for {} components of {} rows at a time", within.n, rows_at_once);
  return add_parent(builder, at, ColumnsKernel{{}, within}, request, request, child);
}

std::size_t add_var_dim(Builder& builder, std::size_t at, const Ragged& ragged, Request request,
                        const Child& child) {
  builder.note("for the items of each row");
  const VarDimKernel data{{}, {ragged.to}, {ragged.from}, ragged.to_stride, ragged.from_stride};
  return add_parent(builder, at, data, request, Request::strided, child);
}

std::size_t add_gather(Builder& builder, std::size_t at, const Within& within,
                       const std::int64_t* rows, Request request, const Child& child) {
  builder.note("for {} items by a list of the source's", within.n);
  return add_parent(builder, at, PlacesKernel{{}, within, {nullptr}, {rows}}, request,
                    Request::indexed, child);
}

std::size_t add_scatter(Builder& builder, std::size_t at, const Within& within,
                        const std::int64_t* rows, Request request, const Child& child) {
  builder.note("for {} items by a list of the target's", within.n);
  return add_parent(builder, at, PlacesKernel{{}, within, {rows}, {nullptr}}, request,
                    Request::indexed, child);
}

std::size_t add_scatter(Builder& builder, std::size_t at, const Within& within,
                        const std::int64_t* rows, DType dtype, Update update, Request request,
                        const Child& child) {
  const auto add = [dtype, update](Builder& inside, std::size_t begin, Request requested) {
    return add_update(inside, begin, dtype, update, requested);
  };
  const auto chain = [dtype, &add, &child](Builder& inside, std::size_t begin, Request requested) {
    const auto n_bytes = static_cast<std::int64_t>(size_of(dtype));
    return add_chain(inside, begin, n_bytes, requested, child, add);
  };
  return add_scatter(builder, at, within, rows, request, chain);
}

std::size_t add_reduce(Builder& builder, std::size_t at, const Within& within, DType dtype,
                       Update update, Request request, const Child& child) {
  const auto add = [dtype, update](Builder& inside, std::size_t begin, Request requested) {
    return add_update(inside, begin, dtype, update, requested);
  };
  const auto chain = [dtype, &add, &child](Builder& inside, std::size_t begin, Request requested) {
    const auto n_bytes = static_cast<std::int64_t>(size_of(dtype));
    return add_chain(inside, begin, n_bytes, requested, child, add);
  };
  Within on_one = within;
  on_one.to_stride = 0;
  return add_dim(builder, at, on_one, request, chain);
}

std::size_t add_chain(Builder& builder, std::size_t at, std::int64_t n_bytes, Request request,
                      const Child& first, const Child& second) {
  const std::int64_t n_room = request == Request::single ? 1 : items_at_once;
  builder.note("by a buffer of {} items of {} bytes", n_room, n_bytes);
  const std::size_t buffer = builder.claim_scratch(static_cast<std::size_t>(n_room * n_bytes));
  return add_parent_of_two(builder, at, ChainKernel{{}, n_bytes, buffer, 0}, request, first,
                           second);
}

std::size_t add_sequence(Builder& builder, std::size_t at, Request request, const Child& first,
                         const Child& second) {
  builder.note("one after the other");
  return add_parent_of_two(builder, at, SequenceKernel{{}, 0}, request, first, second);
}

}  // namespace op2::move
