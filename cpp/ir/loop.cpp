// SPDX-License-Identifier: BSD-3-Clause
#include "ir/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/overload.hpp"

namespace op2::ir {

DType dtype_of(const Arg& arg) {
  return std::visit([](const auto& node) { return node.dtype; }, arg);
}

DType stored_of(const Arg& arg) {
  return std::visit(
      [](const auto& node) {
        if constexpr (requires { node.stored; }) return node.stored.value_or(node.dtype);
        return node.dtype;
      },
      arg);
}

bool converts(const Group& group) {
  return std::ranges::any_of(group.args,
                             [](const Arg& arg) { return stored_of(arg) != dtype_of(arg); });
}

int dim_of(const Arg& arg) {
  return std::visit(overload{
                        [](const MatArg& mat) { return mat.row_dim * mat.col_dim; },
                        [](const auto& node) { return node.dim; },
                    },
                    arg);
}

const Alias& alias_of(const Arg& arg) {
  return std::visit([](const auto& node) -> const Alias& { return node.alias; }, arg);
}

Alias& alias_in(Arg& arg) {
  return std::visit([](auto& node) -> Alias& { return node.alias; }, arg);
}

Access access_of(const Arg& arg) {
  return std::visit(overload{
                        [](const DirectDat& dat) { return dat.access; },
                        [](const IndirectDat& dat) { return dat.access; },
                        [](const GlobalRead&) { return Access::read; },
                        [](const GlobalReduce& global) { return global.access; },
                        [](const MatArg& mat) { return mat.access; },
                    },
                    arg);
}

Loop loop_of(kernel::KernelPtr kernel, std::vector<Arg> args, std::vector<MapRef> maps,
             std::vector<ConstRef> constants) {
  Loop loop{{{std::move(kernel)}}, {}, std::move(maps), std::move(constants)};
  for (Arg& arg : args) loop.args.push_back({std::move(arg), static_cast<int>(loop.args.size())});
  return loop;
}

std::string name_of(const Group& group) {
  std::string name;
  for (const Member& member : group.members) {
    name += (name.empty() ? "" : "_") + member.kernel->name;
  }
  return name;
}

std::size_t member_of(const Group& group, std::size_t arg) {
  return static_cast<std::size_t>(group.args[arg].member);
}

const kernel::Kernel& kernel_of(const Group& group, std::size_t arg) {
  return *group.members[member_of(group, arg)].kernel;
}

const kernel::Kernel& kernel_of(const Group& group) {
  if (group.members.size() != 1) {
    throw InternalError(fmt::format("'{}' has several kernels", name_of(group)));
  }
  return *group.members.front().kernel;
}

std::vector<int> constants_of(const Group& group, std::size_t member) {
  if (group.members.size() > 1) return group.members[member].constants;
  std::vector<int> all(group.constants.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

int parameter_of(const Group& group, std::size_t arg) {
  return group.args[arg].parameter;
}

bool is_part(const Group& group, std::size_t arg) {
  const auto is_beside = [&one = group.args[arg]](const Operand& other) {
    return other.member == one.member && other.parameter == one.parameter;
  };
  return std::ranges::count_if(group.args, is_beside) > 1;
}

const Place* place_of(const Loop& loop, std::size_t arg) {
  const std::optional<Place>& place = loop.args[arg].place;
  return place ? &*place : nullptr;
}

int extent_of(const Loop& loop, const Arg& arg) {
  const auto arity = [&loop](int map) { return loop.maps[static_cast<std::size_t>(map)].arity; };
  if (const auto* mat = std::get_if<MatArg>(&arg)) {
    return dim_of(arg) * arity(mat->row_map) * arity(mat->col_map);
  }
  const int map = target_map_of(arg);
  return map < 0 ? dim_of(arg) : dim_of(arg) * arity(map);
}

int target_map_of(const Arg& arg) {
  return std::visit(
      overload{
          [](const DirectDat&) { return -1; },
          [](const IndirectDat& dat) { return dat.map; },
          [](const GlobalRead&) { return -1; },
          [](const GlobalReduce&) { return -1; },
          [](const MatArg& mat) { return mat.by_columns ? mat.col_map : mat.row_map; },
      },
      arg);
}

namespace {

/// The same type, or one of the same kind with fewer bits: what storing rounds to.
bool is_narrower(DType stored, DType seen) {
  if (stored == seen) return true;
  if (is_half(stored)) return is_floating(seen);
  return size_of(stored) < size_of(seen) &&
         ((is_floating(stored) && is_floating(seen)) || (is_complex(stored) && is_complex(seen)));
}

void verify(const MapRef& map) {
  if (map.ragged && (map.arity != most_ragged || !map.rows.empty())) {
    throw InternalError("a path by a ragged Map chooses no entries");
  }
  if (map.rows.empty()) return;
  const int width = map.width == 0 ? map.arity : map.width;
  const bool fits = std::all_of(map.rows.begin(), map.rows.end(), [width](const RowRef& row) {
    return row.slot >= 0 && row.slot < width;
  });
  if (map.rows.size() != static_cast<std::size_t>(map.arity) || !fits) {
    throw InternalError("a path names entries that its Map does not have");
  }
}

std::string dump(const Iteration& iteration) {
  constexpr std::string_view layers[] = {"", " constant layers", " variable layers"};
  return fmt::format("{}{}{}{}", iteration.subset ? " subset" : "",
                     layers[static_cast<std::size_t>(iteration.layers)],
                     iteration.periodic ? " periodic" : "",
                     iteration.pass_layer ? " passing the layer" : "");
}

/// Arguments are in the order of the members, and within each in that of the parameters.
void verify_order(const Group& group) {
  const auto is_of_member = [&group](const Operand& one) {
    return one.member >= 0 && one.member < std::ssize(group.members);
  };
  if (!std::ranges::all_of(group.args, is_of_member) ||
      !std::ranges::is_sorted(group.args, {}, &Operand::member)) {
    throw InternalError("arguments are not in the order of the members");
  }
  const auto place = [](const Operand& one) { return std::pair(one.member, one.parameter); };
  if (!std::ranges::is_sorted(group.args, {}, place)) {
    throw InternalError("arguments are not in the order of their parameters");
  }
}

void verify(const Loop& loop, const Place& place, int extent) {
  const bool fits = place.row >= 0 && place.column >= 0 && place.n_columns > 0 &&
                    place.column + place.n_columns <= place.width && extent % place.n_columns == 0;
  if (!fits) {
    throw InternalError(fmt::format("loop '{}': a block is not in its tensor", name_of(loop)));
  }
}

}  // namespace

void verify(const Loop& loop) {
  const auto has_kernel = [](const Member& member) { return member.kernel != nullptr; };
  if (loop.members.empty() || !std::ranges::all_of(loop.members, has_kernel)) {
    throw InternalError("loop without a kernel");
  }
  verify_order(loop);
  for (const MapRef& map : loop.maps) verify(map);
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const Arg& arg = loop.args[i];
    const auto fail = [&loop, i](std::string_view what) {
      throw InternalError(fmt::format("loop '{}': arg {}: {}", name_of(loop), i, what));
    };
    if (dim_of(arg) < 0) fail("negative dim");
    if (!is_narrower(stored_of(arg), dtype_of(arg))) fail("memory of another kind than its values");
    for (std::size_t other = 0; other < i; ++other) {
      const bool is_same = alias_of(loop.args[other]).data == alias_of(arg).data;
      if (is_same && dtype_of(loop.args[other]) != dtype_of(arg)) fail("one Dat seen as two types");
    }
    const auto check_map = [&loop, &fail](int map) {
      if (map < 0 || static_cast<std::size_t>(map) >= loop.maps.size()) fail("map out of range");
    };
    if (const auto* dat = std::get_if<IndirectDat>(&arg)) check_map(dat->map);
    if (const auto* mat = std::get_if<MatArg>(&arg)) {
      check_map(mat->row_map);
      check_map(mat->col_map);
      if (mat->row_dim < 1 || mat->col_dim < 1) fail("a matrix has blocks of at least one scalar");
      if (mat->access != Access::inc && mat->access != Access::write) {
        fail("a Mat is accessed by INC or WRITE only");
      }
      if (mat->unrolled && !mat->masked) fail("only dropped entries need scalar positions");
    }
    if (const auto* global = std::get_if<GlobalReduce>(&arg)) {
      if (!is_reduction(global->access)) fail("a Global is reduced by INC, MIN or MAX only");
    }
  }
  for (const Operand& operand : loop.args) {
    if (operand.place) verify(loop, *operand.place, extent_of(loop, operand));
  }
  const bool sorted = std::is_sorted(
      loop.constants.begin(), loop.constants.end(),
      [](const ConstRef& left, const ConstRef& right) { return left.name < right.name; });
  if (!sorted) throw InternalError("constants are not sorted by name");
}

std::string dump(const Loop& loop) {
  std::string out = fmt::format("loop {}{}\n", name_of(loop), dump(loop.iteration));
  for (const Arg& arg : loop.args) {
    const bool is_apart = stored_of(arg) != dtype_of(arg);
    const std::string type =
        is_apart ? fmt::format("{} as {}", name_of(stored_of(arg)), name_of(dtype_of(arg)))
                 : std::string(name_of(dtype_of(arg)));
    const std::string scalars = fmt::format("{} x{} data {} memory {}", type, dim_of(arg),
                                            alias_of(arg).data, alias_of(arg).memory);
    out += std::visit(
        overload{
            [&scalars](const DirectDat& dat) {
              return fmt::format("  direct {} {}\n", name_of(dat.access), scalars);
            },
            [&scalars, &loop](const IndirectDat& dat) {
              return fmt::format("  indirect {} {} via map {} arity {}\n", name_of(dat.access),
                                 scalars, dat.map,
                                 loop.maps[static_cast<std::size_t>(dat.map)].arity);
            },
            [&scalars](const GlobalRead&) { return fmt::format("  global READ {}\n", scalars); },
            [&scalars](const GlobalReduce& global) {
              return fmt::format("  global {} {}\n", name_of(global.access), scalars);
            },
            [&scalars](const MatArg& mat) {
              return fmt::format("  matrix {} {} of {} x {} via maps {} and {}{}{}{}\n",
                                 name_of(mat.access), scalars, mat.row_dim, mat.col_dim,
                                 mat.row_map, mat.col_map, mat.masked ? " masked" : "",
                                 mat.unrolled ? " unrolled" : "",
                                 mat.by_columns ? " by columns" : "");
            },
        },
        arg);
  }
  for (const ConstRef& constant : loop.constants) {
    out += fmt::format("  const {} {} x{}\n", constant.name, name_of(constant.dtype), constant.dim);
  }
  return out;
}

}  // namespace op2::ir
