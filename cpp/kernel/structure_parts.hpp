// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernel/body.hpp"
#include "kernel/fresh_names.hpp"

/// What structures are made of; for kernel_structures.cpp alone.
namespace op2::kernel::structures {

/// What is used as a whole, and where.
struct Whole {
  std::string why;
  int line = 0;  // of the kernel; 0: of no line in particular
};

/// Run what may throw Whole, and say that it is at @p line unless something inside knows better.
template <class Run>
void at_line(int line, const Run& run) {
  try {
    run();
  } catch (Whole& whole) {
    if (whole.line == 0) whole.line = line;
    throw;
  }
}

using Path = std::vector<std::string>;  // members, the outer one first

/// A member that is no structure itself, as a variable of its own.
struct Part {
  Path path;
  Type type;
};

inline bool is_of_structures(const Type& type) {
  return type.base == Base::structure;
}
inline bool is_of_structures(const Expr& expr) {
  return is_of_structures(expr.type);
}
inline bool is_structure(const Type& type) {
  return is_of_structures(type) && type.derivation.empty();
}

class Parts {
 public:
  explicit Parts(const KernelBody& body) : body_(body) {}

  /// All that a variable of @p type becomes.
  [[nodiscard]] std::vector<Part> of(const Type& type) const {
    std::vector<Part> parts;
    Path path;
    std::set<std::string> outer;
    collect(type, path, outer, parts);
    return parts;
  }

  [[nodiscard]] std::int64_t n_bytes(const Type& type) const { return layout(type).first; }

 private:
  void collect(const Type& type, Path& path, std::set<std::string>& outer,
               std::vector<Part>& parts) const {
    if (!is_of_structures(type)) return parts.push_back({path, type});
    if (!outer.insert(type.tag).second) {
      throw Whole{fmt::format("a 'struct {}' points to its own kind", type.tag)};
    }
    for (const Parameter& member : body_.structure(type.tag)->members) {
      path.push_back(member.name);
      collect(within(type, member.type), path, outer, parts);
      path.pop_back();
    }
    outer.erase(type.tag);
  }

  /// Of a member behind the arrays and pointers of the structure that it is in.
  static Type within(const Type& structure, Type member) {
    if (structure.is_const && member.is_pointer()) member.derivation.front().is_const = true;
    if (structure.is_const && !member.is_pointer()) member.is_const = true;
    member.derivation.insert(member.derivation.begin(), structure.derivation.begin(),
                             structure.derivation.end());
    return member;
  }

  /// Bytes and alignment, by the rules of every host there is.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> layout(const Type& type) const {
    if (type.is_pointer()) return {8, 8};
    if (type.is_array()) {
      const auto [size, alignment] = layout(element_of(type));
      return {size * type.derivation.front().extent, alignment};
    }
    if (!is_of_structures(type)) {
      const auto dtype = dtype_of(type.base);
      const std::int64_t size = dtype ? static_cast<std::int64_t>(size_of(*dtype)) : 1;
      return {size, is_complex(type.base) ? size / 2 : size};
    }
    std::int64_t end = 0;
    std::int64_t widest = 1;
    const auto rounded = [](std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; };
    for (const Parameter& member : body_.structure(type.tag)->members) {
      const auto [size, alignment] = layout(member.type);
      end = rounded(end, alignment) + size;
      widest = std::max(widest, alignment);
    }
    return {rounded(end, widest), widest};
  }

  const KernelBody& body_;
};

/// Names that are not taken, the same one whenever the same part is asked for.
class PartNames {
 public:
  explicit PartNames(const KernelBody& body) : fresh_(body) {}

  std::string of(const std::string& variable, const Path& path) {
    const auto known = names_.find({variable, path});
    if (known != names_.end()) return known->second;
    return names_[{variable, path}] = take(fmt::format("{}_{}", variable, fmt::join(path, "_")));
  }

  std::string take(std::string wanted) { return fresh_.take(std::move(wanted)); }

 private:
  FreshNames fresh_;
  std::map<std::pair<std::string, Path>, std::string> names_;
};

}  // namespace op2::kernel::structures
