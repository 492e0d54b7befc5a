// SPDX-License-Identifier: BSD-3-Clause
#include "cg/schedule.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include "base/overload.hpp"

namespace op2::cg {
namespace {

using Indices = std::vector<std::size_t>;

bool is_known(const Step& step) {
  return step.effects.has_value();
}

bool overlap_any(std::span<const Location> a, std::span<const Location> b) {
  return std::ranges::any_of(a, [b](const Location& x) {
    return std::ranges::any_of(b, [&x](const Location& y) { return may_overlap(x, y); });
  });
}

bool is_fence(const Step& step, Reorder reorder) {
  if (step.role == Role::fence) return true;
  const bool moves_by_effects = reorder == Reorder::merge_fas_checked || step.role == Role::declare;
  return moves_by_effects && !is_known(step);
}

// merge_fas moves a declaration to the head of its segment: not past what its initialiser reads.
bool reads_from(const Step& declaration, std::span<const Step> steps,
                std::span<const std::size_t> segment) {
  if (declaration.effects->reads.empty()) return false;
  return std::ranges::any_of(segment, [&declaration, steps](std::size_t i) {
    const Step& earlier = steps[i];
    return earlier.role != Role::declare &&
           (!is_known(earlier) || overlap_any(declaration.effects->reads, earlier.effects->writes));
  });
}

// The dependence graph of one segment, edges always forwards.
class Dependences {
 public:
  explicit Dependences(std::size_t n) : successors_(n), n_pending_(n, 0) {}

  void add(std::size_t i, const Effects& effects) {
    for (const Location& location : effects.reads) read(i, location);
    for (const Location& location : effects.writes) write(i, location);
  }

  [[nodiscard]] bool is_ready(std::size_t i) const { return n_pending_[i] == 0; }

  // Indices that wait for nothing more once i is printed.
  [[nodiscard]] std::vector<std::size_t> release(std::size_t i) {
    std::vector<std::size_t> ready;
    for (const std::size_t j : successors_[i]) {
      if (--n_pending_[j] == 0) ready.push_back(j);
    }
    return ready;
  }

 private:
  struct History {
    std::optional<std::size_t> writer;
    std::vector<std::size_t> readers;  // since that write
  };
  struct MemoryUse {
    std::size_t step;
    Memory memory;
    bool writes;
  };

  void edge(std::size_t from, std::size_t to) {
    if (from == to) return;
    successors_[from].push_back(to);
    ++n_pending_[to];
  }

  void read(std::size_t i, const Location& location) {
    std::visit(overload{[this, i](const Variable& variable) {
                          History& history = variables_[variable.name];
                          if (history.writer) edge(*history.writer, i);
                          history.readers.push_back(i);
                        },
                        [this, i](const Memory& memory) { touch(i, memory, false); }},
               location);
  }

  void write(std::size_t i, const Location& location) {
    std::visit(overload{[this, i](const Variable& variable) {
                          History& history = variables_[variable.name];
                          if (history.writer) edge(*history.writer, i);
                          for (const std::size_t reader : history.readers) edge(reader, i);
                          history = {i, {}};
                        },
                        [this, i](const Memory& memory) { touch(i, memory, true); }},
               location);
  }

  void touch(std::size_t i, const Memory& memory, bool writes) {
    for (const MemoryUse& use : memory_) {
      if ((writes || use.writes) && may_overlap(use.memory, memory)) edge(use.step, i);
    }
    memory_.push_back({i, memory, writes});
  }

  std::vector<std::vector<std::size_t>> successors_;
  std::vector<std::size_t> n_pending_;
  std::map<std::string, History, std::less<>> variables_;
  std::vector<MemoryUse> memory_;
};

constexpr std::array merged_roles{Role::declare, Role::fetch, Role::arithm, Role::store};

std::size_t rank_of(Role role) {
  return static_cast<std::size_t>(std::ranges::find(merged_roles, role) - merged_roles.begin());
}

// Prints every ready step of one role before it goes on to the next role.
Indices merge_checked(std::span<const Step> steps, std::span<const std::size_t> segment) {
  Dependences dependences(segment.size());
  for (std::size_t i = 0; i < segment.size(); ++i) {
    dependences.add(i, *steps[segment[i]].effects);
  }
  std::array<std::set<std::size_t>, merged_roles.size()> ready;
  const auto enter = [&ready, steps, segment](std::size_t i) {
    ready[rank_of(steps[segment[i]].role)].insert(i);
  };
  for (std::size_t i = 0; i < segment.size(); ++i) {
    if (dependences.is_ready(i)) enter(i);
  }
  Indices order;
  while (order.size() < segment.size()) {
    for (std::set<std::size_t>& candidates : ready) {
      while (!candidates.empty()) {
        const std::size_t i = *candidates.begin();
        candidates.erase(candidates.begin());
        order.push_back(segment[i]);
        std::ranges::for_each(dependences.release(i), enter);
      }
    }
  }
  return order;
}

Indices merge(std::span<const Step> steps, std::span<const std::size_t> segment, Reorder reorder) {
  if (reorder == Reorder::merge_fas_checked) return merge_checked(steps, segment);
  Indices order(segment.begin(), segment.end());
  std::ranges::stable_sort(order, {}, [steps](std::size_t i) { return rank_of(steps[i].role); });
  return order;
}

}  // namespace

bool may_overlap(const Location& a, const Location& b) {
  const auto* memory_a = std::get_if<Memory>(&a);
  const auto* memory_b = std::get_if<Memory>(&b);
  if (memory_a == nullptr || memory_b == nullptr) return a == b;
  const auto differ = [](std::string_view x, std::string_view y) {
    return !x.empty() && !y.empty() && x != y;
  };
  const bool same_region = !memory_a->region.empty() && memory_a->region == memory_b->region;
  return !differ(memory_a->region, memory_b->region) &&
         !(same_region && differ(memory_a->index, memory_b->index));
}

std::vector<std::size_t> schedule(std::span<const Step> steps, Reorder reorder) {
  std::vector<std::size_t> order;
  order.reserve(steps.size());
  if (reorder == Reorder::direct) {
    order.resize(steps.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    return order;
  }
  Indices segment;
  const auto flush = [&segment, &order, steps, reorder] {
    const Indices merged = merge(steps, segment, reorder);
    order.insert(order.end(), merged.begin(), merged.end());
    segment.clear();
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const Step& step = steps[i];
    if (is_fence(step, reorder)) {
      flush();
      order.push_back(i);
      continue;
    }
    const bool moves_to_head = reorder == Reorder::merge_fas && step.role == Role::declare;
    if (moves_to_head && reads_from(step, steps, segment)) flush();
    segment.push_back(i);
  }
  flush();
  return order;
}

std::string merged_text(std::span<const Step> steps) {
  std::string text;
  for (std::size_t begin = 0; begin < steps.size();) {
    const Step& first = steps[begin];
    std::size_t end = begin + 1;
    while (first.cluster != 0 && end < steps.size() && steps[end].cluster == first.cluster) ++end;
    const auto run = steps.subspan(begin, end - begin);
    for (const std::size_t i :
         schedule(run, first.cluster == 0 ? Reorder::direct : first.reorder)) {
      text += run[i].text;
    }
    begin = end;
  }
  return text;
}

}  // namespace op2::cg
