// SPDX-License-Identifier: BSD-3-Clause
#include "lower/strategy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "ir/group.hpp"
#include "kernel/facts.hpp"
#include "kernel/known_functions.hpp"
#include "kernel/walk.hpp"
#include "lower/entries.hpp"
#include "lower/incidence.hpp"
#include "lower/private_bytes.hpp"
#include "lower/ragged.hpp"

namespace op2::lower {
namespace {

using ir::Arg;
using ir::DirectDat;
using ir::IndirectDat;
using ir::Loop;

Verdict no(std::string why) {
  return {false, std::move(why)};
}

/// Everything the loop does to one class of memory.
struct Touches {
  std::vector<std::size_t> args;
  std::set<int> data;
  std::set<int> maps;
  bool direct = false;
  bool written = false;
  bool written_directly = false;
  bool read_indirectly = false;
};

std::map<int, Touches> touches_by_memory(const Loop& loop) {
  std::map<int, Touches> touches;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const Arg& arg = loop.args[i];
    Touches& touch = touches[ir::alias_of(arg).memory];
    touch.args.push_back(i);
    touch.data.insert(ir::alias_of(arg).data);
    const bool written = writes(ir::access_of(arg));
    touch.written |= written;
    if (const int map = ir::target_map_of(arg); map >= 0) {
      touch.maps.insert(map);
      touch.read_indirectly |= !written;
    } else {
      touch.direct = true;
      touch.written_directly |= written;
    }
  }
  return touches;
}

/// True if concurrent elements cannot meet in this memory because one injective Map leads there.
bool is_private(const Touches& touch, const std::vector<MapFacts>& maps) {
  return touch.maps.size() == 1 && maps[static_cast<std::size_t>(*touch.maps.begin())].injective;
}

std::string describe(const Loop& loop, std::size_t arg) {
  const auto& parameters = ir::kernel_of(loop, arg).parameters;
  const auto at = static_cast<std::size_t>(ir::parameter_of(loop, arg));
  return at < parameters.size() && !parameters[at].name.empty()
             ? fmt::format("arg {} ('{}')", at, parameters[at].name)
             : fmt::format("arg {}", at);
}

constexpr const char* value_is_used =
    " is MIN/MAX, and the kernel is not known to use its value for that alone; compare it by fmin, "
    "fmax or 'if (x < y[0]) y[0] = x', once";
constexpr const char* overlapping_memory =
    "written memory overlaps other arguments; give each Dat an array of its own";
constexpr const char* also_read =
    "memory that is incremented is also read through a Map; read a copy made before the loop, by "
    "Dat.copy";

/// True if calls may come in any order: an INC argument starts at zero, but a MIN or MAX one shows
/// the kernel what was there.
bool commutes(const Loop& loop, std::size_t arg, Access access) {
  if (access == Access::inc) return true;
  const kernel::Kernel& kernel = ir::kernel_of(loop, arg);
  const auto parameter = static_cast<std::size_t>(ir::parameter_of(loop, arg));
  return kernel.body && kernel::kernel_facts(kernel).parameters[parameter].commutes(access);
}

/// Shared demands of the strategies that sum element results target by target.
Verdict sums_by_target(const Loop& loop, const Races& races) {
  if (races.overlaps) return no(overlapping_memory);
  if (races.reads_written) return no(also_read);
  if (!races.overwrites.empty()) {
    return no(describe(loop, races.overwrites.front()) +
              " is written, not reduced, through a Map: only INC, MIN and MAX can be summed; pass "
              "INC if the kernel adds");
  }
  int toset = -1;
  std::map<int, Access> reductions;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const Arg& arg = loop.args[i];
    const int map = ir::target_map_of(arg);
    const Access access = ir::access_of(arg);
    if (map < 0 || !writes(access)) continue;
    if (!is_reduction(access))
      return no(describe(loop, i) + " is written through a Map; pass INC if the kernel adds");
    if (reductions.try_emplace(ir::alias_of(arg).memory, access).first->second != access) {
      return no(describe(loop, i) +
                " is reduced in two ways, which do not commute; divide the loop");
    }
    const int target = loop.maps[static_cast<std::size_t>(map)].toset;
    const auto* matrix = std::get_if<ir::MatArg>(&arg);
    if (matrix != nullptr && matrix->by_columns) {
      return no(describe(loop, i) +
                " has one row, and its columns cannot be summed one by one; colour resolves it");
    }
    if (toset >= 0 && toset != target) {
      return no(describe(loop, i) +
                " is on another Set than the other reduced Dats; make a loop for each Set");
    }
    toset = target;
    if (!commutes(loop, i, access)) return no(describe(loop, i) + value_is_used);
  }
  if (toset < 0) return no("nothing is reduced through a Map");
  return {};
}

