// SPDX-License-Identifier: BSD-3-Clause
#include "cg/lanes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "cg/conversions.hpp"
#include "cg/lane_gathers.hpp"
#include "cg/lane_types.hpp"
#include "kir/instructions.hpp"

namespace op2::cg {
namespace {

using namespace detail;

/// A constant with a number of its own.
std::string keep(Context& context, const std::string& type, const std::string& value, int& count) {
  std::string name = fmt::format("v{}", count++);
  context.statement(fmt::format("const {} {} = {};", type, name, value));
  return name;
}

/// Transpose each square of the vectors in @p names: component j of row i changes places with
/// component i of row j, by a butterfly of shuffles (Eklundh 1972). It is its own inverse.
void transpose_squares(Context& context, const std::string& type, int lanes, Names& names,
                       int& count) {
  const int size = static_cast<int>(names.size());
  for (int step = 1; step < size; step *= 2) {
    for (int j = 0; j < size; ++j) {
      if ((j & step) != 0) continue;
      std::vector<int> low;
      std::vector<int> high;
      for (int p = 0; p < lanes; ++p) {
        const bool is_upper = (p & step) != 0;
        low.push_back(is_upper ? lanes + p - step : p);
        high.push_back(is_upper ? lanes + p : p + step);
      }
      auto& a = names[static_cast<std::size_t>(j)];
      auto& b = names[static_cast<std::size_t>(j + step)];
      std::string first = keep(context, type, shuffled(a, b, low), count);
      std::string second = keep(context, type, shuffled(a, b, high), count);
      a = std::move(first);
      b = std::move(second);
    }
  }
}

/// `out` and where the row of each lane lies.
std::string gather_parameters(Context& context, DType dtype, int lanes) {
  Names parameters{fmt::format("{} *out", vector_type(context, dtype, lanes))};
  const std::string scalar(context.dialect().type_name(dtype));
  for (int lane = 0; lane < lanes; ++lane) {
    parameters.push_back(fmt::format("const {} *row{}", in_global_space(context, scalar), lane));
  }
  return joined(parameters, ",\n    ");
}

/// Rows of one chunk of components become vectors of lanes.
std::string chunk_function(Context& context, DType dtype, int lanes, int chunk) {
  const std::string type = vector_type(context, dtype, lanes);
  const std::string name = fmt::format("op2_gather_{}x{}_by{}", name_of(dtype), lanes, chunk);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    const std::string parameters = gather_parameters(out, dtype, lanes);
    if (chunk > 1) {
      (void)row_type(out, dtype, chunk);
      for (int width = chunk; width < lanes; width *= 2) (void)vector_type(out, dtype, width);
    }
    const Scope scope = out.function(fmt::format("{} void {}({})", inlined, given, parameters));
    if (chunk == 1) {
      const Names items = for_lanes(lanes, [](int lane) { return fmt::format("*row{}", lane); });
      out.statement(fmt::format("out[0] = ({}){{{}}};", type, joined(items)));
      return;
    }
    const std::string narrow = vector_name(dtype, chunk);
    int count = 0;
    const Names rows = for_lanes(lanes, [&](int lane) {
      return keep(out, narrow,
                  fmt::format("*(const {} *)row{}",
                              in_global_space(out, row_type(out, dtype, chunk)), lane),
                  count);
    });
    Names columns;
    for (int j = 0; j < chunk; ++j) {
      Names parts;
      for (int lane = j; lane < lanes; lane += chunk) {
        parts.push_back(rows[static_cast<std::size_t>(lane)]);
      }
      for (int width = chunk; parts.size() > 1; width *= 2) {
        Names wider;
        for (std::size_t i = 0; i < parts.size(); i += 2) {
          wider.push_back(keep(out, vector_name(dtype, 2 * width),
                               shuffled(parts[i], parts[i + 1], range(0, 2 * width)), count));
        }
        parts = std::move(wider);
      }
      columns.push_back(parts.front());
    }
    transpose_squares(out, type, lanes, columns, count);
    for (int j = 0; j < chunk; ++j) {
      out.statement(fmt::format("out[{}] = {};", j, columns[static_cast<std::size_t>(j)]));
    }
  });
}

