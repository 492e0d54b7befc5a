// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/dtype.hpp"
#include "move/leaves.hpp"

namespace op2::exec {

/// @brief Functions of the loaded MPI, and its requests; no header of MPI is needed.
struct MpiRequests {
  using StartAll = int (*)(int n, void* requests);
  using TestAll = int (*)(int n, void* requests, int* are_done, void* statuses);
  StartAll start_all = nullptr;
  TestAll test_all = nullptr;
  int n = 0;
  std::vector<std::uint64_t> handles;   // [n] handles end to end, of 4 or 8 bytes each
  std::vector<std::uint64_t> statuses;  // at least [n] statuses
};

/// @brief Rows of an array, that travel in a message.
struct TravellingRows {
  std::size_t array = 0;           ///< index of the array
  std::size_t row_bytes = 0;       ///< bytes of a row
  std::uintptr_t memory = 0;       ///< where the rows lie end to end in the message
  std::vector<std::int64_t> rows;  ///< rows of the array
  DType dtype = DType::float64;    ///< of a value
};

/// @brief Persistent messages with rows of some arrays, to and from the neighbours.
class Exchange {
 public:
  Exchange(MpiRequests requests, std::vector<TravellingRows> sent,
           std::vector<TravellingRows> received);

  /// @brief Pack the rows to be sent, and start all messages.
  /// @param[in] arrays Addresses of the arrays.
  /// @throws ExecutionError if MPI reports an error.
  void begin(std::span<const std::uintptr_t> arrays);
  /// @brief Test at most so many times; say whether all messages have arrived.
  /// @throws ExecutionError if MPI reports an error.
  bool poll(int n_tries);
  /// @brief Put the received rows into the arrays, in the order of neighbours.
  void unpack(std::span<const std::uintptr_t> arrays) const;
  /// @brief Combine the received rows with those of the arrays, in the order of neighbours.
  void combine(std::span<const std::uintptr_t> arrays, move::Update update) const;

 private:
  MpiRequests requests_;
  std::vector<TravellingRows> sent_;
  std::vector<TravellingRows> received_;
};

}  // namespace op2::exec
