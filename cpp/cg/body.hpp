// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cg/context.hpp"
#include "cg/schedule.hpp"

namespace op2::cg::detail {

using NameSet = std::set<std::string, std::less<>>;

/// @brief What all functions of one context share.
struct Environment {
  Dialect dialect;
  Options options;
  std::size_t n_bytes = 0;  ///< Size of the text if every open block ended now.
  NameSet names = {};       ///< Functions and reserved names.
  int last_id = 0;          ///< Never reused, so that a stale handle finds nothing.

  /// @brief Make sure that text fits. @throws BudgetError
  void require(std::size_t n_more) const;
  /// @brief Account for text that is about to be added. @throws BudgetError, and nothing changes.
  void charge(std::size_t n_more);
};

/// @brief One declaration of a variable: the piece of text it was made for.
struct Use {
  int section;
  int block;  ///< Id of the function or branch block.
  Sharing sharing;
  int order;  ///< Later declarations have larger ones.
};

struct LocalVariable {
  std::string type;
  Declarator declarator;  ///< With the final name, and the latest initialiser of those hoisted.
  std::string wanted;     ///< Name before renaming.
  std::vector<Use> uses;  ///< Those that last, and one for all that ended.
  int branch = 0;         ///< Id of the branch it was last hoisted out of; 0 for none.
  int declared_at = 0;    ///< Order of the latest declaration.
};

enum class BlockKind { function, branch, brace };

struct Block {
  BlockKind kind = BlockKind::brace;
  int id = 0;
  int section = 0;        ///< Section in which it opened.
  std::string text = {};  ///< Opening line, then the finished arms of an if chain.
  std::vector<Step> steps = {};
  std::vector<LocalVariable> variables = {};
  NameSet reserved = {};  ///< Names its header mentions and the context did not declare.
  // The section that ended last in this block; the next one joins its cluster if nothing was added.
  std::string last_owner = {};
  Reorder last_reorder = Reorder::direct;
  int last_cluster = 0;
  std::size_t last_n_steps = 0;
};

struct Section {
  int id;
  std::string owner;
  Reorder reorder;
  int cluster;
  std::size_t n_blocks;  ///< Blocks that were open when it began.
};

/// @brief One open function body.
class Body {
 public:
  Body(Environment& environment, std::string_view header, int id);

  [[nodiscard]] int id() const { return sections_.front().id; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::size_t n_bytes() const { return n_bytes_; }
  /// @brief Whether a local of this function has, or its text mentions, the name.
  [[nodiscard]] bool uses_name(std::string_view name) const;
  [[nodiscard]] bool has_section(int id) const;

  void begin_section(std::string_view owner, Reorder reorder, int id);
  void end_section(int id);
  /// @brief Close the section with all that was opened in it.
  void abandon_section(int id);
  void flush();

  std::vector<std::string> declare(const Declaration& declaration);
  /// @brief Add lines; nothing if there are none.
  void add(Role role, std::string_view text, std::optional<Effects> effects);
  void blank_line();
  /// @brief Lines that stay with whatever follows them. A pragma also pins it in place.
  void attach(std::string_view text, bool is_pragma);

  void begin_branch(std::string_view header);
  void else_branch(std::string_view header);
  void end_branch(std::string_view trailer);

  /// @brief End the body. @return Its text. @throws UsageError if anything is open.
  [[nodiscard]] std::string close();

 private:
  enum class Verdict { fresh, reuse, initialised, clash };
  struct Slot {
    std::size_t block;
    std::size_t variable;

    bool operator==(const Slot&) const = default;
  };
  struct Resolution {
    Verdict verdict;
    std::string name;          // final
    std::optional<Slot> slot;  // of the variable that is reused
  };
  struct Site {
    std::size_t block;  // where the declaration goes
    int branch;         // id of the branch it is hoisted before; 0 if it stays here
  };
  // Who holds a name at this point of the text.
  struct Holder {
    std::size_t block;
    std::optional<Slot> slot;  // absent for a name of a header
  };

  [[nodiscard]] std::string line(std::string_view text, std::size_t depth) const;
  [[nodiscard]] std::string opening(std::string_view header, std::size_t depth) const;
  [[nodiscard]] std::string closing(std::size_t depth) const;
  void charge(std::size_t n_more);
  [[nodiscard]] Step stepped(Role role, std::string text, std::optional<Effects> effects) const;
  void push(Step step, std::size_t block);
  [[nodiscard]] std::string take_pending();

  void open_block(BlockKind kind, std::string_view header);
  void reserve_names(std::string_view header);
  [[nodiscard]] std::string block_text();
  void close_block(std::string_view trailer);
  void close_braces();
  void require_own_branch(std::string_view what) const;

  [[nodiscard]] LocalVariable& at(Slot slot) {
    return blocks_[slot.block].variables[slot.variable];
  }
  [[nodiscard]] const LocalVariable& at(Slot slot) const {
    return blocks_[slot.block].variables[slot.variable];
  }
  [[nodiscard]] bool is_open(int section) const;
  [[nodiscard]] bool is_alive(const Use& use) const;
  [[nodiscard]] int latest_use(const LocalVariable& variable) const;
  [[nodiscard]] bool is_open_branch(int id) const;
  [[nodiscard]] std::size_t host_of(std::size_t block) const;
  [[nodiscard]] bool may_share(const LocalVariable& variable, Sharing sharing) const;
  [[nodiscard]] std::optional<Holder> holder_of(std::string_view name) const;
  [[nodiscard]] std::vector<Slot> variables_for(std::string_view wanted) const;
  [[nodiscard]] Site site_of(int scope) const;
  [[nodiscard]] std::optional<Resolution> share(const Declaration& declaration,
                                                const Declarator& declarator,
                                                const Site& site) const;
  [[nodiscard]] Resolution resolve(const Declaration& declaration, const Declarator& declarator,
                                   const Site& site) const;
  [[nodiscard]] std::string fresh_name(const Declaration& declaration, std::string_view name) const;
  [[nodiscard]] static bool is_new(const Resolution& resolution);
  [[nodiscard]] static std::optional<Effects> effects_of(const Declaration& declaration,
                                                         std::span<const Resolution> resolutions);
  [[nodiscard]] std::vector<Step> steps_of(const Declaration& declaration,
                                           const std::vector<Resolution>& resolutions,
                                           const Site& site, std::size_t depth) const;
  void add_use(LocalVariable& variable, const Use& use) const;
  void record(const Declaration& declaration, const std::vector<Resolution>& resolutions,
              const Site& site);

  Environment& environment_;
  std::string name_;
  std::size_t n_bytes_ = 0;
  std::vector<Block> blocks_;      // the function's own first
  std::vector<Section> sections_;  // the default section first
  NameSet used_names_;
  std::string pending_;  // comments and pragmas, printed with what follows
  bool after_pragma_ = false;
};

}  // namespace op2::cg::detail