/// A call of a gather function for the piece of each row that begins at @p begin.
void gather_piece(Context& out, const std::string& function, int lanes, const std::string& begin) {
  const std::string plus = begin == "0" ? "" : " + " + begin;
  const Names rows =
      for_lanes(lanes, [&plus](int lane) { return fmt::format("row{}{}", lane, plus); });
  out.statement(fmt::format("{}(out{}, {});", function, plus, joined(rows)));
}

/// Whole rows become vectors of lanes. Where each lies is asked once, for it may be read from
/// memory. More than @p unrolled vectors of all lanes are loaded by a loop.
std::string gather_function(Context& context, DType dtype, int lanes, int dim, int unrolled) {
  const std::vector<kir::RowPiece> chunks = kir::row_pieces(dim, lanes);
  if (chunks.size() == 1) return chunk_function(context, dtype, lanes, dim);
  const std::string name = fmt::format("op2_gather_{}x{}_of{}", name_of(dtype), lanes, dim);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    Names functions;
    for (const kir::RowPiece& chunk : chunks) {
      functions.push_back(chunk_function(out, dtype, lanes, chunk.size));
    }
    const std::string parameters = gather_parameters(out, dtype, lanes);
    const Scope scope = out.function(fmt::format("{} void {}({})", inlined, given, parameters));
    const int whole = dim / lanes;
    const int n_looped = whole > unrolled ? whole : 0;
    if (n_looped > 0) {
      out.begin_branch(fmt::format("for (int i = 0; i < {}; i += {})", whole * lanes, lanes));
      gather_piece(out, functions.front(), lanes, "i");
      out.end_branch();
    }
    for (auto i = static_cast<std::size_t>(n_looped); i < chunks.size(); ++i) {
      gather_piece(out, functions[i], lanes, fmt::format("{}", chunks[i].begin));
    }
  });
}

/// Vectors of lanes become rows: the way back of chunk_function().
std::string rows_function(Context& context, DType dtype, int lanes, int chunk) {
  const std::string type = vector_type(context, dtype, lanes);
  const std::string narrow = vector_type(context, dtype, chunk);
  const std::string name = fmt::format("op2_rows_{}x{}_by{}", name_of(dtype), lanes, chunk);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    const Scope scope = out.function(
        fmt::format("{} void {}({} *rows, const {} *in)", inlined, given, narrow, type));
    Names columns = for_lanes(chunk, [](int j) { return fmt::format("in[{}]", j); });
    int count = 0;
    transpose_squares(out, type, lanes, columns, count);
    for (int lane = 0; lane < lanes; ++lane) {
      const std::string& from = columns[static_cast<std::size_t>(lane % chunk)];
      const int begin = lane / chunk * chunk;
      out.statement(
          fmt::format("rows[{}] = {};", lane,
                      chunk == lanes ? from : shuffled(from, from, range(begin, begin + chunk))));
    }
  });
}

/// Lanes 0 to n - 1 are on.
std::string first_function(Context& context, DType mask, int lanes) {
  const std::string type = vector_type(context, mask, lanes);
  const std::string name = fmt::format("op2_first_{}x{}", name_of(mask), lanes);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    const Scope scope = out.function(fmt::format("{} {} {}(long n)", inlined, type, given));
    const Names numbers = for_lanes(lanes, [](int lane) { return fmt::format("{}", lane); });
    const std::string number = fmt::format("({})n", out.dialect().type_name(mask));
    const std::string all = out.dialect().has_vectors ? fmt::format("({})({})", type, number)
                                                      : fmt::format("{} - ({}){{0}}", number, type);
    out.statement(fmt::format("return ({}){{{}}} < {};", type, joined(numbers), all));
  });
}

