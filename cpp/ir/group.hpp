// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ir/loop.hpp"

namespace op2::ir {

/// @brief Loops as one Group, in their order.
/// @param[in] loops Numbered together: their Maps, Consts, iterations and Sets are the same lists,
/// and equal numbers in their aliases are equal Dats and memory.
/// @throws InternalError if they are not.
[[nodiscard]] Group fused(const std::vector<Loop>& loops);

/// @brief The same without its `values`: enough for why_not_fused(), in a fraction of the time, as
/// no kernel has to be looked at.
/// @throws InternalError as fused().
[[nodiscard]] Group joined(const std::vector<Loop>& loops);

/// @brief Why items may not go through all members one after the other; empty if they may.
///
/// What one member writes another one may touch only at the same item, or if both reduce into it
/// alike: an item sees of others neither what they are going to write nor what they have written.
[[nodiscard]] std::string why_not_fused(const Group& group);

/// @brief The same loop from the other side: over the targets that it reduces into, its kernel
/// called for each pair (element, slot) that leads to one. A Group whose member is visited so stays
/// as it is.
/// @throws InternalError if nothing is reduced through a Map.
[[nodiscard]] Group inverted(const Group& group);

/// @brief One member as a Group of its own, visited as it is in @p group. Numbers of data, Maps and
/// Sets stay; values are not numbered.
[[nodiscard]] Group alone(const Group& group, std::size_t member);

/// @brief The members that are visited by the incidences of the items, in their order.
[[nodiscard]] std::vector<std::size_t> inverted_members(const Group& group);

/// @brief Whether there are such members: the items are targets then.
[[nodiscard]] bool is_inverted(const Group& group);

/// @brief Whether the elements that @p arg is taken at are not the items, but lead to them.
[[nodiscard]] bool is_at_incidences(const Group& group, std::size_t arg);

/// @brief True if @p arg is summed item by item: reduced through a Map, and where members are
/// visited by incidences by one of those.
[[nodiscard]] bool is_summed(const Group& group, std::size_t arg);

/// @brief True if @p arg reaches every scalar of its Dat, each of them by one call of a known
/// kernel.
[[nodiscard]] bool is_whole(const Group& group, std::size_t arg);

/// @brief True if @p arg writes all that there is to its Dat: for all items of its Set, all
/// components, whatever branches the kernel takes. With Access::rw it must not see what was there.
[[nodiscard]] bool defines(const Group& group, std::size_t arg);

/// @brief True if all that @p arg can reach of its Dat is 0 after the loop: for all items of its
/// Set and all components.
[[nodiscard]] bool leaves_zero(const Group& group, std::size_t arg);

/// @brief The argument that @p arg is a copy of after the loop: a Dat that is only read there, of
/// the same type and dim, each row of which goes to the same row of the whole Dat that @p arg
/// writes. Nothing if there is none.
[[nodiscard]] std::optional<std::size_t> copied_from(const Group& group, std::size_t arg);

/// @brief True if @p arg adds to what is known to be 0, so that memory need not be read.
[[nodiscard]] bool starts_at_zero(const Group& group, std::size_t arg);

/// @brief Number the versions that members read and write: fill Group::values, and what operands
/// read and write. Every value counts as stored.
void number_values(Group& group);

/// @brief True if a version that one member writes directly is read directly by a later one.
[[nodiscard]] bool is_handed_on(const Group& group, std::size_t arg);

/// @brief True if memory must hold the last version of what @p arg writes.
[[nodiscard]] bool is_stored(const Group& group, std::size_t arg);

}  // namespace op2::ir
