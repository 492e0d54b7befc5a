// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "ir/loop.hpp"

namespace op2::chain {

/// Which loops of a chain become one function. Symbolic: neither sizes nor data are seen.

/// @brief One loop of a chain.
struct Entry {
  ir::Loop loop;              ///< numbered with all others: Dats, memory, Maps, Consts, Sets
  std::string why_alone;      ///< why it shares no function with others; empty: it may
  std::string why_no_invert;  ///< why it is not visited from its targets; empty: it may be
  double n_bytes = 0.0;  ///< that it moves: where there is a choice, others join what moves more
  /// Why it is not visited from its targets either where they are visited anyway, because another
  /// loop adds to them, too; empty: it may be.
  std::string why_no_join = "";
  int entry_bytes = 4;    ///< width of the numbers of its incidences
  bool zeroes = false;    ///< an action, or the loop in its place, that sets all it writes to 0
  bool is_empty = false;  ///< it visits nothing, so that nothing of it runs
  /// Which part of its Set it visits, of those that are looked up in lists; 0: all of it, or all
  /// cells of columns.
  int part = 0;
  int lanes = 0;  ///< elements side by side, if that pays for the loop alone; 0: it does not
  std::string why_no_lanes = "";    ///< why it cannot have any; empty: it can
  std::string why_no_columns = "";  ///< the same where it is visited from its targets
  int repetition = 0;  ///< of a chain whose loops come again and again, such as time steps
};

/// @brief Something else that is done between loops, such as setting a Global to zero.
/// @param[in] uses Memory, and whether all of it is written.
/// @param[in] zeroes Whether it sets all that it writes to 0.
/// @param[in] repetition As Entry::repetition.
[[nodiscard]] Entry action(const std::vector<std::pair<ir::Alias, bool>>& uses, bool zeroes = false,
                           int repetition = 0);

/// @brief What is looked for. Each can be switched off.
struct Passes {
  bool fuse = true;    ///< loops over one Set become one
  bool invert = true;  ///< loops that add to a Set through Maps become loops over that Set
  bool rename = true;  ///< what others still read is written into a second buffer
  bool drop = true;    ///< values that are overwritten before anyone sees them are not stored
  bool copy = true;    ///< copies are not made whose values can be read elsewhere
  bool zero = true;    ///< sums that start where a loop or an action left 0 do not read it
  bool total = true;   ///< `drop` and `zero` for sums into Globals, also where a loop runs alone
  bool rotate = true;  ///< loops join those of the repetition before, as a step's end the next one
};

/// @brief An argument of a step that uses the second buffer of its Dat.
struct Renamed {
  std::size_t loop;  ///< of the chain
  std::size_t arg;
  bool writes;
  bool changes = false;  ///< it changes old values, so these are copied there before
  bool operator==(const Renamed&) const = default;
};

/// @brief An argument of a step that reads what it wants where that was copied from.
struct Redirected {
  std::size_t loop;  ///< of the chain
  std::size_t arg;
  std::size_t source_loop;  ///< an argument of the Dat to read instead
  std::size_t source_arg;
  bool from_second;  ///< its second buffer: what was there before the last step that wrote it
  bool operator==(const Redirected&) const = default;
};

/// @brief One function to be run.
struct Step {
  std::vector<std::size_t> loops;     ///< of the chain, in their order
  std::vector<std::size_t> inverted;  ///< the places among `loops` of those visited so
  std::vector<Renamed> renamed;
  std::vector<int> dropped;  ///< Dats, as ir::Alias::data, that need not be stored
  std::vector<int> zeroed;   ///< Dats that hold 0 before it, and that it adds to first
  std::vector<Redirected> redirected = {};
};

/// @brief Something that was tried, and what came of it.
struct Decision {
  std::string pass;                ///< fuse, invert, rename, rotate, copy, zero or drop
  std::vector<std::size_t> loops;  ///< that it is about, ascending
  bool applied;
  std::string why;
};

struct Schedule {
  std::vector<Step> steps;  ///< in the order to run
  std::vector<Decision> decisions;
};

/// @brief Group a chain.
///
/// Loops are taken in their order; each joins one of the groups that it may join: no path of
/// dependences leads from there through others to it, and every item can go through all members
/// one after the other (ir::why_not_fused). Of several it is the one that moves most. In the end a
/// loop goes over to another group if items then have fewer bytes to move.
///
/// A loop that adds through Maps to the Set that another one visits may be visited from there
/// (ir::inverted), so that both become one; then further ones that add to the same Set may come in,
/// too. Where a loop still reads through Maps what a later member overwrites, or changes, that
/// member writes into a second buffer.
/// @param[in] pinned Dats, as ir::Alias::data, that have no second buffer: others hold their
/// memory.
[[nodiscard]] Schedule schedule(const std::vector<Entry>& chain, const Passes& passes,
                                const std::vector<int>& pinned = {});

/// @brief The Group that a step runs.
/// @param[in] loops Its members, numbered together, with what is renamed.
/// @param[in] dropped As Step::dropped, in the numbers of these loops.
/// @param[in] zeroed As Step::zeroed, likewise.
/// @param[in] apart Loops, and arguments of theirs, that read memory which the same loop writes by
/// another one: they get values of their own, as if it were another Dat.
[[nodiscard]] ir::Group group_of(
    std::vector<ir::Loop> loops, const std::vector<std::size_t>& inverted,
    const std::vector<int>& dropped, const std::vector<int>& zeroed = {},
    const std::vector<std::pair<std::size_t, std::size_t>>& apart = {});

}  // namespace op2::chain
