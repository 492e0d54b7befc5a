// SPDX-License-Identifier: BSD-3-Clause
#include "cg/body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cg/layout.hpp"
#include "cg/names.hpp"
#include "cg/wrap.hpp"

namespace op2::cg::detail {

void Environment::require(std::size_t n_more) const {
  if (n_more <= options.max_bytes - n_bytes) return;
  throw BudgetError(
      fmt::format("generated text: {} more bytes do not fit, {} of {} are used; ask remaining() "
                  "before unrolling, or raise max_bytes",
                  n_more, n_bytes, options.max_bytes),
      n_bytes);
}

void Environment::charge(std::size_t n_more) {
  require(n_more);
  n_bytes += n_more;
}

Body::Body(Environment& environment, std::string_view header, int id)
    : environment_(environment), name_(function_name(header)) {
  sections_.push_back({id, "", Reorder::direct, 0, 0});
  open_block(BlockKind::function, header);
  sections_.front().n_blocks = 1;
}

bool Body::uses_name(std::string_view name) const {
  return used_names_.contains(name);
}

// --- text and its size ---

std::string Body::line(std::string_view text, std::size_t depth) const {
  return wrapped(laid_out(text, environment_.options.indent * static_cast<int>(depth)));
}

std::string Body::opening(std::string_view header, std::size_t depth) const {
  constexpr std::string_view brace = " {";
  std::string text = wrapped(line(header, depth), static_cast<int>(brace.size()));
  if (text.empty()) return line("{", depth);
  text.pop_back();
  return text.append(brace) + '\n';
}

std::string Body::closing(std::size_t depth) const {
  return line("}", depth);
}

void Body::charge(std::size_t n_more) {
  environment_.charge(n_more);
  n_bytes_ += n_more;
}

Step Body::stepped(Role role, std::string text, std::optional<Effects> effects) const {
  const Section& section = sections_.back();
  const bool is_pinned = section.reorder == Reorder::direct || role == Role::fence || after_pragma_;
  return {std::move(text), role, std::move(effects), is_pinned ? 0 : section.cluster,
          is_pinned ? Reorder::direct : section.reorder};
}

// When measuring, sizes are all that is kept: no decision depends on the text that came before.
void Body::push(Step step, std::size_t block) {
  charge(step.text.size());
  if (block + 1 == blocks_.size()) step.text.insert(0, take_pending());
  if (!environment_.options.measure) blocks_[block].steps.push_back(std::move(step));
}

std::string Body::take_pending() {
  after_pragma_ = false;
  return std::exchange(pending_, {});
}

void Body::add(Role role, std::string_view text, std::optional<Effects> effects) {
  std::string lines = line(text, blocks_.size());
  if (lines.empty()) return;
  push(stepped(role, std::move(lines), std::move(effects)), blocks_.size() - 1);
}

void Body::blank_line() {
  push(stepped(Role::fence, "\n", std::nullopt), blocks_.size() - 1);
}

void Body::attach(std::string_view text, bool is_pragma) {
  const std::string lines = line(text, blocks_.size());
  charge(lines.size());
  pending_ += lines;
  after_pragma_ = after_pragma_ || is_pragma;
}

// --- blocks ---

void Body::open_block(BlockKind kind, std::string_view header) {
  const std::size_t depth = blocks_.size();
  std::string text = opening(header, depth);
  charge(text.size() + closing(depth).size());
  text.insert(0, take_pending());
  Block block{.kind = kind, .id = ++environment_.last_id, .section = sections_.back().id};
  if (!environment_.options.measure) block.text = std::move(text);
  blocks_.push_back(std::move(block));
  reserve_names(header);
}

// A name that the header uses and no variable of ours holds belongs to the text around us, and one
// that it declares is taken in this block.
void Body::reserve_names(std::string_view header) {
  NameSet& reserved = blocks_.back().reserved;
  const auto note = [this, &reserved](const std::string& name) {
    reserved.insert(name);
    used_names_.insert(name);
  };
  for (const std::string& name : identifiers_in(header)) {
    const std::optional<Holder> holder = holder_of(name);
    if (!holder || !holder->slot) note(name);
  }
  std::ranges::for_each(declared_in(header), note);
}

// The finished lines of the innermost block, without its closing brace.
std::string Body::block_text() {
  std::string left_over = take_pending();
  Block& block = blocks_.back();
  std::string text = std::move(block.text) + merged_text(block.steps);
  return environment_.options.measure ? std::string() : text + left_over;
}

void Body::close_block(std::string_view trailer) {
  const std::size_t depth = blocks_.size() - 1;
  const std::string suffix = trailer.empty() ? "" : fmt::format(" {}", trailer);
  charge(suffix.size());
  std::string text = block_text() + closing(depth);
  text.insert(text.size() - 1, suffix);
  blocks_.pop_back();
  if (!environment_.options.measure) blocks_.back().steps.push_back({.text = std::move(text)});
}

void Body::close_braces() {
  while (blocks_.back().kind == BlockKind::brace && blocks_.back().section == sections_.back().id) {
    close_block("");
  }
}

void Body::require_own_branch(std::string_view what) const {
  const auto is_no_brace = [](const Block& block) { return block.kind != BlockKind::brace; };
  const Block& block = *std::find_if(blocks_.rbegin(), blocks_.rend(), is_no_brace);
  if (block.kind == BlockKind::function) {
    throw UsageError(fmt::format("{} in function '{}': no branch is open; call begin_branch first",
                                 what, name_));
  }
  if (block.section != sections_.back().id) {
    throw UsageError(fmt::format(
        "{} in function '{}': section '{}' did not open this branch; end the section before the "
        "branch it stands in",
        what, name_, sections_.back().owner));
  }
}

void Body::begin_branch(std::string_view header) {
  open_block(BlockKind::branch, header);
}

void Body::else_branch(std::string_view header) {
  require_own_branch("else_branch");
  close_braces();
  const std::size_t depth = blocks_.size() - 1;
  const std::string arm = line(fmt::format("}} {} {{", header), depth);
  charge(arm.size());
  const std::string text = block_text() + arm;
  const int id = blocks_.back().id;  // a chain is one branch: what is hoisted stands before it
  blocks_.back() = {.kind = BlockKind::branch, .id = id, .section = sections_.back().id};
  if (!environment_.options.measure) blocks_.back().text = text;
  reserve_names(header);
}

void Body::end_branch(std::string_view trailer) {
  require_own_branch("end_branch");
  close_braces();
  close_block(trailer);
}

// --- sections ---

bool Body::is_open(int section) const {
  return std::ranges::find(sections_, section, &Section::id) != sections_.end();
}

bool Body::has_section(int id) const {
  return is_open(id) && id != this->id();
}

void Body::begin_section(std::string_view owner, Reorder reorder, int id) {
  const Block& block = blocks_.back();
  const bool joins = block.last_cluster != 0 && block.last_owner == owner &&
                     block.last_reorder == reorder && block.last_n_steps == block.steps.size();
  const int cluster = joins ? block.last_cluster : ++environment_.last_id;
  sections_.push_back({id, std::string(owner), reorder, cluster, blocks_.size()});
}

void Body::end_section(int id) {
  const Section& section = sections_.back();
  if (section.id != id) {
    throw UsageError(
        fmt::format("function '{}': section '{}' is still open inside the one that "
                    "ends; end sections in reverse order",
                    name_, section.owner));
  }
  const auto opened = std::span(blocks_).subspan(section.n_blocks);
  if (std::ranges::find(opened, BlockKind::branch, &Block::kind) != opened.end()) {
    throw UsageError(
        fmt::format("function '{}': section '{}' ends with a branch open; call "
                    "end_branch before the section ends",
                    name_, section.owner));
  }
  abandon_section(id);
}

void Body::abandon_section(int id) {
  while (sections_.back().id != id) abandon_section(sections_.back().id);
  const Section section = sections_.back();
  while (blocks_.size() > section.n_blocks) close_block("");
  sections_.pop_back();
  Block& block = blocks_.back();
  block.last_owner = section.owner;
  block.last_reorder = section.reorder;
  block.last_cluster = section.cluster;
  block.last_n_steps = block.steps.size();
}

void Body::flush() {
  blocks_.back().last_cluster = 0;
  for (Section& section : sections_) section.cluster = ++environment_.last_id;
}

std::string Body::close() {
  if (sections_.size() > 1) {
    throw UsageError(fmt::format("function '{}' ends inside section '{}'; end the section first",
                                 name_, sections_.back().owner));
  }
  close_braces();
  if (blocks_.size() > 1) {
    throw UsageError(
        fmt::format("function '{}' ends inside a branch; call end_branch first", name_));
  }
  return environment_.options.measure ? std::string() : block_text() + closing(0);
}

}  // namespace op2::cg::detail
