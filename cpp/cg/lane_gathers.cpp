// SPDX-License-Identifier: BSD-3-Clause
#include "cg/lane_gathers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "cg/lane_types.hpp"

namespace op2::cg {
namespace {

using namespace detail;

constexpr int index_bytes = 8;

/// Lanes of one instruction: as many as it has indices, which have 64 bits.
int unit_of(int lanes, int gather_bytes) {
  return std::min(lanes, gather_bytes / index_bytes);
}

struct Builtin {
  DType dtype;
  int lanes;
  std::string_view gcc;
  std::string_view clang;
};

// Intel's intrinsics guide: _mm256_i64gather_pd, _mm256_i64gather_ps, _mm512_i64gather_pd, ..._ps.
constexpr Builtin builtins[] = {
    {DType::float64, 4, "__builtin_ia32_gatherdiv4df", "__builtin_ia32_gatherq_pd256"},
    {DType::float32, 4, "__builtin_ia32_gatherdiv4sf256", "__builtin_ia32_gatherq_ps256"},
    {DType::float64, 8, "__builtin_ia32_gatherdiv8df", "__builtin_ia32_gatherdiv8df"},
    {DType::float32, 8, "__builtin_ia32_gatherdiv16sf", "__builtin_ia32_gatherdiv16sf"},
};

const Builtin* builtin_for(DType dtype, int unit) {
  const auto* found = std::ranges::find_if(builtins, [dtype, unit](const Builtin& builtin) {
    return builtin.dtype == dtype && builtin.lanes == unit;
  });
  return found == std::end(builtins) ? nullptr : found;
}

/// `T f(const scalar *data, int64 lanes at)`: one instruction.
std::string unit_function(Context& context, const Builtin& builtin) {
  const std::string type = vector_type(context, builtin.dtype, builtin.lanes);
  const std::string index = vector_type(context, DType::int64, builtin.lanes);
  const std::string mask = vector_type(context, mask_dtype(builtin.dtype), builtin.lanes);
  const std::string name = fmt::format("op2_fetch_{}x{}", name_of(builtin.dtype), builtin.lanes);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    const std::string_view scalar = out.dialect().type_name(builtin.dtype);
    const Scope scope = out.function(
        fmt::format("{} {} {}(const {} *data, {} at)", inlined, type, given, scalar, index));
    // Their indices are `long long`, and AVX2's masks vectors whose signs count.
    out.statement(fmt::format("typedef long long index __attribute__((vector_size({})));",
                              builtin.lanes * index_bytes));
    const bool is_wide = builtin.lanes == 8;
    const std::string on = is_wide ? "(unsigned char)-1"
                                   : fmt::format("({})(({}){{0}} == ({}){{0}})", type, mask, mask);
    const auto call = [&](std::string_view function, std::string_view mask_type) {
      return fmt::format("return {}(({}){{0}}, data, (index)at, {}{}, {});", function, type,
                         mask_type, on, size_of(builtin.dtype));
    };
    if (builtin.gcc == builtin.clang) {
      out.statement(call(builtin.gcc, ""));
      return;
    }
    out.statement("#ifdef __clang__");
    out.statement(call(builtin.clang, ""));
    out.statement("#else");
    out.statement(call(builtin.gcc, ""));
    out.statement("#endif");
  });
}

Names numbers(int begin, int end) {
  Names out;
  for (int i = begin; i < end; ++i) out.push_back(fmt::format("{}", i));
  return out;
}

}  // namespace

bool has_gather_instruction(DType dtype, int lanes, int gather_bytes) {
  return gather_bytes > 0 && builtin_for(dtype, unit_of(lanes, gather_bytes)) != nullptr;
}

std::string gather_instruction(Context& context, DType dtype, int lanes, int dim,
                               int gather_bytes) {
  const int unit = unit_of(lanes, gather_bytes);
  const std::string type = vector_type(context, dtype, lanes);
  const std::string index = vector_type(context, DType::int64, lanes);
  const std::string name = fmt::format("op2_fetch_{}x{}_of{}", name_of(dtype), lanes, dim);
  return context.find_or_generate(name, name, [&](Context& out, const std::string& given) {
    const std::string fetch = unit_function(out, *builtin_for(dtype, unit));
    for (int width = unit; width < lanes; width *= 2) (void)vector_type(out, dtype, width);
    const std::string_view scalar = out.dialect().type_name(dtype);
    const Scope scope = out.function(fmt::format("{} void {}({} *out, const {} *data, {} at)",
                                                 inlined, given, type, scalar, index));
    Names places;
    for (int first = 0; first < lanes; first += unit) {
      if (unit == lanes) {
        places.emplace_back("at");
        break;
      }
      places.push_back(fmt::format("at{}", places.size()));
      out.statement(fmt::format("const {} {} = __builtin_shufflevector(at, at, {});",
                                vector_name(DType::int64, unit), places.back(),
                                joined(numbers(first, first + unit))));
    }
    for (int c = 0; c < dim; ++c) {
      Names parts;
      for (const std::string& at : places) {
        parts.push_back(
            fmt::format("{}(data{}, {})", fetch, c == 0 ? "" : fmt::format(" + {}", c), at));
      }
      for (int width = unit; parts.size() > 1; width *= 2) {
        Names wider;
        for (std::size_t i = 0; i < parts.size(); i += 2) {
          wider.push_back(fmt::format("__builtin_shufflevector({}, {}, {})", parts[i], parts[i + 1],
                                      joined(numbers(0, 2 * width))));
        }
        parts = std::move(wider);
      }
      out.statement(fmt::format("out[{}] = {};", c, parts.front()));
    }
  });
}

}  // namespace op2::cg
