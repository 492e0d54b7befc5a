// SPDX-License-Identifier: BSD-3-Clause
#include "lower/entries.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "ir/group.hpp"
#include "ir/strided.hpp"
#include "lower/make.hpp"
#include "lower/matrix.hpp"

namespace op2::lower {
namespace {

Verdict not_listed(std::string why) {
  return {false, std::move(why)};
}

/// Bytes of shared memory for the matrices of one element, and what says where their scalars go.
std::int64_t bytes_of_element(const ir::Loop& loop) {
  std::int64_t bytes = 0;
  for (const std::size_t arg : matrix_args(loop)) {
    const auto scalar = static_cast<std::int64_t>(size_of(ir::dtype_of(loop.args[arg])));
    bytes += ir::extent_of(loop, loop.args[arg]) * (scalar + 2);
  }
  return bytes;
}

/// Elements of a block: a power of two.
int listed_block_size(const ir::Loop& loop, const Tuning& tuning) {
  int n = tuning.listed_elements;
  while (n > 1 && n * bytes_of_element(loop) > tuning.listed_bytes) n /= 2;
  return n;
}

constexpr int usual_lanes = 128;
constexpr int most_loads = 32;  // of a lane, under way together

/// A matrix of the loop: the scalars of its elements, and where they go.
struct Listed {
  std::size_t arg;
  DType dtype;
  int extent;  // scalars of an element
  std::string data;
  std::string shared;     // [extent * block size]
  std::string own;        // [extent * block size] the block's summands
  std::string begin;      // first of the block's entries
  std::string n_entries;  // of the block
  kir::Parameter first_entry, place, first_summand, summand;
};

class Summer {
 public:
  explicit Summer(Builder& builder)
      : builder_(builder),
        loop_(builder.request().loop),
        n_elements_(listed_block_size(loop_, builder.request().options.tuning)),
        n_(number(builder.packed().names.take("n_elements"))),
        first_block_(number(builder.packed().names.take("first_block"))),
        sum_(builder.packed().names.take("sum")) {}

  void run() {
    declare_plan();
    kir::Block body = head();
    for (const Listed& matrix : listed_) body.push_back(copy_summands(matrix));
    body.push_back(compute());
    body.push_back({kir::Barrier{}});
    for (const Listed& matrix : listed_) append(body, add(matrix));
    const std::string function = builder_.packed().names.take("wrap_" + ir::name_of(loop_));
    builder_.add_kernel(function, parameters(), std::move(body));
    builder_.finish({builder_.launch(function, kir::Grid::blocks, whole_end() - whole_begin(),
                                     {{first_block_.name, whole_begin()},
                                      {n_.name, kir::element(sizes_.name, kir::integer(0))}})},
                    kir::integer(0));
    builder_.module().items = kir::Items::blocks;
  }

 private:
  void declare_plan() {
    kir::Module& module = builder_.module();
    // where single entries of single elements go is not read
    std::erase_if(module.argv, [](const kir::Parameter& parameter) {
      return parameter.role == kir::Role::matrix;
    });
    Names& names = builder_.packed().names;
    const DType place = index_dtype(builder_.request().options.widths.index_bytes);
    int count = 0;
    for (const std::size_t arg : matrix_args(loop_)) {
      const auto& mat = std::get<ir::MatArg>(loop_.args[arg]);
      const std::string& data = builder_.packed().args[arg].data;
      listed_.push_back(
          {arg, mat.dtype, ir::extent_of(loop_, loop_.args[arg]), data,
           names.take(data + "_shared"), names.take(data + "_own"), names.take(data + "_begin"),
           names.take(data + "_n_entries"),
           builder_.plan_array(kir::PlanArray::first_entry, data + "_first_entry", DType::int64),
           builder_.plan_array(kir::PlanArray::entry_place, data + "_place", place),
           builder_.plan_array(kir::PlanArray::first_summand, data + "_first_summand",
                               DType::uint16),
           builder_.plan_array(kir::PlanArray::summand, data + "_summand", DType::uint16)});
      module.plan.listed.push_back({count++, mat.row_dim, mat.col_dim});
    }
    sizes_ = builder_.plan_array(kir::PlanArray::sizes, "sizes", DType::int64);
    module.plan.kind = kir::PlanKind::entries;
    module.plan.block_size = n_elements_;
    module.plan.place_bytes = static_cast<int>(size_of(place));
  }

