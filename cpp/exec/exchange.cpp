// SPDX-License-Identifier: BSD-3-Clause
#include "exec/exchange.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/error.hpp"
#include "move/assign.hpp"

namespace op2::exec {
namespace {

/// The rows of an array, on their way into a message or out of it.
move::Rows rows_of(const TravellingRows& one, std::uintptr_t to, std::uintptr_t from) {
  const auto n_bytes = static_cast<std::int64_t>(one.row_bytes);
  return move::dense_rows(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from),
                          static_cast<std::int64_t>(one.rows.size()), 1, n_bytes, n_bytes);
}

void check(int code, const char* what) {
  if (code != 0) throw ExecutionError(fmt::format("{} reports error {}", what, code));
}

}  // namespace

Exchange::Exchange(MpiRequests requests, std::vector<TravellingRows> sent,
                   std::vector<TravellingRows> received)
    : requests_(std::move(requests)), sent_(std::move(sent)), received_(std::move(received)) {}

void Exchange::begin(std::span<const std::uintptr_t> arrays) {
  for (const TravellingRows& one : sent_) {
    move::Rows rows = rows_of(one, one.memory, arrays[one.array]);
    rows.lists.from = one.rows.data();
    move::copy_items(rows, rows.to_row, 1);
  }
  if (requests_.n > 0) {
    check(requests_.start_all(requests_.n, requests_.handles.data()), "MPI_Startall");
  }
}

bool Exchange::poll(int n_tries) {
  int are_done = requests_.n == 0 ? 1 : 0;
  for (int i = 0; i < n_tries && are_done == 0; ++i) {
    check(requests_.test_all(requests_.n, requests_.handles.data(), &are_done,
                             requests_.statuses.data()),
          "MPI_Testall");
  }
  return are_done != 0;
}

void Exchange::unpack(std::span<const std::uintptr_t> arrays) const {
  for (const TravellingRows& one : received_) {
    move::Rows rows = rows_of(one, arrays[one.array], one.memory);
    rows.lists.to = one.rows.data();
    move::copy_items(rows, rows.to_row, 1);
  }
}

void Exchange::combine(std::span<const std::uintptr_t> arrays, move::Update update) const {
  for (const TravellingRows& one : received_) {
    const auto n_bytes = static_cast<std::int64_t>(size_of(one.dtype));
    move::Rows rows = rows_of(one, arrays[one.array], one.memory);
    rows.dim = rows.to_row / n_bytes;
    rows.to_item = rows.from_item = n_bytes;
    rows.lists.to = one.rows.data();
    move::update_items(rows, one.dtype, update, 1);
  }
}

}  // namespace op2::exec
