// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "lower/names_used.hpp"
#include "lower/passes.hpp"
#include "lower/rename.hpp"

namespace op2::lower {
namespace {

// Lanes whose values are combined as a tree, and the shared memory they may take: with more a
// device would run fewer blocks side by side.
constexpr int tree_lanes = 256;
constexpr std::int64_t tree_bytes = 16 * 1024;

/// A Global that the loop reduces into.
struct Reduced {
  std::size_t arg;
  DType dtype;
  int dim;
  kir::Update update;
  std::string data;
  std::string partial;  // device memory: a value a slot
  std::string lane;     // private: the value of one lane
  std::string tree;     // shared: the values of a block's lanes

  [[nodiscard]] bool starts_at_zero() const { return update == kir::Update::add; }
  [[nodiscard]] kir::Expr start() const {
    return starts_at_zero() ? kir::integer(0) : kir::element(data, kir::name("c"));
  }
};

kir::Stmt for_components(int dim, kir::Stmt body) {
  return {kir::For{kir::Axis::serial, "c", kir::integer(0), kir::integer(dim), {std::move(body)}}};
}

kir::Expr lane_id() {
  return kir::builtin(kir::Builtin::lane_id);
}

kir::Stmt on_first_lane(kir::Block body) {
  return {kir::If{kir::equal(lane_id(), kir::integer(0)), std::move(body)}};
}

class Reducer {
 public:
  explicit Reducer(Builder& builder) : builder_(builder), module_(builder.module()) {
    find_globals();
  }

  void run() {
    if (globals_.empty()) return;
    std::vector<std::string> functions;
    for (kir::Function& function : module_.functions) {
      if (reduces(function)) functions.push_back(function.name);
    }
    if (functions.empty()) return;
    functions_ = std::move(functions);
    for (kir::Function& function : module_.functions) {
      if (is_reducing(function.name)) rewrite(function);
    }
    rewrite_launch();
    add_finish();
  }

 private:
  void find_globals() {
    const ir::Loop& loop = builder_.request().loop;
    std::int64_t bytes = 0;  // of one lane
    for (std::size_t i = 0; i < loop.args.size(); ++i) {
      const auto* global = std::get_if<ir::GlobalReduce>(&loop.args[i]);
      if (global == nullptr || global->dim == 0) continue;
      const std::string& data = builder_.packed().args[i].data;
      const bool is_known = std::any_of(globals_.begin(), globals_.end(),
                                        [&data](const Reduced& g) { return g.data == data; });
      if (is_known) continue;
      Names& names = builder_.packed().names;
      globals_.push_back({i, global->dtype, global->dim, update_of(global->access), data,
                          names.take(data + "_partial"), names.take(data + "_lane"),
                          names.take(data + "_tree")});
      bytes += static_cast<std::int64_t>(size_of(global->dtype)) * global->dim;
    }
    while (n_lanes_ > 1 && n_lanes_ * bytes > tree_bytes) n_lanes_ /= 2;
  }

  [[nodiscard]] bool is_deterministic() const { return builder_.request().options.deterministic; }

  /// A function of one lane works on the Globals themselves.
  [[nodiscard]] bool reduces(const kir::Function& function) const {
    const auto used = names_used(function.body);
    return !is_single(module_.launch, function.name) &&
           std::any_of(globals_.begin(), globals_.end(),
                       [&used](const Reduced& global) { return used.contains(global.data); });
  }

  static bool is_single(const kir::Block& block, const std::string& function) {
    return std::any_of(block.begin(), block.end(), [&function](const kir::Stmt& stmt) {
      const auto* launch = std::get_if<kir::Launch>(&stmt.node);
      return launch != nullptr && launch->function == function && launch->grid == kir::Grid::single;
    });
  }

  [[nodiscard]] bool is_reducing(const std::string& function) const {
    return std::find(functions_.begin(), functions_.end(), function) != functions_.end();
  }

  // -------------------------------------------------------------------------------- functions

  void rewrite(kir::Function& function) {
    rewrite_parameters(function);
    kir::Block body;
    for (const Reduced& global : globals_) body.push_back(tree_of(global));
    kir::Block work = is_deterministic() ? in_chunks(std::move(function.body))
                                         : by_lanes(std::move(function.body));
    body.insert(body.end(), std::make_move_iterator(work.begin()),
                std::make_move_iterator(work.end()));
    function.body = std::move(body);
    if (!is_deterministic()) function.max_lanes = n_lanes_;
  }

