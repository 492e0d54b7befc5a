// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "chain/stores.hpp"
#include "ir/group.hpp"

namespace op2::chain {

using ir::Arg;

namespace {

/// A copy that a step makes, and the argument that could be read instead.
struct Copy {
  std::size_t loop;
  std::size_t arg;
  std::size_t source;  // an argument of the same loop
  int data;
  int source_data;
};

/// Where the values of a copy's source are: in its buffer, in its second one, overwritten.
enum class Place { first, second, lost };

/// What is known of copies that are left out.
struct LeftOut {
  std::set<int> not_made;      // Dats of which a copy is left out somewhere
  std::set<int> read_instead;  // Dats that are read in place of a copy
};

bool is_renamed(const StorePass& pass, const Step& step, int data) {
  return std::ranges::any_of(step.renamed, [&](const Renamed& one) {
    return one.writes && alias_of(pass.known.args_of(one.loop)[one.arg]).data == data;
  });
}

/// The buffers of a Dat are swapped after a step that wrote the second one.
Place place_after(const StorePass& pass, const Step& step, int data, Place place) {
  const bool writes_it = std::ranges::any_of(
      step.loops, [&](std::size_t loop) { return pass.known.writes_to(loop, data); });
  if (!writes_it) return place;
  return place == Place::first && is_renamed(pass, step, data) ? Place::second : Place::lost;
}

/// True if the function that makes the copy uses it, or writes its source afterwards.
bool uses_after(const StorePass& pass, const Step& step, const Copy& copy) {
  const auto from = std::ranges::find(step.loops, copy.loop) + 1;
  return std::any_of(from, step.loops.end(), [&](std::size_t loop) {
    return std::ranges::any_of(pass.known.args_of(loop), [&](const Arg& arg) {
      const int data = alias_of(arg).data;
      return data == copy.data || (data == copy.source_data && writes(access_of(arg)));
    });
  });
}

std::string why_not_redirected(const StorePass& pass, const Step& step, std::size_t loop,
                               std::size_t arg, const Copy& copy, Place place) {
  const Arg& node = pass.known.args_of(loop)[arg];
  if (pass.known.is_action(loop) || step.loops.size() < 2)
    return "its reader runs alone; put it behind a loop over the same Set";
  if (access_of(node) != Access::read) return "the copy is changed; write to another Dat";
  if (place == Place::lost) return "what was copied is overwritten before; read the copy earlier";
  const auto from = std::ranges::find(step.loops, loop);
  const auto writes_source = [&](std::size_t member) {
    return pass.known.writes_to(member, copy.source_data);
  };
  if (std::any_of(step.loops.begin(), from, writes_source)) {
    return "what was copied is overwritten before, in the same function; read the copy earlier";
  }
  if (std::none_of(from, step.loops.end(), writes_source)) return "";
  // an item overwrites its own row, so no other item may read that row
  const std::size_t number = static_cast<std::size_t>(from - step.loops.begin());
  const bool is_direct = std::holds_alternative<ir::DirectDat>(node) &&
                         std::ranges::find(step.inverted, number) == step.inverted.end();
  if (place == Place::second && !is_direct) return "others read it where it is overwritten";
  if (place == Place::first && !is_renamed(pass, step, copy.source_data)) {
    return "what was copied is overwritten where it is";
  }
  return "";
}

/// Follow the values from the step that copies them until all of the copy is overwritten. Returns
/// the reason why the copy must be made, or nothing and the arguments to redirect.
std::string why_needed(const StorePass& pass, const LeftOut& left_out, std::size_t at,
                       const Copy& copy, std::vector<std::pair<std::size_t, Redirected>>& found) {
  const Step& maker = pass.schedule.steps[at];
  if (maker.loops.size() < 2)
    return "the loop that makes it runs alone; put it beside a loop over the same Set";
  if (left_out.not_made.contains(copy.source_data) || left_out.read_instead.contains(copy.data)) {
    return "it is part of a longer series of copies; copy from the first Dat";
  }
  if (uses_after(pass, maker, copy))
    return "what was copied is changed in the same function; copy it later";
  Place place = Place::first;
  for (std::size_t next = at + 1; next < pass.schedule.steps.size(); ++next) {
    const Step& step = pass.schedule.steps[next];
    for (const std::size_t loop : step.loops) {
      const std::vector<ir::Operand>& args = pass.known.args_of(loop);
      bool is_overwritten = false;
      for (std::size_t arg = 0; arg < args.size(); ++arg) {
        if (alias_of(args[arg]).data != copy.data) continue;
        if (pass.known.is_own(loop, arg)) {
          is_overwritten = true;
          continue;
        }
        const std::string why = why_not_redirected(pass, step, loop, arg, copy, place);
        if (!why.empty()) return why;
        found.push_back({next, {loop, arg, copy.loop, copy.source, place == Place::second}});
      }
      if (is_overwritten) return "";
    }
    place = place_after(pass, step, copy.source_data, place);
  }
  return "it may be seen after the chain; make the copy within a repeated block, or overwrite it "
         "there";
}

std::optional<Copy> copy_by(const StorePass& pass, std::size_t at, std::size_t arg) {
  const ir::Loop& loop = pass.known.entries[at].loop;
  if (loop.members.empty() || !pass.known.is_alone(at, alias_of(loop.args[arg])))
    return std::nullopt;
  const std::optional<std::size_t> source = ir::copied_from(loop, arg);
  if (!source || !pass.known.is_alone(at, alias_of(loop.args[*source]))) return std::nullopt;
  return Copy{at, arg, *source, alias_of(loop.args[arg]).data, alias_of(loop.args[*source]).data};
}

void try_without(const StorePass& pass, LeftOut& left_out, std::size_t at, const Copy& copy) {
  std::vector<std::pair<std::size_t, Redirected>> found;  // with their step
  const std::string why = why_needed(pass, left_out, at, copy, found);
  pass.schedule.decisions.push_back({"copy", pass.schedule.steps[at].loops, why.empty(), why});
  if (!why.empty()) return;
  left_out.not_made.insert(copy.data);
  if (!found.empty()) left_out.read_instead.insert(copy.source_data);
  pass.schedule.steps[at].dropped.push_back(copy.data);
  for (const auto& [step, redirected] : found) {
    pass.schedule.steps[step].redirected.push_back(redirected);
  }
}

}  // namespace

std::set<int> find_copies(const StorePass& pass) {
  LeftOut left_out;
  for (std::size_t at = 0; at < pass.schedule.steps.size(); ++at) {
    for (const std::size_t loop : pass.schedule.steps[at].loops) {
      for (std::size_t arg = 0; arg < pass.known.args_of(loop).size(); ++arg) {
        const std::optional<Copy> copy = copy_by(pass, loop, arg);
        if (copy) try_without(pass, left_out, at, *copy);
      }
    }
  }
  return left_out.read_instead;
}

}  // namespace op2::chain
