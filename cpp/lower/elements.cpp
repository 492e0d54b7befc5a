// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "lower/make.hpp"
#include "lower/passes.hpp"
#include "lower/ragged.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

/// Only scatters into memory that elements may share need atomics.
void make_atomic(Builder& builder) {
  const Races races = find_races(builder.request().loop, builder.request().maps);
  PackedLoop& packed = builder.packed();
  for (const std::size_t arg : races.reductions) {
    for (kir::Stmt& stmt : packed.args[arg].store) {
      if (auto* scatter = std::get_if<kir::Scatter>(&stmt.node)) scatter->sync = kir::Sync::atomic;
      if (auto* insert = std::get_if<kir::MatInsert>(&stmt.node)) insert->sync = kir::Sync::atomic;
    }
  }
}

bool is_atomic(const kir::Stmt& stmt) {
  const auto* scatter = std::get_if<kir::Scatter>(&stmt.node);
  return scatter != nullptr && scatter->sync == kir::Sync::atomic;
}

bool transposes(const kir::Stmt& stmt, const Request& request) {
  const Tuning& tuning = request.options.tuning;
  if (const auto* gather = std::get_if<kir::Gather>(&stmt.node)) {
    return is_wide(gather->rows, request.facts, tuning);
  }
  const auto* scatter = std::get_if<kir::Scatter>(&stmt.node);
  return scatter != nullptr && can_transpose(*scatter, request.facts, tuning);
}

/// Only a loop over all elements in their order: the position of a lane without one says nothing.
bool runs_in_step(Builder& builder) {
  const PackedLoop& packed = builder.packed();
  const auto is_shared = [&builder](const kir::Stmt& stmt) {
    return transposes(stmt, builder.request());
  };
  return packed.items.is_element() && (std::ranges::any_of(stores(packed), is_shared) ||
                                       std::ranges::any_of(loads(packed), is_shared));
}

/// All lanes of a warp go through the elements together, the last ones perhaps without one, so that
/// they can exchange what they add.
kir::Block in_step(Builder& builder) {
  const Request& request = builder.request();
  PackedLoop& packed = builder.packed();
  kir::Block body;
  kir::Block compute;
  kir::Block before;
  const kir::Expr is_element = kir::less(own_element(), whole_end());
  for (const kir::Stmt& stmt : loads(packed)) {
    if (std::holds_alternative<kir::Decl>(stmt.node)) {
      body.push_back(stmt);
    } else if (transposes(stmt, request)) {
      append(before, loaded_together(std::get<kir::Gather>(stmt.node), is_element, packed.names,
                                     request.options.tuning));
    } else {
      compute.push_back(stmt);
    }
  }
  append(body, std::move(before));
  append_call(compute, packed);
  kir::Block exchange;
  for (const kir::Stmt& stmt : stores(packed)) {
    if (!transposes(stmt, request)) {
      compute.push_back(stmt);
      continue;
    }
    append(exchange, transposed(std::get<kir::Scatter>(stmt.node), is_element, packed.names,
                                request.options.tuning));
  }
  body.push_back({kir::If{is_element, std::move(compute)}});
  append(body, std::move(exchange));
  const kir::Expr warp = kir::integer(request.facts.warp);
  const kir::Expr n = whole_end() - whole_begin();
  const kir::Expr end = whole_begin() + (n + kir::integer(request.facts.warp - 1)) / warp * warp;
  return {{kir::For{kir::Axis::grid, packed.items.position, whole_begin(), end, std::move(body)}}};
}

/// The first Map through which lanes that add to memory at once might meet; -1: they cannot. All
/// that depends on the elements must come from Maps of equal rows, which the runtime puts in order.
int interleaved_map(Builder& builder) {
  const Request& request = builder.request();
  const ir::Loop& loop = request.loop;
  const PackedLoop& packed = builder.packed();
  const bool has_own = std::any_of(loop.args.begin(), loop.args.end(), [](const ir::Arg& arg) {
    return std::holds_alternative<ir::DirectDat>(arg) || std::holds_alternative<ir::MatArg>(arg);
  });
  if (request.facts.warp == 0 || !request.options.tuning.interleaved || has_own ||
      is_ragged(loop) || runs_in_step(builder) || !packed.items.is_element()) {
    return -1;
  }
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const auto* dat = std::get_if<ir::IndirectDat>(&loop.args[i]);
    if (dat == nullptr) continue;
    const ir::MapRef& map = loop.maps[static_cast<std::size_t>(dat->map)];
    const bool adds = std::ranges::any_of(packed.args[i].store, is_atomic);
    // many neighbours share a target then: two of an edge's are distinct
    const bool shares = map.arity >= request.options.tuning.interleaved_targets;
    if (adds && map.rows.empty() && shares) return dat->map;
  }
  return -1;
}