  [[nodiscard]] std::vector<kir::Parameter> parameters() const {
    std::vector<kir::Parameter> out = builder_.packed().parameters;
    for (const Listed& matrix : listed_) {
      out.insert(out.end(),
                 {matrix.first_entry, matrix.place, matrix.first_summand, matrix.summand});
    }
    out.insert(out.end(), {first_block_, n_});
    return out;
  }

  [[nodiscard]] kir::Block head() const {
    kir::Block out;
    for (const Listed& matrix : listed_) {
      const int n = n_elements_ * matrix.extent;
      out.push_back({kir::Decl{{matrix.dtype}, matrix.shared, n, {}, kir::Storage::block}});
      out.push_back({kir::Decl{{DType::uint16}, matrix.own, n, {}, kir::Storage::block}});
    }
    const kir::Expr size = kir::integer(n_elements_);
    out.push_back(
        index_decl("block", kir::name(first_block_.name) + kir::builtin(kir::Builtin::block_id)));
    out.push_back(index_decl("first", kir::name("block") * size));
    out.push_back(
        index_decl("n_here", kir::minimum(kir::name(n_.name) - kir::name("first"), size)));
    return out;
  }

  [[nodiscard]] static kir::Stmt over_lanes(const kir::Expr& n, kir::Block body) {
    return {kir::For{kir::Axis::lane, "i", kir::integer(0), n, std::move(body)}};
  }

  [[nodiscard]] kir::Stmt copy_summands(const Listed& matrix) const {
    const kir::Expr extent = kir::integer(matrix.extent);
    const kir::Expr from =
        kir::element(matrix.summand.name, kir::name("first") * extent + kir::name("i"));
    kir::Stmt copy = over_lanes(
        kir::name("n_here") * extent,
        {{kir::Assign{kir::element(matrix.own, kir::name("i")), kir::Update::set, from}}});
    const int n_loads = (n_elements_ * matrix.extent + usual_lanes - 1) / usual_lanes;
    std::get<kir::For>(copy.node).unrolled = std::min(n_loads, most_loads);
    return copy;
  }

  /// Scalar `c` of the matrix of the block's element `i`.
  [[nodiscard]] kir::Expr scalar_of(const Listed& matrix) const {
    return kir::element(matrix.shared, kir::name("c") * kir::integer(n_elements_) + kir::name("i"));
  }

  /// Scalars of neighbouring elements stand together, for they are stored by neighbouring lanes.
  [[nodiscard]] kir::Stmt compute() {
    PackedLoop& packed = builder_.packed();
    for (const Listed& matrix : listed_) {
      if (computes_in_place(matrix)) continue;
      packed.args[matrix.arg].store = {
          for_components(matrix.extent, scalar_of(matrix), kir::Update::set,
                         kir::element(packed.args[matrix.arg].pack, kir::name("c")))};
    }
    kir::Block body{index_decl(packed.items.position, kir::name("first") + kir::name("i"))};
    append(body, element_body(packed));
    return over_lanes(kir::name("n_here"), std::move(body));
  }

  /// Where a pointer may be one to shared memory, the kernel adds to its matrix there: a private
  /// copy would not fit into registers.
  bool computes_in_place(const Listed& matrix) {
    if (!builder_.request().facts.one_address_space) return false;
    const std::size_t member = ir::member_of(loop_, matrix.arg);
    ir::KernelPtr& kernel = builder_.module().kernels[member];
    const auto parameter = static_cast<std::size_t>(ir::parameter_of(loop_, matrix.arg));
    std::optional<ir::KernelBody> body = ir::with_stride(*kernel->body, parameter, n_elements_);
    if (!body) return false;
    ir::Kernel strided = *kernel;
    strided.body = std::move(body);
    kernel = std::make_shared<const ir::Kernel>(std::move(strided));

    PackedArg& packed = builder_.packed().args[matrix.arg];
    packed.decl = {};
    packed.load = {
        for_components(matrix.extent, scalar_of(matrix), kir::Update::set, kir::integer(0))};
    packed.store = {};
    for (kir::Expr& argument : builder_.packed().members[member].call.arguments) {
      if (argument == kir::name(packed.pack)) {
        argument = kir::offset(matrix.shared, kir::name("i"));
      }
    }
    return true;
  }