/// Elements are found from their targets, so one from which all Maps may lead nowhere is not seen.
Verdict all_are_counted(const Loop& loop, const std::vector<MapFacts>& maps) {
  const auto global = std::find_if(loop.args.begin(), loop.args.end(), [](const Arg& arg) {
    return std::holds_alternative<ir::GlobalReduce>(arg);
  });
  if (global == loop.args.end() || counting_slot(loop, maps)) return {};
  return no(describe(loop, static_cast<std::size_t>(global - loop.args.begin())) +
            " counts every element, and the rows of some may all lead nowhere (-1): no target is "
            "found from which they would be visited; reduce into the Global in a loop of its own");
}

Verdict owner_is_legal(const Loop& loop, const Races& races, const std::vector<MapFacts>& maps) {
  if (is_ragged(loop)) return no(ragged_rows);
  if (ir::is_inverted(loop)) return {};  // who inverted the member has asked for it alone
  if (loop.members.size() > 1)
    return no("several kernels are called for each element; leave the loop out of its chain");
  if (Verdict verdict = sums_by_target(loop, races); !verdict.ok) return verdict;
  if (Verdict verdict = all_are_counted(loop, maps); !verdict.ok) return verdict;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const auto* dat = std::get_if<DirectDat>(&loop.args[i]);
    if (dat != nullptr && writes(dat->access)) {
      return no(describe(loop, i) +
                " is written directly, and the kernel runs several times an element; write it in a "
                "loop of its own");
    }
  }
  const kernel::Kernel& kernel = ir::kernel_of(loop);
  if (!kernel.body)
    return no(fmt::format(
        "the kernel is opaque ({}), so it is not known to be pure; write it without that",
        kernel.opaque_reason));
  const kernel::KernelFacts& facts = kernel::kernel_facts(kernel);
  if (!facts.is_pure()) {
    return no(fmt::format(
        "the kernel calls '{}', which may have effects of its own; define it in the kernel's text",
        facts.unknown_functions.front()));
  }
  return {};
}

Verdict atomic_is_legal(const Loop& loop, const Races& races, const Facts& facts) {
  if (!facts.atomics) return no("the backend has no atomics");
  if (races.overlaps) return no(overlapping_memory);
  if (races.reads_written) return no(also_read);
  if (!races.overwrites.empty()) {
    return no(describe(loop, races.overwrites.front()) +
              " is written, not reduced, through a Map: atomics resolve INC, MIN and MAX; pass one "
              "of these if the "
              "kernel adds or compares");
  }
  for (const std::size_t arg : races.reductions) {
    if (!commutes(loop, arg, ir::access_of(loop.args[arg]))) {
      return no(describe(loop, arg) + value_is_used);
    }
  }
  return {};
}

bool has_columns(const Loop& loop) {
  return loop.iteration.layers != ir::Layers::none ||
         std::any_of(loop.maps.begin(), loop.maps.end(),
                     [](const ir::MapRef& map) { return !map.rows.empty(); });
}

/// Bytes of the values that an element gathers and scatters.
std::int64_t pack_bytes(const Loop& loop) {
  std::int64_t bytes = 0;
  for (const Arg& arg : loop.args) {
    if (std::holds_alternative<ir::GlobalRead>(arg)) continue;
    bytes += static_cast<std::int64_t>(size_of(ir::dtype_of(arg))) * ir::extent_of(loop, arg);
  }
  return bytes;
}

