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
#include "base/access.hpp"
#include "base/dtype.hpp"
#include "base/error.hpp"
#include "base/half.hpp"

/// The input from generated code for graphs.
namespace op2::api {

/// @brief NumPy's name of a scalar type.
template <class T>
constexpr DType dtype_of() {
  if constexpr (std::is_same_v<T, float>) return DType::float32;
  if constexpr (std::is_same_v<T, double>) return DType::float64;
  if constexpr (std::is_same_v<T, std::complex<float>>) return DType::complex64;
  if constexpr (std::is_same_v<T, std::complex<double>>) return DType::complex128;
  if constexpr (std::is_same_v<T, Float16>) return DType::float16;
  if constexpr (std::is_same_v<T, Bfloat16>) return DType::bfloat16;
  if constexpr (std::is_same_v<T, std::int8_t>) return DType::int8;
  if constexpr (std::is_same_v<T, std::int16_t>) return DType::int16;
  if constexpr (std::is_same_v<T, std::int32_t>) return DType::int32;
  if constexpr (std::is_same_v<T, std::int64_t>) return DType::int64;
  if constexpr (std::is_same_v<T, std::uint8_t>) return DType::uint8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return DType::uint16;
  if constexpr (std::is_same_v<T, std::uint32_t>) return DType::uint32;
  if constexpr (std::is_same_v<T, std::uint64_t>) return DType::uint64;
}

/// @brief Values used by a graph, known there by name.
struct GraphValues {
  std::string name;
  DType dtype;
  DataPointer data;
  bool is_input;   ///< a submit depends on the values before
  bool is_output;  ///< a submit changes the values
};

/// @brief The actions of a submit, in sequence.
class GraphSteps {
 public:
  void loop(Loop loop);
  /// @brief All steps of others.
  void add(const GraphSteps& others);

  template <class T>
  void fill(const Held<T>& target, std::type_identity_t<T> value) {
    steps_.emplace_back([target, value] { std::ranges::fill(target.values(), value); });
  }

  /// @brief A copy of all values, converted to the type of the target.
  /// @throws UsageError for different numbers of values.
  template <class T, class S>
  void copy(const Held<S>& source, const Held<T>& target) {
    check_as_many("copy", source.read().size(), target.read().size());
    steps_.emplace_back([source, target] { convert(source.read(), target.values()); });
  }

  /// @brief Sums, minima or maxima over all entities before each, see op2::scan().
  /// @throws UsageError as copy(), for another operation, and for an order of complex numbers.
  template <class S, class T, int Dim>
  void scan(const Dat<S, Dim>& source, const Dat<T, Dim>& target, Access operation = Access::inc,
            bool inclusive = false) {
    check_as_many("scan", source.read().size(), target.read().size());
    leaves::check_scanned<T>("graph: scan", operation);
    steps_.emplace_back([source, target, operation, inclusive] {
      constexpr auto dim = static_cast<std::size_t>(Dim);
      const std::span<T> values = target.values();
      if constexpr (std::is_same_v<S, T>) {
        op2::scan(source.read(), values, dim, operation, inclusive);
      } else {
        convert(source.read(), values);
        op2::scan(values, values, dim, operation, inclusive);
      }
    });
  }

  /// @brief Steps repeated while a condition holds, checked before each pass.
  void repeat(std::function<bool()> condition, std::int64_t most, GraphSteps steps);

  void run() const;

 private:
  static void check_as_many(const char* what, std::size_t source, std::size_t target);

  std::vector<std::function<void()>> steps_;
};

/// @brief The values of a graph read from its file, and the owner of their memory.
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

/// @brief Loops and the actions between them, in an order checked when the graph was saved.
///
/// Copies are the same graph. The values are those of the graph's objects, to be read and changed
/// between two submits.
class Graph {
 public:
  Graph(std::string name, api::GraphSteps steps, std::vector<api::GraphValues> values);

  /// @brief Run everything, @p n times.
  /// @throws UsageError if n is not positive.
  /// @throws ExecutionError if a loop failed; later steps have not run then.
  void submit(std::int64_t n = 1);

  /// @brief The name in messages.
  [[nodiscard]] const std::string& name() const;
  /// @brief Names of the values that a submit depends on.
  [[nodiscard]] std::vector<std::string> inputs() const;
  /// @brief Names of the values changed by a submit.
  [[nodiscard]] std::vector<std::string> outputs() const;

  /// @brief The values of a name, in place: a Dat's entity by entity, a Mat's block by block.
  /// Values of a Const may be changed if the graph has read them from a file.
  /// @throws UsageError if the graph has no values of the name, or values of another type.
  template <class T>
  [[nodiscard]] std::span<T> values(std::string_view name) const {
    const auto [begin, n_bytes] = found(name, api::dtype_of<T>());
    return {static_cast<T*>(begin), n_bytes / sizeof(T)};
  }

  /// @brief Keep values read from a file for as long as the graph.
  void keep(api::KeptValues values);

 private:
  struct State;

  [[nodiscard]] std::pair<void*, std::size_t> found(std::string_view name, DType dtype) const;

  std::shared_ptr<State> state_;
};

}  // namespace op2
