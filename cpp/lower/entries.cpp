// SPDX-License-Identifier: BSD-3-Clause
#include "lower/entries.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "ir/group.hpp"
#include "kernel/strided.hpp"
#include "lower/make.hpp"
#include "lower/matrix.hpp"
#include "lower/passes.hpp"
#include "lower/ragged.hpp"

namespace op2::lower {
namespace {

Verdict not_listed(std::string why) {
  return {false, std::move(why)};
}

/// The arguments that are summed: matrices, then Dats that elements add to through Maps.
std::vector<std::size_t> summed_args(const ir::Loop& loop, const std::vector<MapFacts>& maps) {
  std::vector<std::size_t> summed = matrix_args(loop);
  for (const std::size_t arg : find_races(loop, maps).reductions) {
    if (!std::holds_alternative<ir::MatArg>(loop.args[arg])) summed.push_back(arg);
  }
  return summed;
}

/// Bytes of shared memory for what one element adds, and what says where its scalars go.
std::int64_t bytes_of_element(const ir::Loop& loop, const std::vector<std::size_t>& summed) {
  std::int64_t bytes = 0;
  for (const std::size_t arg : summed) {
    const auto scalar = static_cast<std::int64_t>(size_of(ir::dtype_of(loop.args[arg])));
    bytes += ir::extent_of(loop, loop.args[arg]) * (scalar + 2);
  }
  return bytes;
}

/// The most entries that a Map has for an element.
std::int64_t longest_row(const ir::Loop& loop, const std::vector<std::size_t>& summed) {
  int longest = 0;
  for (const std::size_t arg : summed) {
    const int map = ir::target_map_of(loop.args[arg]);
    longest = std::max(longest, loop.maps[static_cast<std::size_t>(map)].arity);
  }
  return longest;
}

/// Elements of a block: a power of two; 0 if not even one fits.
int listed_block_size(const ir::Loop& loop, const std::vector<std::size_t>& summed,
                      const Tuning& tuning) {
  int n = tuning.listed_elements;
  if (matrix_args(loop).empty()) {
    n = tuning.summed_elements;
    while (n > 0 && n * longest_row(loop, summed) > tuning.summed_entries) n /= 2;
  }
  while (n > 0 && n * bytes_of_element(loop, summed) > tuning.listed_bytes) n /= 2;
  return n;
}

/// The entries of a matrix, or targets of a Map, that a block adds to.
struct List {
  int extent;             // summands of an element
  std::string own;        // [extent * block size] the block's summands
  std::string begin;      // first of the block's entries
  std::string n_entries;  // of the block
  kir::Parameter first_entry, place, first_summand, summand;
};

/// A matrix or Dat of the loop: the scalars of its elements, and where they go.
struct Summed {
  std::size_t arg;
  DType dtype;
  int extent;          // scalars of an element
  int dim;             // of them, those of one summand: 1, but for Dats with more components
  std::size_t list;    // of lists_
  std::string shared;  // [dim, extent / dim, block size]
};

class Summer {
 public:
  explicit Summer(Builder& builder)
      : builder_(builder),
        loop_(builder.request().loop),
        args_(summed_args(loop_, builder.request().maps)),
        n_elements_(listed_block_size(loop_, args_, builder.request().options.tuning)),
        n_(number(builder.packed().names.take("n_elements"))),
        first_block_(number(builder.packed().names.take("first_block"))),
        sum_(builder.packed().names.take("sum")) {}

  void run() {
    declare_plan();
    if (matrix_args(loop_).empty()) {
      // no row of a Map is loaded for what is added: lists say where that goes
      for (const Summed& summed : summed_) builder_.packed().args[summed.arg].store = {};
      fetch_entries(builder_);
    }
    kir::Block body = head();
    for (const List& list : lists_) append(body, entries_of_block(list));
    for (const List& list : lists_) body.push_back(copy_summands(list));
    body.push_back(compute());
    body.push_back({kir::Barrier{}});
    for (const Summed& summed : summed_) body.push_back(add(summed));
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
    place_ = index_dtype(builder_.request().options.widths.index_bytes);
    module.plan = abi::EntriesPlan{n_elements_, static_cast<int>(size_of(place_))};
    for (const std::size_t arg : args_) {
      if (const auto* mat = std::get_if<ir::MatArg>(&loop_.args[arg])) sum_matrix(arg, *mat);
      if (const auto* dat = std::get_if<ir::IndirectDat>(&loop_.args[arg])) sum_dat(arg, *dat);
    }
    sizes_ = builder_.plan_array(kir::PlanArray::sizes, "sizes", DType::int64);
  }

