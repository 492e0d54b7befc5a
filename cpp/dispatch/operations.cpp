// SPDX-License-Identifier: BSD-3-Clause
#include "dispatch/operations.hpp"

#include <string_view>
#include <utility>

#include "base/error.hpp"

namespace op2::dispatch {
namespace {

std::string kind_of(const Operation& operation) {
  return operation.name + ' ' + operation.dtype + ' ' + operation.place;
}

}  // namespace

Decision Operations::decide(const Operation& operation, const std::vector<Offer>& offers,
                            const std::string& own) {
  std::vector<std::string_view> ways;
  std::vector<std::size_t> places;  // of the ways, among the offers
  ways.reserve(offers.size() + 1);
  places.reserve(offers.size() + 1);
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (!offers[i].veto.empty()) continue;
    ways.push_back(offers[i].file);
    places.push_back(i);
  }
  if (!own.empty()) {
    ways.push_back(own);
    places.push_back(offers.size());
  }
  if (ways.empty()) throw InternalError("nobody can do '" + operation.name + "'");
  std::string kind = ways.size() == 1 ? "" : kind_of(operation);
  const std::lock_guard lock(mutex_);
  const Measured::Next next =
      ways.size() == 1 ? Measured::Next{0, true} : measured_.next(kind, operation.size, ways);
  const std::size_t which = places[next.which];
  std::string rejected;
  for (std::size_t i = 0; i < offers.size(); ++i) {
    if (i == which) continue;
    const char* cost = next.is_decided ? "cost" : "measured in turns";
    const std::string& veto = offers[i].veto;
    // a library that would come later has not been rejected yet
    if (veto.empty() && i > which) continue;
    rejected +=
        (rejected.empty() ? "" : "; ") + offers[i].library + ": " + (veto.empty() ? cost : veto);
  }
  const bool is_own = which == offers.size();
  auto count = count_of({operation.name, operation.dtype, is_own ? own : "library",
                         is_own ? "" : offers[which].file, std::move(rejected)});
  Decision decision{which, !next.is_decided, std::move(count)};
  if (decision.is_measured) {
    decision.kind = std::move(kind);
    decision.size = operation.size;
    decision.way = ways[next.which];
  }
  return decision;
}

void Operations::done(const Decision& decision, std::int64_t nanoseconds) {
  decision.count->add(nanoseconds);
  if (!decision.is_measured) return;
  const std::lock_guard lock(mutex_);
  measured_.note(decision.kind, decision.size, decision.way, nanoseconds);
}

void Operations::learn(const std::string& kind, int size, const std::string& way,
                       double nanoseconds) {
  const std::lock_guard lock(mutex_);
  measured_.learn(kind, size, way, nanoseconds);
}

std::vector<Measured::Decided> Operations::decided() const {
  const std::lock_guard lock(mutex_);
  return measured_.decided();
}

std::shared_ptr<Count> Operations::counted(const std::string& name, const std::string& dtype) {
  const std::lock_guard lock(mutex_);
  return count_of({name, dtype, builtin, "", ""});
}

std::shared_ptr<Count> Operations::count_of(Row row) {
  std::shared_ptr<Count>& found = counts_[std::move(row)];
  if (found == nullptr) found = std::make_shared<Count>();
  return found;
}

std::vector<Event> Operations::events() const {
  const std::lock_guard lock(mutex_);
  std::vector<Event> found;
  for (const auto& [row, count] : counts_) {
    if (count->n_calls == 0) continue;
    const auto& [operation, dtype, provider, file, rejected] = row;
    Event event{operation + " of " + dtype, provider, file, rejected, count->n_calls};
    event.running = count->nanoseconds;
    found.push_back(std::move(event));
  }
  return found;
}

void Operations::clear_events() {
  const std::lock_guard lock(mutex_);
  for (const auto& [row, count] : counts_) {  // who holds one goes on counting there
    count->n_calls = 0;
    count->nanoseconds = 0;
  }
}

}  // namespace op2::dispatch
