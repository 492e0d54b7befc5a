// SPDX-License-Identifier: BSD-3-Clause
#include "mesh/transfers.hpp"

#include <algorithm>
#include <utility>

namespace op2::mesh {
namespace {

// A thread that nobody attributes must not grow the ledger.
constexpr std::size_t most_fresh = 1024;

void count(Transfer& row, const Transfer& more) {
  row.n_copies += more.n_copies;
  row.n_bytes += more.n_bytes;
  row.nanoseconds += more.nanoseconds;
}

Transfer others(Direction direction) {
  Transfer row;
  row.direction = direction;
  row.what = row.cause = "(others)";
  row.n_copies = 0;
  return row;
}

}  // namespace

bool Transfer::is_same_kind(const Transfer& other) const {
  return direction == other.direction && is_explicit == other.is_explicit &&
         argument == other.argument && what == other.what && cause == other.cause &&
         device == other.device && line == other.line;
}

void Transfers::record(Transfer transfer) {
  const std::lock_guard lock(mutex_);
  if (fresh_.size() >= most_fresh) {
    settle(std::move(fresh_.front().transfer));
    fresh_.erase(fresh_.begin());
  }
  fresh_.push_back({std::this_thread::get_id(), std::move(transfer)});
}

void Transfers::attribute(std::string_view line) {
  const std::lock_guard lock(mutex_);
  const std::thread::id me = std::this_thread::get_id();
  std::vector<Fresh> of_others;
  for (Fresh& fresh : fresh_) {
    if (fresh.thread != me) {
      of_others.push_back(std::move(fresh));
      continue;
    }
    fresh.transfer.line = line;
    settle(std::move(fresh.transfer));
  }
  fresh_ = std::move(of_others);
}

std::vector<Transfer> Transfers::rows() const {
  const std::lock_guard lock(mutex_);
  std::vector<Transfer> all = rows_;
  for (const Fresh& fresh : fresh_) all.push_back(fresh.transfer);
  return all;
}

void Transfers::clear() {
  const std::lock_guard lock(mutex_);
  fresh_.clear();
  rows_.clear();
}

void Transfers::settle(Transfer transfer) {
  const auto find = [this](const Transfer& kind) {
    return std::find_if(rows_.begin(), rows_.end(),
                        [&kind](const Transfer& row) { return row.is_same_kind(kind); });
  };
  auto row = find(transfer);
  if (row == rows_.end() && rows_.size() >= most_kinds) {
    row = find(others(transfer.direction));
    if (row == rows_.end()) row = rows_.insert(rows_.end(), others(transfer.direction));
  }
  if (row == rows_.end()) {
    rows_.push_back(std::move(transfer));
  } else {
    count(*row, transfer);
  }
}

}  // namespace op2::mesh