  abi::EntriesPlan& plan() { return std::get<abi::EntriesPlan>(builder_.module().plan); }

  void sum_matrix(std::size_t arg, const ir::MatArg& mat) {
    const int extent = ir::extent_of(loop_, loop_.args[arg]);
    add_list(builder_.packed().args[arg].data, extent);
    add_summed(arg, mat.dtype, 1, lists_.size() - 1);
    std::vector<abi::ListedMatrix>& listed = plan().matrices;
    listed.push_back({static_cast<int>(listed.size()), mat.row_dim, mat.col_dim});
  }

  /// Dats that are reached through one Map share its list.
  void sum_dat(std::size_t arg, const ir::IndirectDat& dat) {
    std::vector<int>& maps = plan().maps;
    const auto known = std::ranges::find(maps, dat.map);
    const auto number = static_cast<std::size_t>(known - maps.begin());
    if (known == maps.end()) {
      add_list(builder_.packed().args[arg].map,
               loop_.maps[static_cast<std::size_t>(dat.map)].arity);
      maps.push_back(dat.map);
    }
    add_summed(arg, dat.dtype, dat.dim, plan().matrices.size() + number);
  }

  void add_list(const std::string& of, int extent) {
    Names& names = builder_.packed().names;
    lists_.push_back(
        {extent, names.take(of + "_own"), names.take(of + "_begin"), names.take(of + "_n_entries"),
         builder_.plan_array(kir::PlanArray::first_entry, of + "_first_entry", DType::int64),
         builder_.plan_array(kir::PlanArray::entry_place, of + "_place", place_),
         builder_.plan_array(kir::PlanArray::first_summand, of + "_first_summand", DType::uint16),
         builder_.plan_array(kir::PlanArray::summand, of + "_summand", DType::uint16)});
  }

  void add_summed(std::size_t arg, DType dtype, int dim, std::size_t list) {
    PackedLoop& packed = builder_.packed();
    summed_.push_back({arg, dtype, ir::extent_of(loop_, loop_.args[arg]), dim, list,
                       packed.names.take(packed.args[arg].data + "_shared")});
  }

  [[nodiscard]] std::vector<kir::Parameter> parameters() const {
    std::vector<kir::Parameter> out = builder_.packed().parameters;
    for (const List& list : lists_) {
      out.insert(out.end(), {list.first_entry, list.place, list.first_summand, list.summand});
    }
    out.insert(out.end(), {first_block_, n_});
    return out;
  }