/// A function of entries of lanes, whose result is a mask: `BEFORE entries AFTER 0`.
std::string test_function(Context& context, const std::string& word, const std::string& entries,
                          std::string_view before, std::string_view after, DType entry, DType mask,
                          int lanes) {
  const std::string type = vector_type(context, mask, lanes);
  const std::string from = in_global_space(context, row_type(context, entry, lanes));
  const std::string name =
      fmt::format("op2_{}_{}x{}_by_{}", word, name_of(mask), lanes, name_of(entry));
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    const std::string scalar = in_global_space(out, std::string(out.dialect().type_name(entry)));
    const std::string wide = vector_type(out, entry, lanes);
    const Scope scope =
        out.function(fmt::format("{} {} {}(const {} *{})", inlined, type, given, scalar, entries));
    const std::string zero =
        out.dialect().has_vectors ? fmt::format("({})(0)", wide) : fmt::format("({}){{0}}", wide);
    const std::string on = fmt::format("{}*(const {} *){}{}{}", before, from, entries, after, zero);
    out.statement(size_of(entry) == size_of(mask)
                      ? fmt::format("return {};", on)
                      : fmt::format("return __builtin_convertvector({}, {});", on, type));
  });
}

/// The lanes of a column that have an incidence: those whose entry is not negative.
std::string on_function(Context& context, DType entry, DType mask, int lanes) {
  return test_function(context, "on", "entries", "", " >= ", entry, mask, lanes);
}

/// The lanes whose codes have a bit that is 0.
std::string without_bit_function(Context& context, DType code, DType mask, int lanes, int bit) {
  return test_function(context, fmt::format("without{}", bit), "codes", "(",
                       fmt::format(" & {}) == ", bit), code, mask, lanes);
}

/// One value or another, by lane.
std::string pick_function(Context& context, DType dtype, int lanes) {
  const std::string type = vector_type(context, dtype, lanes);
  const std::string mask = vector_type(context, mask_dtype(dtype), lanes);
  const std::string name = fmt::format("op2_pick_{}x{}", name_of(dtype), lanes);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    const Scope scope = out.function(
        fmt::format("{0} {1} {2}({3} first, {1} one, {1} other)", inlined, type, given, mask));
    out.statement(fmt::format(
        "return {};", bits_as(out, type,
                              fmt::format("({} & first) | ({} & ~first)", bits_as(out, mask, "one"),
                                          bits_as(out, mask, "other")))));
  });
}

/// `sum op= value` where a lane is on.
std::string share_function(Context& context, DType dtype, int lanes, kir::Update update) {
  const std::string type = vector_type(context, dtype, lanes);
  const std::string mask = vector_type(context, mask_dtype(dtype), lanes);
  const std::string_view what = update == kir::Update::add   ? "add"
                                : update == kir::Update::min ? "min"
                                                             : "max";
  const std::string name = fmt::format("op2_share_{}_{}x{}", what, name_of(dtype), lanes);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    const Scope scope = out.function(
        fmt::format("{0} {1} {2}({3} on, {1} sum, {1} value)", inlined, type, given, mask));
    if (update == kir::Update::add) {
      out.statement(fmt::format("const {} next = sum + value;", type));
    } else {
      out.statement(fmt::format("const {} next = value;", type));
      out.statement(
          fmt::format("on &= {};", update == kir::Update::min ? "value < sum" : "sum < value"));
    }
    out.statement(fmt::format(
        "return {};", bits_as(out, type,
                              fmt::format("({} & on) | ({} & ~on)", bits_as(out, mask, "next"),
                                          bits_as(out, mask, "sum")))));
  });
}

}  // namespace

// --------------------------------------------------------------------- statements of the wrapper

