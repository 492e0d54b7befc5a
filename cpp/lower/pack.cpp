// SPDX-License-Identifier: BSD-3-Clause
#include "lower/pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/overload.hpp"
#include "ir/group.hpp"
#include "kernel/stores.hpp"
#include "lower/make.hpp"
#include "lower/matrix.hpp"
#include "lower/ragged.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

using ir::Arg;
using ir::DirectDat;
using ir::GlobalRead;
using ir::GlobalReduce;
using ir::IndirectDat;
using ir::Loop;
using ir::MatArg;

/// Names the wrapper itself uses, and every name of the kernels' file scopes.
std::vector<std::string> reserved_names(const Loop& loop) {
  std::vector<std::string> names;
  for (const ir::Member& member : loop.members) {
    const kernel::Kernel& kernel = *member.kernel;
    names.insert(names.end(), {kernel.name, kernel.name + "_kernel"});
    if (!kernel.body) continue;
    for (const kernel::FunctionDef& function : kernel.body->functions)
      names.push_back(function.name);
    for (const kernel::Variable& table : kernel.body->tables) names.push_back(table.name);
  }
  const auto locals = kir::local_names();
  names.insert(names.end(), locals.begin(), locals.end());
  return names;
}

/// The name of the kernel's parameter that the argument is, or is a part of.
std::string parameter_name(const Loop& loop, std::size_t arg) {
  const auto& parameters = ir::kernel_of(loop, arg).parameters;
  const auto at = static_cast<std::size_t>(ir::parameter_of(loop, arg));
  const bool named = at < parameters.size() && !parameters[at].name.empty();
  return named ? parameters[at].name : fmt::format("arg{}", at);
}

bool is_same_parameter(const Loop& loop, std::size_t left, std::size_t right) {
  return ir::member_of(loop, left) == ir::member_of(loop, right) &&
         ir::parameter_of(loop, left) == ir::parameter_of(loop, right);
}

std::string base_name(const Loop& loop, std::size_t arg) {
  const std::string name = parameter_name(loop, arg);
  if (!ir::is_part(loop, arg)) return name;
  std::size_t first = arg;
  while (first > 0 && is_same_parameter(loop, first - 1, arg)) --first;
  return fmt::format("{}_{}", name, arg - first);
}

/// No other parameter reaches the same memory, or nobody writes it.
/// @param[in] is_shared Arguments of one Dat are one parameter.
bool is_unaliased(const Loop& loop, std::size_t arg, bool is_shared) {
  const ir::Alias& alias = ir::alias_of(loop.args[arg]);
  int sharers = 1;
  bool written = false;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const ir::Alias& other = ir::alias_of(loop.args[i]);
    if (other.memory != alias.memory) continue;
    const bool is_itself = i == arg || (is_shared && other.data == alias.data);
    sharers += is_itself ? 0 : 1;
    written |= writes(ir::access_of(loop.args[i]));
  }
  return sharers == 1 || !written;
}

/// Are both taken at the same element? Members that are visited by incidences see others each.
bool is_at_same_element(const Loop& loop, std::size_t i, std::size_t j) {
  if (ir::member_of(loop, i) == ir::member_of(loop, j)) return true;
  return !ir::is_at_incidences(loop, i) && !ir::is_at_incidences(loop, j);
}

/// Two READ arguments of the same Dat through the same Map are gathered once.
std::optional<std::size_t> earlier_pack(const Loop& loop, std::size_t arg) {
  const auto* dat = std::get_if<IndirectDat>(&loop.args[arg]);
  if (dat == nullptr || dat->access != Access::read) return std::nullopt;
  for (std::size_t earlier = 0; earlier < arg; ++earlier) {
    const auto* other = std::get_if<IndirectDat>(&loop.args[earlier]);
    const bool is_same = other != nullptr && *other == *dat;
    if (is_same && is_at_same_element(loop, earlier, arg)) return earlier;
  }
  return std::nullopt;
}

