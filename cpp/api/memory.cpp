// SPDX-License-Identifier: BSD-3-Clause
#include "api/memory.hpp"

#include <sys/mman.h>

namespace op2::api {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t page_bytes = std::size_t{2} << 20;  // of a large page

/// NumPy's limit: below it the memory at the ends of large pages is too much.
constexpr std::size_t least_bytes = std::size_t{4} << 20;

/// More than any process can address.
constexpr std::size_t most_bytes = std::size_t{1} << 60;

std::align_val_t alignment_of(std::size_t n_bytes) {
  return std::align_val_t{n_bytes < least_bytes ? line_bytes : page_bytes};
}

}  // namespace

void* allocated(std::size_t n_bytes) {
  if (n_bytes > most_bytes) throw std::bad_alloc();
  void* memory = ::operator new(n_bytes, alignment_of(n_bytes));
  // a wish: systems without large pages say no, and nothing else is different
  if (n_bytes >= least_bytes) (void)madvise(memory, n_bytes, MADV_HUGEPAGE);
  return memory;
}

void deallocate(void* memory, std::size_t n_bytes) noexcept {
  ::operator delete(memory, alignment_of(n_bytes));
}

}  // namespace op2::api
