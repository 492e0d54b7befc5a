// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "ir/loop.hpp"
#include "kir/nodes.hpp"
#include "lower/items.hpp"
#include "lower/names.hpp"
#include "lower/options.hpp"

namespace op2::lower {

/// @brief How one argument of the loop is carried to the kernel and back. Strategies put other
/// statements in the place of its load and its store.
struct PackedArg {
  std::string data = {};    ///< parameter of the wrapper
  std::string map = {};     ///< parameter of the wrapper; empty if direct; of a matrix the row map
  std::string pack = {};    ///< private array handed to the kernel; empty if the pointer is live
  std::string stride = {};  ///< parameter of the wrapper; empty if components stand together
  kir::Block decl = {};     ///< declares the pack, if the argument has one of its own
  kir::Block load = {};     ///< fills it
  kir::Block store = {};    ///< writes it back, Sync::none
  std::string sum = {};     ///< private sum of an item, if its incidences are summed here
  /// Behind the load of the last part of a parameter: the array that the kernel gets, made of the
  /// packs of all parts.
  kir::Block join = {};
};

/// @brief The call of one member's kernel.
struct PackedCall {
  kir::CallUser call;
  std::size_t first_arg = 0;
  std::size_t end_arg = 0;
  kir::Block split = {};  ///< after the call: take packs of several arguments apart again
};

/// @brief The strategy-neutral body of a Group: what happens for one element, named `n`, of the
/// item at `items.position`.
struct PackedLoop {
  std::vector<kir::Parameter> parameters;  ///< of the wrapper, in the order of the convention
  std::vector<PackedArg> args;             ///< one for each argument of the Group
  kir::Block constants;                    ///< private copies of Consts, if they need some
  std::vector<PackedCall> members;
  Names names;
  ItemLocals items;
  std::vector<std::string> kept;  ///< parameters that the convention asks for, used or not
  kir::Block fetched = {};        ///< rows of Maps, if they are loaded before all else
};

/// @brief Build the body of one element: gather, call, scatter.
///
/// READ, RW, MIN, MAX through a Map load; INC and WRITE start at zero; WRITE stores all
/// components. Direct arguments are live pointers, unless one member hands them on to the next:
/// then they share a pack, which is stored behind the last member that writes it, if it is to be
/// stored (ir::Value::stored). Reduced Globals get a private value for each call. (PyOP2 2026
/// conventions; decisions 7.)
///
/// On a grid direct arguments are packed, too: they load and store, and only the load of one that
/// the kernel certainly writes in full is left out. Where private memory is an address space of its
/// own, so are Globals and Consts. Parameters are then unique and in the order of document 003 for
/// devices: Dats, Globals that are read, Globals that are reduced, Consts, Maps.
[[nodiscard]] PackedLoop pack(const ir::Group& group, const std::vector<MapFacts>& maps,
                              const Facts& facts, const Options& options);

/// @brief Declare the packs and fill them, in the order of the arguments; Consts at last. From here
/// on each statement says for which argument it is.
[[nodiscard]] kir::Block loads(const PackedLoop& packed);
/// @brief The packs of one member alone.
[[nodiscard]] kir::Block loads(const PackedLoop& packed, std::size_t member);
/// @brief Write the packs back, in the order of the arguments.
[[nodiscard]] kir::Block stores(const PackedLoop& packed);
[[nodiscard]] kir::Block stores(const PackedLoop& packed, std::size_t member);

/// @brief The update that carries a pack of access @p access into its target.
[[nodiscard]] kir::Update update_of(Access access);

}  // namespace op2::lower