class Packer {
 public:
  Packer(const Loop& loop, const std::vector<MapFacts>& maps, const Facts& facts,
         const Options& options)
      : loop_(loop),
        maps_(maps),
        facts_(facts),
        options_(options),
        is_shared_(facts.lanes == Lanes::grid || loop.members.size() > 1),
        is_unique_(options.semantics.convention == 2 || is_shared_),
        packed_{{}, {}, {}, {}, Names(reserved_names(loop)), {}, {}},
        map_names_(loop.maps.size()) {
    for (std::size_t member = 0; member < loop.members.size(); ++member) {
      packed_.members.push_back({{{}, static_cast<int>(member)}});
      listed_.emplace_back();
      if (is_ragged(loop)) listed_.back() = called_kernel(loop, member, maps, options).listed;
    }
  }

  PackedLoop run() {
    for (std::size_t i = 0; i < loop_.args.size(); ++i) {
      add_argument(i);
      const bool ends_parameter = i + 1 == loop_.args.size() || !is_same_parameter(loop_, i, i + 1);
      if (ir::is_part(loop_, i) && ends_parameter) join_parts(i);
    }
    packed_.items = item_locals(loop_.iteration, packed_.names);
    const std::vector<kir::Parameter>& lists = packed_.items.parameters;
    packed_.parameters.insert(packed_.parameters.end(), lists.begin(), lists.end());
    for (PackedCall& member : packed_.members) {
      if (loop_.iteration.pass_layer) member.call.arguments.push_back(kir::name("layer"));
      if (loop_.iteration.pass_element) {
        const bool has_layers = loop_.iteration.layers != ir::Layers::none;
        member.call.arguments.push_back(has_layers ? kir::name(packed_.items.position)
                                                   : own_element());
      }
    }
    for (std::size_t i = 0; i < loop_.constants.size(); ++i) add_constant(i);
    for (std::size_t member = 0; member < packed_.members.size(); ++member) pass_lists(member);
    packed_.parameters.insert(packed_.parameters.end(), matrix_arrays_.begin(),
                              matrix_arrays_.end());
    if (facts_.lanes == Lanes::grid) sort_parameters();
    return std::move(packed_);
  }

 private:
  void add_argument(std::size_t i) {
    const Arg& arg = loop_.args[i];
    if (call_of(i).end_arg == 0) call_of(i).first_arg = i;
    call_of(i).end_arg = i + 1;
    PackedArg packed;
    packed.data = data_parameter(i);
    if (const auto* dat = std::get_if<IndirectDat>(&arg)) {
      packed.map = map_parameter(dat->map, base_name(loop_, i) + "_map");
    }
    std::string col_map;
    if (const auto* mat = std::get_if<MatArg>(&arg)) {
      packed.map = map_parameter(mat->row_map, base_name(loop_, i) + "_row_map");
      col_map = map_parameter(mat->col_map, base_name(loop_, i) + "_col_map");
      if (!is_unique_) packed_.kept.push_back(col_map);
    }
    packed_.args.push_back(packed);
    std::visit(overload{
                   [this, i](const DirectDat& dat) { add_direct(i, dat); },
                   [this, i](const IndirectDat& dat) { add_indirect(i, dat); },
                   [this, i](const GlobalRead& global) { add_read(i, global); },
                   [this, i](const GlobalReduce& global) { add_reduction(i, global); },
                   [&, this](const MatArg& mat) { add_matrix(i, mat, col_map); },
               },
               arg);
  }

  /// Convention 2 passes each array once; convention 1 once an argument, as document 003 does.
  std::string data_parameter(std::size_t i) {
    const Arg& arg = loop_.args[i];
    if (is_unique_) {
      for (std::size_t earlier = 0; earlier < i; ++earlier) {
        if (ir::alias_of(loop_.args[earlier]).data == ir::alias_of(arg).data) {
          allow_writes(packed_.args[earlier].data, writes(ir::access_of(arg)));
          return packed_.args[earlier].data;
        }
      }
    }
    const std::string name = packed_.names.take(base_name(loop_, i));
    const bool is_const = !writes(ir::access_of(arg));
    packed_.parameters.push_back({name,
                                  {ir::stored_of(arg), is_const, true},
                                  is_unaliased(loop_, i, is_shared_),
                                  kir::Role::data,
                                  static_cast<int>(i)});
    return name;
  }

  void allow_writes(const std::string& name, bool written) {
    for (kir::Parameter& parameter : packed_.parameters) {
      if (parameter.name == name) parameter.type.is_const &= !written;
    }
  }

