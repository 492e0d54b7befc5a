// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "jit/library.hpp"

namespace op2::jit {

/// @brief The most recently used libraries, by full key. Not safe to share without a lock.
class MemoryCache {
 public:
  explicit MemoryCache(std::size_t max_entries) : max_entries_(max_entries) {}

  /// @brief The library of @p key, which becomes the most recently used; null if there is none.
  [[nodiscard]] std::shared_ptr<Library> find(std::string_view key);
  /// @brief Remember @p library, forgetting the least recently used beyond the bound.
  void insert(std::string key, std::shared_ptr<Library> library);
  void clear();
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    std::shared_ptr<Library> library;
  };
  std::size_t max_entries_;
  std::list<Entry> entries_;  // most recently used first
  // Views of the keys in entries_, whose nodes do not move.
  std::unordered_map<std::string_view, std::list<Entry>::iterator> index_;
};

}  // namespace op2::jit
