// SPDX-License-Identifier: BSD-3-Clause
#include "exec/exchange.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace op2::exec {
namespace {

/// Call @p copy(row, place in the message) for each row.
template <class Copy>
void for_rows(const TravellingRows& travelling, std::uintptr_t array, const Copy& copy) {
  auto* const memory = reinterpret_cast<std::byte*>(travelling.memory);
  auto* const values = reinterpret_cast<std::byte*>(array);
  const std::size_t n_bytes = travelling.row_bytes;
  for (std::size_t i = 0; i < travelling.rows.size(); ++i) {
    copy(values + static_cast<std::size_t>(travelling.rows[i]) * n_bytes, memory + i * n_bytes);
  }
}

/// Call @p body with a function that copies the bytes of a row; usual sizes are constants.
template <class Body>
void with_copy(std::size_t n_bytes, const Body& body) {
  switch (n_bytes) {
    case 8:
      return body([](std::byte* to, const std::byte* from) { std::memcpy(to, from, 8); });
    case 16:
      return body([](std::byte* to, const std::byte* from) { std::memcpy(to, from, 16); });
    case 32:
      return body([](std::byte* to, const std::byte* from) { std::memcpy(to, from, 32); });
    default:
      return body(
          [n_bytes](std::byte* to, const std::byte* from) { std::memcpy(to, from, n_bytes); });
  }
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
    with_copy(one.row_bytes, [&](const auto& copy) {
      for_rows(one, arrays[one.array],
               [&copy](std::byte* row, std::byte* place) { copy(place, row); });
    });
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
    with_copy(one.row_bytes, [&](const auto& copy) {
      for_rows(one, arrays[one.array],
               [&copy](std::byte* row, std::byte* place) { copy(row, place); });
    });
  }
}

}  // namespace op2::exec