  std::string map_parameter(int map, const std::string& wanted) {
    std::string& shared = map_names_[static_cast<std::size_t>(map)];
    if (is_unique_ && !shared.empty()) return shared;
    const DType index = index_dtype(maps_[static_cast<std::size_t>(map)].index_bytes);
    const std::string name = packed_.names.take(wanted);
    packed_.parameters.push_back({name, {index, true, true}, true, kir::Role::map, map});
    shared = name;
    return name;
  }

  /// Hand an argument to the kernel, unless it is a part of what the kernel gets.
  void pass(std::size_t i, kir::Expr argument) {
    if (ir::is_part(loop_, i)) return;
    kir::CallUser& call = call_of(i).call;
    if (ir::access_of(loop_.args[i]) == Access::read) {
      call.read.push_back(static_cast<int>(call.arguments.size()));
    }
    call.arguments.push_back(std::move(argument));
  }

  /// The call that argument @p i is for.
  PackedCall& call_of(std::size_t i) { return packed_.members[ir::member_of(loop_, i)]; }

  /// The parts of a parameter end to end in one array, and back after the call.
  void join_parts(std::size_t last) {
    std::size_t first = last;
    int extent = 0;
    for (std::size_t i = last;; --i) {
      extent += ir::extent_of(loop_, loop_.args[i]);
      first = i;
      if (i == 0 || !is_same_parameter(loop_, i - 1, last)) break;
    }
    const std::string joined = packed_.names.take(parameter_name(loop_, last) + "_joined");
    if (ir::place_of(loop_, last) != nullptr) return join_blocks(first, last, joined, extent);
    kir::Block& join = packed_.args[last].join;
    join.push_back(private_array(ir::dtype_of(loop_.args[last]), joined, extent));
    int at = 0;
    for (std::size_t i = first; i <= last; ++i) {
      const PackedArg& part = packed_.args[i];
      const int n = ir::extent_of(loop_, loop_.args[i]);
      const kir::Expr c = kir::name("c");
      const kir::Expr inside = kir::element(joined, kir::integer(at) + c);
      const kir::Expr outside = kir::element(part.pack.empty() ? part.data : part.pack, c);
      join.push_back(for_components(n, inside, kir::Update::set, outside));
      if (writes(ir::access_of(loop_.args[i]))) {
        call_of(last).split.push_back(for_components(n, outside, kir::Update::set, inside));
      }
      at += n;
    }
    call_of(last).call.arguments.push_back(kir::name(joined));
  }

  /// The blocks of a matrix in one array that starts at zero, and each into its own after the call.
  void join_blocks(std::size_t first, std::size_t last, const std::string& joined, int extent) {
    packed_.args[last].join.push_back(
        private_array(ir::dtype_of(loop_.args[last]), joined, extent, /*starts_at_zero=*/true));
    for (std::size_t i = first; i <= last; ++i) {
      const ir::Place& place = *ir::place_of(loop_, i);
      const int n_rows = ir::extent_of(loop_, loop_.args[i]) / place.n_columns;
      const kir::Expr c = kir::name("c");
      for (int row = 0; row < n_rows; ++row) {
        const int begin = (place.row + row) * place.width + place.column;
        call_of(last).split.push_back(for_components(
            place.n_columns,
            kir::element(packed_.args[i].pack, kir::integer(row * place.n_columns) + c),
            kir::Update::set, kir::element(joined, kir::integer(begin) + c)));
      }
    }
    call_of(last).call.arguments.push_back(kir::name(joined));
  }

  void add_direct(std::size_t i, const DirectDat& dat) {
    PackedArg& packed = packed_.args.back();
    if (is_live(i)) {
      pass(i, kir::offset(packed.data, element_of(i) * kir::integer(ir::stride_of(dat)) +
                                           kir::integer(dat.component)));
      return;
    }
    if (const auto sum = earlier_sum(i)) {
      packed.pack = packed_.args[*sum].sum;
      return pass(i, kir::name(packed.pack));
    }
    const auto earlier = earlier_direct(i);
    kir::Rows rows = rows_of(dat, packed.data, element_of(i));
    lay_apart(rows, columns_of(i));
    if (earlier && !packed_.args[*earlier].pack.empty()) {
      share_pack(i, *earlier);
    } else {
      declare_pack(i, dat.dim, false);
      if (!is_overwritten(i, dat)) packed.load.push_back({kir::Gather{packed.pack, rows}});
    }
    if (stores_here(i)) {
      packed.store.push_back({kir::Scatter{packed.pack, rows, kir::Update::set, kir::Sync::none}});
    }
  }

