// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "cg/declaration.hpp"
#include "cg/dialect.hpp"
#include "cg/statement.hpp"

namespace op2::cg {

struct Options {
  int indent = 2;                                         ///< Spaces a level.
  std::size_t max_bytes = std::size_t{64} * 1024 * 1024;  ///< Budget of the whole text.
  bool measure = false;                                   ///< Keep no text, only its exact size.
};

/// @brief The next piece of text does not fit into Options::max_bytes. Nothing of it was added.
class BudgetError : public UsageError {
 public:
  BudgetError(const std::string& message, std::size_t n_bytes)
      : UsageError(message), n_bytes_(n_bytes) {}

  /// @brief Size of the text without the piece that did not fit.
  [[nodiscard]] std::size_t n_bytes() const { return n_bytes_; }

 private:
  std::size_t n_bytes_;
};

namespace detail {
struct State;
}

/// @brief An open function body or inline section; its end is the end of the handle's life.
///
/// Must not outlive the Context. If the handle dies because an exception passes, it is abandoned;
/// otherwise a branch left open is a UsageError, thrown by `end()` or, if only the destructor
/// notices, by Context::finish.
class Scope {
 public:
  Scope(detail::State& state, int id);
  Scope(Scope&& other) noexcept;
  Scope& operator=(Scope&& other) noexcept;
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;
  ~Scope();

  /// @brief Close now. @throws UsageError if something opened inside is still open.
  void end();
  /// @brief Close now whatever is open inside; a function is dropped whole. For error paths.
  void abandon() noexcept;

 private:
  void close_quietly() noexcept;

  detail::State* state_;
  int id_;
  int n_exceptions_;
};

/// @brief The state of one generated text: functions, variables, nesting, reordering, size.
///
/// Generators and subgenerators write through it and need not know of each other: it indents,
/// resolves name conflicts, places declarations, lifts helper functions out of open bodies and
/// groups statements. A subgenerator writes inside its own section and uses the names that
/// `declare` returns; variables and functions that bypass `declare` and `function` are not seen.
///
/// The printer of loops uses names, functions, helpers, branches, statements that stay where they
/// are, comments, pragmas and barriers. It has no need of the rest, which is for subgenerators from
/// elsewhere: sections and what moves statements in them (schedule.hpp), sharing of variables
/// (declare.cpp), budget and measuring.
class Context {
 public:
  explicit Context(const Dialect& dialect, Options options = {});
  Context(Context&& other) noexcept;
  Context& operator=(Context&& other) noexcept;
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  [[nodiscard]] const Dialect& dialect() const;

  // --- the text as a whole ---

  /// @brief The whole text; empty when measuring. The context stays usable.
  /// @throws UsageError if a function is open, or a Scope's destructor met an open branch.
  [[nodiscard]] std::string finish() const;
  /// @brief Bytes of the text if every open function ended now; exact, the same when measuring.
  [[nodiscard]] std::size_t size() const;
  /// @brief Bytes left of the budget, so that an unroller can fall back to a loop.
  [[nodiscard]] std::size_t remaining() const;
  /// @brief Back to the initial state. Open Scopes become void.
  void reset();

  // --- outside functions ---

  /// @brief Text before all open functions: a typedef, a prototype, a table, a directive.
  void top_level(std::string_view text);
  /// @brief The same, but nothing if the same text was added by this function before.
  void top_level_once(std::string_view text);
  /// @brief Take room for a table in constant memory. @return Whether there was room; if not,
  /// nothing is taken.
  [[nodiscard]] bool take_constant_memory(std::int64_t n_bytes);
  /// @brief Keep a name from being given to a function or variable, e.g. one in top_level text.
  void reserve(std::string_view name);
  /// @brief Reserve a name at file scope; a suffix is added if it, or the result, is taken or one
  /// of
  /// @p others.
  [[nodiscard]] std::string take_name(std::string_view name, const std::set<std::string>& others);
  /// @brief Undo reserve(): variables may be called so from now on.
  void release(std::string_view name);
  /// @brief Open a function; @p header is everything before the brace. While another body is open
  /// the new function is printed before it.
  /// @throws UsageError if a function of that name exists.
  [[nodiscard]] Scope function(std::string_view header);
  /// @brief Name of the helper function @p key, generated on the first request.
  /// @param[in] key Identifies the helper by all that its text depends on.
  /// @param[in] name Wanted name; a suffix is added if it is taken.
  /// @param[in] generator Writes the function under the name it is given.
  /// @throws UsageError if the generator does not define it or helpers need each other in a cycle.
  std::string find_or_generate(
      std::string_view key, std::string_view name,
      const std::function<void(Context&, const std::string& name)>& generator);

  // --- inside a function ---

  /// @brief Open an inline section of the subgenerator @p owner. Neighbouring sections of one
  /// owner and one policy are merged.
  [[nodiscard]] Scope section(std::string_view owner, Reorder reorder);
  /// @brief End the group of statements being merged: nothing later joins what came before.
  void flush();

  /// @brief Declare a variable, or reuse one that may be shared.
  ///
  /// A reused variable is assigned its initialiser. With scope < 0 the variable stands before the
  /// enclosing branch and is initialised once; a conflict there is always resolved by renaming,
  /// and so is one with a function's name or with a variable that the initialiser reads. Nothing is
  /// shared unless type and extents agree too.
  ///
  /// @return The final name.
  std::string declare(std::string_view type, std::string_view name, std::string_view init = "",
                      Sharing sharing = Sharing::none, int scope = 0);
  /// @brief The same for several variables and with every choice. @return The final names.
  std::vector<std::string> declare(const Declaration& declaration);

  /// @brief Add text as it is: one or several lines that nothing is moved across.
  void statement(std::string_view text);
  /// @brief Add a statement whose effects are not known: merge_fas moves it by kind,
  /// merge_fas_checked moves nothing across it.
  void statement(StatementKind kind, std::string_view text);
  /// @brief Add a statement that a section's policy may move by its kind and effects.
  void statement(StatementKind kind, std::string_view text, Effects effects);

  /// @brief Open a block: `for (...)`, `if (...)`, `do`, or a bare brace if the header is empty.
  void begin_branch(std::string_view header);
  /// @brief Close the block and open the next of its chain: `else`, `else if (...)`.
  void else_branch(std::string_view header);
  /// @brief Close the block; @p trailer follows the brace, e.g. `while (x);`.
  void end_branch(std::string_view trailer = "");

  /// @brief An empty line. A paragraph is kept: statements are not merged across it.
  void blank_line();
  /// @brief `//` lines. Where statements are merged they travel with the next one.
  void comment(std::string_view text);
  /// @brief `#pragma text`; it and the statement or block that follows stay in place.
  void pragma(std::string_view text);
  /// @brief The dialect's barrier. Nothing is moved across it.
  void barrier();
  /// @brief From now on barriers are those of a warp: no block has more lanes.
  void use_warp_barriers();

 private:
  std::unique_ptr<detail::State> state_;
};

}  // namespace op2::cg
