// SPDX-License-Identifier: BSD-3-Clause
#include "api/graphs.hpp"

#include <fmt/format.h>

#include <mutex>

#include "api/object_states.hpp"

namespace op2 {
namespace api {

void GraphSteps::loop(Loop loop) {
  steps_.emplace_back([loop = std::move(loop)]() mutable { loop.run(); });
}

void GraphSteps::add(const GraphSteps& others) {
  steps_.insert(steps_.end(), others.steps_.begin(), others.steps_.end());
}

void GraphSteps::repeat(std::function<bool()> condition, std::int64_t most, GraphSteps steps) {
  steps_.emplace_back([condition = std::move(condition), most, steps = std::move(steps)] {
    for (std::int64_t i = 0; i < most && condition(); ++i) steps.run();
  });
}

void GraphSteps::run() const {
  for (const std::function<void()>& step : steps_) step();
}

void GraphSteps::check_as_many(const char* what, std::size_t source, std::size_t target) {
  if (source == target) return;
  throw UsageError(
      fmt::format("graph: {}: the source has {} values, the target {}; pass objects "
                  "of one Set and dim",
                  what, source, target));
}

}  // namespace api

struct Graph::State {
  std::string name;
  api::GraphSteps steps;
  std::vector<api::GraphValues> values;
  std::vector<api::KeptValues> kept;
  std::mutex mutex;  // held while it runs
};

Graph::Graph(std::string name, api::GraphSteps steps, std::vector<api::GraphValues> values)
    : state_(std::make_shared<State>()) {
  state_->name = std::move(name);
  state_->steps = std::move(steps);
  state_->values = std::move(values);
}

void Graph::submit(std::int64_t n) {
  if (n < 1) {
    throw UsageError(
        fmt::format("graph '{}': submit: n must be positive, got {}", state_->name, n));
  }
  const std::lock_guard lock(state_->mutex);
  for (std::int64_t i = 0; i < n; ++i) state_->steps.run();
}

const std::string& Graph::name() const {
  return state_->name;
}

std::vector<std::string> Graph::inputs() const {
  std::vector<std::string> names;
  for (const api::GraphValues& one : state_->values) {
    if (one.is_input) names.push_back(one.name);
  }
  return names;
}

std::vector<std::string> Graph::outputs() const {
  std::vector<std::string> names;
  for (const api::GraphValues& one : state_->values) {
    if (one.is_output) names.push_back(one.name);
  }
  return names;
}

void Graph::keep(api::KeptValues values) {
  state_->kept.push_back(std::move(values));
}

std::pair<void*, std::size_t> Graph::found(std::string_view name, DType dtype) const {
  std::vector<std::string> names;
  for (const api::GraphValues& one : state_->values) {
    names.push_back(one.name);
    if (one.name != name) continue;
    if (one.dtype != dtype) {
      throw UsageError(fmt::format("graph '{}': the values of '{}' are {}, not {}", state_->name,
                                   name, name_of(one.dtype), name_of(dtype)));
    }
    bring_to_host(*one.data, true);
    return {one.data->buffer->data(), static_cast<std::size_t>(one.data->buffer->n_bytes())};
  }
  throw UsageError(fmt::format("graph '{}' uses nothing of the name '{}'; there are: {}",
                               state_->name, name, fmt::join(names, ", ")));
}

}  // namespace op2
