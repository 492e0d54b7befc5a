// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <utility>

#include "lower/passes.hpp"

namespace op2::lower {
namespace {

/// Only scatters into memory that elements may share need atomics.
void make_atomic(Builder& builder) {
  const Races races = find_races(builder.request().loop, builder.request().maps);
  PackedLoop& packed = builder.packed();
  for (const std::size_t arg : races.reductions) {
    for (kir::Stmt& stmt : packed.store) {
      auto* scatter = std::get_if<kir::Scatter>(&stmt.node);
      if (scatter != nullptr && scatter->pack == packed.args[arg].pack) {
        scatter->sync = kir::Sync::atomic;
      }
      auto* insert = std::get_if<kir::MatInsert>(&stmt.node);
      if (insert != nullptr && insert->pack == packed.args[arg].pack) {
        insert->sync = kir::Sync::atomic;
      }
    }
  }
}

bool transposes(const kir::Stmt& stmt, const Request& request) {
  const auto* scatter = std::get_if<kir::Scatter>(&stmt.node);
  return scatter != nullptr && request.options.transposed && can_transpose(*scatter, request.facts);
}

/// Only a loop over all elements in their order: the position of a lane without one says nothing.
bool runs_in_step(Builder& builder) {
  const PackedLoop& packed = builder.packed();
  return builder.is_grid() && packed.items.declarations.empty() && packed.items.position == "n" &&
         std::any_of(packed.store.begin(), packed.store.end(), [&builder](const kir::Stmt& stmt) {
           return transposes(stmt, builder.request());
         });
}

/// All lanes of a warp go through the elements together, the last ones perhaps without one, so that
/// they can exchange what they add.
kir::Block in_step(Builder& builder) {
  const Request& request = builder.request();
  PackedLoop& packed = builder.packed();
  kir::Block body;
  kir::Block compute;
  for (const kir::Stmt& stmt : packed.load) {
    (std::holds_alternative<kir::Decl>(stmt.node) ? body : compute).push_back(stmt);
  }
  append_call(compute, packed);
  kir::Block exchange;
  const kir::Expr is_element = kir::less(kir::name("n"), whole_end());
  for (const kir::Stmt& stmt : packed.store) {
    if (!transposes(stmt, request)) {
      compute.push_back(stmt);
      continue;
    }
    for (kir::Stmt& part :
         transposed(std::get<kir::Scatter>(stmt.node), is_element, packed.names)) {
      exchange.push_back(std::move(part));
    }
  }
  body.push_back({kir::If{is_element, std::move(compute)}});
  body.insert(body.end(), std::make_move_iterator(exchange.begin()),
              std::make_move_iterator(exchange.end()));
  const kir::Expr warp = kir::integer(request.facts.warp);
  const kir::Expr n = whole_end() - whole_begin();
  const kir::Expr end = whole_begin() + (n + kir::integer(request.facts.warp - 1)) / warp * warp;
  return {{kir::For{kir::Axis::grid, "n", whole_begin(), end, std::move(body)}}};
}

}  // namespace

void lay_out_elements(Builder& builder) {
  if (builder.request().strategy == Strategy::atomic && builder.spreads()) make_atomic(builder);
  const std::string function =
      builder.packed().names.take("wrap_" + builder.request().loop.kernel->name);
  if (runs_in_step(builder)) {
    builder.add_kernel(function, Builder::with_range(builder.packed().parameters),
                       in_step(builder));
  } else {
    builder.add_function(function, builder.packed().parameters, builder.packed().items.position,
                         element_body(builder.packed()));
  }
  builder.finish(builder.over_range(function, whole_begin(), whole_end()),
                 builder.slots(whole_begin(), whole_end()));
  builder.module().items = kir::Items::elements;
}

}  // namespace op2::lower
