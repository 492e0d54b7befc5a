// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "api/op2.hpp"
#include "base/error.hpp"

/// Values of a program in Python, for the test of a generated project and for its graphs.
namespace op2::api {

/// @brief CRC-32, as in zlib. @param[in] before Of the bytes before these.
[[nodiscard]] std::uint32_t checksum_of(std::span<const char> bytes, std::uint32_t before = 0);

/// @brief The values of a loop's objects before a run in Python and after, in the order of a file.
class Recorded {
 public:
  explicit Recorded(const std::string& path);

  /// @brief Values of a certain program: the first line of the file names the program.
  /// @param[in] title The first line.
  /// @param[in] n_bytes Of all values.
  /// @param[in] checksum Of all values, see checksum_of().
  /// @throws UsageError if the file is missing, of another program, cut short or damaged.
  Recorded(const std::string& path, const std::string& title, std::size_t n_bytes,
           std::uint32_t checksum);

  /// @brief The next @p n values.
  /// @throws UsageError if the file ends before.
  template <class T>
  Array<T> next(std::size_t n) {
    Array<T> values(n);
    if (!reads(values.data(), n * sizeof(T))) {
      throw UsageError(path_ + ": it is missing, or too short");
    }
    return values;
  }

  /// @brief Whether values are the next ones, up to the rounding of sums in another order: parts of
  /// the largest of them. Prints the first difference.
  /// @throws UsageError as next().
  template <class T, class Allocator>
  bool same(const char* what, const std::vector<T, Allocator>& values) {
    return same(what, std::span<const T>(values));
  }
  template <class T>
  bool same(const char* what, std::span<T> values) {
    return same(what, std::span<const T>(values));
  }
  template <class T>
  bool same(const char* what, std::span<const T> values) {
    const Array<T> wanted = next<T>(values.size());
    double largest = 0.0;
    for (const T& one : wanted) {
      const double size = std::abs(number(one));
      if (std::isfinite(size)) largest = std::max(largest, size);
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
      const bool are_nan = values[i] != values[i] && wanted[i] != wanted[i];
      if (are_nan || values[i] == wanted[i]) continue;
      const double difference = std::abs(number(values[i]) - number(wanted[i]));
      if (difference <= tolerance<T> * largest) continue;
      std::printf("%s: value %zu of %zu differs by %g\n", what, i, values.size(), difference);
      return false;
    }
    return true;
  }

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  /// Whether there are as many bytes.
  bool reads(void* to, std::size_t n_bytes);

  template <class T>
  static std::complex<double> number(const T& value) {
    if constexpr (requires { value.imag(); }) {
      return value;
    } else {
      return static_cast<double>(value);
    }
  }

  template <class T>
  static constexpr bool is_single =
      std::is_same_v<T, float> || std::is_same_v<T, std::complex<float>>;
  /// Sums in 16 bits are rounded once, so they differ in the last digit at most.
  template <class T>
  static constexpr double tolerance = std::is_integral_v<T>         ? 0.0
                                      : std::is_same_v<T, Float16>  ? 1.0 / (1 << 10)
                                      : std::is_same_v<T, Bfloat16> ? 1.0 / (1 << 7)
                                      : is_single<T>                ? 1e-4
                                                                    : 1e-11;

  std::string path_;
  std::unique_ptr<std::FILE, Closer> file_;  // null: not opened
};

/// @brief Run a loop on a backend and tell whether the results equal those of Python.
/// @return The same; true also without a device.
inline bool is_right(const char* name, bool (*check)(), const char* backend) {
  bool right = false;
  try {
    init({backend});
  } catch (const ToolchainError& error) {
    const std::string why = error.what();
    std::printf("%s on %s: not tested: %s\n", name, backend, why.substr(0, why.find('\n')).c_str());
    return true;
  }
  try {
    right = check();
  } catch (const Error& error) {
    std::printf("%s\n", error.what());
  }
  std::printf("%s on %s: %s\n", name, backend, right ? "as in Python" : "WRONG");
  return right;
}

}  // namespace op2::api
