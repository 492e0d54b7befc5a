// SPDX-License-Identifier: BSD-3-Clause
#include "cg/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace op2::cg {
namespace {

constexpr std::string_view white = " \t\r";

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    line = line.substr(0, line.find_last_not_of(white) + 1);
    if (!line.empty() || !lines.empty()) lines.push_back(line);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

bool is_column_zero(std::string_view line) {
  if (line.front() != '#') return false;
  line.remove_prefix(1);
  line.remove_prefix(std::min(line.find_first_not_of(white), line.size()));
  return !line.starts_with("pragma");
}

}  // namespace

std::string laid_out(std::string_view text, int n_spaces) {
  const std::vector<std::string_view> lines = lines_of(text);
  std::size_t shared = std::string_view::npos;
  for (const std::string_view line : lines) {
    const std::size_t n_white = line.find_first_not_of(white);
    if (n_white != std::string_view::npos && line[n_white] != '#') {
      shared = std::min(shared, n_white);
    }
  }
  std::string out;
  for (std::string_view line : lines) {
    const std::size_t n_white = std::min(line.find_first_not_of(white), line.size());
    const bool is_directive = n_white < line.size() && line[n_white] == '#';
    line.remove_prefix(is_directive ? n_white : std::min(n_white, shared));
    if (!line.empty() && !is_column_zero(line)) {
      out.append(static_cast<std::size_t>(n_spaces), ' ');
    }
    out += line;
    out += '\n';
  }
  return out;
}

}  // namespace op2::cg
