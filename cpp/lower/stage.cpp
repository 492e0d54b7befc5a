// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lower/make.hpp"
#include "lower/passes.hpp"

namespace op2::lower {
namespace {

/// A Dat that is reduced through a Map: its targets of a block have copies in shared memory.
struct Staged {
  std::size_t arg;  // the first of its arguments
  int map;
  int arity;
  int dim;
  DType dtype;
  kir::Update update;
  std::string data;
  std::string shared;
  kir::Parameter ind_map;  // targets of the blocks, one block after the other
  kir::Parameter loc_map;  // [n * arity] which of its block's targets an element's entry is
  int number = 0;          // among the staged ones
};

class Stager {
 public:
  explicit Stager(Builder& builder)
      : builder_(builder),
        loop_(builder.request().loop),
        races_(find_races(loop_, builder.request().maps)),
        n_elements_(builder.request().options.tuning.staged_elements),
        first_block_(builder.packed().names.take("block_offset")) {}

  void run() {
    find_staged();
    declare_plan();
    kir::Block body = head();
    if (staged_.empty()) {
      append(body, rounds(in_turns()));
    } else {
      append(body, commented("What the block adds to its targets, in memory that its lanes share.",
                             over_targets(&Stager::fetch)));
      body.push_back({kir::Barrier{}});
      append(body, rounds(together()));
      append(body,
             commented("The targets themselves.", over_targets(&Stager::flush, /*in_turns=*/true)));
    }
    const std::string function = builder_.packed().names.take("wrap_" + ir::name_of(loop_));
    builder_.add_kernel(function, parameters(), std::move(body));
    launch(function);
  }

 private:
  // --------------------------------------------------------------------------------- what and how

  /// Nothing is staged where an element must see what the one before it did.
  void find_staged() {
    if (!can_stage()) return;
    for (const std::size_t arg : races_.reductions) {
      const auto& dat = std::get<ir::IndirectDat>(loop_.args[arg]);
      if (staged_of(arg) != nullptr) continue;
      const std::string& data = builder_.packed().args[arg].data;
      staged_.push_back({arg,
                         dat.map,
                         loop_.maps[static_cast<std::size_t>(dat.map)].arity,
                         dat.dim,
                         dat.dtype,
                         update_of(dat.access),
                         data,
                         builder_.packed().names.take(data + "_shared"),
                         {},
                         {},
                         static_cast<int>(staged_.size())});
    }
    // With more shared memory a device would run fewer blocks side by side; increments that need
    // more than that for a few elements stay in global memory.
    const Tuning& tuning = builder_.request().options.tuning;
    const auto is_too_large = [&] {
      return n_elements_ * bytes_per_element() > tuning.staged_bytes;
    };
    while (n_elements_ >= tuning.least_staged_elements && is_too_large()) n_elements_ /= 2;
    if (n_elements_ >= tuning.least_staged_elements) return;
    staged_.clear();
    n_elements_ = tuning.staged_elements;
  }

  [[nodiscard]] bool can_stage() const {
    const Request& request = builder_.request();
    return are_targets_listed() &&
           applicable(Strategy::atomic, loop_, {Lanes::grid, true}, request.maps, {}).ok;
  }

  /// The plan lists the targets of a block's elements: rows of plain Maps, for all elements of a
  /// Set without layers, of Dats that are wanted whole. Rows of matrices are too long to be staged.
  [[nodiscard]] bool are_targets_listed() const {
    if (loop_.iteration.subset || loop_.iteration.layers != ir::Layers::none) return false;
    return std::all_of(races_.reductions.begin(), races_.reductions.end(), [this](std::size_t arg) {
      const auto* dat = std::get_if<ir::IndirectDat>(&loop_.args[arg]);
      return dat != nullptr && loop_.maps[static_cast<std::size_t>(dat->map)].rows.empty() &&
             dat->stride == 0 && !ir::is_part(loop_, arg);
    });
  }

  [[nodiscard]] std::int64_t bytes_per_element() const {
    std::int64_t bytes = 0;
    for (const Staged& dat : staged_) {
      bytes += static_cast<std::int64_t>(size_of(dat.dtype)) * dat.arity * dat.dim;
    }
    return bytes;
  }

  /// The staged Dat that @p arg goes to; null if there is none.
  [[nodiscard]] const Staged* staged_of(std::size_t arg) const {
    const auto* dat = std::get_if<ir::IndirectDat>(&loop_.args[arg]);
    if (dat == nullptr || !writes(dat->access)) return nullptr;
    const auto found = std::find_if(staged_.begin(), staged_.end(), [&](const Staged& other) {
      return other.map == dat->map && other.data == builder_.packed().args[arg].data;
    });
    return found == staged_.end() ? nullptr : &*found;
  }

