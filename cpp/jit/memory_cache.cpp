// SPDX-License-Identifier: BSD-3-Clause
#include "jit/memory_cache.hpp"

#include <utility>

namespace op2::jit {

std::shared_ptr<Library> MemoryCache::find(std::string_view key) {
  const auto found = index_.find(key);
  if (found == index_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, found->second);
  return found->second->library;
}

void MemoryCache::insert(std::string key, std::shared_ptr<Library> library) {
  if (const auto found = index_.find(key); found != index_.end()) {
    found->second->library = std::move(library);
    entries_.splice(entries_.begin(), entries_, found->second);
    return;
  }
  entries_.push_front({std::move(key), std::move(library)});
  index_.emplace(entries_.front().key, entries_.begin());
  while (entries_.size() > max_entries_) {
    index_.erase(entries_.back().key);
    entries_.pop_back();
  }
}

void MemoryCache::clear() {
  index_.clear();
  entries_.clear();
}

}  // namespace op2::jit
