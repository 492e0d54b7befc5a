// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace op2::mesh {

/// @brief The origin of a use of values; read only for a copy or a refusal.
struct TransferCause {
  std::string_view where;    ///< "par_loop 'res'", "Dat.data_ro"
  int argument = -1;         ///< of the loop; -1: none
  bool is_explicit = false;  ///< the user asked for the copy itself
};

enum class Direction { to_device, to_host };

/// @brief Copies of one cause: copies with equal texts are counted together.
struct Transfer {
  Direction direction = Direction::to_device;
  bool is_explicit = false;
  int argument = -1;
  std::string what;    ///< "Dat 'q' on Set 'cells'"
  std::string cause;   ///< TransferCause::where
  std::string device;  ///< name of the device
  std::string line;    ///< the user's "file:line"; empty while unknown
  std::int64_t n_copies = 1;
  std::int64_t n_bytes = 0;
  std::int64_t nanoseconds = 0;

  /// @brief Whether the two differ in counts only.
  [[nodiscard]] bool is_same_kind(const Transfer& other) const;
};

/// @brief The ledger of all copies between host and devices. The memory is bounded.
///
/// A copy is recorded deep in C++, without the user's line. The caller from Python adds the line
/// afterwards by attribute(), and only after a copy, so a call without copies pays nothing.
class Transfers {
 public:
  /// @brief Kinds told apart at most; further ones are counted together, by direction.
  static constexpr std::size_t most_kinds = 4096;

  void record(Transfer transfer);

  /// @brief Name the line behind all records of the calling thread that have no line yet.
  void attribute(std::string_view line);

  /// @brief All so far, in order of first occurrence.
  [[nodiscard]] std::vector<Transfer> rows() const;

  void clear();

 private:
  struct Fresh {
    std::thread::id thread;
    Transfer transfer;
  };

  void settle(Transfer transfer);

  mutable std::mutex mutex_;
  std::vector<Fresh> fresh_;  // not attributed yet
  std::vector<Transfer> rows_;
};

}  // namespace op2::mesh