  /// The kernel gets the address of the element's own row. Parts are joined in an array, and what
  /// one member hands on to the next never needs to be in memory. On lanes members share what they
  /// load. Memory of another type is converted.
  [[nodiscard]] bool is_live(std::size_t i) const {
    if (options_.lanes > 1 && loop_.members.size() > 1) return false;
    const Arg& arg = loop_.args[i];
    return facts_.rows_in_place && !ir::is_part(loop_, i) && !ir::is_handed_on(loop_, i) &&
           ir::is_stored(loop_, i) && ir::stored_of(arg) == ir::dtype_of(arg);
  }

  /// The item's own element; of a member that is visited by incidences the element that leads
  /// there.
  [[nodiscard]] kir::Expr element_of(std::size_t i) const {
    const bool is_item = ir::is_inverted(loop_) && !ir::is_at_incidences(loop_, i);
    return is_item ? own_target() : own_element();
  }

  /// The first argument of this Dat that is summed target by target.
  [[nodiscard]] std::optional<std::size_t> earlier_sum(std::size_t i) const {
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      const bool is_same =
          ir::alias_of(loop_.args[earlier]).data == ir::alias_of(loop_.args[i]).data;
      if (is_same && !packed_.args[earlier].sum.empty()) return earlier;
    }
    return std::nullopt;
  }

  /// Where members are visited by incidences: the item's private sum, one for each Dat.
  void name_sum(std::size_t i) {
    if (!ir::is_inverted(loop_) || !ir::is_summed(loop_, i)) return;
    PackedArg& packed = packed_.args[i];
    const auto earlier = earlier_sum(i);
    packed.sum = earlier ? packed_.args[*earlier].sum : packed_.names.take(packed.data + "_own");
  }

  /// A pack is stored once, by the first argument of the last member that writes it.
  [[nodiscard]] bool stores_here(std::size_t i) const {
    std::optional<std::size_t> last;  // member
    for (std::size_t other = 0; other < loop_.args.size(); ++other) {
      if (is_same_direct(i, other) && writes(ir::access_of(loop_.args[other]))) {
        last = ir::member_of(loop_, other);
      }
    }
    return last == ir::member_of(loop_, i) && ir::is_stored(loop_, i) && is_first_beside(i);
  }

  /// The first argument of its member that is this Dat's.
  [[nodiscard]] bool is_first_beside(std::size_t i) const {
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      const bool is_beside = ir::member_of(loop_, earlier) == ir::member_of(loop_, i);
      if (is_beside && is_same_direct(earlier, i)) return false;
    }
    return true;
  }

  /// The number of scalars between components, for a structure of arrays; else nothing.
  std::string columns_of(std::size_t i) {
    const auto& soa = options_.widths.soa;
    PackedArg& packed = packed_.args.back();
    const bool is_soa = std::find(soa.begin(), soa.end(), static_cast<int>(i)) != soa.end();
    if (!is_soa) return "";
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (packed_.args[earlier].data == packed.data) {
        return packed.stride = packed_.args[earlier].stride;
      }
    }
    packed.stride = packed_.names.take(packed.data + "_stride");
    packed_.parameters.push_back(
        {packed.stride, {DType::int64}, false, kir::Role::stride, static_cast<int>(i)});
    return packed.stride;
  }

  /// The first direct argument of the same Dat: they share a pack, as they share memory.
  std::optional<std::size_t> earlier_direct(std::size_t i) const {
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (is_same_direct(earlier, i)) return earlier;
    }
    return std::nullopt;
  }

  bool is_same_direct(std::size_t i, std::size_t j) const {
    return std::holds_alternative<DirectDat>(loop_.args[i]) &&
           std::holds_alternative<DirectDat>(loop_.args[j]) &&
           ir::alias_of(loop_.args[i]).data == ir::alias_of(loop_.args[j]).data &&
           is_at_same_element(loop_, i, j);
  }

  /// True if what was there before cannot matter: the kernel is known to write every component,
  /// and no other argument of its shows it.
  bool is_overwritten(std::size_t i, const DirectDat& dat) const {
    const kernel::Kernel& kernel = ir::kernel_of(loop_, i);
    if (!kernel.body || ir::is_part(loop_, i)) return false;
    for (std::size_t other = 0; other < loop_.args.size(); ++other) {
      const bool is_beside = ir::member_of(loop_, other) == ir::member_of(loop_, i);
      if (other != i && is_beside && is_same_direct(i, other)) return false;
    }
    const auto parameter = static_cast<std::size_t>(ir::parameter_of(loop_, i));
    return kernel::overwrites(kernel, parameter, dat.dim, dat.access);
  }

  void share_pack(std::size_t i, std::size_t earlier) {
    PackedArg& packed = packed_.args.back();
    packed.pack = packed_.args[earlier].pack;
    pass(i, kir::name(packed.pack));
  }

  [[nodiscard]] bool takes_const(std::size_t i) const {
    const auto at = static_cast<std::size_t>(ir::parameter_of(loop_, i));
    const auto& parameters = ir::kernel_of(loop_, i).parameters;
    return at < parameters.size() && parameters[at].type.is_const;
  }

  void add_read(std::size_t i, const GlobalRead& global) {
    PackedArg& packed = packed_.args.back();
    if (facts_.one_address_space && (facts_.const_optional || takes_const(i))) {
      pass(i, kir::name(packed.data));
      return;
    }
    declare_pack(i, global.dim, false);
    packed.load.push_back({kir::Gather{
        packed.pack, {global.dtype, global.dim, 1, packed.data, kir::OwnRow{kir::integer(0)}}}});
  }

  /// The kernel reads the rows where they lie: it gets the Dat, and at last the list of rows.
  [[nodiscard]] bool is_listed(std::size_t i) const {
    return std::ranges::count(listed_[ir::member_of(loop_, i)], i) > 0;
  }

  void pass_lists(std::size_t member) {
    for (const std::size_t i : listed_[member]) {
      const std::string& map = packed_.args[i].map;
      packed_.members[member].call.arguments.push_back(
          kir::offset(map, kir::element(map, element_of(i))));
    }
  }

  /// `pack[c] = 0` for the scalars of the rows that there are.
  static kir::Stmt zero_rows(const std::string& pack, int dim, const kir::Expr& n) {
    kir::Block body{
        {kir::Assign{kir::element(pack, kir::name("c")), kir::Update::set, kir::integer(0)}}};
    return {
        kir::For{kir::Axis::serial, "c", kir::integer(0), n * kir::integer(dim), std::move(body)}};
  }

  void add_indirect(std::size_t i, const IndirectDat& dat) {
    PackedArg& packed = packed_.args.back();
    if (is_listed(i)) return pass(i, kir::name(packed.data));
    const auto earlier = earlier_pack(loop_, i);
    if (earlier && !is_listed(*earlier)) {
      if (!is_unique_) packed_.kept.insert(packed_.kept.end(), {packed.data, packed.map});
      return share_pack(i, *earlier);
    }
    const int extent = ir::extent_of(loop_, loop_.args[i]);
    kir::Rows rows = rows_of(loop_, dat, packed.data, packed.map, element_of(i));
    lay_apart(rows, columns_of(i));
    const bool starts_at_zero = dat.access == Access::inc || dat.access == Access::write;
    name_sum(i);
    const std::optional<kir::Expr> n = n_rows(rows);
    declare_pack(i, extent, starts_at_zero && !n);
    if (starts_at_zero && n) packed.load.push_back(zero_rows(packed.pack, dat.dim, *n));
    if (!starts_at_zero) packed.load.push_back({kir::Gather{packed.pack, rows}});
    if (writes(dat.access)) {
      packed.store.push_back(
          {kir::Scatter{packed.pack, rows, update_of(dat.access), kir::Sync::none}});
    }
  }

  /// The plan's arrays for one matrix; they come after all that the user passed.
  std::string matrix_array(const std::string& wanted, abi::MatrixArray array, DType dtype) {
    const std::string name = packed_.names.take(wanted);
    matrix_arrays_.push_back({name,
                              {dtype, true, true},
                              true,
                              kir::Role::matrix,
                              n_matrices_ * abi::n_matrix_arrays + array});
    return name;
  }

  void add_matrix(std::size_t i, const MatArg& mat, const std::string& col_map) {
    const ir::MapRef& rows = loop_.maps[static_cast<std::size_t>(mat.row_map)];
    const ir::MapRef& columns = loop_.maps[static_cast<std::size_t>(mat.col_map)];
    const bool has_ragged = rows.ragged || columns.ragged;
    const int bytes = options_.widths.position_bytes;
    const DType width = bytes == 1 ? DType::uint8 : bytes == 2 ? DType::uint16 : DType::int32;
    PackedArg& packed = packed_.args.back();
    declare_pack(i, ir::extent_of(loop_, loop_.args[i]), !has_ragged);
    kir::Entries entries{
        mat.dtype,
        rows.arity,
        columns.arity,
        mat.row_dim,
        mat.col_dim,
        packed.data,
        packed.map,
        matrix_array(packed.data + "_row_start", abi::row_starts, DType::int64),
        matrix_array(packed.data + "_position", abi::positions, width),
        loop_.iteration.layers == ir::Layers::none ? own_element() : kir::name("position"),
        mat.masked ? first_dropped(bytes) : 0,
        mat.unrolled,
        targets_of(loop_, mat.row_map, packed.map, own_element()),
        mat.stored};
    if (rows.ragged) entries.n_rows = n_entries(packed.map, own_element());
    if (columns.ragged) entries.n_columns = n_entries(col_map, own_element());
    if (has_ragged) {
      const kir::Expr n = entries.n_rows.value_or(kir::integer(rows.arity)) *
                          entries.n_columns.value_or(kir::integer(columns.arity));
      packed.load.push_back(zero_rows(packed.pack, mat.row_dim * mat.col_dim, n));
      entries.begin = kir::element(
          matrix_array(packed.data + "_begin", abi::position_begins, DType::int64), own_element());
    }
    ++n_matrices_;
    packed.store.push_back(
        {kir::MatInsert{packed.pack, std::move(entries), update_of(mat.access), kir::Sync::none}});
  }

  void add_reduction(std::size_t i, const GlobalReduce& global) {
    PackedArg& packed = packed_.args.back();
    declare_pack(i, global.dim, global.access == Access::inc);
    const kir::Expr inside = kir::element(packed.pack, kir::name("c"));
    const kir::Expr outside = kir::element(packed.data, kir::name("c"));
    if (global.access != Access::inc) {
      packed.load.push_back(for_components(global.dim, inside, kir::Update::set, outside));
    }
    if (!ir::is_stored(loop_, i)) return;
    packed.store.push_back(for_components(global.dim, outside, update_of(global.access), inside));
  }

  /// A name that also leaves room for the pointers to rows, `<pack>_from0`, `<pack>_to0`, …
  std::string pack_name(std::size_t i) const {
    const auto is_taken = [this](const std::string& name) {
      return std::ranges::any_of(loop_.members, [&name](const ir::Member& member) {
        return std::ranges::any_of(member.kernel->parameters, [&name](const auto& parameter) {
          return parameter.name.starts_with(name + "_");
        });
      });
    };
    std::string name = base_name(loop_, i) + "_pack";
    while (is_taken(name)) name += "_";
    return name;
  }

  void declare_pack(std::size_t i, int extent, bool starts_at_zero) {
    PackedArg& packed = packed_.args.back();
    packed.pack = packed_.names.take(pack_name(i));
    packed.decl.push_back(
        private_array(ir::dtype_of(loop_.args[i]), packed.pack, extent, starts_at_zero));
    pass(i, kir::name(packed.pack));
  }

  void add_constant(std::size_t i) {
    const ir::ConstRef& constant = loop_.constants[i];
    const std::string name = packed_.names.take(constant.name);
    packed_.parameters.push_back(
        {name, {constant.dtype, true, true}, true, kir::Role::constant, static_cast<int>(i)});
    if (constant.dim == 1 || facts_.one_address_space) {
      pass_constant(i, constant.dim == 1 ? kir::element(name, kir::integer(0)) : kir::name(name));
      return;
    }
    const std::string pack = packed_.names.take(name + "_pack");
    packed_.constants.push_back(private_array(constant.dtype, pack, constant.dim));
    packed_.constants.push_back(
        {kir::Gather{pack, {constant.dtype, constant.dim, 1, name, kir::OwnRow{kir::integer(0)}}}});
    pass_constant(i, kir::name(pack));
  }

  /// To the members whose kernels use it.
  void pass_constant(std::size_t i, const kir::Expr& argument) {
    for (std::size_t member = 0; member < packed_.members.size(); ++member) {
      const std::vector<int> used = ir::constants_of(loop_, member);
      if (std::ranges::count(used, static_cast<int>(i)) == 0) continue;
      packed_.members[member].call.arguments.push_back(argument);
    }
  }

  void sort_parameters() {
    const auto rank = [this](const kir::Parameter& parameter) {
      if (parameter.role == kir::Role::constant) return 3;
      if (parameter.role == kir::Role::map) return 4;
      if (parameter.role == kir::Role::stride) return 5;
      if (parameter.role == kir::Role::items) return 6;
      if (parameter.role == kir::Role::matrix) return 8;
      return std::visit(
          overload{[](const DirectDat&) { return 0; }, [](const IndirectDat&) { return 0; },
                   [](const GlobalRead&) { return 1; }, [](const GlobalReduce&) { return 2; },
                   [](const MatArg&) { return 7; }},
          loop_.args[static_cast<std::size_t>(parameter.index)]);
    };
    std::stable_sort(packed_.parameters.begin(), packed_.parameters.end(),
                     [&rank](const kir::Parameter& left, const kir::Parameter& right) {
                       return rank(left) < rank(right);
                     });
  }

  const Loop& loop_;
  const std::vector<MapFacts>& maps_;
  const Facts& facts_;
  const Options& options_;
  const bool is_shared_;  // arguments of one Dat are one parameter, and know of each other
  const bool is_unique_;  // each array is one parameter
  PackedLoop packed_;
  std::vector<std::string> map_names_;
  std::vector<std::vector<std::size_t>> listed_;  // of each member: arguments read in place
  std::vector<kir::Parameter> matrix_arrays_;
  int n_matrices_ = 0;
};

}  // namespace

