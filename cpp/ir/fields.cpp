// SPDX-License-Identifier: BSD-3-Clause
#include "ir/fields.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <string_view>
#include <variant>

#include "base/digest.hpp"
#include "base/overload.hpp"
#include "ir/signature.hpp"

namespace op2::ir {
namespace {

using Fields = std::vector<std::pair<std::string, std::string>>;

/// Adds the fields of a part of a loop.
class Writer {
 public:
  Writer(Fields& out, std::string part) : out_(out), part_(std::move(part)) {}

  template <class Value>
  Writer& operator()(std::string_view name, const Value& value) {
    out_.emplace_back(fmt::format("{}: {}", part_, name), fmt::format("{}", value));
    return *this;
  }

 private:
  Fields& out_;
  std::string part_;
};

/// An argument with the name of its parameter, if the kernel has a single text that names it.
std::string named(const Loop& loop, std::size_t i) {
  const kernel::Kernel& kernel = kernel_of(loop, i);
  const auto parameter = static_cast<std::size_t>(loop.args[i].parameter);
  if (parameter >= kernel.parameters.size()) return fmt::format("argument {}", i);
  return fmt::format("argument {} '{}'", i, kernel.parameters[parameter].name);
}

void add_argument(Fields& out, const Loop& loop, std::size_t i) {
  const Arg& arg = loop.args[i];
  Writer field(out, named(loop, i));
  constexpr const char* kinds[] = {"Dat without a Map", "Dat through a Map", "Global, read",
                                   "Global, reduced", "Mat"};
  field("kind", kinds[arg.index()])("access", name_of(access_of(arg)));
  field("dtype", name_of(dtype_of(arg)))("dtype in memory", name_of(stored_of(arg)));
  field("dim", dim_of(arg));
  const auto add_place = [&field](const auto& dat) {
    if (dat.stride != 0) field("scalars of a row", dat.stride)("first component", dat.component);
  };
  std::visit(overload{
                 [&](const DirectDat& dat) { add_place(dat); },
                 [&](const IndirectDat& dat) {
                   add_place(dat);
                   field("Map", dat.map);
                 },
                 [&](const MatArg& mat) {
                   field("columns of a block", mat.col_dim)("row Map", mat.row_map);
                   field("column Map", mat.col_map)("entries are dropped", mat.masked);
                   field("dropped one by one", mat.unrolled)("one row", mat.by_columns);
                 },
                 [](const auto&) {},
             },
             arg);
  field("same object as number", alias_of(arg).data)("memory of number", alias_of(arg).memory);
}

}  // namespace

Fields fields(const Loop& loop) {
  Fields out;
  out.emplace_back("number of kernels", std::to_string(loop.members.size()));
  for (const Member& member : loop.members) {
    out.emplace_back(fmt::format("text of kernel '{}'", member.kernel->name),
                     digest(member.kernel->key));
  }
  out.emplace_back("number of arguments", std::to_string(loop.args.size()));
  for (std::size_t i = 0; i < loop.args.size(); ++i) add_argument(out, loop, i);
  for (std::size_t i = 0; i < loop.maps.size(); ++i) {
    const MapRef& map = loop.maps[i];
    Writer field(out, fmt::format("Map {}", i));
    field("arity", map.arity)("target Set", map.toset)("ragged", map.ragged);
    field("rows of others", map.rows.size());
  }
  constexpr const char* layers[] = {"none", "constant", "variable"};
  Writer(out, "iteration")("Subset", loop.iteration.subset)(
      "layers", layers[static_cast<std::size_t>(loop.iteration.layers)])(
      "periodic", loop.iteration.periodic)("passes the layer", loop.iteration.pass_layer)(
      "passes the element", loop.iteration.pass_element);
  for (const ConstRef& constant : loop.constants) {
    Writer field(out, fmt::format("Const '{}'", constant.name));
    field("dtype", name_of(constant.dtype))("dim", constant.dim);
  }
  // all that has no words here, such as the places of blocks
  out.emplace_back("signature", digest(signature(loop)));
  return out;
}

}  // namespace op2::ir
