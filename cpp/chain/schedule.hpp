// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ir/loop.hpp"

namespace op2::chain {

/// The grouping of a chain's loops into functions. Symbolic: neither sizes nor data
/// are seen.

/// @brief A loop of a chain.
struct Entry {
  ir::Loop loop;              ///< numbered with all others: Dats, memory, Maps, Consts, Sets
  std::string why_alone;      ///< why the loop shares no function with others; empty: sharing is
                              ///< allowed
  std::string why_no_invert;  ///< why the loop is not visited from its targets; empty: allowed
  double n_bytes = 0.0;  ///< bytes moved by the loop: given a choice, others join the loop that
                         ///< moves more
  /// Why the loop is not visited from the targets even where the targets are visited anyway, for
  /// another loop with sums there; empty: allowed.
  std::string why_no_join = "";
  int entry_bytes = 4;    ///< width of the incidences' numbers
  bool zeroes = false;    ///< an action, or the loop in its place, that sets all written values to
                          ///< 0
  bool is_empty = false;  ///< the loop visits nothing, so nothing runs
  /// The visited part of the Set, of parts looked up in lists; 0: all of the Set, or all cells of
  /// columns.
  /// cells of columns.
  int part = 0;
  int lanes = 0;  ///< elements side by side, if lanes pay for the loop alone; 0: they do not
  std::string why_no_lanes = "";    ///< why lanes are impossible; empty: possible
  std::string why_no_columns = "";  ///< the same for a loop visited from its targets
  int repetition = 0;               ///< in a chain of repeated loops, for example time steps
};

/// @brief Another action between loops, for example setting a Global to zero.
/// @param[in] uses Memory, and whether all of the memory is written.
/// @param[in] zeroes Whether the action sets all written values to 0.
/// @param[in] repetition As Entry::repetition.
[[nodiscard]] Entry action(const std::vector<std::pair<ir::Alias, bool>>& uses, bool zeroes = false,
                           int repetition = 0);

/// @brief The passes of the scheduler. Each can be switched off.
struct Passes {
  bool fuse = true;    ///< loops over a common Set become a single loop
  bool invert = true;  ///< loops with sums into a Set through Maps become loops over the Set
                       ///< (gather by target)
  bool rename = true;  ///< values still read by others are protected: new values go into a second
                       ///< buffer
  bool drop = true;    ///< values overwritten before anyone sees them are not stored
  bool copy = true;    ///< a copy with values readable elsewhere is not made
  bool zero = true;    ///< sums do not read a 0 left by a loop or an action
  bool total = true;   ///< `drop` and `zero` for sums into Globals, also where a loop runs alone
  bool rotate = true;  ///< loops join loops of the repetition before, as a step's end joins the
                       ///< next step
};

/// @brief An argument of a step in the second buffer of its Dat.
struct Renamed {
  std::size_t loop;  ///< of the chain
  std::size_t arg;
  bool writes;
  bool changes = false;  ///< old values are changed, so they are copied to the second buffer before
  bool operator==(const Renamed&) const = default;
};

/// @brief An argument of a step, bound to the source of a copy in place of the copy.
struct Redirected {
  std::size_t loop;  ///< of the chain
  std::size_t arg;
  std::size_t source_loop;  ///< an argument of the Dat to read instead
  std::size_t source_arg;
  bool from_second;  ///< the second buffer: the values before the last write to the Dat
  bool operator==(const Redirected&) const = default;
};

/// @brief A function to be run.
struct Step {
  std::vector<std::size_t> loops;     ///< of the chain, in their order
  std::vector<std::size_t> inverted;  ///< the places among `loops` of the inverted loops
  std::vector<Renamed> renamed;
  std::vector<int> dropped;  ///< Dats, as ir::Alias::data, without a store
  std::vector<int> zeroed;   ///< Dats with value 0 before the step, whose first use there is adding
  std::vector<Redirected> redirected = {};
};

/// @brief A decision of a pass, and the outcome.
struct Decision {
  std::string pass;                ///< fuse, invert, rename, rotate, copy, zero or drop
  std::vector<std::size_t> loops;  ///< the loops in question, ascending
  bool applied;
  std::string why;
};

struct Schedule {
  std::vector<Step> steps;  ///< in the order to run
  std::vector<Decision> decisions;
};

/// @brief Group a chain.
///
/// Loops are taken in order. Each joins an allowed group: no path of dependences leads from the
/// group through others to the loop, and every item can go through all members in sequence
/// (ir::why_not_fused). Of several allowed groups the group with most bytes wins. In the end a loop
/// moves to another group if items then have fewer bytes to move.
///
/// A loop with sums through Maps into the Set of another loop may be visited from there
/// (ir::inverted: a gather by target), so both become a single loop; then further loops with sums
/// into the same Set may join. Where a later member overwrites, or changes, values still read
/// through Maps by a loop, the later member writes into a second buffer.
/// @param[in] pinned Dats, as ir::Alias::data, without a second buffer: others hold their memory.
[[nodiscard]] Schedule schedule(const std::vector<Entry>& chain, const Passes& passes,
                                const std::vector<int>& pinned = {});

/// @brief The Group of a step.
/// @param[in] loops The members, numbered together, with renamed arguments.
/// @param[in] dropped As Step::dropped, in the numbers of these loops.
/// @param[in] zeroed As Step::zeroed, likewise.
/// @param[in] apart Loops, and arguments of theirs, with reads of memory written by the same loop
/// through another argument: the arguments get separate values, as if of another Dat.
[[nodiscard]] ir::Group group_of(
    std::vector<ir::Loop> loops, const std::vector<std::size_t>& inverted,
    const std::vector<int>& dropped, const std::vector<int>& zeroed = {},
    const std::vector<std::pair<std::size_t, std::size_t>>& apart = {});

}  // namespace op2::chain
