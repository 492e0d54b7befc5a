// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "api/leaves.hpp"
#include "api/op2.hpp"
#include "api/recorded.hpp"
#include "base/dtype.hpp"
#include "base/error.hpp"

/// What generated code hands over to make its graphs.
namespace op2::api {

/// @brief The name of a scalar type, as NumPy has it.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::float32;
  if constexpr (std::is_same_v<T, double>) return DType::float64;
  if constexpr (std::is_same_v<T, std::complex<float>>) return DType::complex64;
  if constexpr (std::is_same_v<T, std::complex<double>>) return DType::complex128;
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::int8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::int16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::int32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::int64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::uint8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::uint16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::uint32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::uint64;
}

/// @brief Values that a graph uses, as it knows them by their name.
struct GraphValues {
  std::string name;
  DType dtype;
  DataPointer data;
  bool is_input;   ///< a submit depends on what it holds before
  bool is_output;  ///< a submit changes it
};

/// @brief What a submit does, one after the other.
class GraphSteps {
 public:
  void loop(Loop loop);

  template <class T>
  void fill(const Held<T>& target, std::type_identity_t<T> value) {
    steps_.emplace_back([target, value] { std::ranges::fill(target.values(), value); });
  }

  /// @brief A copy of all values, converted to what holds them all.
  /// @throws UsageError if there are not as many.
  template <class T, class S>
  void copy(const Held<S>& source, const Held<T>& target) {
    check_as_many("copy", source.read().size(), target.read().size());
    steps_.emplace_back([source, target] { convert(source.read(), target.values()); });
  }

  /// @brief Exclusive sums: each entity gets those over all entities before it.
  /// @throws UsageError as copy().
  template <class T, int Dim>
  void scan(const Dat<T, Dim>& source, const Dat<T, Dim>& target) {
    check_as_many("scan", source.read().size(), target.read().size());
    steps_.emplace_back(
        [source, target] { op2::scan(source.read(), target.values(), std::size_t{Dim}); });
  }

  /// @brief Steps that are repeated as long as a condition holds, which is asked before each pass.
  void repeat(std::function<bool()> condition, std::int64_t most, GraphSteps steps);

  void run() const;

 private:
  static void check_as_many(const char* what, std::size_t source, std::size_t target);

  std::vector<std::function<void()>> steps_;
};

/// @brief The values of a graph that were read from its file, and what keeps them in memory.
class KeptValues {
 public:
  template <class T>
  std::span<T> next(Recorded& file, std::size_t n) {
    auto values = std::make_shared<Array<T>>(file.next<T>(n));
    const std::span<T> seen(*values);
    all_.push_back(std::move(values));
    return seen;
  }

 private:
  std::vector<std::shared_ptr<void>> all_;
};

}  // namespace op2::api

namespace op2 {

/// @brief Loops and what is between them, in an order that was checked when the graph was saved.
///
/// Copies are the same graph. Its values are those of the objects that it was made of: they can be
/// read and changed between two submits.
class Graph {
 public:
  Graph(std::string name, api::GraphSteps steps, std::vector<api::GraphValues> values);

  /// @brief Run everything, @p n times.
  /// @throws UsageError if n is not positive.
  /// @throws ExecutionError if a loop failed; what comes behind has not run then.
  void submit(std::int64_t n = 1);

  [[nodiscard]] const std::string& name() const;
  /// @brief Names of what a submit depends on.
  [[nodiscard]] std::vector<std::string> inputs() const;
  /// @brief Names of what a submit changes.
  [[nodiscard]] std::vector<std::string> outputs() const;

  /// @brief The values of this name, where they are: a Dat's entity by entity, a Mat's block by
  /// block. Those of a Const may be changed if the graph has read them from a file.
  /// @throws UsageError if the graph uses nothing of that name, or values of another type.
  template <class T>
  [[nodiscard]] std::span<T> values(std::string_view name) const {
    const auto [begin, n_bytes] = found(name, api::dtype_of<T>());
    return {static_cast<T*>(begin), n_bytes / sizeof(T)};
  }

  /// @brief Keep values that were read from a file for as long as the graph.
  void keep(api::KeptValues values);

 private:
  struct State;

  [[nodiscard]] std::pair<void*, std::size_t> found(std::string_view name, DType dtype) const;

  std::shared_ptr<State> state_;
};

}  // namespace op2