kir::Update update_of(Access access) {
  switch (access) {
    case Access::inc:
      return kir::Update::add;
    case Access::min:
      return kir::Update::min;
    case Access::max:
      return kir::Update::max;
    case Access::write:
    case Access::rw:
      return kir::Update::set;
    case Access::read:
      break;
  }
  throw InternalError("a READ argument has no update");
}

kir::Block loads(const PackedLoop& packed) {
  kir::Block out;
  for (std::size_t i = 0; i < packed.members.size(); ++i) append(out, loads(packed, i));
  append(out, packed.constants);
  return out;
}

kir::Block loads(const PackedLoop& packed, std::size_t member) {
  kir::Block out;
  const PackedCall& call = packed.members[member];
  for (std::size_t i = call.first_arg; i < call.end_arg; ++i) {
    append(out, for_arg(i, packed.args[i].decl));
    append(out, for_arg(i, packed.args[i].load));
    append(out, for_arg(i, packed.args[i].join));
  }
  return out;
}

kir::Block stores(const PackedLoop& packed, std::size_t member) {
  kir::Block out;
  const PackedCall& call = packed.members[member];
  for (std::size_t i = call.first_arg; i < call.end_arg; ++i) {
    append(out, for_arg(i, packed.args[i].store));
  }
  return out;
}

kir::Block stores(const PackedLoop& packed) {
  kir::Block out;
  for (std::size_t i = 0; i < packed.members.size(); ++i) append(out, stores(packed, i));
  return out;
}

PackedLoop pack(const ir::Group& group, const std::vector<MapFacts>& maps, const Facts& facts,
                const Options& options) {
  return Packer(group, maps, facts, options).run();
}

}  // namespace op2::lower
