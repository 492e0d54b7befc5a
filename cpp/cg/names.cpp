// SPDX-License-Identifier: BSD-3-Clause
#include "cg/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "base/error.hpp"

namespace op2::cg {
namespace {

// ASCII on purpose: the answer may not depend on the locale.
bool starts_identifier(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool continues_identifier(char c) {
  return starts_identifier(c) || (c >= '0' && c <= '9');
}

// Words, numbers and single characters; white space and comments to the end of a line are dropped.
std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i + 1;
    if (text.substr(i).starts_with("//")) {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (continues_identifier(text[i])) {
      while (end < text.size() && continues_identifier(text[end])) ++end;
    }
    if (std::string_view(" \t\r\n").find(text[i]) == std::string_view::npos) {
      tokens.push_back(text.substr(i, end - i));
    }
    i = end;
  }
  return tokens;
}

}  // namespace

bool is_identifier(std::string_view text) {
  return !text.empty() && starts_identifier(text.front()) &&
         std::ranges::all_of(text, continues_identifier);
}

std::vector<std::string> identifiers_in(std::string_view text) {
  std::vector<std::string> names;
  for (const std::string_view token : tokens_of(text)) {
    if (is_identifier(token)) names.emplace_back(token);
  }
  return names;
}

std::vector<std::string> declared_in(std::string_view header) {
  std::vector<std::string> names;
  bool after_type = false;
  for (const std::string_view token : tokens_of(header)) {
    if (is_identifier(token)) {
      if (after_type) names.emplace_back(token);
      after_type = true;
    } else if (token != "*") {
      after_type = false;
    }
  }
  return names;
}

std::string function_name(std::string_view header) {
  // The parameter list is the last parenthesised group at the top level: attributes come before.
  int depth = 0;
  std::string_view before;
  std::string_view name;
  for (const std::string_view token : tokens_of(header)) {
    if (token == "(" && depth++ == 0) name = before;
    if (token == ")") --depth;
    if (depth == 0) before = token;
  }
  if (!is_identifier(name) || depth != 0) {
    throw UsageError(
        fmt::format("function: expected a header like 'void f(int n)', got '{}'; pass the return "
                    "type, name and parameters without the body",
                    header));
  }
  return std::string(name);
}

}  // namespace op2::cg
