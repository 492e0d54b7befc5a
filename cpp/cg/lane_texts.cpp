// SPDX-License-Identifier: BSD-3-Clause
#include "cg/lane_texts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "cg/lane_types.hpp"

namespace op2::cg {
namespace {

using namespace detail;
using kernel::LaneOp;

struct LaneText {
  std::string_view file;
  std::string_view text;
};

// Written by CMake: all files of templates/lanes.
constexpr std::array lane_texts{
#include "cg/lane_texts.inc"
};

std::string file_of(std::string_view function, DType dtype) {
  return fmt::format("{}{}", function, 8 * size_of(dtype));
}

const LaneText* text_of_file(const std::string& file) {
  const auto found = std::ranges::find(lane_texts, file, &LaneText::file);
  return found == lane_texts.end() ? nullptr : &*found;
}

/// Fills the gaps of a text for vectors of one type.
class Filler {
 public:
  Filler(Context& out, DType dtype, int lanes, std::string scalar,
         const std::function<std::string(LaneOp)>& basic)
      : out_(out),
        dtype_(dtype),
        lanes_(lanes),
        scalar_(std::move(scalar)),
        basic_(basic),
        vector_(vector_type(out, dtype, lanes)),
        mask_(vector_type(out, mask_dtype(dtype), lanes)),
        number_(out.dialect().type_name(dtype)) {}

  /// Define the function that stands in the file of @p function.
  std::string define(std::string_view function) {
    const LaneText* found = text_of_file(file_of(function, dtype_));
    if (found == nullptr) throw InternalError(fmt::format("lanes: no text of {}", function));
    const std::string name = named(fmt::format("near_{}", function));
    return out_.find_or_generate(name, name, [&](Context&, const std::string& given) {
      print(filled(found->text, given, function));
    });
  }

 private:
  [[nodiscard]] std::string named(std::string_view what) const {
    return fmt::format("op2_{}_{}x{}", what, name_of(dtype_), lanes_);
  }

  /// The text without gaps; functions that it calls are defined on the way.
  std::string filled(std::string_view text, const std::string& name, std::string_view function) {
    std::string result;
    while (!text.empty()) {
      const std::size_t begin = std::min(text.find('@'), text.size());
      result += text.substr(0, begin);
      if (begin == text.size()) break;
      const std::size_t end = text.find('@', begin + 1);
      const std::string_view gap = text.substr(begin + 1, end - begin - 1);
      result += gap == "name" ? name : value_of(gap, function);
      text.remove_prefix(end + 1);
    }
    return result;
  }

  std::string value_of(std::string_view gap, std::string_view function) {
    if (gap == "V") return vector_;
    if (gap == "I") return mask_;
    if (gap == "blend") return basic_(LaneOp::blend);
    if (gap == "any") return basic_(LaneOp::any);
    if (gap == "by_lane") return by_lane(function);
    if (gap == "all") return all();
    if (gap == "fma") return fused();
    if (gap == "step") return step();
    if (gap == "bits") return renamed("bits", mask_, vector_);
    if (gap == "real") return renamed("real", vector_, mask_);
    return define(gap);
  }

  /// A comment on the first lines, a header that ends with a brace, the body, a brace.
  void print(const std::string& text) {
    const std::size_t header = text.find("static inline");
    const std::size_t body = text.find(" {\n", header);
    const std::size_t comment = text.find('\n') + 1;  // behind the licence
    const Scope scope = out_.function(text.substr(header, body - header));
    out_.statement(text.substr(comment, header - 1 - comment));
    std::string_view rest = std::string_view(text).substr(body + 3);
    rest = rest.substr(0, rest.rfind('}'));
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      out_.statement(rest.substr(2, end - 2));
      rest.remove_prefix(end + 1);
    }
  }

  template <class Body>
  std::string helper(std::string_view what, const std::string& result,
                     const std::string& parameters, const Body& body) {
    const std::string name = named(what);
    return out_.find_or_generate(name, name, [&](Context& out, const std::string& given) {
      const Scope scope =
          out.function(fmt::format("{} {} {}({})", inlined, result, given, parameters));
      body(out);
    });
  }

  std::string all() {
    return helper("all", vector_, fmt::format("{} a", number_), [this](Context& out) {
      const bool is_native = out.dialect().has_vectors;
      out.statement(fmt::format(
          fmt::runtime(is_native ? "return ({})(a);" : "return a - ({}){{0}};"), vector_));
    });
  }

  /// Compilers turn the lanes into one instruction, also where they may not contract others.
  std::string fused() {
    return helper(
        "fma", vector_, fmt::format("{0} a, {0} b, {0} c", vector_), [this](Context& out) {
          if (out.dialect().has_vectors) return out.statement("return fma(a, b, c);");
          out.statement("#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)");
          out.begin_branch(fmt::format("for (int lane = 0; lane < {}; ++lane)", lanes_));
          out.statement(fmt::format("c[lane] = __builtin_fma{}(a[lane], b[lane], c[lane]);",
                                    dtype_ == DType::float32 ? "f" : ""));
          out.end_branch();
          out.statement("return c;");
          out.statement("#else");
          out.statement("return a * b + c;");
          out.statement("#endif");
        });
  }

  std::string step() {
    const std::string fma = fused(), spread = all();
    return helper(
        "step", vector_, fmt::format("{0} a, {0} b, {1} c", vector_, number_),
        [&](Context& out) { out.statement(fmt::format("return {}(a, b, {}(c));", fma, spread)); });
  }

  std::string renamed(std::string_view what, const std::string& to, const std::string& from) {
    return helper(what, to, fmt::format("{} a", from), [&](Context& out) {
      out.statement(fmt::format("return {};", bits_as(out, to, "a")));
    });
  }

  /// The function for scalars, in the lanes of a mask.
  std::string by_lane(std::string_view function) {
    const std::string name = named(fmt::format("far_{}", function));
    return out_.find_or_generate(name, name, [this](Context& out, const std::string& given) {
      const Scope scope = out.function(
          fmt::format("static __attribute__((noinline)) {1} {0}({2} mask, {1} a, {1} b)", given,
                      vector_, mask_));
      out.begin_branch(fmt::format("for (int lane = 0; lane < {}; ++lane)", lanes_));
      out.statement(fmt::format("if (mask[lane]) b[lane] = {}(a[lane]);", scalar_));
      out.end_branch();
      out.statement("return b;");
    });
  }

  Context& out_;
  DType dtype_;
  int lanes_;
  std::string scalar_;
  const std::function<std::string(LaneOp)>& basic_;
  std::string vector_;
  std::string mask_;
  std::string number_;
};

}  // namespace

bool has_lane_text(std::string_view function, DType dtype) {
  return text_of_file(file_of(function, dtype)) != nullptr;
}

std::string define_lane_text(Context& context, std::string_view function, DType dtype, int lanes,
                             const std::string& scalar,
                             const std::function<std::string(LaneOp)>& basic) {
  return Filler(context, dtype, lanes, scalar, basic).define(function);
}

}  // namespace op2::cg
