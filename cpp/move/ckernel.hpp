// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

/// Kernels for moving values: trees of small functions in a single block of memory.
///
/// A kernel begins with a Prefix; data and children follow. Factories take a builder, the
/// offset of the kernel, facts and a request, and return the offset behind the kernel. A finished
/// tree is constant: many threads may call it, each with own scratch.
namespace op2::move {

/// @brief The form of a parent's calls.
enum class Request : std::uint8_t {
  single,   ///< an item
  strided,  ///< items at equal distances
  indexed,  ///< items at the places of lists
};

/// @brief Result of a call: every item fits. Any other result is the number of the first unfit
/// item, and then nothing behind the item's block was written.
inline constexpr std::int64_t all_fit = -1;

inline constexpr std::size_t most_sources = 3;

/// @brief Items converted at a time by kernels with a buffer.
inline constexpr std::int64_t items_at_once = 256;

/// @brief The beginning of each kernel. All zero: nothing to call, nothing to free.
struct Prefix {
  void* function;  ///< a Single, a Strided or an Indexed, as requested
  void (*destroy)(
      Prefix* self);  ///< frees resources of the kernel and of the children; may be null
};

/// @brief Where the items of a call are: distances in bytes.
struct Items {
  char* to = nullptr;
  std::int64_t to_stride = 0;
  std::array<const char*, most_sources> from{};
  std::array<std::int64_t, most_sources> from_stride{};

  /// @brief The items from the i-th on.
  [[nodiscard]] Items behind(std::int64_t i) const {
    Items found = *this;
    found.to += i * to_stride;
    for (std::size_t k = 0; k < most_sources; ++k) found.from[k] += i * from_stride[k];
    return found;
  }
};

/// @brief Rows of the items of a call; null: in order.
struct Lists {
  const std::int64_t* to = nullptr;
  const std::int64_t* from = nullptr;  ///< of all sources

  [[nodiscard]] Lists behind(std::int64_t i) const {
    return {to == nullptr ? to : to + i, from == nullptr ? from : from + i};
  }
  /// @brief The i-th item of a call.
  [[nodiscard]] Items at(const Items& items, std::int64_t i) const {
    Items found = items;
    found.to += (to == nullptr ? i : to[i]) * items.to_stride;
    const std::int64_t row = from == nullptr ? i : from[i];
    for (std::size_t k = 0; k < most_sources; ++k) found.from[k] += row * items.from_stride[k];
    return found;
  }
};

using Single = std::int64_t (*)(const Prefix* self, const Items& items, char* scratch);
using Strided = std::int64_t (*)(const Prefix* self, const Items& items, std::int64_t n,
                                 char* scratch);
using Indexed = std::int64_t (*)(const Prefix* self, const Items& items, const Lists& lists,
                                 std::int64_t n, char* scratch);

inline std::int64_t call(const Prefix* self, const Items& items, char* scratch) {
  return reinterpret_cast<Single>(self->function)(self, items, scratch);
}
inline std::int64_t call(const Prefix* self, const Items& items, std::int64_t n, char* scratch) {
  return reinterpret_cast<Strided>(self->function)(self, items, n, scratch);
}
inline std::int64_t call(const Prefix* self, const Items& items, const Lists& lists, std::int64_t n,
                         char* scratch) {
  return reinterpret_cast<Indexed>(self->function)(self, items, lists, n, scratch);
}

/// @brief Memory outside of the tree: a bare pointer could lead into the tree, and the tree may
/// move.
template <class T>
struct Outside {
  T* pointer;
};

namespace fields {

struct Any {
  template <class T>
  operator T() const;  // to count fields: never called
};

template <class Field>
inline constexpr bool may_move =
    !std::is_pointer_v<Field> || std::is_function_v<std::remove_pointer_t<Field>>;
template <class... Field>
using NoPointers = std::bool_constant<(may_move<Field> && ...)>;

/// Look at the fields of an aggregate; more than eight are not looked at, and refused.
template <class T>
auto looked_at(T& kernel) {
  constexpr Any x;
  // the most fields first: fewer are enough to initialise, too
  if constexpr (requires { T{x, x, x, x, x, x, x, x, x}; }) {
    return std::false_type{};
  } else if constexpr (requires { T{x, x, x, x, x, x, x, x}; }) {
    auto& [a, b, c, d, e, f, g, h] = kernel;
    return NoPointers<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e), decltype(f),
                      decltype(g), decltype(h)>{};
  } else if constexpr (requires { T{x, x, x, x, x, x, x}; }) {
    auto& [a, b, c, d, e, f, g] = kernel;
    return NoPointers<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e), decltype(f),
                      decltype(g)>{};
  } else if constexpr (requires { T{x, x, x, x, x, x}; }) {
    auto& [a, b, c, d, e, f] = kernel;
    return NoPointers<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e),
                      decltype(f)>{};
  } else if constexpr (requires { T{x, x, x, x, x}; }) {
    auto& [a, b, c, d, e] = kernel;
    return NoPointers<decltype(a), decltype(b), decltype(c), decltype(d), decltype(e)>{};
  } else if constexpr (requires { T{x, x, x, x}; }) {
    auto& [a, b, c, d] = kernel;
    return NoPointers<decltype(a), decltype(b), decltype(c), decltype(d)>{};
  } else if constexpr (requires { T{x, x, x}; }) {
    auto& [a, b, c] = kernel;
    return NoPointers<decltype(a), decltype(b), decltype(c)>{};
  } else if constexpr (requires { T{x, x}; }) {
    auto& [a, b] = kernel;
    return NoPointers<decltype(a), decltype(b)>{};
  } else {
    auto& [a] = kernel;
    return NoPointers<decltype(a)>{};
  }
}

}  // namespace fields