namespace {

/// `(type *)(address) + first`: complex numbers as the two parts that they lie in memory as.
std::string parts_at(const std::string& type, const std::string& address,
                     const std::string& first) {
  const std::string plus = first == "0" ? "" : " + " + first;
  return fmt::format("({} *)({}){}", type, address, plus);
}

void print_arrive(Context& context, const kir::Intrinsic& arrive, const LaneSpelling& spelling) {
  context.statement(fmt::format(fmt::runtime(context.dialect().arrive),
                                spelling(arrive.operands[0]), spelling(arrive.operands[1]),
                                spelling(arrive.operands[2])));
}

void print_fetch(Context& context, const kir::Intrinsic& fetch, const LaneSpelling& spelling) {
  const kir::Element from = kir::element_at(fetch.operands[1]);
  context.statement(fmt::format(fmt::runtime(context.dialect().fetch), spelling(fetch.operands[0]),
                                spelling(kir::name(from.array)), spelling(from.subscript.front()),
                                fetch.extent));
}

/// An address as text, with what is added folded.
std::string spelled_address(const kir::Expr& address, const LaneSpelling& spelling) {
  const auto* offset = std::get_if<kir::Offset>(&address.node);
  return spelling(offset == nullptr ? address
                                    : kir::offset(offset->array, offset->subscript.front()));
}

void print_lane_gather(Context& context, const kir::Intrinsic& gather,
                       const LaneSpelling& spelling) {
  const auto& [dtype, is_const, is_pointer, lanes] = gather.type;
  const std::string pack = spelled_address(gather.operands[0], spelling);
  const bool is_parts = is_complex(dtype);
  if (!is_parts && has_gather_instruction(dtype, lanes, gather.bytes)) {
    Names starts;
    for (auto row = gather.operands.begin() + 1; row != gather.operands.end(); ++row) {
      starts.push_back(spelling(kir::element_at(*row).subscript.front()));
    }
    context.statement(
        fmt::format("{}({}, {}, ({}){{{}}});",
                    gather_instruction(context, dtype, lanes, gather.extent, gather.bytes), pack,
                    spelling(kir::name(kir::element_at(gather.operands[1]).array)),
                    vector_type(context, DType::int64, lanes), joined(starts, ",\n    ")));
    return;
  }
  const DType part = part_of(dtype);
  Names arguments{is_parts ? parts_at(vector_type(context, part, lanes), pack, "0") : pack};
  const std::string scalar = fmt::format(
      "const {}", in_global_space(context, std::string(context.dialect().type_name(part))));
  for (auto start = gather.operands.begin() + 1; start != gather.operands.end(); ++start) {
    const std::string row = spelled_address(*start, spelling);
    arguments.push_back(is_parts ? parts_at(scalar, row, "0") : row);
  }
  const std::string function = gather_function(
      context, part, lanes, is_parts ? 2 * gather.extent : gather.extent, gather.unrolled);
  context.statement(fmt::format("{}({});", function, joined(arguments, ",\n    ")));
}

/// Values side by side become one vector, unless the last lanes have none of their own.
std::string read_function(Context& context, DType dtype, int lanes) {
  const std::string type = vector_type(context, dtype, lanes);
  const std::string row = in_global_space(context, row_type(context, dtype, lanes));
  const std::string name = fmt::format("op2_read_{}x{}", name_of(dtype), lanes);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    const std::string scalar = in_global_space(out, std::string(out.dialect().type_name(dtype)));
    const Scope scope = out.function(
        fmt::format("{} {} {}(const {} *from, long live)", inlined, type, given, scalar));
    const Names items = for_lanes(lanes, [](int lane) {
      return lane == 0 ? "from[0]" : fmt::format("from[{0} < live ? {0} : live - 1]", lane);
    });
    out.statement(fmt::format("if (live == {}) return *(const {} *)from;", lanes, row));
    out.statement(fmt::format("return ({}){{{}}};", type, joined(items)));
  });
}