  /// In the place of a Global its partial results; MIN and MAX start at its value.
  void rewrite_parameters(kir::Function& function) const {
    std::vector<kir::Parameter> parameters;
    for (kir::Parameter& parameter : function.parameters) {
      const auto global =
          std::find_if(globals_.begin(), globals_.end(),
                       [&parameter](const Reduced& other) { return other.data == parameter.name; });
      if (global == globals_.end()) {
        parameters.push_back(std::move(parameter));
        continue;
      }
      parameter.type.is_const = true;
      if (!global->starts_at_zero()) parameters.push_back(std::move(parameter));
      parameters.push_back(partial_of(*global, false));
    }
    parameters.push_back({"slot", {DType::int64}, false, kir::Role::local, 0});
    function.parameters = std::move(parameters);
  }

  static kir::Parameter partial_of(const Reduced& global, bool is_const) {
    return {global.partial, {global.dtype, is_const, true}, true, kir::Role::local, 0};
  }

  [[nodiscard]] kir::Stmt tree_of(const Reduced& global) const {
    return {kir::Decl{{global.dtype}, global.tree, n_lanes_ * global.dim, {}, kir::Storage::block}};
  }

  [[nodiscard]] kir::Expr leaf(const Reduced& global, const kir::Expr& lane) const {
    return kir::element(global.tree, kir::name("c") * kir::integer(n_lanes_) + lane);
  }

  /// Each lane keeps a value of its own over all its items; at last the block combines them.
  kir::Block by_lanes(kir::Block work) {
    kir::Block out;
    for (const Reduced& global : globals_) {
      kir::Decl decl{{global.dtype}, global.lane, global.dim, {}};
      if (global.starts_at_zero()) decl.value = {kir::integer(0)};
      out.push_back({std::move(decl)});
      if (!global.starts_at_zero()) {
        out.push_back(
            for_components(global.dim, {kir::Assign{kir::element(global.lane, kir::name("c")),
                                                    kir::Update::set, global.start()}}));
      }
      rename(work, global.data, global.lane);
    }
    out.insert(out.end(), work.begin(), work.end());
    for (const Reduced& global : globals_) {
      // a block may have fewer lanes than the tree has leaves
      out.push_back({kir::For{
          kir::Axis::lane,
          "lane",
          kir::builtin(kir::Builtin::n_lanes),
          kir::integer(n_lanes_),
          {for_components(global.dim, {kir::Assign{leaf(global, kir::name("lane")),
                                                   kir::Update::set, global.start()}})}}});
      out.push_back(
          for_components(global.dim, {kir::Assign{leaf(global, lane_id()), kir::Update::set,
                                                  kir::element(global.lane, kir::name("c"))}}));
    }
    combine(out);
    out.push_back(
        on_first_lane(store_partials(kir::name("slot") + kir::builtin(kir::Builtin::block_id))));
    return out;
  }

  /// Chunks of a fixed size, a fixed share of each for every leaf of a fixed tree: the same sums
  /// in the same order, whatever lanes and blocks there are.
  kir::Block in_chunks(kir::Block work) {
    auto& items = std::get<kir::For>(work.front().node);
    for (const Reduced& global : globals_) {
      // leaf `lane` stands in for the Global: its component c is n_lanes_ scalars apart
      replace_components(items.body, global);
    }
    const kir::Expr lane = kir::name("lane");
    const kir::Expr at = items.begin + kir::name("chunk") * kir::integer(deterministic_chunk) +
                         kir::name("round") * kir::integer(n_lanes_) + lane;
    kir::Block one_item{
        {kir::Decl{{DType::int64, true, false}, items.index, 0, {at}}},
        {kir::If{kir::less(kir::name(items.index), items.end), std::move(items.body)}}};
    kir::Block leaves = starts();
    leaves.push_back({kir::For{kir::Axis::serial, "round", kir::integer(0),
                               kir::integer(deterministic_chunk / n_lanes_), std::move(one_item)}});
    kir::Block chunk{{kir::For{kir::Axis::lane, "lane", kir::integer(0), kir::integer(n_lanes_),
                               std::move(leaves)}}};
    combine(chunk);
    chunk.push_back(on_first_lane(store_partials(kir::name("slot") + kir::name("chunk"))));
    return {{kir::For{kir::Axis::block, "chunk", kir::integer(0), n_chunks(items.end - items.begin),
                      std::move(chunk)}}};
  }