std::int64_t team_bytes(const Loop& loop, const kernel::TeamForm& form) {
  return pack_bytes(loop) + form.n_shared * kernel::bytes_of(kernel::scalar(form.base));
}

/// A lane of a GPU keeps so many bytes for an element near, but no more.
bool is_for_team(const Loop& loop, const Facts& facts, const Options& options) {
  if (class_of(facts) != DeviceClass::gpu || loop.members.size() > 1) return false;
  const kernel::Kernel& kernel = ir::kernel_of(loop);
  if (kernel.team == nullptr) return false;
  // Products need no memory but that of their operands, and no barriers. With matrices in registers
  // a team gains from half of the bytes on: systems of 12 rows took 0.66 of the time (H200).
  const bool is_product = kernel.team->n_shared == 0;
  const int others = options.tuning.team_bytes / (kernel.team->n_own > 0 ? 2 : 1);
  return pack_bytes(loop) + array_bytes(*kernel.body) >
         (is_product ? options.tuning.team_product_bytes : others);
}

Verdict team_is_legal(const Loop& loop, const Races& races, const Facts& facts) {
  if (facts.lanes != Lanes::grid) return no("the backend has no blocks of lanes");
  if (is_ragged(loop)) return no(ragged_rows);
  if (loop.members.size() > 1)
    return no("several kernels are called for each element; leave the loop out of its chain");
  const kernel::Kernel& kernel = ir::kernel_of(loop);
  if (kernel.team == nullptr) {
    return no(
        "the kernel is neither a nest of sums by dimension nor made of calls of dense algebra, "
        "which lanes could share; call op2_gemm and its like, or write sums as loops");
  }
  if (!loop.constants.empty()) return no("the kernel uses a Const; pass it as a Global");
  if (has_columns(loop)) return no("the Set has layers, or rows of a Map are chosen");
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const Arg& arg = loop.args[i];
    const bool is_other =
        std::holds_alternative<ir::GlobalReduce>(arg) || std::holds_alternative<ir::MatArg>(arg);
    if (is_other || ir::is_part(loop, i)) {
      return no(describe(loop, i) +
                " is a sum over all elements, a matrix or a part of a Dat; divide the loop");
    }
    if (std::holds_alternative<ir::GlobalRead>(arg) &&
        kernel.team->shared_parameters.contains(ir::parameter_of(loop, i))) {
      return no(describe(loop, i) + " is handed to a function of dense algebra; copy it first");
    }
  }
  for (const auto& [memory, touch] : touches_by_memory(loop)) {
    const bool is_one_dat = touch.maps.empty() && touch.data.size() == 1;
    if (!is_one_dat || !touch.written_directly || touch.args.size() == 1) continue;
    return no(describe(loop, touch.args[1]) +
              " is the same Dat as an earlier argument, and one of the two is written: lanes would "
              "have to wait for each other; pass a copy, by Dat.copy");
  }
  if (const auto bytes = team_bytes(loop, *kernel.team); bytes > facts.shared_bytes) {
    return no(fmt::format(
        "an element takes {} bytes of the memory that lanes share, of {}; divide the kernel", bytes,
        facts.shared_bytes));
  }
  return races.none() ? Verdict{} : atomic_is_legal(loop, races, facts);
}

/// Cells of a column change what is common to it from the bottom up, but a GPU's blocks may have
/// but a part of a column.
Verdict keeps_columns(const Loop& loop, const Races& races, const Facts& facts) {
  const bool is_gpu = facts.lanes == Lanes::grid && !facts.runs_in_lane;
  if (!is_gpu || races.overlaps || races.overwrites.empty()) return {};
  if (loop.iteration.layers == ir::Layers::none) return {};
  return no(describe(loop, races.overwrites.front()) +
            " is written through a Map, and blocks may end inside of a column, whose cells come "
            "from the bottom up; pass INC if the kernel adds");
}

Verdict always_on_one_lane(const Races& races, const Facts& facts) {
  if (facts.lanes == Lanes::one || races.none()) return {};
  if (races.overlaps) return no(overlapping_memory);
  return no("elements that run at the same time may write the same target");
}