  /// Each entry of the block is summed by one lane.
  [[nodiscard]] kir::Block add(const Listed& matrix) const {
    const kir::Expr block = kir::name("block");
    const kir::Expr begin = kir::name(matrix.begin);
    const kir::Expr entry = begin + kir::name("i");
    const kir::Expr bounds = entry + block;  // each block has one bound more than entries
    const kir::Expr value = kir::element(matrix.shared, kir::element(matrix.own, kir::name("k")));
    const kir::Expr target = kir::element(matrix.data, kir::name("place"));
    kir::Block body{
        index_decl("place", kir::element(matrix.place.name, entry)),  // loaded while it is summed
        index_decl("last", kir::element(matrix.first_summand.name, bounds + kir::integer(1))),
        {kir::Decl{{matrix.dtype}, sum_, 0, {kir::integer(0)}}}};
    body.push_back({kir::For{kir::Axis::serial,
                             "k",
                             kir::element(matrix.first_summand.name, bounds),
                             kir::name("last"),
                             {{kir::Assign{kir::name(sum_), kir::Update::add, value}}}}});
    body.push_back({kir::Atomic{matrix.dtype, target, kir::Update::add, kir::name(sum_)}});
    const kir::Expr end = kir::element(matrix.first_entry.name, block + kir::integer(1));
    return {index_decl(matrix.begin, kir::element(matrix.first_entry.name, block)),
            index_decl(matrix.n_entries, end - begin),
            over_lanes(kir::name(matrix.n_entries), std::move(body))};
  }

  Builder& builder_;
  const ir::Loop& loop_;
  int n_elements_;
  kir::Parameter n_;            // elements of the loop
  kir::Parameter first_block_;  // of a launch
  std::string sum_;
  std::vector<Listed> listed_;
  kir::Parameter sizes_;
};

}  // namespace

Verdict sums_entries(const ir::Loop& loop, const Facts& facts, const std::vector<MapFacts>& maps,
                     const Options& options) {
  if (facts.lanes != Lanes::grid || facts.runs_in_lane)
    return not_listed("lanes do not run side by side");
  if (matrix_args(loop).empty()) return not_listed("no matrix is assembled");
  if (loop.iteration.subset || loop.iteration.layers != ir::Layers::none) {
    return not_listed("it does not visit the whole of a Set without layers");
  }
  if (Verdict verdict = applicable(Strategy::atomic, loop, facts, maps, options); !verdict.ok) {
    return verdict;
  }
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    if (ir::access_of(loop.args[i]) == Access::read) continue;
    const auto* mat = std::get_if<ir::MatArg>(&loop.args[i]);
    if (mat == nullptr) return not_listed("something else than matrices is written");
    const bool is_plain = loop.maps[static_cast<std::size_t>(mat->row_map)].rows.empty() &&
                          loop.maps[static_cast<std::size_t>(mat->col_map)].rows.empty() &&
                          !ir::is_part(loop, i);
    if (mat->access != Access::inc || mat->by_columns || !is_plain) {
      return not_listed(
          "an entry of the matrix is not a sum of those of its elements by plain Maps");
    }
  }
  const int n = listed_block_size(loop, options.tuning);
  if (n < options.tuning.least_listed_elements) {
    return not_listed("the matrices of its elements are too large for shared memory");
  }
  return {};
}

void sum_entries(Builder& builder) {
  Summer(builder).run();
}

}  // namespace op2::lower
