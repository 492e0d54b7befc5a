// SPDX-License-Identifier: BSD-3-Clause
#include "cg/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <map>
#include <utility>

#include "cg/body.hpp"
#include "cg/layout.hpp"
#include "cg/names.hpp"

namespace op2::cg {
namespace detail {

struct State {
  State(const Dialect& dialect, const Options& options) : environment{dialect, options} {}

  Environment environment;
  std::vector<std::unique_ptr<Body>> bodies;  // the innermost open function last
  std::string finished;                       // everything before the open functions
  bool has_finished = false;
  bool ends_with_function = false;
  std::map<std::string, std::string, std::less<>> helpers;  // key to name
  NameSet texts_once;                                       // of top_level_once()
  std::int64_t n_constant_bytes = 0;                        // of tables in constant memory
  bool has_warp_blocks = false;
  std::string fault;  // what a destructor could not throw

  [[nodiscard]] Body& body(std::string_view what) const {
    if (bodies.empty()) {
      throw UsageError(fmt::format("{}: no function is open; call function() first", what));
    }
    return *bodies.back();
  }

  [[nodiscard]] bool is_open(std::string_view function) const {
    return std::ranges::any_of(bodies,
                               [function](const auto& body) { return body->name() == function; });
  }

  // Functions stand apart by one empty line, which is charged when its neighbours are known.
  void finish_item(const std::string& text, bool is_function) {
    if (!environment.options.measure) {
      if (has_finished && (is_function || ends_with_function)) finished += '\n';
      finished += text;
    }
    has_finished = true;
    ends_with_function = is_function;
  }

  void end_function(int id) {
    Body& innermost = *bodies.back();
    if (innermost.id() != id) {
      throw UsageError(
          fmt::format("function '{}' is still open inside the one that ends; end "
                      "functions in reverse order",
                      innermost.name()));
    }
    finish_item(innermost.close(), true);
    bodies.pop_back();
  }