/// What the default rule takes if it is possible, in its order.
using Rules = std::vector<Choice>;

bool has_matrix(const Loop& loop) {
  return std::any_of(loop.args.begin(), loop.args.end(),
                     [](const Arg& arg) { return std::holds_alternative<ir::MatArg>(arg); });
}

Rules rules_on_grid(const Loop& loop, const Facts& facts, const std::vector<MapFacts>& maps,
                    const Options& options) {
  const bool deterministic = options.semantics.deterministic;
  Rules rules;
  if (facts.runs_in_lane && !deterministic) {
    rules.push_back({Strategy::block, "a processor's threads take blocks of elements in order"});
  }
  if (facts.runs_in_lane) {
    rules.push_back({Strategy::colour, "lanes take turns: no two elements of a colour meet"});
  }
  if (n_slots(loop) == options.tuning.owner_slots) {
    rules.push_back({Strategy::owner, "an element adds to two targets: each sums its own share"});
  }
  if (options.widths.gathered) {
    rules.push_back({Strategy::owner,
                     "an element adds to one target, and targets have similar numbers of elements: "
                     "each sums those of its own"});
  }
  if (deterministic && has_matrix(loop)) {
    rules.push_back(
        {Strategy::colour, "deterministic, and elements' matrices are too large to be kept"});
  }
  if (deterministic) {
    rules.push_back({Strategy::scratch, "deterministic, each target sums its elements' results"});
  }
  if (has_matrix(loop) && sums_entries(loop, facts, maps, options).ok) {
    rules.push_back({Strategy::block, "entries of the matrix are summed in shared memory first"});
  }
  rules.push_back({Strategy::atomic, sums_targets(loop, facts, maps, options).ok
                                         ? "increments by atomics, those of a block summed first"
                                         : "increments by atomics"});
  rules.push_back({Strategy::colour, "no two elements of a colour meet"});
  rules.push_back(
      {Strategy::block, "memory overlaps in ways Maps cannot tell: in order on one lane"});
  return rules;
}

/// Does the order of elements decide on the bits, or on the values, of what is written by Maps?
bool sees_order(const Loop& loop, const Races& races) {
  if (!races.overwrites.empty()) return true;
  return std::any_of(loop.args.begin(), loop.args.end(), [](const Arg& arg) {
    const DType dtype = ir::dtype_of(arg);
    return ir::target_map_of(arg) >= 0 && ir::access_of(arg) == Access::inc &&
           (is_floating(dtype) || is_complex(dtype));
  });
}

/// May a strategy be taken for what is reduced in 16 bits of memory? A sum is rounded once there.
Verdict keeps_halves(Strategy strategy, const Loop& loop, const Races& races) {
  const bool is_private = strategy == Strategy::owner || strategy == Strategy::scratch;
  if (const auto sum = half_sum(loop, races); sum && !is_private) {
    return no(fmt::format("{} is a sum in memory of {}, and each share would be rounded",
                          describe(loop, *sum), name_of(ir::stored_of(loop.args[*sum]))));
  }
  if (strategy != Strategy::atomic && strategy != Strategy::team) return {};
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const Arg& arg = loop.args[i];
    const bool is_reduced = ir::target_map_of(arg) >= 0 && is_reduction(ir::access_of(arg));
    if (!is_reduced || !is_half(ir::stored_of(arg))) continue;
    return no(describe(loop, i) + " is reduced in 16 bits of memory, which no atomic updates");
  }
  return {};
}