  /// The order of document 003: ind_map, loc_map, ind_sizes, ind_offs, blkmap, offset, nelems,
  /// nthrcol, thrcol; what only the launch reads comes last.
  void declare_plan() {
    abi::StagedPlan plan{races_.conflicts, n_elements_};
    for (Staged& dat : staged_) {
      dat.ind_map = builder_.plan_array(kir::PlanArray::staged_targets, base_name(dat) + "_ind_map",
                                        DType::int32);
      plan.maps.push_back(dat.map);
    }
    for (Staged& dat : staged_) {
      dat.loc_map = builder_.plan_array(kir::PlanArray::staged_positions,
                                        base_name(dat) + "_loc_map", DType::uint16);
    }
    if (!staged_.empty()) {
      ind_sizes_ = builder_.plan_array(kir::PlanArray::n_staged, "ind_sizes", DType::int32);
      ind_offs_ = builder_.plan_array(kir::PlanArray::first_staged, "ind_offs", DType::int64);
    }
    blkmap_ = builder_.plan_array(kir::PlanArray::staged_blocks, "blkmap", DType::int32);
    offset_ = builder_.plan_array(kir::PlanArray::first_element, "offset", DType::int64);
    nelems_ = builder_.plan_array(kir::PlanArray::n_elements, "nelems", DType::int32);
    nthrcol_ = builder_.plan_array(kir::PlanArray::n_lane_colours, "nthrcol", DType::int32);
    thrcol_ = builder_.plan_array(kir::PlanArray::lane_colour, "thrcol", DType::int32);
    sizes_ = builder_.plan_array(kir::PlanArray::sizes, "sizes", DType::int64);
    colour_offset_ =
        builder_.plan_array(kir::PlanArray::colour_offset, "colour_offset", DType::int64);
    builder_.module().plan = std::move(plan);
  }

  [[nodiscard]] std::string base_name(const Staged& dat) const {
    return builder_.packed().args[dat.arg].data;
  }

  /// In the place of a Map the list of the targets that are staged through it.
  [[nodiscard]] std::vector<kir::Parameter> parameters() const {
    std::vector<kir::Parameter> out = builder_.packed().parameters;
    for (const Staged& dat : staged_) out.push_back(dat.ind_map);
    for (const Staged& dat : staged_) out.push_back(dat.loc_map);
    if (!staged_.empty()) out.insert(out.end(), {ind_sizes_, ind_offs_});
    out.insert(out.end(), {blkmap_, offset_, nelems_, nthrcol_, thrcol_});
    out.push_back({first_block_, {DType::int64}, false, kir::Role::local, 0});
    return out;
  }

  // ------------------------------------------------------------------------------------- the body

  [[nodiscard]] kir::Block head() const {
    kir::Block out;
    for (const Staged& dat : staged_) {
      out.push_back({kir::Decl{{dat.dtype},
                               dat.shared,
                               n_elements_ * dat.arity * std::max(dat.dim, 1),
                               {},
                               kir::Storage::block}});
    }
    const kir::Expr block = kir::name("block");
    out.push_back(index_decl(
        "block", kir::element(blkmap_.name,
                              kir::name(first_block_) + kir::builtin(kir::Builtin::block_id))));
    out.push_back(index_decl("first", kir::element(offset_.name, block)));
    out.push_back(index_decl("last", kir::name("first") + kir::element(nelems_.name, block)));
    return out;
  }

  /// One statement for each scalar of a block's targets, spread over its lanes.
  /// @param[in] in_turns Lists of one Dat may hold the same target, so one waits for the other.
  kir::Block over_targets(kir::Stmt (Stager::*make)(const Staged&, const kir::Expr&) const,
                          bool in_turns = false) const {
    kir::Block out;
    for (const Staged& dat : staged_) {
      if (dat.dim == 0) continue;
      const bool shares =
          std::any_of(staged_.begin(), staged_.begin() + dat.number,
                      [&dat](const Staged& earlier) { return earlier.data == dat.data; });
      if (in_turns && shares) out.push_back({kir::Barrier{/*global_memory=*/true}});
      const kir::Expr at = kir::name("block") * kir::integer(static_cast<int>(staged_.size())) +
                           kir::integer(dat.number);
      const kir::Expr i = kir::name("i");
      const kir::Expr dim = kir::integer(dat.dim);
      const kir::Expr target =
          kir::element(dat.ind_map.name, kir::element(ind_offs_.name, at) + i / dim);
      const kir::Expr scalar =
          builder_.scalar(dat.arg, kir::widen(target), dat.dim == 1 ? kir::integer(0) : i % dim);
      out.push_back({kir::For{kir::Axis::lane,
                              "i",
                              kir::integer(0),
                              kir::element(ind_sizes_.name, at) * dim,
                              {(this->*make)(dat, scalar)}}});
    }
    return out;
  }

  [[nodiscard]] kir::Stmt fetch(const Staged& dat, const kir::Expr& target) const {
    const bool sums = dat.update == kir::Update::add;
    return {kir::Assign{kir::element(dat.shared, kir::name("i")), kir::Update::set,
                        sums ? kir::integer(0) : target}};
  }