/// Do the rows of a Map fill one word of memory, so that a lane loads its own at once?
bool is_one_word(const ir::MapRef& map, const kir::Parameter& parameter) {
  constexpr int word_bytes = 16;
  const int n_bytes = map.arity * static_cast<int>(size_of(parameter.type.dtype));
  return parameter.type.dtype == DType::int32 && map.rows.empty() && !map.ragged &&
         n_bytes <= word_bytes && word_bytes % n_bytes == 0;
}

/// The rows that @p stmt reads or writes through a Map.
kir::Rows* rows_of_stmt(kir::Stmt& stmt) {
  if (auto* gather = std::get_if<kir::Gather>(&stmt.node)) return &gather->rows;
  if (auto* scatter = std::get_if<kir::Scatter>(&stmt.node)) return &scatter->rows;
  return nullptr;
}

}  // namespace

void fetch_entries(Builder& builder) {
  PackedLoop& packed = builder.packed();
  const ir::Loop& loop = builder.request().loop;
  if (!builder.is_grid() || !builder.request().facts.fetches || !packed.items.is_element()) return;
  for (const kir::Parameter& parameter : packed.parameters) {
    if (parameter.role != kir::Role::map) continue;
    const ir::MapRef& map = loop.maps[static_cast<std::size_t>(parameter.index)];
    if (!is_one_word(map, parameter)) continue;
    const std::string row = packed.names.take(parameter.name + "_row");
    bool is_used = false;
    const auto take_from_row = [&](kir::Block& block) {
      for (kir::Stmt& stmt : block) {
        kir::Rows* rows = rows_of_stmt(stmt);
        if (rows == nullptr || listed_of(*rows) != nullptr) continue;
        kir::ListedRows listed{{}, {}, {}, row};
        for (int i = 0; i < map.arity; ++i) {
          listed.entries.push_back(kir::widen(kir::element(row, kir::integer(i))));
        }
        rows->which = std::move(listed);
        is_used = true;
      }
    };
    for (std::size_t i = 0; i < loop.args.size(); ++i) {
      const auto* dat = std::get_if<ir::IndirectDat>(&loop.args[i]);
      if (dat == nullptr || dat->map != parameter.index) continue;
      take_from_row(packed.args[i].load);
      take_from_row(packed.args[i].store);
    }
    if (!is_used) continue;
    packed.fetched.push_back({kir::Decl{{parameter.type.dtype}, row, map.arity, {}}});
    const kir::Expr begin = own_element() * kir::integer(map.arity);
    packed.fetched.push_back({kir::Intrinsic{kir::Instruction::fetch,
                                             {kir::name(row), kir::offset(parameter.name, begin)},
                                             {parameter.type.dtype},
                                             map.arity}});
  }
}

void lay_out_elements(Builder& builder) {
  if (builder.request().strategy == Strategy::atomic && builder.spreads()) make_atomic(builder);
  if (!runs_in_step(builder)) fetch_entries(builder);
  const std::string function =
      builder.packed().names.take("wrap_" + ir::name_of(builder.request().loop));
  if (runs_in_step(builder)) {
    builder.add_kernel(function, Builder::with_range(builder.packed().parameters),
                       in_step(builder));
  } else {
    builder.add_element_function(function, builder.packed().parameters);
  }
  builder.finish(builder.over_range(function, whole_begin(), whole_end()),
                 builder.slots(whole_begin(), whole_end()));
  builder.module().items = kir::Items::elements;
  if (const int map = interleaved_map(builder); map >= 0) {
    builder.module().plan = abi::InterleavedPlan{map};
  }
}

}  // namespace op2::lower
