// SPDX-License-Identifier: BSD-3-Clause
#include "lower/pack.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/error.hpp"
#include "base/overload.hpp"

namespace op2::lower {
namespace {

using ir::Arg;
using ir::DirectDat;
using ir::GlobalRead;
using ir::GlobalReduce;
using ir::IndirectDat;
using ir::Loop;

/// Names the wrapper itself uses, and every name of the kernel's file scope.
std::vector<std::string> reserved_names(const Loop& loop) {
  std::vector<std::string> names{loop.kernel->name};
  if (loop.kernel->body) {
    for (const ir::FunctionDef& function : loop.kernel->body->functions) {
      names.push_back(function.name);
    }
    for (const ir::Variable& table : loop.kernel->body->tables) names.push_back(table.name);
  }
  const auto locals = kir::local_names();
  names.insert(names.end(), locals.begin(), locals.end());
  return names;
}

/// The name of the kernel's parameter that the argument is, or is a part of.
std::string parameter_name(const Loop& loop, std::size_t arg) {
  const auto& parameters = loop.kernel->parameters;
  const auto at = static_cast<std::size_t>(ir::parameter_of(loop, arg));
  const bool named = at < parameters.size() && !parameters[at].name.empty();
  return named ? parameters[at].name : fmt::format("arg{}", at);
}

std::string base_name(const Loop& loop, std::size_t arg) {
  const std::string name = parameter_name(loop, arg);
  if (!ir::is_part(loop, arg)) return name;
  std::size_t first = arg;
  while (first > 0 && loop.parameters[first - 1] == loop.parameters[arg]) --first;
  return fmt::format("{}_{}", name, arg - first);
}

/// No other parameter reaches the same memory, or nobody writes it.
bool is_unaliased(const Loop& loop, std::size_t arg) {
  const int memory = ir::alias_of(loop.args[arg]).memory;
  int sharers = 0;
  bool written = false;
  for (const Arg& other : loop.args) {
    if (ir::alias_of(other).memory != memory) continue;
    ++sharers;
    written |= writes(ir::access_of(other));
  }
  return sharers == 1 || !written;
}

/// Two READ arguments of the same Dat through the same Map are gathered once.
std::optional<std::size_t> earlier_pack(const Loop& loop, std::size_t arg) {
  const auto* dat = std::get_if<IndirectDat>(&loop.args[arg]);
  if (dat == nullptr || dat->access != Access::read) return std::nullopt;
  for (std::size_t earlier = 0; earlier < arg; ++earlier) {
    const auto* other = std::get_if<IndirectDat>(&loop.args[earlier]);
    if (other != nullptr && *other == *dat) return earlier;
  }
  return std::nullopt;
}

class Packer {
 public:
  Packer(const Loop& loop, const std::vector<MapFacts>& maps, const Options& options)
      : loop_(loop),
        maps_(maps),
        options_(options),
        packed_{{}, {}, {}, {}, {}, {}, Names(reserved_names(loop)), {}},
        map_names_(loop.maps.size()) {}

  PackedLoop run() {
    for (std::size_t i = 0; i < loop_.args.size(); ++i) {
      add_argument(i);
      const bool ends_parameter = i + 1 == loop_.args.size() ||
                                  ir::parameter_of(loop_, i) != ir::parameter_of(loop_, i + 1);
      if (ir::is_part(loop_, i) && ends_parameter) join_parts(i);
    }
    packed_.items = item_locals(loop_.iteration, packed_.names);
    const std::vector<kir::Parameter>& lists = packed_.items.parameters;
    packed_.parameters.insert(packed_.parameters.end(), lists.begin(), lists.end());
    if (loop_.iteration.pass_layer) packed_.call.arguments.push_back(kir::name("layer"));
    for (std::size_t i = 0; i < loop_.constants.size(); ++i) add_constant(i);
    return std::move(packed_);
  }

