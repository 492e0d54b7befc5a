// SPDX-License-Identifier: BSD-3-Clause
#include "lower/lanes_elements.hpp"
#include "lower/make.hpp"

#include <utility>

namespace op2::lower {

LaneElements::LaneElements(const kir::Function& function, kernel::NameSet taken, int lanes,
                           const Tuning& tuning)
    : lanes_(lanes), tuning_(tuning), fresh_(std::move(taken)) {
  // Arguments may share a Map whose table has a name for each of them.
  std::map<int, std::string> first_map;
  for (const kir::Parameter& parameter : function.parameters) {
    if (parameter.role != kir::Role::map) continue;
    same_map_[parameter.name] =
        first_map.try_emplace(parameter.index, parameter.name).first->second;
  }
}

kir::Expr LaneElements::declare(kir::Block& block, const std::string& wanted, kir::Expr value) {
  const std::string name = fresh(wanted);
  block.push_back(index_decl(name, std::move(value)));
  return kir::name(name);
}

void LaneElements::add_variable(const std::string& name, std::vector<kir::Expr> by_lane,
                                kir::Expr in_lane) {
  by_lane_[name] = std::move(by_lane);
  in_lane_[name] = std::move(in_lane);
}

int LaneElements::n_pieces(int dim) const {
  return static_cast<int>(kir::row_pieces(dim, lanes_).size());
}

bool LaneElements::varies(const kir::Expr& expr) const {
  return kir::any_expr(expr, [this](const kir::Expr& part) {
    const auto* name = std::get_if<kir::Name>(&part.node);
    const auto* element = std::get_if<kir::Element>(&part.node);
    return (name != nullptr && by_lane_.contains(name->name)) ||
           (element != nullptr && is_pack(element->array));
  });
}

/// An entry of a Map by the first name of its table.
std::optional<kir::Expr> LaneElements::first_of_same(const kir::Expr& expr,
                                                     const kir::Replacement& by) const {
  const auto* element = std::get_if<kir::Element>(&expr.node);
  if (element == nullptr) return std::nullopt;
  const auto found = same_map_.find(element->array);
  if (found == same_map_.end()) return std::nullopt;
  return kir::element(found->second, kir::map_expr(element->subscript.front(), by));
}

kir::Expr LaneElements::on_lane(const kir::Expr& expr, int lane) const {
  const kir::Replacement by = [this, lane, &by](const kir::Expr& part) -> std::optional<kir::Expr> {
    if (const auto* name = std::get_if<kir::Name>(&part.node)) {
      const auto found = by_lane_.find(name->name);
      if (found == by_lane_.end()) return std::nullopt;
      return found->second[static_cast<std::size_t>(lane)];
    }
    return first_of_same(part, by);
  };
  return kir::map_expr(expr, by);
}

std::vector<kir::Expr> LaneElements::on_lanes(const kir::Expr& expr) const {
  std::vector<kir::Expr> out;
  for (int lane = 0; lane < lanes_; ++lane) out.push_back(on_lane(expr, lane));
  return out;
}

std::optional<kir::Expr> LaneElements::part_in_lane(const kir::Expr& part,
                                                    const kir::Replacement& by) const {
  if (const auto* name = std::get_if<kir::Name>(&part.node)) {
    const auto found = in_lane_.find(name->name);
    return found == in_lane_.end() ? std::nullopt : std::optional(found->second);
  }
  const auto* element = std::get_if<kir::Element>(&part.node);
  if (element != nullptr && is_pack(element->array)) {
    return kir::lane_of(element->array, kir::map_expr(element->subscript.front(), by), lane());
  }
  return first_of_same(part, by);
}

kir::Expr LaneElements::in_lane(const kir::Expr& expr) const {
  const kir::Replacement by = [this, &by](const kir::Expr& part) { return part_in_lane(part, by); };
  return kir::map_expr(expr, by);
}

kir::Block LaneElements::in_lane(const kir::Block& block) const {
  const kir::Replacement by = [this, &by](const kir::Expr& part) { return part_in_lane(part, by); };
  return kir::map_exprs(block, by);
}

}  // namespace op2::lower