  /// `data[c]` becomes the leaf of `lane`.
  void replace_components(kir::Block& block, const Reduced& global) const {
    for (kir::Stmt& stmt : block) {
      if (auto* loop = std::get_if<kir::For>(&stmt.node)) replace_components(loop->body, global);
      if (auto* branch = std::get_if<kir::If>(&stmt.node)) {
        replace_components(branch->then, global);
      }
      auto* assign = std::get_if<kir::Assign>(&stmt.node);
      if (assign == nullptr) continue;
      for (kir::Expr* side : {&assign->target, &assign->value}) {
        auto* element = std::get_if<kir::Element>(&side->node);
        if (element == nullptr || element->array != global.data) continue;
        *side = kir::element(
            global.tree, element->subscript.front() * kir::integer(n_lanes_) + kir::name("lane"));
      }
    }
  }

  kir::Block starts() const {
    kir::Block out;
    for (const Reduced& global : globals_) {
      out.push_back(for_components(global.dim, {kir::Assign{leaf(global, kir::name("lane")),
                                                            kir::Update::set, global.start()}}));
    }
    return out;
  }

  /// Fold the leaves into the first, halving their number each time.
  void combine(kir::Block& out) const {
    out.push_back({kir::Barrier{}});
    for (int half = n_lanes_ / 2; half >= 1; half /= 2) {
      kir::Block fold;
      for (const Reduced& global : globals_) {
        const kir::Expr lane = kir::name("lane");
        fold.push_back(
            for_components(global.dim, {kir::Assign{leaf(global, lane), global.update,
                                                    leaf(global, lane + kir::integer(half))}}));
      }
      out.push_back({kir::For{kir::Axis::lane, "lane", kir::integer(0), kir::integer(half),
                              std::move(fold)}});
      out.push_back({kir::Barrier{}});
    }
  }

  kir::Block store_partials(const kir::Expr& slot) const {
    kir::Block out;
    for (const Reduced& global : globals_) {
      const kir::Expr at = slot * kir::integer(global.dim) + kir::name("c");
      out.push_back(for_components(global.dim,
                                   {kir::Assign{kir::element(global.partial, at), kir::Update::set,
                                                leaf(global, kir::integer(0))}}));
    }
    return out;
  }

  // ----------------------------------------------------------------------------------- launch

  static kir::Expr n_chunks(const kir::Expr& items) {
    return (items + kir::integer(deterministic_chunk - 1)) / kir::integer(deterministic_chunk);
  }

  /// Slots that one launch fills.
  [[nodiscard]] kir::Expr slots_of(const kir::Launch& launch) const {
    if (launch.grid == kir::Grid::blocks) return launch.items;
    return kir::blocks_for(launch.items);
  }

  void rewrite_launch() {
    kir::Expr n_slots_max = kir::integer(0);
    kir::Block work = rewritten(std::move(module_.launch), kir::integer(1), n_slots_max);
    kir::Block out;
    for (const Reduced& global : globals_) {
      out.push_back(
          {kir::Scratch{global.dtype, global.partial, n_slots_max * kir::integer(global.dim)}});
    }
    out.push_back({kir::Decl{{DType::int64}, "n_slots", 0, {kir::integer(0)}}});
    out.insert(out.end(), work.begin(), work.end());
    module_.launch = std::move(out);
  }

  /// @param[in] n_times How often the block runs; its launches then share the items out.
  kir::Block rewritten(kir::Block block, const kir::Expr& n_times, kir::Expr& n_slots_max) {
    kir::Block out;
    for (kir::Stmt& stmt : block) {
      if (auto* loop = std::get_if<kir::For>(&stmt.node)) {
        loop->body = rewritten(std::move(loop->body), loop->end - loop->begin, n_slots_max);
      }
      auto* launch = std::get_if<kir::Launch>(&stmt.node);
      if (launch == nullptr || !is_reducing(launch->function)) {
        out.push_back(std::move(stmt));
        continue;
      }
      if (is_deterministic()) {
        launch->items = n_chunks(launch->items);
        launch->grid = kir::Grid::blocks;
      }
      launch->arguments = arguments_of(*launch);
      n_slots_max = n_slots_max + bound(*launch, n_times);
      const kir::Expr slots = slots_of(*launch);
      out.push_back(std::move(stmt));
      out.push_back(
          {kir::Assign{kir::name("n_slots"), kir::Update::set, kir::name("n_slots") + slots}});
    }
    return out;
  }

