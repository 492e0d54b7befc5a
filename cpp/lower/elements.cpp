// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.hpp"
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

}  // namespace

void lay_out_elements(Builder& builder) {
  if (builder.request().strategy == Strategy::atomic && builder.spreads()) make_atomic(builder);
  const std::string function =
      builder.packed().names.take("wrap_" + builder.request().loop.kernel->name);
  builder.add_function(function, builder.packed().parameters, "n", element_body(builder.packed()));
  builder.finish(builder.over_range(function, whole_begin(), whole_end()),
                 builder.slots(whole_begin(), whole_end()));
  builder.module().items = kir::Items::elements;
}

}  // namespace op2::lower