std::string write_function(Context& context, DType dtype, int lanes) {
  const std::string type = vector_type(context, dtype, lanes);
  const std::string row = in_global_space(context, row_type(context, dtype, lanes));
  const std::string name = fmt::format("op2_write_{}x{}", name_of(dtype), lanes);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    const std::string scalar = in_global_space(out, std::string(out.dialect().type_name(dtype)));
    const Scope scope = out.function(
        fmt::format("{} void {}({} *to, {} value, long live)", inlined, given, scalar, type));
    out.begin_branch(fmt::format("if (live == {})", lanes));
    out.statement(fmt::format("*({} *)to = value;", row));
    out.else_branch("else");
    out.statement("for (long lane = 0; lane < live; ++lane) to[lane] = value[lane];");
    out.end_branch();
  });
}

/// What an address leads to, as text.
std::string spelled_value(const kir::Expr& address, const LaneSpelling& spelling) {
  const kir::Element value = kir::element_at(address);
  return spelling(kir::element(value.array, value.subscript.front()));
}

void print_lane_read(Context& context, const kir::Intrinsic& read, const LaneSpelling& spelling) {
  context.statement(fmt::format("{} = {}({}, {});", spelled_value(read.operands[0], spelling),
                                read_function(context, read.type.dtype, read.type.lanes),
                                spelled_address(read.operands[1], spelling),
                                spelling(read.operands[2])));
}

void print_lane_write(Context& context, const kir::Intrinsic& write, const LaneSpelling& spelling) {
  context.statement(
      fmt::format("{}({}, {}, {});", write_function(context, write.type.dtype, write.type.lanes),
                  spelled_address(write.operands[0], spelling),
                  spelled_value(write.operands[1], spelling), spelling(write.operands[2])));
}

void print_lane_turn(Context& context, const kir::Intrinsic& turn, const LaneSpelling& spelling) {
  const DType part = part_of(turn.type.dtype);
  const std::string function = rows_function(context, part, turn.type.lanes, turn.extent);
  std::string from = spelled_address(turn.operands[1], spelling);
  if (is_complex(turn.type.dtype)) {
    const kir::Element first = kir::element_at(turn.operands[1]);
    const std::string type = vector_type(context, part, turn.type.lanes);
    from = parts_at("const " + type, spelling(kir::name(first.array)),
                    spelling(first.subscript.front()));
  }
  context.statement(fmt::format("{}({}, {});", function, spelling(turn.operands[0]), from));
}

/// The members of a vector that hold numbers.
Names vectors_of(DType dtype) {
  return is_complex(dtype) ? Names{".re", ".im"} : Names{""};
}

void print_lane_convert(Context& context, const kir::Intrinsic& convert,
                        const LaneSpelling& spelling) {
  const auto statement = [&](const std::string& c) {
    for (const std::string& of : vectors_of(convert.type.dtype)) {
      const std::string value = fmt::format("{}[{}]{}", spelling(convert.operands[1]), c, of);
      context.statement(
          fmt::format("{}[{}]{} = {};", spelling(convert.operands[0]), c, of,
                      converted(context, part_of(*convert.other), part_of(convert.type.dtype),
                                convert.type.lanes, value)));
    }
  };
  if (convert.extent > convert.unrolled) {
    context.begin_branch(fmt::format("for (int c = 0; c < {}; ++c)", convert.extent));
    statement("c");
    context.end_branch();
    return;
  }
  for (int c = 0; c < convert.extent; ++c) statement(fmt::format("{}", c));
}

void print_lane_store(Context& context, const kir::Intrinsic& store, const LaneSpelling& spelling) {
  const DType part = part_of(store.type.dtype);
  std::string to = spelled_address(store.operands[0], spelling);
  if (is_complex(store.type.dtype)) {
    const kir::Element first = kir::element_at(store.operands[0]);
    const std::string scalar(context.dialect().type_name(part));
    to = parts_at(in_global_space(context, scalar), spelling(kir::name(first.array)),
                  spelling(first.subscript.front()));
  }
  const std::string place = fmt::format(
      "*({} *)({})", in_global_space(context, row_type(context, part, store.extent)), to);
  const std::string row =
      fmt::format("{}[{}]", spelling(store.operands[1]), spelling(store.operands[2]));
  if (store.other) {  // rounded once, behind the addition
    const DType wide = part_of(*store.other);
    const std::string sum = converted(context, part, wide, store.extent, place) + " + " + row;
    context.statement(
        fmt::format("{} = {};", place, converted(context, wide, part, store.extent, sum)));
    return;
  }
  context.statement(
      fmt::format("{} {} {};", place, store.update == kir::Update::set ? "=" : "+=", row));
}