 private:
  void add_argument(std::size_t i) {
    const Arg& arg = loop_.args[i];
    PackedArg packed;
    packed.data = data_parameter(i);
    if (const auto* dat = std::get_if<IndirectDat>(&arg)) packed.map = map_parameter(i, dat->map);
    packed_.args.push_back(packed);
    std::visit(overload{
                   [this, i](const DirectDat& dat) { add_direct(i, dat); },
                   [this, i](const IndirectDat& dat) { add_indirect(i, dat); },
                   [this, i](const GlobalRead&) { pass(i, kir::name(packed_.args[i].data)); },
                   [this, i](const GlobalReduce& global) { add_reduction(i, global); },
               },
               arg);
  }

  /// Convention 2 passes each array once; convention 1 once an argument, as document 003 does.
  std::string data_parameter(std::size_t i) {
    const Arg& arg = loop_.args[i];
    if (options_.convention == 2) {
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
                                  {ir::dtype_of(arg), is_const, true},
                                  is_unaliased(loop_, i),
                                  kir::Role::data,
                                  static_cast<int>(i)});
    return name;
  }

  void allow_writes(const std::string& name, bool written) {
    for (kir::Parameter& parameter : packed_.parameters) {
      if (parameter.name == name) parameter.type.is_const &= !written;
    }
  }

  std::string map_parameter(std::size_t i, int map) {
    std::string& shared = map_names_[static_cast<std::size_t>(map)];
    if (options_.convention == 2 && !shared.empty()) return shared;
    const DType index =
        maps_[static_cast<std::size_t>(map)].index_bytes == 4 ? DType::int32 : DType::int64;
    const std::string name = packed_.names.take(base_name(loop_, i) + "_map");
    packed_.parameters.push_back({name, {index, true, true}, true, kir::Role::map, map});
    shared = name;
    return name;
  }

  /// Hand an argument to the kernel, unless it is a part of what the kernel gets.
  void pass(std::size_t i, kir::Expr argument) {
    if (!ir::is_part(loop_, i)) packed_.call.arguments.push_back(std::move(argument));
  }

  void add_direct(std::size_t i, const DirectDat& dat) {
    const std::string data = packed_.args[i].data;
    if (!ir::is_part(loop_, i)) {
      pass(i, kir::offset(data, kir::name("n") * kir::integer(ir::stride_of(dat)) +
                                    kir::integer(dat.component)));
      return;
    }
    // A part cannot be live. The kernel sees and keeps all values, as it would behind a pointer.
    declare_pack(i, dat.dtype, dat.dim, false);
    const kir::Rows rows = rows_of(dat, data);
    packed_.load.push_back({kir::Gather{packed_.args[i].pack, rows}});
    if (writes(dat.access)) {
      packed_.store.push_back(
          {kir::Scatter{packed_.args[i].pack, rows, kir::Update::set, kir::Sync::none}});
    }
  }

  /// The parts of a parameter end to end in one array, and back after the call.
  void join_parts(std::size_t last) {
    std::size_t first = last;
    int extent = 0;
    for (std::size_t i = last;; --i) {
      extent += ir::extent_of(loop_, loop_.args[i]);
      first = i;
      if (i == 0 || ir::parameter_of(loop_, i - 1) != ir::parameter_of(loop_, last)) break;
    }
    const std::string joined = packed_.names.take(parameter_name(loop_, last) + "_joined");
    packed_.load.push_back(
        {kir::Decl{{ir::dtype_of(loop_.args[last])}, joined, std::max(extent, 1), {}}});
    int at = 0;
    for (std::size_t i = first; i <= last; ++i) {
      const PackedArg& part = packed_.args[i];
      const int n = ir::extent_of(loop_, loop_.args[i]);
      const kir::Expr c = kir::name("c");
      const kir::Expr inside = kir::element(joined, kir::integer(at) + c);
      const kir::Expr outside = kir::element(part.pack.empty() ? part.data : part.pack, c);
      const auto copy = [n](const kir::Expr& to, const kir::Expr& from) -> kir::Stmt {
        return {kir::For{kir::Axis::serial,
                         "c",
                         kir::integer(0),
                         kir::integer(n),
                         {{kir::Assign{to, kir::Update::set, from}}}}};
      };
      packed_.load.push_back(copy(inside, outside));
      if (writes(ir::access_of(loop_.args[i]))) packed_.split.push_back(copy(outside, inside));
      at += n;
    }
    packed_.call.arguments.push_back(kir::name(joined));
  }

