// SPDX-License-Identifier: BSD-3-Clause
#include "dispatch/ahead_table.hpp"

#include <utility>

namespace op2::dispatch {

Provider::Answer AheadTable::find(const Query& query) {
  const std::lock_guard lock(mutex_);
  if (loops_.empty()) return {nullptr, "no table is loaded"};
  const auto found = entries_.find(query.text);
  if (found != entries_.end()) return {found->second, ""};
  if (const auto why = refused_.find(query.text); why != refused_.end()) {
    return {nullptr, why->second};
  }
  if (signatures_.contains(query.signature)) {
    return {nullptr, "it has this loop for another backend, strategy or other options"};
  }
  if (loops_.contains(query.loop)) {
    return {nullptr, "it has a loop of this kernel, with other arguments or another text"};
  }
  return {nullptr, "it has no loop of this kernel"};
}

void AheadTable::add(const Query& query, ExecutablePtr executable) {
  const std::lock_guard lock(mutex_);
  if (!entries_.try_emplace(query.text, std::move(executable)).second) return;
  signatures_.insert(query.signature);
  loops_.insert(query.loop);
}

void AheadTable::note(const Query& query) {
  const std::lock_guard lock(mutex_);
  signatures_.insert(query.signature);
  loops_.insert(query.loop);
}

void AheadTable::refuse(const Query& query, std::string why) {
  note(query);
  const std::lock_guard lock(mutex_);
  refused_.insert_or_assign(query.text, std::move(why));
}

void AheadTable::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  refused_.clear();
  signatures_.clear();
  loops_.clear();
}

bool AheadTable::knows(const Query& query) {
  const std::lock_guard lock(mutex_);
  return signatures_.contains(query.signature);
}

}  // namespace op2::dispatch
