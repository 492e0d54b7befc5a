// SPDX-License-Identifier: BSD-3-Clause
#include "lower/ragged.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "kernel/listed.hpp"
#include "lower/constants.hpp"
#include "lower/make.hpp"

namespace op2::lower {
namespace {

bool is_written(const ir::Group& group, const ir::Arg& arg) {
  return std::ranges::any_of(group.args, [&arg](const ir::Operand& other) {
    return ir::alias_of(other).memory == ir::alias_of(arg).memory && writes(ir::access_of(other));
  });
}

/// Whether argument @p i may be read in place, whatever the kernel does with it.
bool may_stay(const ir::Group& group, std::size_t i, const Options& options) {
  const std::vector<int>& soa = options.widths.soa;
  const bool is_converted = ir::stored_of(group.args[i]) != ir::dtype_of(group.args[i]);
  return is_ragged(group, group.args[i]) && ir::access_of(group.args[i]) == Access::read &&
         !is_converted && !ir::is_part(group, i) && !is_written(group, group.args[i]) &&
         std::ranges::find(soa, static_cast<int>(i)) == soa.end();
}

}  // namespace

bool is_ragged(const ir::Group& group, const ir::Arg& arg) {
  const auto is_one = [&group](int map) {
    return map >= 0 && group.maps[static_cast<std::size_t>(map)].ragged;
  };
  const auto* mat = std::get_if<ir::MatArg>(&arg);
  return mat != nullptr ? is_one(mat->row_map) || is_one(mat->col_map)
                        : is_one(ir::target_map_of(arg));
}

bool is_ragged(const ir::Group& group) {
  return std::ranges::any_of(group.maps, &ir::MapRef::ragged);
}

CalledKernel called_kernel(const ir::Group& group, std::size_t member,
                           const std::vector<MapFacts>& maps, const Options& options) {
  CalledKernel called{with_constants(group, member), {}};
  if (!called.kernel.body) return called;
  for (std::size_t i = 0; i < group.args.size(); ++i) {
    if (ir::member_of(group, i) != member || !may_stay(group, i, options)) continue;
    const auto& dat = std::get<ir::IndirectDat>(group.args[i]);
    const int bytes = maps[static_cast<std::size_t>(dat.map)].index_bytes;
    std::optional<kernel::KernelBody> body = kernel::with_list(
        *called.kernel.body, static_cast<std::size_t>(ir::parameter_of(group, i)),
        {dat.dim, ir::stride_of(dat), dat.component, kernel::base_of(index_dtype(bytes))});
    if (!body) continue;
    called.kernel.body = std::move(body);
    called.listed.push_back(i);
  }
  return called;
}

std::vector<std::size_t> packed_ragged(const ir::Group& group, const std::vector<MapFacts>& maps,
                                       const Options& options) {
  std::vector<std::size_t> packed;
  for (std::size_t member = 0; member < group.members.size(); ++member) {
    const CalledKernel called = called_kernel(group, member, maps, options);
    for (std::size_t i = 0; i < group.args.size(); ++i) {
      const bool is_listed = std::ranges::find(called.listed, i) != called.listed.end();
      const bool is_own = ir::member_of(group, i) == member;
      if (is_own && is_ragged(group, group.args[i]) && !is_listed) packed.push_back(i);
    }
  }
  return packed;
}

}  // namespace op2::lower
