// SPDX-License-Identifier: BSD-3-Clause
#include "move/ckernel.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

namespace op2::move {
namespace {

constexpr std::size_t n_on_stack = 4096;
constexpr std::size_t scratch_alignment = 64;

/// Scratch of a thread for trees with large buffers. A kernel may run another tree: it finds none.
thread_local std::vector<char> arena;

template <class Call>
std::int64_t with_scratch(std::size_t n_bytes, const Call& call) {
  if (n_bytes <= n_on_stack) {
    alignas(scratch_alignment) std::array<char, n_on_stack> frame;  // NOLINT: undefined at first
    return call(frame.data());
  }
  std::vector<char> mine;
  mine.swap(arena);
  if (mine.size() < n_bytes + scratch_alignment) mine.resize(n_bytes + scratch_alignment);
  void* begin = mine.data();
  std::size_t n_room = mine.size();
  std::align(scratch_alignment, n_bytes, begin, n_room);
  const std::int64_t found = call(static_cast<char*>(begin));
  mine.swap(arena);
  return found;
}

}  // namespace

Builder::Builder(Grow grow) : grow_(grow) {
  if (grow_ != nullptr) return;
  memory_ = inside_.data();
  capacity_ = n_inline;
}

Builder::~Builder() {
  if (memory_ == nullptr) return;
  auto* const root = at<Prefix>(0);
  if (root->destroy != nullptr) root->destroy(root);
  if (!is_inside()) std::free(memory_);
}

void Builder::ensure_capacity_leaf(std::size_t end) {
  if (end <= capacity_) return;
  const std::size_t n_new = grow_ != nullptr ? end : std::max(end, 2 * capacity_);
  void* larger = nullptr;
  if (grow_ != nullptr) {
    larger = grow_(memory_, capacity_, n_new);
  } else if (is_inside()) {
    larger = std::malloc(n_new);
    if (larger != nullptr) std::memcpy(larger, memory_, capacity_);
  } else {
    larger = std::realloc(memory_, n_new);
  }
  if (larger == nullptr) throw std::bad_alloc();  // the old memory is still whole
  memory_ = static_cast<char*>(larger);
  std::memset(memory_ + capacity_, 0, n_new - capacity_);
  capacity_ = n_new;
}

std::size_t Builder::claim_scratch(std::size_t n_bytes) {
  const std::size_t begin = n_scratch_;
  n_scratch_ += (n_bytes + scratch_alignment - 1) / scratch_alignment * scratch_alignment;
  return begin;
}

std::int64_t Tree::run(const Items& items) const {
  return with_scratch(n_scratch(),
                      [&](char* scratch) { return call(builder_.root(), items, scratch); });
}

std::int64_t Tree::run(const Items& items, std::int64_t n) const {
  return with_scratch(n_scratch(),
                      [&](char* scratch) { return call(builder_.root(), items, n, scratch); });
}

std::int64_t Tree::run(const Items& items, const Lists& lists, std::int64_t n) const {
  return with_scratch(
      n_scratch(), [&](char* scratch) { return call(builder_.root(), items, lists, n, scratch); });
}

}  // namespace op2::move
