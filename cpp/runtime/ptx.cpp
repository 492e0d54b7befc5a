// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/ptx.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

namespace op2::runtime {
namespace {

constexpr std::string_view target_word = ".target sm_";
constexpr std::string_view negation = "neg.s";
constexpr std::string_view narrow = "neg.s16";
constexpr std::string_view wide = "neg.s32";

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
  const std::string_view before = line.substr(0, at), bits = line.substr(at + negation.size(), 2);
  const std::string_view operands = line.substr(at + wide.size());
  const std::size_t from = operands.find_first_not_of(" \t");
  const std::string_view target = operands.substr(from, operands.find(',') - from);
  out += fmt::format("{}not.b{}{}\n{}add.s{} {}, {}, 1;", before, bits, operands, before, bits,
                     target, target);
}

}  // namespace

std::optional<std::string> with_signs_kept(std::string_view ptx) {
  const std::size_t target = ptx.find(target_word);
  if (target == ptx.npos) return std::nullopt;
  const int architecture = std::atoi(ptx.data() + target + target_word.size());
  const bool extends_first = architecture < 100;
  const bool joins_extrema =
      architecture >= 90 && count(ptx, "min.s32") + count(ptx, "max.s32") >= 2;
  const auto negated_in = [&](std::string_view text) {
    const std::size_t at = extends_first ? text.find(narrow) : text.npos;
    return at != text.npos || !joins_extrema ? at : text.find(wide);
  };
  if (negated_in(ptx) == ptx.npos) return std::nullopt;
  std::string out;
  out.reserve(ptx.size() + 4096);
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size());
    const std::string_view line = ptx.substr(0, end);
    if (const std::size_t at = negated_in(line); at != line.npos) {
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