  void drop_function(int id) {
    while (!bodies.empty()) {
      const std::unique_ptr<Body> body = std::move(bodies.back());
      bodies.pop_back();
      const bool has_neighbour = has_finished || !bodies.empty();
      environment.n_bytes -= body->n_bytes() + (has_neighbour ? 1 : 0);
      environment.names.erase(body->name());
      if (body->id() == id) return;
    }
  }
};

}  // namespace detail

namespace {

detail::Body* body_of(const detail::State& state, int id) {
  const auto owns = [id](const std::unique_ptr<detail::Body>& body) {
    return body->id() == id || body->has_section(id);
  };
  const auto found = std::ranges::find_if(state.bodies, owns);
  return found == state.bodies.end() ? nullptr : found->get();
}

}  // namespace

// --- Scope ---

Scope::Scope(detail::State& state, int id)
    : state_(&state), id_(id), n_exceptions_(std::uncaught_exceptions()) {}

Scope::Scope(Scope&& other) noexcept
    : state_(std::exchange(other.state_, nullptr)),
      id_(other.id_),
      n_exceptions_(other.n_exceptions_) {}

Scope& Scope::operator=(Scope&& other) noexcept {
  if (this != &other) {
    close_quietly();
    state_ = std::exchange(other.state_, nullptr);
    id_ = other.id_;
    n_exceptions_ = other.n_exceptions_;
  }
  return *this;
}

Scope::~Scope() {
  close_quietly();
}

void Scope::end() {
  if (state_ == nullptr) return;
  detail::Body* body = body_of(*state_, id_);
  if (body == nullptr) {
    state_ = nullptr;
  } else if (body->id() == id_) {
    state_->end_function(id_);
  } else {
    if (body != state_->bodies.back().get()) {
      throw UsageError(
          fmt::format("function '{}' is open inside a section that ends; end the "
                      "function first",
                      state_->bodies.back()->name()));
    }
    body->end_section(id_);
  }
  state_ = nullptr;
}

void Scope::abandon() noexcept {
  if (state_ == nullptr) return;
  detail::State& state = *std::exchange(state_, nullptr);
  detail::Body* body = body_of(state, id_);
  if (body == nullptr) return;
  if (body->id() == id_) {
    state.drop_function(id_);
  } else {
    body->abandon_section(id_);
  }
}

void Scope::close_quietly() noexcept {
  if (state_ == nullptr) return;
  detail::State& state = *state_;
  if (std::uncaught_exceptions() == n_exceptions_) {
    try {
      end();
    } catch (const Error& error) {
      if (state.fault.empty()) state.fault = error.what();
    }
  }
  abandon();
}

// --- Context ---

Context::Context(const Dialect& dialect, Options options)
    : state_(std::make_unique<detail::State>(dialect, options)) {}
Context::Context(Context&& other) noexcept = default;
Context& Context::operator=(Context&& other) noexcept = default;
Context::~Context() = default;

const Dialect& Context::dialect() const {
  return state_->environment.dialect;
}

std::string Context::finish() const {
  if (!state_->fault.empty()) throw UsageError(state_->fault);
  if (!state_->bodies.empty()) {
    throw UsageError(
        fmt::format("finish: function '{}' is open; end it first", state_->bodies.back()->name()));
  }
  if (!state_->environment.options.measure && state_->finished.size() != size()) {
    throw InternalError(fmt::format("finish: the text has {} bytes, {} were accounted for",
                                    state_->finished.size(), size()));
  }
  return state_->finished;
}

std::size_t Context::size() const {
  return state_->environment.n_bytes;
}

std::size_t Context::remaining() const {
  return state_->environment.options.max_bytes - size();
}

void Context::reset() {
  // Ids go on counting, so that handles from before find nothing.
  detail::State fresh(state_->environment.dialect, state_->environment.options);
  fresh.environment.last_id = state_->environment.last_id;
  *state_ = std::move(fresh);
}

void Context::top_level(std::string_view text) {
  detail::State& state = *state_;
  const std::string lines = laid_out(text, 0);
  const bool has_open = !state.bodies.empty();
  // The empty lines between what is finished, this text and an open function, less the one that
  // stood there before.
  const int n_lines = (state.has_finished && state.ends_with_function ? 1 : 0) +
                      (has_open ? 1 : 0) - (state.has_finished && has_open ? 1 : 0);
  state.environment.charge(lines.size() + static_cast<std::size_t>(n_lines));
  state.finish_item(lines, false);
}

void Context::top_level_once(std::string_view text) {
  if (state_->texts_once.contains(text)) return;
  top_level(text);
  state_->texts_once.emplace(text);
}

bool Context::take_constant_memory(std::int64_t n_bytes) {
  const std::int64_t limit = dialect().constant_bytes;
  if (limit != 0 && n_bytes > limit - state_->n_constant_bytes) return false;
  state_->n_constant_bytes += n_bytes;
  return true;
}

void Context::reserve(std::string_view name) {
  state_->environment.names.emplace(name);
}

std::string Context::take_name(std::string_view name, const std::set<std::string>& others) {
  const detail::State& state = *state_;
  std::string found(name);
  for (int suffix = 1;
       state.environment.names.contains(found) || (found != name && others.contains(found));
       ++suffix) {
    found = fmt::format("{}_{}", name, suffix);
  }
  reserve(found);
  return found;
}

void Context::release(std::string_view name) {
  state_->environment.names.erase(std::string(name));
}

Scope Context::function(std::string_view header) {
  detail::State& state = *state_;
  const std::string name = function_name(header);
  if (state.environment.names.contains(name)) {
    throw UsageError(
        fmt::format("function '{}': the name is taken by another function or by "
                    "reserve(); choose another, or let find_or_generate choose",
                    name));
  }
  const std::size_t n_separators = state.has_finished || !state.bodies.empty() ? 1 : 0;
  state.environment.charge(n_separators);
  const int id = ++state.environment.last_id;
  try {
    state.bodies.push_back(std::make_unique<detail::Body>(state.environment, header, id));
  } catch (const BudgetError&) {
    state.environment.n_bytes -= n_separators;
    throw;
  }
  state.environment.names.insert(name);
  return {state, id};
}

std::string Context::find_or_generate(
    std::string_view key, std::string_view name,
    const std::function<void(Context&, const std::string& name)>& generator) {
  detail::State& state = *state_;
  if (const auto found = state.helpers.find(key); found != state.helpers.end()) {
    const bool is_itself = !state.bodies.empty() && state.bodies.back()->name() == found->second;
    if (!state.environment.names.contains(found->second) ||
        (state.is_open(found->second) && !is_itself)) {
      throw UsageError(
          fmt::format("find_or_generate '{}': its generator asks for itself through "
                      "another helper; C needs one of them first",
                      found->second));
    }
    return found->second;
  }
  std::string final_name(name);
  const auto is_taken = [&state](const std::string& candidate) {
    return state.environment.names.contains(candidate) ||
           std::ranges::any_of(
               state.bodies, [&candidate](const auto& body) { return body->uses_name(candidate); });
  };
  for (int suffix = 1; is_taken(final_name); ++suffix) {
    final_name = fmt::format("{}_{}", name, suffix);
  }
  const auto entry = state.helpers.emplace(key, final_name).first;
  try {
    generator(*this, final_name);
    if (!state.environment.names.contains(final_name) || state.is_open(final_name)) {
      throw UsageError(
          fmt::format("find_or_generate '{}': the generator returned without defining "
                      "it; open and end function '{}' in it",
                      key, final_name));
    }
  } catch (...) {
    state.helpers.erase(entry);
    throw;
  }
  return final_name;
}

Scope Context::section(std::string_view owner, Reorder reorder) {
  detail::Body& body = state_->body("section");
  const int id = ++state_->environment.last_id;
  body.begin_section(owner, reorder, id);
  return {*state_, id};
}

void Context::flush() {
  state_->body("flush").flush();
}

std::string Context::declare(std::string_view type, std::string_view name, std::string_view init,
                             Sharing sharing, int scope) {
  Declaration declaration;
  declaration.type = type;
  declaration.declarators = {{std::string(name), std::string(init), ""}};
  declaration.sharing = sharing;
  declaration.scope = scope;
  return declare(declaration).front();
}

std::vector<std::string> Context::declare(const Declaration& declaration) {
  return state_->body("declare").declare(declaration);
}

void Context::statement(std::string_view text) {
  state_->body("statement").add(Role::fence, text, std::nullopt);
}

namespace {

Role role_of(StatementKind kind) {
  switch (kind) {
    case StatementKind::fetch:
      return Role::fetch;
    case StatementKind::arithm:
      return Role::arithm;
    case StatementKind::store:
      return Role::store;
  }
  throw InternalError("statement: unknown kind");
}

}  // namespace

void Context::statement(StatementKind kind, std::string_view text) {
  state_->body("statement").add(role_of(kind), text, std::nullopt);
}

void Context::statement(StatementKind kind, std::string_view text, Effects effects) {
  state_->body("statement").add(role_of(kind), text, std::move(effects));
}

void Context::begin_branch(std::string_view header) {
  state_->body("begin_branch").begin_branch(header);
}

void Context::else_branch(std::string_view header) {
  state_->body("else_branch").else_branch(header);
}

void Context::end_branch(std::string_view trailer) {
  state_->body("end_branch").end_branch(trailer);
}

void Context::blank_line() {
  state_->body("blank_line").blank_line();
}

void Context::comment(std::string_view text) {
  std::string lines = "// ";
  for (const char c : text) lines += c == '\n' ? std::string("\n// ") : std::string(1, c);
  state_->body("comment").attach(lines, false);
}

void Context::pragma(std::string_view text) {
  state_->body("pragma").attach(fmt::format("#pragma {}", text), true);
}

void Context::barrier() {
  const std::string_view of_warp = dialect().warp_barrier;
  statement(state_->has_warp_blocks && !of_warp.empty() ? of_warp : dialect().barrier);
}

void Context::use_warp_barriers() {
  state_->has_warp_blocks = true;
}

}  // namespace op2::cg
