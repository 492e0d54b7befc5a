// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace op2::plan {

/// @brief For each target the set of colours of its items. Unlimited colours.
///
/// Colours below 64 are a bit mask a target, enough for a mesh with a sensible numbering. Further
/// words of 64 colours hang off a target in a list. So they cost neither memory nor time where
/// unused, and nothing is ever swept again for more colours.
class ColourSets {
 public:
  explicit ColourSets(std::int64_t n_targets) : first_(static_cast<std::size_t>(n_targets), 0) {}

  /// @brief Give the next item the lowest colour not yet seen by its targets.
  /// @param[in] visit visit(f) calls f(target) for each target of the item; targets may repeat.
  /// @param[in] least The lowest possible colour.
  /// @return The colour; @p least for an item without targets.
  template <class Visit>
  std::int64_t take_lowest(const Visit& visit, std::int64_t least = 0) {
    if (least >= 64) return take_beyond_first(visit, least);
    std::uint64_t busy = (std::uint64_t{1} << least) - 1;
    visit([this, &busy](std::int64_t target) { busy |= first(target); });
    if (~busy == 0) return take_beyond_first(visit, 64);
    const int colour = std::countr_one(busy);
    const std::uint64_t bit = std::uint64_t{1} << colour;
    visit([this, bit](std::int64_t target) { first(target) |= bit; });
    return colour;
  }

  /// @brief Colours below 64 seen by @p target.
  [[nodiscard]] std::uint64_t& first(std::int64_t target) {
    return first_[static_cast<std::size_t>(target)];
  }
  [[nodiscard]] std::uint64_t first(std::int64_t target) const {
    return first_[static_cast<std::size_t>(target)];
  }

  /// @brief How many colours @p target has seen.
  [[nodiscard]] std::int64_t n_seen(std::int64_t target) const {
    std::int64_t n = std::popcount(first(target));
    if (head_.empty()) return n;
    for (std::int64_t i = head_[at(target)]; i != nothing; i = words_[at(i)].next) {
      n += std::popcount(words_[at(i)].mask);
    }
    return n;
  }

 private:
  static constexpr std::int64_t nothing = -1;

  struct Word {
    std::int64_t index;  // colours [64 index, 64 index + 64)
    std::int64_t next;   // of the same target, in words_
    std::uint64_t mask;
  };

  template <class Visit>
  std::int64_t take_beyond_first(const Visit& visit, std::int64_t least) {
    if (head_.empty()) head_.assign(first_.size(), nothing);
    busy_.assign(busy_.size(), 0);
    visit([this](std::int64_t target) {
      for (std::int64_t i = head_[at(target)]; i != nothing; i = words_[at(i)].next) {
        busy_[at(words_[at(i)].index)] |= words_[at(i)].mask;
      }
    });
    std::int64_t index = least / 64;
    if (at(index) >= busy_.size()) busy_.resize(at(index) + 1, 0);
    busy_[at(index)] |= (std::uint64_t{1} << least % 64) - 1;
    while (at(index) < busy_.size() && ~busy_[at(index)] == 0) ++index;
    if (at(index) >= busy_.size()) busy_.resize(at(index) + 1, 0);
    const int colour = std::countr_one(busy_[at(index)]);
    const std::uint64_t bit = std::uint64_t{1} << colour;
    visit([this, index, bit](std::int64_t target) { word(target, index).mask |= bit; });
    return 64 * index + colour;
  }

  /// The word @p index of @p target, made if missing.
  Word& word(std::int64_t target, std::int64_t index) {
    std::int64_t i = head_[at(target)];
    while (i != nothing && words_[at(i)].index != index) i = words_[at(i)].next;
    if (i != nothing) return words_[at(i)];
    words_.push_back(Word{index, head_[at(target)], 0});
    head_[at(target)] = static_cast<std::int64_t>(words_.size()) - 1;
    return words_.back();
  }

  static std::size_t at(std::int64_t index) { return static_cast<std::size_t>(index); }

  std::vector<std::uint64_t> first_;  // [n_targets] colours [0, 64)
  std::vector<std::int64_t> head_;    // [n_targets] list of further words; empty until needed
  std::vector<Word> words_;
  std::vector<std::uint64_t> busy_;  // [words in use] scratch of take_beyond_first
};

}  // namespace op2::plan