Rules rules_for(const Loop& loop, const Facts& facts, const std::vector<MapFacts>& maps,
                const Options& options) {
  Rules rules;
  if (is_for_team(loop, facts, options)) {
    rules.push_back({Strategy::team, "an element's arrays are too large for one lane"});
  }
  if (options.semantics.by_element && facts.lanes != Lanes::one &&
      sees_order(loop, find_races(loop, maps))) {
    rules.push_back({Strategy::scratch, "each target sums in the order of elements"});
    rules.push_back({Strategy::direct, "one thread, in the order of elements"});
  }
  if (half_sum(loop, find_races(loop, maps))) {
    rules.push_back({Strategy::owner, "each target rounds its sum once, to 16 bits of memory"});
    rules.push_back({Strategy::scratch, "each target rounds its sum once, to 16 bits of memory"});
  }
  rules.push_back({Strategy::direct, "nothing can race"});
  if (class_of(facts) != DeviceClass::host) {
    for (Choice& rule : rules_on_grid(loop, facts, maps, options)) rules.push_back(std::move(rule));
  } else if (options.semantics.deterministic) {
    rules.push_back({Strategy::colour, "deterministic, no two of a colour meet"});
    // Overlapping memory: a single block runs in element order, which is deterministic.
    rules.push_back(
        {Strategy::block, "memory overlaps in ways Maps cannot tell: one block, in order"});
  } else {
    rules.push_back(
        {Strategy::block, "races resolved by colouring blocks of consecutive elements"});
  }
  return rules;
}

void check_supported(const Loop& loop, const Facts& facts) {
  const Verdict verdict = supported(loop, facts);
  if (verdict.ok) return;
  throw UnsupportedError(
      fmt::format("par_loop '{}': the backend cannot run it: {}", ir::name_of(loop), verdict.why));
}

bool uses_float64(const kernel::KernelBody& body) {
  bool found = false;
  for (const kernel::FunctionDef& function : body.functions) {
    kernel::for_each_expr_in(function.body, [&found](const kernel::Expr& expr) {
      found |=
          expr.type.base == kernel::Base::float64 || expr.type.base == kernel::Base::complex128;
    });
  }
  return found;
}

/// Copies and additions of whole values are no arithmetic: vectors of two scalars do that.
bool computes_with_complex(const kernel::KernelBody& body) {
  bool found = false;
  for (const kernel::FunctionDef& function : body.functions) {
    kernel::for_each_expr_in(function.body, [&found](const kernel::Expr& expr) {
      const auto is_complex = [](const kernel::Expr& part) {
        return part.type.is_scalar() && kernel::is_complex(part.type.base);
      };
      const bool touches =
          is_complex(expr) || std::any_of(expr.operands.begin(), expr.operands.end(), is_complex);
      const bool mixes = !std::all_of(expr.operands.begin(), expr.operands.end(), is_complex);
      if (!touches) return;
      found |= std::visit(
          overload{
              [](const kernel::Literal&) { return true; },
              [](const kernel::Name&) { return false; },
              [](const kernel::Unary& node) { return node.op != kernel::UnaryOp::dereference; },
              [](const kernel::Binary& node) { return node.op != kernel::BinaryOp::comma; },
              [mixes](const kernel::Assign& node) {
                return mixes || (node.op && *node.op != kernel::BinaryOp::add &&
                                 *node.op != kernel::BinaryOp::subtract);
              },
              [](const kernel::Ternary&) { return true; },
              [](const kernel::Index&) { return false; },
              [](const kernel::MemberOf&) { return false; },
              [](const kernel::Call& node) {
                return kernel::known_function(node.function) != nullptr;
              },
              [](const kernel::Cast&) { return true; },
              [](const kernel::SizeOf&) { return false; },
              [](const kernel::InitList&) { return true; },
          },
          expr.node);
    });
  }
  return found;
}

bool is_deterministic(Strategy strategy) {
  return strategy != Strategy::atomic && strategy != Strategy::block && strategy != Strategy::team;
}

/// May a strategy be taken where sums follow the order of elements?
Verdict keeps_elements(Strategy strategy, const Loop& loop, const Races& races,
                       const Facts& facts) {
  if (!sees_order(loop, races)) return {};
  if (strategy == Strategy::scratch) return {};
  if (strategy == Strategy::direct && class_of(facts) == DeviceClass::host) return {};
  if (strategy == Strategy::block && races.overlaps) return {};  // one block, one lane
  return no(
      "its order of additions depends on the elements of a process, and deterministic='ranks' was "
      "asked for");
}