  [[nodiscard]] kir::Stmt flush(const Staged& dat, const kir::Expr& target) const {
    return {kir::Assign{target, dat.update, kir::element(dat.shared, kir::name("i"))}};
  }

  /// All lanes go through the rounds together, because barriers are on the way.
  [[nodiscard]] kir::Block rounds(kir::Block round) const {
    const kir::Expr n_lanes = kir::builtin(kir::Builtin::n_lanes);
    kir::Block body{index_decl(position(), kir::name("first") + kir::name("k") * n_lanes +
                                               kir::builtin(kir::Builtin::lane_id))};
    append(body, std::move(round));
    const kir::Expr n = kir::name("last") - kir::name("first");
    return {{kir::For{kir::Axis::serial, "k", kir::integer(0),
                      (n + n_lanes - kir::integer(1)) / n_lanes, std::move(body)}}};
  }

  [[nodiscard]] const std::string& position() const { return builder_.packed().items.position; }

  [[nodiscard]] kir::Expr is_element() const {
    return kir::less(kir::name(position()), kir::name("last"));
  }

  /// The thread colour of the lane's element; -1 if it has none.
  [[nodiscard]] kir::Stmt colour() const {
    return index_decl("own_colour",
                      kir::select(is_element(), kir::element(thrcol_.name, kir::name(position())),
                                  kir::integer(-1)));
  }

  [[nodiscard]] kir::Block over_colours(kir::Block body) const {
    kir::Block turn{
        {kir::If{kir::equal(kir::name("own_colour"), kir::name("colour")), std::move(body)}},
        {kir::Barrier{staged_.empty()}}};
    return commented(
        "Elements of one thread colour share no target.",
        {{kir::For{kir::Axis::serial, "colour", kir::integer(0),
                   kir::element(nthrcol_.name, kir::name("block")), std::move(turn)}}});
  }

  /// Whole elements one thread colour after the other.
  [[nodiscard]] kir::Block in_turns() const {
    kir::Block out{colour()};
    append(out, over_colours(element_body(builder_.packed())));
    return out;
  }

  /// All lanes compute, then add to shared memory one thread colour after the other.
  [[nodiscard]] kir::Block together() const {
    const PackedLoop& packed = builder_.packed();
    kir::Block out;
    kir::Block compute;
    for (const kir::Stmt& stmt : loads(packed)) {
      const auto* decl = std::get_if<kir::Decl>(&stmt.node);
      (decl != nullptr ? out : compute).push_back(stmt);
    }
    append_call(compute, packed);
    kir::Block add;
    for (std::size_t arg = 0; arg < packed.args.size(); ++arg) {
      const kir::Block store = for_arg(arg, packed.args[arg].store);
      if (const Staged* dat = staged_of(arg)) {
        add.push_back(add_to_shared(std::get<kir::Scatter>(store.front().node), *dat));
      } else {
        append(compute, store);
      }
    }
    out.push_back({kir::If{is_element(), std::move(compute)}});
    out.push_back(colour());
    append(out, over_colours(std::move(add)));
    return out;
  }

  /// The scatter of an element, with the shared copies for the Dat and loc_map for the Map.
  [[nodiscard]] static kir::Stmt add_to_shared(kir::Scatter scatter, const Staged& dat) {
    scatter.rows.data = dat.shared;
    std::get<kir::MapRows>(scatter.rows.which).map = dat.loc_map.name;
    scatter.rows.layout = kir::Together{dat.dim};
    scatter.rows.is_shared = true;
    scatter.rows.stored = {};
    return {std::move(scatter)};
  }

  // ----------------------------------------------------------------------------------- the launch

  void launch(const std::string& function) {
    const kir::Expr colour = kir::name("colour");
    const kir::Expr begin = kir::element(colour_offset_.name, colour);
    const kir::Expr end = kir::element(colour_offset_.name, colour + kir::integer(1));
    kir::Block one{
        index_decl("first", kir::select(kir::less(begin, whole_begin()), whole_begin(), begin)),
        index_decl("last", kir::minimum(end, whole_end()))};
    one.push_back(builder_.launch(function, kir::Grid::blocks,
                                  kir::name("last") - kir::name("first"),
                                  {{first_block_, kir::name("first")}}));
    builder_.finish({{kir::For{kir::Axis::serial, "colour", kir::integer(0),
                               kir::element(sizes_.name, kir::integer(0)), std::move(one)}}},
                    kir::integer(0));
    builder_.module().items = kir::Items::blocks;
  }

  Builder& builder_;
  const ir::Loop& loop_;
  Races races_;
  std::vector<Staged> staged_;
  int n_elements_;
  std::string first_block_;  // of a launch
  kir::Parameter ind_sizes_, ind_offs_, blkmap_, offset_, nelems_, nthrcol_, thrcol_, sizes_,
      colour_offset_;
};

}  // namespace

void stage_blocks(Builder& builder) {
  Stager(builder).run();
}

}  // namespace op2::lower