  void add_indirect(std::size_t i, const IndirectDat& dat) {
    PackedArg& packed = packed_.args.back();
    if (const auto earlier = earlier_pack(loop_, i)) {
      packed.pack = packed_.args[*earlier].pack;
      packed.owns_pack = false;
      pass(i, kir::name(packed.pack));
      return;
    }
    const int extent = ir::extent_of(loop_, loop_.args[i]);
    const kir::Rows rows = rows_of(loop_, dat, packed.data, packed.map);
    const bool starts_at_zero = dat.access == Access::inc || dat.access == Access::write;
    declare_pack(i, dat.dtype, extent, starts_at_zero);
    if (!starts_at_zero) packed_.load.push_back({kir::Gather{packed.pack, rows}});
    if (writes(dat.access)) {
      packed_.store.push_back(
          {kir::Scatter{packed.pack, rows, update_of(dat.access), kir::Sync::none}});
    }
  }

  void add_reduction(std::size_t i, const GlobalReduce& global) {
    PackedArg& packed = packed_.args.back();
    declare_pack(i, global.dtype, global.dim, global.access == Access::inc);
    if (global.access != Access::inc) {
      packed_.load.push_back(
          {kir::For{kir::Axis::serial,
                    "c",
                    kir::integer(0),
                    kir::integer(global.dim),
                    {{kir::Assign{kir::element(packed.pack, kir::name("c")), kir::Update::set,
                                  kir::element(packed.data, kir::name("c"))}}}}});
    }
    packed_.store.push_back(
        {kir::For{kir::Axis::serial,
                  "c",
                  kir::integer(0),
                  kir::integer(global.dim),
                  {{kir::Assign{kir::element(packed.data, kir::name("c")), update_of(global.access),
                                kir::element(packed.pack, kir::name("c"))}}}}});
  }

  /// A name that also leaves room for the pointers to rows, `<pack>_from0`, `<pack>_to0`, …
  std::string pack_name(std::size_t i) const {
    const auto is_taken = [this](const std::string& name) {
      const auto& parameters = loop_.kernel->parameters;
      return std::any_of(parameters.begin(), parameters.end(), [&name](const auto& parameter) {
        return parameter.name.starts_with(name + "_");
      });
    };
    std::string name = base_name(loop_, i) + "_pack";
    while (is_taken(name)) name += "_";
    return name;
  }

  void declare_pack(std::size_t i, DType dtype, int extent, bool starts_at_zero) {
    PackedArg& packed = packed_.args.back();
    packed.pack = packed_.names.take(pack_name(i));
    // C has no arrays of length zero; a Dat of dim 0 still hands a valid pointer to the kernel.
    kir::Decl decl{{dtype}, packed.pack, std::max(extent, 1), {}};
    if (starts_at_zero) decl.value = {kir::integer(0)};
    packed_.load.push_back({std::move(decl)});
    pass(i, kir::name(packed.pack));
  }

  void add_constant(std::size_t i) {
    const ir::ConstRef& constant = loop_.constants[i];
    const std::string name = packed_.names.take(constant.name);
    packed_.parameters.push_back(
        {name, {constant.dtype, true, true}, true, kir::Role::constant, static_cast<int>(i)});
    packed_.call.arguments.push_back(constant.dim == 1 ? kir::element(name, kir::integer(0))
                                                       : kir::name(name));
  }

  const Loop& loop_;
  const std::vector<MapFacts>& maps_;
  const Options& options_;
  PackedLoop packed_;
  std::vector<std::string> map_names_;
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

PackedLoop pack(const Loop& loop, const std::vector<MapFacts>& maps, const Options& options) {
  const auto locals = kir::local_names();
  // A kernel with an AST is printed under another name; verbatim text cannot be.
  if (!loop.kernel->body &&
      std::find(locals.begin(), locals.end(), loop.kernel->name) != locals.end()) {
    throw UnsupportedError(fmt::format(
        "kernel '{}' has a name that generated code needs, and cannot be renamed because it is "
        "opaque ({}); choose another name",
        loop.kernel->name, loop.kernel->opaque_reason));
  }
  return Packer(loop, maps, options).run();
}

}  // namespace op2::lower