  [[nodiscard]] kir::Expr bound(const kir::Launch& launch, const kir::Expr& n_times) const {
    if (n_times == kir::integer(1)) return slots_of(launch);
    const kir::Expr items = whole_end() - whole_begin();
    if (is_deterministic()) return n_chunks(items) + n_times;
    return launch.grid == kir::Grid::blocks ? items : kir::blocks_for(items) * n_times;
  }

  /// What rewrite_parameters() did, for the arguments.
  [[nodiscard]] std::vector<kir::Expr> arguments_of(const kir::Launch& launch) const {
    std::vector<kir::Expr> arguments;
    for (const kir::Expr& argument : launch.arguments) {
      const auto* name = std::get_if<kir::Name>(&argument.node);
      const auto global = std::find_if(
          globals_.begin(), globals_.end(),
          [name](const Reduced& other) { return name != nullptr && other.data == name->name; });
      if (global == globals_.end() || !global->starts_at_zero()) arguments.push_back(argument);
      if (global != globals_.end()) arguments.push_back(kir::name(global->partial));
    }
    arguments.push_back(kir::name("n_slots"));
    return arguments;
  }

  /// One block combines the partial results, in an order that depends on their number alone.
  void add_finish() {
    kir::Function finish;
    finish.name = builder_.packed().names.take("finish_" + builder_.request().loop.kernel->name);
    finish.is_kernel = true;
    std::vector<kir::Expr> arguments;
    kir::Block leaves = starts();
    kir::Block shares;
    kir::Block results;
    const kir::Expr slot = kir::name("k") * kir::integer(n_lanes_) + kir::name("lane");
    for (const Reduced& global : globals_) {
      finish.body.push_back(tree_of(global));
      finish.parameters.push_back({global.data,
                                   {global.dtype, false, true},
                                   true,
                                   kir::Role::data,
                                   static_cast<int>(global.arg)});
      finish.parameters.push_back(partial_of(global, true));
      arguments.push_back(kir::name(global.data));
      arguments.push_back(kir::name(global.partial));
      const kir::Expr share =
          kir::element(global.partial, slot * kir::integer(global.dim) + kir::name("c"));
      shares.push_back(for_components(
          global.dim, {kir::Assign{leaf(global, kir::name("lane")), global.update, share}}));
      results.push_back(
          for_components(global.dim, {kir::Assign{kir::element(global.data, kir::name("c")),
                                                  global.update, leaf(global, kir::integer(0))}}));
    }
    const kir::Expr n_shares =
        (kir::name("n_slots") - kir::name("lane") + kir::integer(n_lanes_ - 1)) /
        kir::integer(n_lanes_);
    leaves.push_back(
        {kir::For{kir::Axis::serial, "k", kir::integer(0), n_shares, std::move(shares)}});
    finish.body.push_back({kir::For{kir::Axis::lane, "lane", kir::integer(0),
                                    kir::integer(n_lanes_), std::move(leaves)}});
    combine(finish.body);
    finish.body.push_back(on_first_lane(std::move(results)));
    finish.parameters.push_back({"n_slots", {DType::int64}, false, kir::Role::local, 0});
    arguments.push_back(kir::name("n_slots"));
    module_.launch.push_back(
        {kir::Launch{finish.name, kir::Grid::single, kir::integer(1), std::move(arguments)}});
    module_.functions.push_back(std::move(finish));
  }

  Builder& builder_;
  kir::Module& module_;
  std::vector<Reduced> globals_;
  std::vector<std::string> functions_;  // that reduce
  int n_lanes_ = tree_lanes;
};

}  // namespace

void reduce(Builder& builder) {
  Reducer(builder).run();
}

}  // namespace op2::lower
