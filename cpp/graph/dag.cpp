// SPDX-License-Identifier: BSD-3-Clause
#include "graph/dag.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <utility>

#include "base/error.hpp"

namespace op2::graph {
namespace {

constexpr std::size_t bits_a_word = 64;
constexpr std::size_t words_a_stripe = 64;
constexpr std::size_t stripe = bits_a_word * words_a_stripe;
constexpr std::size_t n_accesses = 7;  // Access counts from 1

/// Some of the nodes, `stripe` of them: all of a large graph at once would need too much memory.
using Bits = std::array<std::uint64_t, words_a_stripe>;

void include(Bits& bits, const Bits& others) {
  for (std::size_t i = 0; i < words_a_stripe; ++i) bits[i] |= others[i];
}

void include(Bits& bits, std::size_t number) {
  bits[number / bits_a_word] |= std::uint64_t{1} << (number % bits_a_word);
}

template <class F>
void for_each(const Bits& bits, const F& f) {
  for (std::size_t word = 0; word < words_a_stripe; ++word) {
    for (std::uint64_t left = bits[word]; left != 0; left &= left - 1) {
      f(word * bits_a_word + static_cast<std::size_t>(std::countr_zero(left)));
    }
  }
}

std::size_t number_of(Access access) {
  return static_cast<std::size_t>(access);
}

/// Nodes of a stripe that use one memory, by how they use it.
struct Users {
  std::array<Bits, n_accesses> nodes{};
  std::array<bool, n_accesses> has_any{};
};

void check(const std::vector<Node>& nodes) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::size_t before : nodes[i].after) {
      if (before < i) continue;
      throw UsageError(
          fmt::format("graph: node {} waits for node {}, which is not before it in "
                      "the list",
                      i, before));
    }
  }
}

/// Finds, stripe by stripe of earlier nodes, those that a later one conflicts with.
class RaceFinder {
 public:
  explicit RaceFinder(const std::vector<Node>& nodes) : nodes_(nodes) { check(nodes); }

  std::vector<Conflict> run() {
    for (std::size_t first = 0; first < nodes_.size(); first += stripe) look_at(first);
    std::ranges::sort(found_, {},
                      [](const Conflict& one) { return std::pair(one.later, one.earlier); });
    return std::move(found_);
  }

 private:
  void look_at(std::size_t first) {
    std::vector<Bits> ancestors(nodes_.size() - first, Bits{});
    std::map<int, Users> users;
    for (std::size_t i = first; i < nodes_.size(); ++i) {
      Bits& own = ancestors[i - first];
      for (const std::size_t before : nodes_[i].after) {
        if (before < first) continue;
        include(own, ancestors[before - first]);
        if (before < first + stripe) include(own, before - first);
      }
      Bits reported{};
      for (const Use& use : nodes_[i].uses) {
        const auto known = users.find(use.memory);
        if (known != users.end()) report(first, i, use, known->second, own, reported);
      }
      if (i >= first + stripe) continue;
      for (const Use& use : nodes_[i].uses) {
        Users& known = users[use.memory];
        include(known.nodes[number_of(use.access)], i - first);
        known.has_any[number_of(use.access)] = true;
      }
    }
  }

  void report(std::size_t first, std::size_t later, const Use& use, const Users& users,
              const Bits& ancestors, Bits& reported) {
    for (std::size_t access = 1; access < n_accesses; ++access) {
      if (!users.has_any[access] || !conflicts(static_cast<Access>(access), use.access)) continue;
      const Bits& nodes = users.nodes[access];
      Bits unordered;  // written below
      std::uint64_t any = 0;
      for (std::size_t i = 0; i < words_a_stripe; ++i) {
        unordered[i] = nodes[i] & ~ancestors[i] & ~reported[i];
        any |= unordered[i];
      }
      if (any == 0) continue;
      include(reported, unordered);
      for_each(unordered, [&](std::size_t number) {
        found_.push_back({first + number, later, use.memory});
      });
    }
  }

  const std::vector<Node>& nodes_;
  std::vector<Conflict> found_;
};

/// Who used one memory last: enough to order whoever uses it next.
struct LastUsers {
  std::vector<std::size_t> before;  ///< those that `group` waits for
  std::vector<std::size_t> group;   ///< those that may change places with each other
  Access access = Access::read;     ///< of the group
};

void add_unique(std::vector<std::size_t>& list, const std::vector<std::size_t>& more) {
  for (const std::size_t one : more) {
    if (std::ranges::find(list, one) == list.end()) list.push_back(one);
  }
}

}  // namespace

bool conflicts(Access left, Access right) {
  if (left == Access::read && right == Access::read) return false;
  return left != right || !is_reduction(left);
}

std::vector<Conflict> races(const std::vector<Node>& nodes) {
  return RaceFinder(nodes).run();
}

std::vector<std::vector<std::size_t>> dependences(const std::vector<Node>& nodes) {
  check(nodes);
  std::vector<std::vector<std::size_t>> edges;
  std::map<int, LastUsers> last;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    std::vector<std::size_t> own = nodes[i].after;
    std::map<int, Access> joined;  // a node that reads and adds to the same values writes them
    for (const Use& use : nodes[i].uses) {
      const auto [at, is_new] = joined.try_emplace(use.memory, use.access);
      if (!is_new && at->second != use.access) at->second = Access::rw;
    }
    for (const auto& [memory, access] : joined) {
      LastUsers& users = last[memory];
      if (users.group.empty() || conflicts(users.access, access)) {
        users.before = std::move(users.group);
        users.group.clear();
        users.access = access;
      }
      add_unique(own, users.before);
      users.group.push_back(i);
    }
    std::ranges::sort(own);
    edges.push_back(std::move(own));
  }
  return edges;
}

std::vector<std::size_t> levels(const std::vector<Node>& nodes) {
  check(nodes);
  std::vector<std::size_t> out(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const std::size_t before : nodes[i].after) out[i] = std::max(out[i], out[before] + 1);
  }
  return out;
}

}  // namespace op2::graph
