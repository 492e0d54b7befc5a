// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/ptx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace op2::runtime {
namespace {

constexpr std::string_view negation = "neg.s32";

std::size_t count(std::string_view text, std::string_view word) {
  std::size_t n = 0;
  for (std::size_t at = text.find(word); at != std::string_view::npos;
       at = text.find(word, at + word.size())) {
    ++n;
  }
  return n;
}

/// "  @%p1 neg.s32 %r3, %r2;" becomes two instructions under the same condition.
void append_as_sum(std::string& out, std::string_view line, std::size_t at) {
  const std::string_view before = line.substr(0, at), operands = line.substr(at + negation.size());
  const std::size_t from = operands.find_first_not_of(" \t");
  const std::string_view target = operands.substr(from, operands.find(',') - from);
  out += fmt::format("{}not.b32{}\n{}add.s32 {}, {}, 1;", before, operands, before, target, target);
}

}  // namespace

std::optional<std::string> with_signs_kept(std::string_view ptx) {
  if (ptx.find(".target sm_") == std::string_view::npos) return std::nullopt;
  const std::size_t extrema = count(ptx, "min.s32") + count(ptx, "max.s32");
  if (extrema < 2 || count(ptx, negation) == 0) return std::nullopt;
  std::string out;
  out.reserve(ptx.size() + 4096);
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size());
    const std::string_view line = ptx.substr(0, end);
    if (const std::size_t at = line.find(negation); at != std::string_view::npos) {
      append_as_sum(out, line, at);
    } else {
      out += line;
    }
    if (end < ptx.size()) out += '\n';
    ptx.remove_prefix(std::min(end + 1, ptx.size()));
  }
  return out;
}

}  // namespace op2::runtime
