// SPDX-License-Identifier: BSD-3-Clause
#include "dispatch/dispatcher.hpp"

#include <algorithm>
#include <utility>

namespace op2::dispatch {

Provider::Answer JitTable::find(const Query& query) {
  const std::lock_guard lock(mutex_);
  const ExecutablePtr* found = recent_.find(query.source);
  return found == nullptr ? Answer{nullptr, "not compiled yet"} : Answer{*found, ""};
}

void JitTable::insert(const Query& query, ExecutablePtr executable) {
  const std::lock_guard lock(mutex_);
  recent_.insert(query.source, std::move(executable));
}

void JitTable::clear() {
  const std::lock_guard lock(mutex_);
  recent_.clear();
}

void Dispatcher::add(std::shared_ptr<Provider> provider) {
  const std::lock_guard lock(mutex_);
  providers_.push_back(std::move(provider));
}

void Dispatcher::add_first(std::shared_ptr<Provider> provider) {
  const std::lock_guard lock(mutex_);
  providers_.insert(providers_.begin(), std::move(provider));
}

ExecutablePtr Dispatcher::resolve(const Query& query) {
  std::vector<std::shared_ptr<Provider>> providers;
  {
    const std::lock_guard lock(mutex_);
    providers = providers_;
  }
  Event event{query.loop, "", query.strategy, "", 1};
  for (const std::shared_ptr<Provider>& provider : providers) {
    Provider::Answer answer = provider->find(query);
    if (answer.executable) {
      event.provider = provider->name();
      event.strategy = answer.executable->strategy;
      record(std::move(event));
      return answer.executable;
    }
    event.rejected += (event.rejected.empty() ? "" : "; ") + provider->name() + ": " + answer.why;
  }
  record(std::move(event));
  return nullptr;
}

std::vector<std::pair<std::string, std::string>> Dispatcher::asked(const Query& query) {
  std::vector<std::shared_ptr<Provider>> providers;
  {
    const std::lock_guard lock(mutex_);
    providers = providers_;
  }
  std::vector<std::pair<std::string, std::string>> answers;
  for (const std::shared_ptr<Provider>& provider : providers) {
    Provider::Answer answer = provider->find(query);
    answers.emplace_back(provider->name(), answer.executable ? "" : answer.why);
    if (answer.executable) break;
  }
  return answers;
}

std::vector<Event> Dispatcher::events() const {
  std::vector<Event> found;
  {
    const std::lock_guard lock(mutex_);
    found = events_;
  }
  const std::vector<Event> algebra = operations_->events();
  found.insert(found.end(), algebra.begin(), algebra.end());
  return found;
}

void Dispatcher::clear_events() {
  operations_->clear_events();
  const std::lock_guard lock(mutex_);
  events_.clear();
}

void Dispatcher::filled(const Query& query, const std::string& origin, std::int64_t generating,
                        std::int64_t building) {
  const std::lock_guard lock(mutex_);
  const auto miss = std::ranges::find_if(events_, [&query](const Event& event) {
    return event.loop == query.loop && event.strategy == query.strategy && event.provider.empty() &&
           event.origin.empty();
  });
  if (miss == events_.end()) return;  // forgotten since
  Event event = *miss;
  if (--miss->n_resolved == 0) events_.erase(miss);
  event.n_resolved = 1;
  event.origin = origin;
  event.generating = generating;
  event.building = building;
  count(std::move(event));
}

void Dispatcher::record(Event event) {
  const std::lock_guard lock(mutex_);
  count(std::move(event));
}

void Dispatcher::count(Event event) {
  const auto same = std::find_if(events_.begin(), events_.end(), [&event](const Event& other) {
    return other.loop == event.loop && other.provider == event.provider &&
           other.strategy == event.strategy && other.rejected == event.rejected &&
           other.origin == event.origin;
  });
  if (same == events_.end()) {
    events_.push_back(std::move(event));
    return;
  }
  same->n_resolved += event.n_resolved;
  same->generating += event.generating;
  same->building += event.building;
}

}  // namespace op2::dispatch