/// May @p kernel run on a device?
Verdict kernel_is_supported(const kernel::Kernel& kernel, const Facts& facts) {
  if (!kernel.body) {
    return no(
        fmt::format("the kernel is opaque ({}), and a device needs one in C that can be "
                    "translated; run this loop on a backend of the host",
                    kernel.opaque_reason));
  }
  const kernel::KernelFacts& kernel_facts = kernel::kernel_facts(kernel);
  if (!kernel_facts.unknown_functions.empty()) {
    return no(
        fmt::format("the kernel calls '{}', which is not known on a device; correct its name, "
                    "define it in the kernel's text, or run this loop on a backend of the host",
                    kernel_facts.unknown_functions.front()));
  }
  if (!kernel.headers.empty()) {
    return no(
        fmt::format("the kernel includes {}, which is not known on a device; write what it "
                    "needs into the kernel",
                    fmt::join(kernel.headers, ", ")));
  }
  if (!facts.float64 && uses_float64(*kernel.body)) {
    return no(
        "the kernel computes with float64, which the device does not have; write float and pass "
        "float32, or choose another device");
  }
  if (!facts.complex_arithmetic && computes_with_complex(*kernel.body)) {
    return no(
        "the kernel computes with complex numbers, which the backend can only move; run this "
        "loop on a backend with complex_arithmetic");
  }
  return {};
}

}  // namespace

Races find_races(const Loop& loop, const std::vector<MapFacts>& maps) {
  Races races;
  std::set<int> conflicts;
  for (const auto& [memory, touch] : touches_by_memory(loop)) {
    if (!touch.written) continue;
    const bool through_maps = !touch.maps.empty();
    const bool mixed = through_maps && touch.direct;
    if (touch.data.size() > 1 || mixed) races.overlaps = true;
    if (!through_maps || is_private(touch, maps)) continue;
    conflicts.insert(touch.maps.begin(), touch.maps.end());
    races.reads_written |= touch.read_indirectly;
    for (const std::size_t arg : touch.args) {
      const Access access = ir::access_of(loop.args[arg]);
      if (!writes(access)) continue;
      (is_reduction(access) ? races.reductions : races.overwrites).push_back(arg);
    }
  }
  races.conflicts.assign(conflicts.begin(), conflicts.end());
  return races;
}

std::optional<std::size_t> half_sum(const Loop& loop, const Races& races) {
  const auto found = std::ranges::find_if(races.reductions, [&loop](std::size_t arg) {
    return is_half(ir::stored_of(loop.args[arg])) && ir::access_of(loop.args[arg]) == Access::inc;
  });
  return found == races.reductions.end() ? std::nullopt : std::optional(*found);
}

Verdict supported(const Loop& loop, const Facts& facts) {
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const DType dtype = ir::dtype_of(loop.args[i]);
    if (is_complex(dtype) && ir::stored_of(loop.args[i]) != dtype && facts.lanes == Lanes::grid) {
      return no(
          fmt::format("{} is {} in memory of {}, and devices convert real numbers only; make "
                      "memory and compute the same dtype",
                      describe(loop, i), name_of(dtype), name_of(ir::stored_of(loop.args[i]))));
    }
    if (!facts.float64 && (dtype == DType::float64 || dtype == DType::complex128)) {
      return no(fmt::format(
          "{} is {}, and the device has no float64; pass float32, or choose another device",
          describe(loop, i), name_of(dtype)));
    }
  }
  if (facts.any_kernel) return {};
  for (const ir::Member& member : loop.members) {
    if (Verdict verdict = kernel_is_supported(*member.kernel, facts); !verdict.ok) return verdict;
  }
  return {};
}