/// @brief Data that may be moved by memcpy: no field is a pointer to data, for the data could be
/// another field; memory elsewhere is named by Outside, other fields by offsets.
template <class T>
concept Relocatable = std::is_same_v<T, Prefix> ||
    (std::is_trivially_copyable_v<T>&& std::is_standard_layout_v<T>&& std::is_aggregate_v<T> &&
     alignof(T) <= alignof(std::max_align_t) &&
     decltype(fields::looked_at(std::declval<T&>()))::value);

/// @brief Memory of a tree under construction: zeros at first, the beginning inside the builder,
/// so small trees need no heap.
///
/// Pointers into the memory are good until the next request for capacity. At each moment the
/// destructor frees the resources of all kernels built so far.
class Builder {
 public:
  /// @brief Moves memory, as realloc, for @p n_old bytes; null at first.
  using Grow = void* (*)(void* old, std::size_t n_old, std::size_t n_new);
  static constexpr std::size_t n_inline = 512;

  /// @param[in] grow For tests: then each request moves the memory, and none is inside.
  explicit Builder(Grow grow = nullptr);
  ~Builder();
  Builder(const Builder&) = delete;
  Builder& operator=(const Builder&) = delete;

  /// @brief Have @p end bytes, and behind them the prefix of a child.
  void ensure_capacity(std::size_t end) { ensure_capacity_leaf(end + sizeof(Prefix)); }
  /// @brief Have @p end bytes. @throws std::bad_alloc
  void ensure_capacity_leaf(std::size_t end);

  template <Relocatable T>
  [[nodiscard]] T* at(std::size_t offset) {
    return reinterpret_cast<T*>(memory_ + offset);
  }

  /// @brief Have bytes of the caller's scratch during calls; returns their offset.
  [[nodiscard]] std::size_t claim_scratch(std::size_t n_bytes);
  [[nodiscard]] std::size_t n_scratch() const { return n_scratch_; }
  [[nodiscard]] const Prefix* root() const { return reinterpret_cast<const Prefix*>(memory_); }
  [[nodiscard]] bool is_inside() const { return memory_ == inside_.data(); }

  /// @brief Keep a line for each kernel, for users. Without it nothing is formatted.
  void keep_notes() { keeps_notes_ = true; }
  [[nodiscard]] const std::string& notes() const { return notes_; }
  template <class... Args>
  void note(fmt::format_for<sizeof...(Args)> words, const Args&... args) {
    if (!keeps_notes_) return;
    notes_.append(2 * depth_, ' ');
    notes_ += fmt::format(words, args...);
    notes_ += '\n';
  }
  void enter() { ++depth_; }
  void leave() { --depth_; }

 private:
  alignas(std::max_align_t) std::array<char, n_inline> inside_{};
  Grow grow_;
  char* memory_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t n_scratch_ = 0;
  bool keeps_notes_ = false;
  std::size_t depth_ = 0;
  std::string notes_;
};

/// @brief A finished tree: constant, called by any number of threads.
class Tree {
 public:
  /// @param[in] make Called with a builder, the offset of the root, and @p request.
  template <class Make>
  Tree(Request request, const Make& make, bool keeps_notes = false) {
    if (keeps_notes) builder_.keep_notes();
    builder_.ensure_capacity_leaf(sizeof(Prefix));
    make(builder_, std::size_t{0}, request);
  }

  /// @brief Call the root, with scratch on the stack, or of the thread if large.
  [[nodiscard]] std::int64_t run(const Items& items) const;
  [[nodiscard]] std::int64_t run(const Items& items, std::int64_t n) const;
  [[nodiscard]] std::int64_t run(const Items& items, const Lists& lists, std::int64_t n) const;

  [[nodiscard]] const std::string& notes() const { return builder_.notes(); }
  [[nodiscard]] std::size_t n_scratch() const { return builder_.n_scratch(); }
  [[nodiscard]] bool is_inside() const { return builder_.is_inside(); }

 private:
  Builder builder_;
};

}  // namespace op2::move
