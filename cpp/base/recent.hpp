// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace op2 {

/// @brief The most recently used values, by a key. Not safe to share without a lock.
///
/// Beyond the bound, the least recently used values are forgotten first; a single value heavier
/// than the bound is not kept.
template <class Value>
class Recent {
 public:
  using Weight = std::size_t (*)(const Value&);

  /// @param[in] most Sum of the weights of all values.
  /// @param[in] weight Of a value; as a rule each weighs 1.
  explicit Recent(
      std::size_t most, Weight weight = [](const Value&) { return std::size_t{1}; })
      : most_(most), weight_(weight) {}
  Recent(const Recent&) = delete;
  Recent& operator=(const Recent&) = delete;
  ~Recent() = default;

  /// @brief The value of @p key, now the most recently used; null if there is none. Valid
  /// until the next call of insert() or clear().
  [[nodiscard]] Value* find(std::string_view key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->value;
  }

  /// @brief Remember @p value, in place of an older value of @p key.
  void insert(std::string key, Value value) {
    if (Value* known = find(key)) {
      total_ -= weight_(*known);
      *known = std::move(value);
    } else {
      entries_.push_front({std::move(key), std::move(value)});
      index_.emplace(entries_.front().key, entries_.begin());
    }
    total_ += weight_(entries_.front().value);
    while (total_ > most_) {
      total_ -= weight_(entries_.back().value);
      index_.erase(entries_.back().key);
      entries_.pop_back();
    }
  }

  void clear() {
    index_.clear();
    entries_.clear();
    total_ = 0;
  }

  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    std::string key;
    Value value;
  };
  std::size_t most_;
  Weight weight_;
  std::size_t total_ = 0;
  std::list<Entry> entries_;  // most recently used first
  // Views of the keys in entries_, whose nodes do not move.
  std::unordered_map<std::string_view, typename std::list<Entry>::iterator> index_;
};

}  // namespace op2