void print_lane_add(Context& context, const kir::Intrinsic& add, const LaneSpelling& spelling) {
  const auto& [dtype, is_const, is_pointer, lanes] = add.type;
  const DType mask = mask_dtype(dtype);
  const std::string type = vector_type(context, part_of(dtype), lanes);
  const std::string mask_type = vector_type(context, mask, lanes);
  const std::string first = first_function(context, mask, lanes);
  for (int c = 0; c < add.extent; ++c) {
    for (const std::string& part : vectors_of(dtype)) {
      const std::string value = fmt::format("{}[{}]{}", spelling(add.operands[1]), c, part);
      const std::string kept = fmt::format("{} & {}({})", bits_as(context, mask_type, value), first,
                                           spelling(add.operands[2]));
      context.statement(fmt::format("{}[{}]{} += {};", spelling(add.operands[0]), c, part,
                                    bits_as(context, type, kept)));
    }
  }
}

void print_lane_share(Context& context, const kir::Intrinsic& share, const LaneSpelling& spelling) {
  const DType part = part_of(share.type.dtype);
  const int lanes = share.type.lanes;
  const DType entry = share.bytes == 4 ? DType::int32 : DType::int64;
  const std::string on = fmt::format("{}({})", on_function(context, entry, mask_dtype(part), lanes),
                                     spelled_address(share.operands[2], spelling));
  const std::string function = share_function(context, part, lanes, share.update);
  const kir::Element sum = kir::element_at(share.operands[0]);
  const kir::Element pack = kir::element_at(share.operands[1]);
  const auto statement = [&](const kir::Expr& c) {
    for (const std::string& of : vectors_of(share.type.dtype)) {
      const std::string target = spelling(kir::element(sum.array, c)) + of;
      const std::string value = spelling(kir::element(pack.array, pack.subscript.front() + c)) + of;
      context.statement(fmt::format("{} = {}({}, {}, {});", target, function, on, target, value));
    }
  };
  if (share.extent > share.unrolled) {
    context.begin_branch(fmt::format("for (int c = 0; c < {}; ++c)", share.extent));
    statement(kir::name("c"));
    context.end_branch();
    return;
  }
  for (int c = 0; c < share.extent; ++c) statement(kir::integer(c));
}

/// Call @p print for each component with its texts: target, one value, the other.
template <class Print>
void for_picks(Context& context, const kir::Intrinsic& pick, const LaneSpelling& spelling,
               const Print& print) {
  const auto at = [&](std::size_t operand, const kir::Expr& c) {
    const kir::Element pack = kir::element_at(pick.operands[operand]);
    return spelling(kir::element(pack.array, pack.subscript.front() + c));
  };
  const auto statement = [&](const kir::Expr& c) { print(at(0, c), at(2, c), at(3, c)); };
  if (pick.extent > pick.unrolled) {
    context.begin_branch(fmt::format("for (int c = 0; c < {}; ++c)", pick.extent));
    statement(kir::name("c"));
    context.end_branch();
    return;
  }
  for (int c = 0; c < pick.extent; ++c) statement(kir::integer(c));
}

DType code_dtype(const kir::Intrinsic& pick) {
  return pick.bytes == 4 ? DType::uint32 : DType::uint64;
}

/// The lanes with slot 0, and those with an incidence.
constexpr int bit_of_slot = 2;
constexpr int bit_of_hole = 1;

