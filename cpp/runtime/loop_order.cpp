// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/loop_order.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "graph/dag.hpp"
#include "mesh/buffer.hpp"

namespace op2::runtime {
namespace {

// Ancestors of all loops are held at once: 2 MB.
constexpr std::size_t most_loops = 4096;

/// A number for each Buffer; equal ones for those whose memory on the host overlaps.
std::map<const mesh::Buffer*, int> numbers_of(const std::vector<LoopKernel>& loops) {
  std::map<const mesh::Buffer*, int> numbers;
  for (const LoopKernel& loop : loops) {
    for (const mesh::BufferUse& use : loop->uses()) numbers[use.buffer] = 0;
  }
  std::vector<std::pair<const std::byte*, const mesh::Buffer*>> begins;
  for (const auto& [buffer, number] : numbers) {
    begins.emplace_back(static_cast<const std::byte*>(buffer->data()), buffer);
  }
  std::ranges::sort(begins, [](const auto& left, const auto& right) {
    return std::less<>{}(left.first, right.first);
  });
  int number = 0;
  const std::byte* end = nullptr;
  for (const auto& [begin, buffer] : begins) {
    if (end == nullptr || begin == nullptr || !std::less<>{}(begin, end)) ++number;
    numbers[buffer] = number;
    const std::byte* own = begin + buffer->n_bytes();
    if (end == nullptr || std::less<>{}(end, own)) end = own;
  }
  return numbers;
}

std::vector<graph::Node> nodes_of(const std::vector<LoopKernel>& loops,
                                  const std::vector<std::vector<std::size_t>>& after) {
  const std::map<const mesh::Buffer*, int> numbers = numbers_of(loops);
  std::map<const GraphTask*, int> own;  // scratch memory, below the numbers of Buffers
  std::vector<graph::Node> nodes;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    graph::Node node{after[i], {}};
    const auto [scratch, is_new] = own.try_emplace(loops[i].get(), -static_cast<int>(own.size()));
    node.uses.push_back({scratch->second, Access::rw});
    for (const mesh::BufferUse& use : loops[i]->uses()) {
      const Access access = use.use == mesh::Use::read ? Access::read : Access::rw;
      node.uses.push_back({numbers.at(use.buffer), access});
    }
    nodes.push_back(std::move(node));
  }
  return nodes;
}

/// Leave out what follows from others.
void reduce(std::vector<std::vector<std::size_t>>& order) {
  std::vector<std::vector<bool>> ancestors;
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<bool> own(i, false);
    std::vector<std::size_t> needed;
    for (std::size_t k = order[i].size(); k-- > 0;) {  // descending: the nearest first
      const std::size_t before = order[i][k];
      if (own[before]) continue;
      needed.push_back(before);
      own[before] = true;
      for (std::size_t j = 0; j < before; ++j) own[j] = own[j] || ancestors[before][j];
    }
    std::ranges::reverse(needed);
    order[i] = std::move(needed);
    ancestors.push_back(std::move(own));
  }
}

}  // namespace

std::vector<std::vector<std::size_t>> order_of(const std::vector<LoopKernel>& loops,
                                               const std::vector<std::vector<std::size_t>>& after) {
  if (loops.size() > most_loops) return {};
  std::vector<std::vector<std::size_t>> order = graph::dependences(nodes_of(loops, after));
  reduce(order);
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (order[i] != std::vector<std::size_t>{i - 1}) return order;
  }
  return {};
}

}  // namespace op2::runtime
