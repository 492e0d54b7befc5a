// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

#include "move/ckernel.hpp"
#include "move/leaves.hpp"

namespace op2::move {

/// @brief A reference to a function adding a kernel to a builder, for the time of a call.
class Child {
 public:
  template <class Make>
  requires(!std::is_same_v<Make, Child>) Child(const Make& make)
      : make_(&make),
        call_([](const void* made, Builder& builder, std::size_t at, Request request) {
          return (*static_cast<const Make*>(made))(builder, at, request);
        }) {}
  std::size_t operator()(Builder& builder, std::size_t at, Request request) const {
    return call_(make_, builder, at, request);
  }

 private:
  const void* make_;
  std::size_t (*call_)(const void* made, Builder& builder, std::size_t at, Request request);
};

/// @brief The items within an item: a number of them, and their distances in bytes.
struct Within {
  std::int64_t n = 0;
  std::int64_t to_stride = 0;
  std::array<std::int64_t, most_sources> from_stride{};
};

/// @brief For each item call a child for the items within.
std::size_t add_dim(Builder& builder, std::size_t at, const Within& within, Request request,
                    const Child& child);

/// @brief Call a child for the components of items, 64 items at a time: between rows (AoS) and
/// columns (SoA), where items or components are near each other on a single side.
std::size_t add_columns(Builder& builder, std::size_t at, const Within& within, Request request,
                        const Child& child);

/// @brief Rows of different lengths: an item is a place in offsets, with the row's begin
/// and behind the row's end.
struct Ragged {
  char* to = nullptr;          ///< values of the target's rows
  const char* from = nullptr;  ///< values of the source's rows; null: an item is a single value
  std::int64_t to_stride = 0;
  std::int64_t from_stride = 0;
};

/// @brief Call a child for the items of rows. A single value, or a row of a single value, stands
/// for a whole row; any other row of another length than the target's does not fit.
std::size_t add_var_dim(Builder& builder, std::size_t at, const Ragged& ragged, Request request,
                        const Child& child);

/// @brief Call a child for the items within an item at the places of a list:
/// `to[i] = from[rows[i]]`. The list is the caller's, and outlives the tree.
std::size_t add_gather(Builder& builder, std::size_t at, const Within& within,
                       const std::int64_t* rows, Request request, const Child& child);

/// @brief The way back: `to[rows[i]] = from[i]`; of two for a place the later stays.
std::size_t add_scatter(Builder& builder, std::size_t at, const Within& within,
                        const std::int64_t* rows, Request request, const Child& child);

/// @brief Combine instead: `to[rows[i]] = to[rows[i]] op from[i]`, where the child makes numbers
/// of the target's type of the sources.
std::size_t add_scatter(Builder& builder, std::size_t at, const Within& within,
                        const std::int64_t* rows, DType dtype, Update update, Request request,
                        const Child& child);

/// @brief Combine all items within an item with the single target; see add_update.
std::size_t add_reduce(Builder& builder, std::size_t at, const Within& within, DType dtype,
                       Update update, Request request, const Child& child);

/// @brief Put the results of a first child, of @p n_bytes each, into a buffer of 256, and call a
/// second child with them. The buffer is the caller's scratch.
std::size_t add_chain(Builder& builder, std::size_t at, std::int64_t n_bytes, Request request,
                      const Child& first, const Child& second);

/// @brief Call a first child, and if all items fit the second one with the same items: a check and
/// a conversion.
std::size_t add_sequence(Builder& builder, std::size_t at, Request request, const Child& first,
                         const Child& second);

}  // namespace op2::move