void print_lane_pick(Context& context, const kir::Intrinsic& pick, const LaneSpelling& spelling) {
  const auto& [dtype, is_const, is_pointer, lanes] = pick.type;
  const std::string codes = spelled_address(pick.operands[1], spelling);
  const std::string first =
      without_bit_function(context, code_dtype(pick), mask_dtype(dtype), lanes, bit_of_slot);
  const std::string function = pick_function(context, dtype, lanes);
  for_picks(context, pick, spelling,
            [&](const std::string& to, const std::string& one, const std::string& other) {
              context.statement(
                  fmt::format("{} = {}({}({}), {}, {});", to, function, first, codes, one, other));
            });
}

void print_lane_pick_share(Context& context, const kir::Intrinsic& pick,
                           const LaneSpelling& spelling) {
  const auto& [dtype, is_const, is_pointer, lanes] = pick.type;
  const std::string codes = spelled_address(pick.operands[1], spelling);
  const DType mask = mask_dtype(dtype);
  const std::string first =
      without_bit_function(context, code_dtype(pick), mask, lanes, bit_of_slot);
  const std::string on = without_bit_function(context, code_dtype(pick), mask, lanes, bit_of_hole);
  const std::string function = pick_function(context, dtype, lanes);
  const std::string share = share_function(context, dtype, lanes, kir::Update::add);
  for_picks(context, pick, spelling,
            [&](const std::string& to, const std::string& one, const std::string& other) {
              context.statement(fmt::format("{0} = {1}({2}({3}), {0}, {4}({5}({3}), {6}, {7}));",
                                            to, share, on, codes, function, first, one, other));
            });
}

void print_lane_fold(Context& context, const kir::Intrinsic& fold, const LaneSpelling& spelling) {
  context.begin_branch(fmt::format("for (int c = 0; c < {}; ++c)", fold.extent));
  context.begin_branch(fmt::format("for (int i = 0; i < {}; ++i)", fold.type.lanes));
  const std::string pack = spelling(fold.operands[1]);
  std::string value = fmt::format("{}[c][i]", pack);
  if (is_complex(fold.type.dtype)) {
    value = complex_value(context, fold.type.dtype, pack + "[c].re[i]", pack + "[c].im[i]");
  }
  const std::string target = fmt::format("{}[c]", spelling(fold.operands[0]));
  switch (fold.update) {
    case kir::Update::add:
      context.statement(fmt::format("{} += {};", target, value));
      break;
    case kir::Update::min:
      context.statement(fmt::format("if ({1} < {0}) {0} = {1};", target, value));
      break;
    case kir::Update::max:
      context.statement(fmt::format("if ({0} < {1}) {0} = {1};", target, value));
      break;
    case kir::Update::set:
      throw InternalError("lanes: a fold that only stores");
  }
  context.end_branch();
  context.end_branch();
}

/// Beside kir/instructions.hpp: how each is printed.
constexpr std::pair<kir::Instruction,
                    void (*)(Context&, const kir::Intrinsic&, const LaneSpelling&)>
    printers[] = {
        {kir::Instruction::arrive, print_arrive},
        {kir::Instruction::fetch, print_fetch},
        {kir::Instruction::lane_gather, print_lane_gather},
        {kir::Instruction::lane_read, print_lane_read},
        {kir::Instruction::lane_write, print_lane_write},
        {kir::Instruction::lane_turn, print_lane_turn},
        {kir::Instruction::lane_store, print_lane_store},
        {kir::Instruction::lane_add, print_lane_add},
        {kir::Instruction::lane_share, print_lane_share},
        {kir::Instruction::lane_pick, print_lane_pick},
        {kir::Instruction::lane_pick_share, print_lane_pick_share},
        {kir::Instruction::lane_fold, print_lane_fold},
        {kir::Instruction::lane_convert, print_lane_convert},
};

}  // namespace

void print_intrinsic(Context& context, const kir::Intrinsic& intrinsic,
                     const LaneSpelling& spelling) {
  const auto* printer =
      std::ranges::find(printers, intrinsic.name, [](const auto& row) { return row.first; });
  printer->second(context, intrinsic, spelling);
}

}  // namespace op2::cg
