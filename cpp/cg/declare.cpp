// SPDX-License-Identifier: BSD-3-Clause
// How a Body places variables: the half of the class that answers `declare`.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "cg/body.hpp"
#include "cg/names.hpp"

namespace op2::cg::detail {
namespace {

bool mentions(std::string_view text, std::string_view name) {
  const std::vector<std::string> words = identifiers_in(text);
  return std::ranges::find(words, name) != words.end();
}

// `const double` no, `const double *` yes, `double *const` no.
bool is_assignable(const Declaration& declaration, const Declarator& declarator) {
  if (!declarator.extents.empty()) return false;
  const std::size_t star = declaration.type.rfind('*');
  const std::string object =
      star == std::string::npos ? declaration.type : declaration.type.substr(star);
  return !mentions(object, "const");
}

bool has_type(const LocalVariable& variable, const Declaration& declaration,
              const Declarator& declarator) {
  return variable.type == declaration.type && variable.declarator.extents == declarator.extents;
}

void require_declarable(const Declaration& declaration) {
  if (declaration.scope > 0 || declaration.declarators.empty()) {
    throw UsageError(fmt::format(
        "declare '{}': expected scope <= 0 and at least one name, got scope {} and {} names",
        declaration.type, declaration.scope, declaration.declarators.size()));
  }
  std::set<std::string_view> names;
  for (const Declarator& declarator : declaration.declarators) {
    if (!is_identifier(declarator.name) || !names.insert(declarator.name).second) {
      throw UsageError(fmt::format(
          "declare '{} {}': expected a C identifier that the same declaration does not repeat; "
          "give type, extents and initialiser apart from the name",
          declaration.type, declarator.name));
    }
  }
}

std::string variable_text(const Declarator& declarator, const std::string& name) {
  const std::string sized = name + declarator.extents;
  return declarator.init.empty() ? sized : fmt::format("{} = {}", sized, declarator.init);
}

// `double *a`, but `double a`.
std::string joined(const std::string& type, const std::string& declarators) {
  return fmt::format("{}{}{};", type, type.ends_with('*') ? "" : " ", declarators);
}

std::string assignment_text(const Dialect& dialect, const Declaration& declaration,
                            const Declarator& declarator, const std::string& name) {
  if (!declarator.init.starts_with('{')) return fmt::format("{} = {};", name, declarator.init);
  return fmt::format("{} = {}{}{}{};", name, dialect.literal_open, declaration.type,
                     dialect.literal_close, declarator.init);
}

}  // namespace

// --- who holds a name ---

// A use lasts as long as both the section and the block it was made in.
bool Body::is_alive(const Use& use) const {
  return is_open(use.section) && is_open_branch(use.block);
}

// Order of the latest use that lasts; 0 if there is none.
int Body::latest_use(const LocalVariable& variable) const {
  int latest = 0;
  for (const Use& use : variable.uses) {
    if (is_alive(use)) latest = std::max(latest, use.order);
  }
  return latest;
}

// The function or branch that a block belongs to: brace scopes come and go unasked.
std::size_t Body::host_of(std::size_t block) const {
  while (blocks_[block].kind == BlockKind::brace) --block;
  return block;
}

bool Body::is_open_branch(int id) const {
  return std::ranges::find(blocks_, id, &Block::id) != blocks_.end();
}

// Sections that are open contain the current one, so towards them the reuse is a nested one.
bool Body::may_share(const LocalVariable& variable, Sharing sharing) const {
  if (sharing == Sharing::none) return false;
  const bool in_use = latest_use(variable) != 0;
  const int here = sections_.back().id;
  return std::ranges::all_of(variable.uses, [this, in_use, here, sharing](const Use& use) {
    if (in_use && !is_alive(use)) return true;
    if (use.section == here) return use.sharing != Sharing::none;
    const Sharing needed = in_use ? Sharing::nested : Sharing::not_nested;
    return (use.sharing & sharing & needed) == needed;
  });
}

std::optional<Body::Holder> Body::holder_of(std::string_view name) const {
  for (std::size_t b = blocks_.size(); b-- > 0;) {
    const std::vector<LocalVariable>& variables = blocks_[b].variables;
    for (std::size_t v = 0; v < variables.size(); ++v) {
      if (variables[v].declarator.name == name) return Holder{b, Slot{b, v}};
    }
    if (blocks_[b].reserved.contains(name)) return Holder{b, std::nullopt};
  }
  return std::nullopt;
}

// Variables asked for by this name that the text can still reach.
std::vector<Body::Slot> Body::variables_for(std::string_view wanted) const {
  std::vector<Slot> slots;
  for (std::size_t b = blocks_.size(); b-- > 0;) {
    for (std::size_t v = blocks_[b].variables.size(); v-- > 0;) {
      const Slot slot{b, v};
      if (at(slot).wanted != wanted) continue;
      const std::optional<Holder> holder = holder_of(at(slot).declarator.name);
      if (holder && holder->slot == slot) slots.push_back(slot);
    }
  }
  return slots;
}

Body::Site Body::site_of(int scope) const {
  std::size_t block = blocks_.size() - 1;
  int branch = 0;
  for (int level = 0; level > scope;) {
    if (block == 0) {
      throw UsageError(fmt::format(
          "declare in function '{}': scope {} is outside the function, {} branches are open", name_,
          scope, -level));
    }
    if (blocks_[block].kind == BlockKind::branch) {
      branch = blocks_[block].id;
      --level;
    }
    --block;
  }
  return {block, branch};
}

// A variable that this declaration may reuse, if there is one.
std::optional<Body::Resolution> Body::share(const Declaration& declaration,
                                            const Declarator& declarator, const Site& site) const {
  const std::vector<Slot> slots = variables_for(declarator.name);
  const auto fits = [this, &declaration, &declarator](const Slot& slot) {
    return has_type(at(slot), declaration, declarator) && may_share(at(slot), declaration.sharing);
  };
  if (site.branch != 0) {
    const auto same = std::ranges::find_if(slots, [this, &site, &fits, &declarator](Slot slot) {
      return slot.block == site.block && at(slot).branch == site.branch &&
             at(slot).declarator.init == declarator.init && fits(slot);
    });
    if (same != slots.end()) {
      return Resolution{Verdict::initialised, at(*same).declarator.name, *same};
    }
  }
  if (!declarator.init.empty() && !is_assignable(declaration, declarator)) return std::nullopt;
  const auto latest =
      std::ranges::max_element(slots, {}, [this](Slot slot) { return latest_use(at(slot)); });
  const bool in_use = latest != slots.end() && latest_use(at(*latest)) != 0;
  if (site.branch == 0 && in_use && fits(*latest)) {
    return Resolution{Verdict::reuse, at(*latest).declarator.name, *latest};
  }
  // Assigned before a branch, it must not be one that the branch has used already. One that was
  // hoisted out of a loop keeps its value from iteration to iteration until that loop ends.
  const auto closed = std::ranges::find_if(slots, [this, &site, &fits](Slot slot) {
    const bool is_older =
        site.branch == 0 || (slot.block <= site.block && at(slot).declared_at < site.branch);
    return is_older && latest_use(at(slot)) == 0 && !is_open_branch(at(slot).branch) && fits(slot);
  });
  if (closed == slots.end()) return std::nullopt;
  return Resolution{Verdict::reuse, at(*closed).declarator.name, *closed};
}

Body::Resolution Body::resolve(const Declaration& declaration, const Declarator& declarator,
                               const Site& site) const {
  if (auto shared = share(declaration, declarator, site)) return *std::move(shared);
  const std::string& name = declarator.name;
  const std::optional<Holder> holder = holder_of(name);
  if (!holder && !environment_.names.contains(name)) {
    return {Verdict::fresh, name, std::nullopt};
  }
  // Braces cannot bring back a function's name for the code inside them, nor surround a branch
  // that is already open, nor let an initialiser read the variable that they hide.
  const bool must_rename = !holder || site.branch != 0 || mentions(declarator.init, name);
  if (must_rename || declaration.conflict == Conflict::rename) {
    return {Verdict::fresh, fresh_name(declaration, name), std::nullopt};
  }
  // A block that this section opened ends before the section: it is scope enough.
  const bool is_own_block = blocks_.back().section == sections_.back().id;
  const bool hides_outer = holder->block + 1 < blocks_.size();
  const bool needs_brace = !is_own_block || !hides_outer;
  return {needs_brace ? Verdict::clash : Verdict::fresh, name, std::nullopt};
}

std::string Body::fresh_name(const Declaration& declaration, std::string_view name) const {
  const std::vector<Declarator>& siblings = declaration.declarators;
  for (int suffix = 1;; ++suffix) {
    std::string candidate = fmt::format("{}_{}", name, suffix);
    const bool is_taken =
        used_names_.contains(candidate) || environment_.names.contains(candidate) ||
        std::ranges::find(siblings, candidate, &Declarator::name) != siblings.end();
    if (!is_taken) return candidate;
  }
}

// --- what is printed and remembered ---

bool Body::is_new(const Resolution& resolution) {
  return resolution.verdict == Verdict::fresh || resolution.verdict == Verdict::clash;
}

// What the initialisers of one declaration read is not told apart.
std::optional<Effects> Body::effects_of(const Declaration& declaration,
                                        std::span<const Resolution> resolutions) {
  const bool reads_nothing =
      std::ranges::all_of(declaration.declarators,
                          [](const Declarator& declarator) { return declarator.init.empty(); });
  if (!reads_nothing && !declaration.init_reads) return std::nullopt;
  Effects effects;
  if (!reads_nothing) effects.reads = *declaration.init_reads;
  for (const Resolution& resolution : resolutions) {
    effects.writes.push_back(Variable{resolution.name});
  }
  return effects;
}

std::vector<Step> Body::steps_of(const Declaration& declaration,
                                 const std::vector<Resolution>& resolutions, const Site& site,
                                 std::size_t depth) const {
  const bool on_one_line =
      declaration.type.find('*') == std::string::npos && std::ranges::all_of(resolutions, is_new);
  std::vector<Step> steps;
  const auto print = [this, depth, &site, &steps](Role role, const std::string& text,
                                                  const std::optional<Effects>& effects) {
    const bool is_hoisted = site.branch != 0;
    steps.push_back(
        stepped(is_hoisted || !effects ? Role::fence : role, line(text, depth), effects));
  };
  if (on_one_line) {
    std::string declarators;
    for (std::size_t i = 0; i < resolutions.size(); ++i) {
      declarators += i == 0 ? "" : ", ";
      declarators += variable_text(declaration.declarators[i], resolutions[i].name);
    }
    print(Role::declare, joined(declaration.type, declarators),
          effects_of(declaration, resolutions));
    return steps;
  }
  for (std::size_t i = 0; i < resolutions.size(); ++i) {
    const Declarator& declarator = declaration.declarators[i];
    const std::string& name = resolutions[i].name;
    const auto effects = effects_of(declaration, std::span(resolutions).subspan(i, 1));
    if (is_new(resolutions[i])) {
      print(Role::declare, joined(declaration.type, variable_text(declarator, name)), effects);
    } else if (resolutions[i].verdict == Verdict::reuse && !declarator.init.empty()) {
      // Grouped by kind alone it would overwrite what the section before still reads.
      const bool may_move = sections_.back().reorder == Reorder::merge_fas_checked;
      print(may_move ? Role::arithm : Role::fence,
            assignment_text(environment_.dialect, declaration, declarator, name), effects);
    }
  }
  return steps;
}

void Body::record(const Declaration& declaration, const std::vector<Resolution>& resolutions,
                  const Site& site) {
  const int now = ++environment_.last_id;
  const Use use{sections_.back().id, blocks_[host_of(site.block)].id, declaration.sharing, now};
  for (std::size_t i = 0; i < resolutions.size(); ++i) {
    const Resolution& resolution = resolutions[i];
    Declarator declarator = declaration.declarators[i];
    const std::string wanted = std::exchange(declarator.name, resolution.name);
    if (!resolution.slot) {
      used_names_.insert(declarator.name);
      blocks_[site.block].variables.push_back(
          {declaration.type, std::move(declarator), wanted, {use}, site.branch, now});
      continue;
    }
    LocalVariable& variable = at(*resolution.slot);
    variable.declared_at = now;
    if (site.branch != 0) {
      variable.declarator.init = declarator.init;
      variable.branch = site.branch;
    }
    add_use(variable, use);
  }
}

// Uses that have ended are folded into one, so that a variable shared a thousand times stays small.
void Body::add_use(LocalVariable& variable, const Use& use) const {
  Use ended{.section = 0, .block = 0, .sharing = Sharing::both, .order = 0};
  bool has_ended = false;
  std::erase_if(variable.uses, [this, &ended, &has_ended, &use](const Use& earlier) {
    if (is_alive(earlier)) {
      return earlier.section == use.section && earlier.block == use.block &&
             earlier.sharing == use.sharing;
    }
    ended.sharing = ended.sharing & earlier.sharing;
    has_ended = true;
    return true;
  });
  if (has_ended) variable.uses.push_back(ended);
  variable.uses.push_back(use);
}

std::vector<std::string> Body::declare(const Declaration& declaration) {
  require_declarable(declaration);
  Site site = site_of(declaration.scope);
  std::vector<Resolution> resolutions;
  for (const Declarator& declarator : declaration.declarators) {
    resolutions.push_back(resolve(declaration, declarator, site));
  }
  const bool needs_brace =
      std::ranges::find(resolutions, Verdict::clash, &Resolution::verdict) != resolutions.end();
  const std::size_t depth = site.block + (needs_brace ? 2 : 1);
  std::vector<Step> steps = steps_of(declaration, resolutions, site, depth);
  std::size_t n_bytes = needs_brace ? opening("", depth - 1).size() + closing(depth - 1).size() : 0;
  for (const Step& step : steps) n_bytes += step.text.size();
  environment_.require(n_bytes);
  if (needs_brace) {
    open_block(BlockKind::brace, "");
    site.block = blocks_.size() - 1;
  }
  for (Step& step : steps) push(std::move(step), site.block);
  record(declaration, resolutions, site);
  std::vector<std::string> names;
  for (Resolution& resolution : resolutions) names.push_back(std::move(resolution.name));
  return names;
}

}  // namespace op2::cg::detail
