// SPDX-License-Identifier: BSD-3-Clause
#include "cg/wrap.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace op2::cg {
namespace {

constexpr std::size_t indent_of_rest = 4;

/// How far open parentheses and quotes have brought a scan of C text.
class Nesting {
 public:
  void pass(char c) {
    if (quote_ != 0) {
      if (is_escaped_) {
        is_escaped_ = false;
      } else if (c == '\\') {
        is_escaped_ = true;
      } else if (c == quote_) {
        quote_ = 0;
      }
      return;
    }
    if (c == '"' || c == '\'') quote_ = c;
    if (c == '(' || c == '[' || c == '{') ++depth_;
    if (c == ')' || c == ']' || c == '}') --depth_;
  }
  [[nodiscard]] bool is_quoted() const { return quote_ != 0; }
  [[nodiscard]] int depth() const { return depth_; }

 private:
  char quote_ = 0;
  bool is_escaped_ = false;
  int depth_ = 0;
};

bool is_operator(std::string_view word) {
  constexpr std::string_view all[] = {"?", ":", "&&", "||", "+", "-",
                                      "|", "&", "<",  "==", "*", "/"};
  return std::ranges::find(all, word) != std::end(all);
}

/// Whether the line may end before the blank at @p at: what is before it ends there, or what is
/// behind it is an operator between two blanks.
bool may_break(std::string_view line, std::size_t at) {
  const char before = line[at - 1];
  if (before == ',' || before == ';') return true;
  if (before == '=') return at < 2 || line[at - 2] != '=';
  const std::size_t end = line.find(' ', at + 1);
  return end != std::string_view::npos && is_operator(line.substr(at + 1, end - at - 1));
}

/// Where a line ends, and where the next one goes on behind it.
struct Place {
  std::size_t end;
  std::size_t next;
};

/// Where @p line is broken: the last of the places with the fewest parentheses around them; where
/// there is none, behind the last parenthesis that opens.
std::optional<Place> place(std::string_view line, std::size_t first, std::size_t limit) {
  const bool is_comment = line.substr(first).starts_with("//");
  Nesting nesting;
  std::optional<Place> best;
  std::optional<Place> opening;
  int fewest = 0;
  for (std::size_t at = first; at < std::min(limit + 1, line.size()); ++at) {
    const bool may = at > first + indent_of_rest && !nesting.is_quoted();
    if (may && line[at] == ' ' && (is_comment || may_break(line, at)) &&
        (!best || is_comment || nesting.depth() <= fewest)) {
      best = Place{at, at + 1};
      fewest = nesting.depth();
    }
    const bool opens = may && !is_comment && line[at] == '(' && at < limit;
    if (opens && at + 1 < line.size() && line[at + 1] != ')') opening = Place{at + 1, at + 1};
    if (!is_comment) nesting.pass(line[at]);
  }
  return best ? best : opening;
}

void add_wrapped(std::string& out, std::string_view line, int n_more) {
  const auto columns = static_cast<std::size_t>(most_columns);
  std::string rest(line);
  std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
  const std::string_view code = line.substr(indent);
  const bool stays = code.starts_with('#') || code.starts_with("/*");
  const std::string prefix = code.starts_with("//") ? "// " : "";
  bool is_first = true;
  while (!stays && rest.size() + static_cast<std::size_t>(n_more) > columns) {
    const std::optional<Place> at = place(rest, indent, columns);
    if (!at) break;
    out.append(rest, 0, at->end);
    out += '\n';
    if (is_first && prefix.empty()) indent += indent_of_rest;
    is_first = false;
    rest = std::string(indent, ' ') + prefix + rest.substr(at->next);
  }
  out += rest;
  out += '\n';
}

}  // namespace

std::string wrapped(std::string_view text, int n_more) {
  const auto is_short = [n_more](std::string_view lines) {
    std::size_t begin = 0;
    for (std::size_t end = 0; begin < lines.size(); begin = end + 1) {
      end = std::min(lines.find('\n', begin), lines.size());
      if (end - begin + static_cast<std::size_t>(n_more) > most_columns) return false;
    }
    return true;
  };
  if (is_short(text)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    add_wrapped(out, text.substr(0, end), n_more);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

}  // namespace op2::cg