  [[nodiscard]] kir::Block head() const {
    kir::Block out;
    for (const Summed& summed : summed_) {
      const int n = n_elements_ * summed.extent;
      out.push_back({kir::Decl{{summed.dtype}, summed.shared, n, {}, kir::Storage::block}});
    }
    for (const List& list : lists_) {
      const int n = n_elements_ * list.extent;
      out.push_back({kir::Decl{{DType::uint16}, list.own, n, {}, kir::Storage::block}});
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

  [[nodiscard]] kir::Stmt copy_summands(const List& list) const {
    const kir::Expr extent = kir::integer(list.extent);
    const kir::Expr from =
        kir::element(list.summand.name, kir::name("first") * extent + kir::name("i"));
    kir::Stmt copy =
        over_lanes(kir::name("n_here") * extent,
                   {{kir::Assign{kir::element(list.own, kir::name("i")), kir::Update::set, from}}});
    const Tuning& tuning = builder_.request().options.tuning;
    const int n_loads = (n_elements_ * list.extent + tuning.listed_lanes - 1) / tuning.listed_lanes;
    std::get<kir::For>(copy.node).unrolled = std::min(n_loads, tuning.listed_loads);
    return copy;
  }

  /// Scalar `c` of what the block's element `i` adds.
  [[nodiscard]] kir::Expr scalar_of(const Summed& summed) const {
    kir::Expr scalar = kir::name("c");
    if (summed.dim > 1) {  // components apart: a list says where the first one is
      const kir::Expr dim = kir::integer(summed.dim);
      scalar = scalar % dim * kir::integer(summed.extent / summed.dim) + scalar / dim;
    }
    return kir::element(summed.shared, scalar * kir::integer(n_elements_) + kir::name("i"));
  }

  /// Scalars of neighbouring elements stand together, for they are stored by neighbouring lanes.
  [[nodiscard]] kir::Stmt compute() {
    PackedLoop& packed = builder_.packed();
    for (const Summed& summed : summed_) {
      if (computes_in_place(summed)) continue;
      packed.args[summed.arg].store = {
          for_components(summed.extent, scalar_of(summed), kir::Update::set,
                         kir::element(packed.args[summed.arg].pack, kir::name("c")))};
    }
    kir::Block body{index_decl(packed.items.position, kir::name("first") + kir::name("i"))};
    append(body, element_body(packed));
    return over_lanes(kir::name("n_here"), std::move(body));
  }

  /// Where a pointer may be one to shared memory, the kernel adds to its matrix there: a private
  /// copy would not fit into registers.
  bool computes_in_place(const Summed& matrix) {
    if (!std::holds_alternative<ir::MatArg>(loop_.args[matrix.arg])) return false;
    if (!builder_.request().facts.one_address_space) return false;
    const std::size_t member = ir::member_of(loop_, matrix.arg);
    kernel::KernelPtr& kernel = builder_.module().kernels[member];
    const auto parameter = static_cast<std::size_t>(ir::parameter_of(loop_, matrix.arg));
    std::optional<kernel::KernelBody> body = kernel::with_stride(
        *kernel->body, parameter, n_elements_, builder_.request().options.tuning.listed_steps);
    if (!body) return false;
    kernel::Kernel strided = *kernel;
    strided.body = std::move(body);
    kernel = std::make_shared<const kernel::Kernel>(std::move(strided));

    PackedArg& packed = builder_.packed().args[matrix.arg];
    packed.decl = {};
    packed.load = {
        for_components(matrix.extent, scalar_of(matrix), kir::Update::set, kir::integer(0))};
    packed.store = {};
    builder_.packed().members[member].call.arguments[parameter] =
        kir::offset(matrix.shared, kir::name("i"));
    return true;
  }

  [[nodiscard]] static kir::Block entries_of_block(const List& list) {
    const kir::Expr block = kir::name("block");
    const kir::Expr end = kir::element(list.first_entry.name, block + kir::integer(1));
    return {index_decl(list.begin, kir::element(list.first_entry.name, block)),
            index_decl(list.n_entries, end - kir::name(list.begin))};
  }

  /// Each entry of the block is summed by one lane, and each component of a target.
  [[nodiscard]] kir::Stmt add(const Summed& summed) const {
    const List& list = lists_[summed.list];
    const bool has_components = summed.dim > 1;
    const kir::Expr i = kir::name("i");
    const kir::Expr dim = kir::integer(summed.dim);
    const kir::Expr entry = kir::name(list.begin) + (has_components ? i / dim : i);
    const kir::Expr bounds = entry + kir::name("block");  // one bound more a block than entries
    const kir::Expr own = kir::element(list.own, kir::name("k"));
    const kir::Expr place = kir::name("place");
    const kir::Expr apart = kir::integer(list.extent * n_elements_);
    const kir::Expr value =
        kir::element(summed.shared, has_components ? i % dim * apart + own : own);
    const bool is_matrix = std::holds_alternative<ir::MatArg>(loop_.args[summed.arg]);
    const kir::Expr component = has_components ? i % dim : kir::integer(0);
    const kir::Expr target = is_matrix
                                 ? kir::element(builder_.packed().args[summed.arg].data, place)
                                 : builder_.scalar(summed.arg, place, component);
    kir::Block body{
        index_decl("place", kir::element(list.place.name, entry)),  // loaded while it is summed
        index_decl("last", kir::element(list.first_summand.name, bounds + kir::integer(1))),
        {kir::Decl{{summed.dtype}, sum_, 0, {kir::integer(0)}}}};
    body.push_back({kir::For{kir::Axis::serial,
                             "k",
                             kir::element(list.first_summand.name, bounds),
                             kir::name("last"),
                             {{kir::Assign{kir::name(sum_), kir::Update::add, value}}}}});
    body.push_back({kir::Atomic{ir::stored_of(loop_.args[summed.arg]), target, kir::Update::add,
                                kir::name(sum_)}});
    const kir::Expr n = kir::name(list.n_entries);
    return over_lanes(has_components ? n * dim : n, std::move(body));
  }

  Builder& builder_;
  const ir::Loop& loop_;
  std::vector<std::size_t> args_;
  int n_elements_;
  kir::Parameter n_;            // elements of the loop
  kir::Parameter first_block_;  // of a launch
  std::string sum_;
  DType place_ = DType::int64;
  std::vector<List> lists_;
  std::vector<Summed> summed_;
  kir::Parameter sizes_;
};

/// Whether an argument is a sum of what elements add by plain Maps, all of it.
Verdict is_plain_sum(const ir::Loop& loop, std::size_t arg) {
  const auto is_plain = [&loop](int map) {
    return loop.maps[static_cast<std::size_t>(map)].rows.empty();
  };
  if (ir::access_of(loop.args[arg]) != Access::inc || ir::is_part(loop, arg)) {
    return not_listed("something is not summed whole");
  }
  if (const auto* dat = std::get_if<ir::IndirectDat>(&loop.args[arg])) {
    if (dat->dim > 0 && dat->stride == 0 && is_plain(dat->map)) return {};
    return not_listed("a Dat is not a sum of what its elements add by a plain Map");
  }
  const auto& mat = std::get<ir::MatArg>(loop.args[arg]);
  if (!mat.by_columns && is_plain(mat.row_map) && is_plain(mat.col_map)) return {};
  return not_listed("an entry of the matrix is not a sum of those of its elements by plain Maps");
}

/// Whether blocks of lanes may sum what their elements add.
Verdict sums_in_blocks(const ir::Loop& loop, const Facts& facts, const std::vector<MapFacts>& maps,
                       const Options& options) {
  if (facts.lanes != Lanes::grid || facts.runs_in_lane)
    return not_listed("lanes do not run side by side");
  if (loop.iteration.subset || loop.iteration.layers != ir::Layers::none) {
    return not_listed("it does not visit the whole of a Set without layers");
  }
  if (Verdict verdict = applicable(Strategy::atomic, loop, facts, maps, options); !verdict.ok) {
    return verdict;
  }
  const std::vector<std::size_t> summed = summed_args(loop, maps);
  if (summed.empty()) return not_listed("no two elements add to the same");
  for (const std::size_t arg : summed) {
    if (Verdict verdict = is_plain_sum(loop, arg); !verdict.ok) return verdict;
  }
  if (std::ranges::any_of(loop.args, [](const ir::Arg& arg) {
        return std::holds_alternative<ir::GlobalReduce>(arg);
      })) {
    return not_listed("a Global is reduced, too");
  }
  if (listed_block_size(loop, summed, options.tuning) < options.tuning.least_listed_elements) {
    return not_listed("what its elements add is too large for shared memory");
  }
  return {};
}

/// Whether elements can be put in an order in which lanes add side by side, and what they gather
/// takes longer than their additions.
bool adds_side_by_side(const ir::Loop& loop, const std::vector<std::size_t>& summed,
                       const Options& options) {
  const Tuning& tuning = options.tuning;
  if (options.widths.scattered || !tuning.interleaved) return false;
  int n_gathered = 0;
  int n_added = 0;
  for (std::size_t i = 0; i < loop.args.size(); ++i) {
    const ir::Arg& arg = loop.args[i];
    if (std::holds_alternative<ir::DirectDat>(arg)) return false;
    const auto* dat = std::get_if<ir::IndirectDat>(&arg);
    if (dat == nullptr) continue;
    const bool is_summed = std::ranges::find(summed, i) != summed.end();
    (is_summed ? n_added : n_gathered) += ir::extent_of(loop, arg);
    const int arity = loop.maps[static_cast<std::size_t>(dat->map)].arity;
    if (is_summed && (dat->dim > 1 || arity < tuning.interleaved_targets)) return false;
  }
  return n_gathered >= tuning.interleaved_gathers * n_added;
}

}  // namespace

Verdict sums_entries(const ir::Loop& loop, const Facts& facts, const std::vector<MapFacts>& maps,
                     const Options& options) {
  if (is_ragged(loop)) return {false, ragged_rows};
  if (matrix_args(loop).empty()) return not_listed("no matrix is assembled");
  return sums_in_blocks(loop, facts, maps, options);
}

Verdict sums_targets(const ir::Loop& loop, const Facts& facts, const std::vector<MapFacts>& maps,
                     const Options& options) {
  if (is_ragged(loop)) return {false, ragged_rows};
  if (!options.widths.summed) return not_listed("so few additions are as fast one by one");
  if (!matrix_args(loop).empty()) return not_listed("a matrix is assembled");
  if (Verdict verdict = sums_in_blocks(loop, facts, maps, options); !verdict.ok) return verdict;
  if (adds_side_by_side(loop, summed_args(loop, maps), options)) {
    return not_listed("lanes side by side add to memory side by side");
  }
  return {};
}

void sum_in_blocks(Builder& builder) {
  Summer(builder).run();
}

}  // namespace op2::lower