Verdict applicable(Strategy strategy, const Loop& loop, const Facts& facts,
                   const std::vector<MapFacts>& maps, const Options& options) {
  const Races races = find_races(loop, maps);
  const bool in_order = facts.lanes == Lanes::one || races.none() ||
                        (strategy == Strategy::block && races.overlaps);  // one block, one lane
  if (options.semantics.deterministic && !is_deterministic(strategy) && !in_order) {
    return no("its order of additions depends on the run, and deterministic=True was asked for");
  }
  if (options.semantics.by_element) {
    if (Verdict verdict = keeps_elements(strategy, loop, races, facts); !verdict.ok) return verdict;
  }
  if (Verdict verdict = keeps_halves(strategy, loop, races); !verdict.ok) return verdict;
  switch (strategy) {
    case Strategy::direct:
      if (options.semantics.by_element && class_of(facts) == DeviceClass::host) {
        return races.overlaps ? always_on_one_lane(races, facts) : Verdict{};  // on a single thread
      }
      return always_on_one_lane(races, facts);
    case Strategy::owner:
      return owner_is_legal(loop, races, maps);
    case Strategy::scratch:
      if (is_ragged(loop)) return no(ragged_rows);
      return sums_by_target(loop, races);
    case Strategy::atomic:
      return atomic_is_legal(loop, races, facts);
    case Strategy::block:
      return keeps_columns(loop, races, facts);
    case Strategy::team:
      return team_is_legal(loop, races, facts);
    case Strategy::colour:
      return races.overlaps ? no(overlapping_memory) : Verdict{};
  }
  throw InternalError("unknown strategy");
}

std::vector<Choice> preferences(const Loop& loop, const Facts& facts,
                                const std::vector<MapFacts>& maps, const Options& options) {
  check_supported(loop, facts);
  std::vector<Choice> found;
  for (Choice& rule : rules_for(loop, facts, maps, options)) {
    const bool is_known = std::ranges::find(found, rule.strategy, &Choice::strategy) != found.end();
    if (is_known || !applicable(rule.strategy, loop, facts, maps, options).ok) continue;
    found.push_back(std::move(rule));
  }
  return found;
}

Choice choose(const Loop& loop, const Facts& facts, const std::vector<MapFacts>& maps,
              const Options& options) {
  check_supported(loop, facts);
  for (Choice& rule : rules_for(loop, facts, maps, options)) {
    if (applicable(rule.strategy, loop, facts, maps, options).ok) return std::move(rule);
  }
  if (options.semantics.by_element) {
    throw UnsupportedError(fmt::format(
        "par_loop '{}': with deterministic='ranks' the backend has no strategy in the "
        "order of elements for it ({}); take a backend of the host",
        ir::name_of(loop), applicable(Strategy::scratch, loop, facts, maps, options).why));
  }
  const Races races = find_races(loop, maps);
  if (const auto sum = half_sum(loop, races)) {
    const auto why = [&](Strategy strategy) {
      return applicable(strategy, loop, facts, maps, options).why;
    };
    throw UnsupportedError(fmt::format(
        "par_loop '{}': {} is a sum in memory of {}, which strategies 'owner' and "
        "'scratch' round once; owner: {}; scratch: {}; take dtype float32",
        ir::name_of(loop), describe(loop, *sum), name_of(ir::stored_of(loop.args[*sum])),
        why(Strategy::owner), why(Strategy::scratch)));
  }
  throw InternalError("choose: no rule applies");
}

Choice force(Strategy strategy, const Loop& loop, const Facts& facts,
             const std::vector<MapFacts>& maps, const Options& options) {
  check_supported(loop, facts);
  const Verdict verdict = applicable(strategy, loop, facts, maps, options);
  if (verdict.ok) {
    const bool in_blocks =
        strategy == Strategy::atomic
            ? sums_targets(loop, facts, maps, options).ok
            : strategy == Strategy::block && sums_entries(loop, facts, maps, options).ok;
    return {strategy, in_blocks ? "asked for; what a block adds is summed in shared memory first"
                                : "asked for"};
  }
  std::vector<std::string_view> possible;
  for (const std::string_view name : strategy_names) {
    if (applicable(strategy_from_name(name), loop, facts, maps, options).ok) {
      possible.push_back(name);
    }
  }
  throw UnsupportedError(
      fmt::format("par_loop '{}': strategy '{}' cannot be used: {}; possible: {}",
                  ir::name_of(loop), name_of(strategy), verdict.why, fmt::join(possible, ", ")));
}

}  // namespace op2::lower
