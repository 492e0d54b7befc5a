// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "kernel/walk.hpp"
#include "lower/make.hpp"
#include "lower/passes.hpp"
#include "lower/rows.hpp"

namespace op2::lower {
namespace {

/// Lanes of a block, at most: all devices take so many. Elements with more work give several parts
/// to a lane.
constexpr int most_lanes = 128;
/// A lane loads so many numbers of an argument at once: with 32 products with vectors had too few
/// registers, and 8 were as fast for all else (H200).
constexpr int most_loads = 8;

/// An element a block: all lanes load its packs into memory of the block, run the kernel's phases,
/// and store the packs.
class Team {
 public:
  explicit Team(Builder& builder)
      : builder_(builder),
        loop_(builder.request().loop),
        form_(*loop_.members.front().kernel->team),
        races_(find_races(loop_, builder.request().maps)),
        warp_(std::max(builder.request().facts.warp, 1)),
        is_gpu_(class_of(builder.request().facts) == DeviceClass::gpu) {}

  void run() {
    PackedLoop& packed = builder_.packed();
    workspace_ = packed.names.take("op2_sums");
    const std::string function = packed.names.take("wrap_" + ir::name_of(loop_));
    builder_.module().kernels.front() = kernel();
    kir::Block body;
    kir::Block element;
    for (const kir::Stmt& stmt : loads(packed)) load(stmt, body, element);
    body.push_back({kir::Decl{{*kernel::dtype_of(form_.base)},
                              workspace_,
                              static_cast<int>(std::max<std::int64_t>(form_.n_shared, 1)),
                              {},
                              kir::Storage::block}});
    element.push_back({kir::Barrier{}});
    kir::CallUser call = packed.members.front().call;
    call.arguments.push_back(lane_id());
    call.arguments.push_back(kir::builtin(kir::Builtin::n_lanes));
    call.arguments.push_back(kir::name(workspace_));
    element.push_back({std::move(call)});
    element.push_back({kir::Barrier{}});
    for (std::size_t arg = 0; arg < packed.args.size(); ++arg) {
      for (const kir::Stmt& stmt : packed.args[arg].store) store(arg, stmt, element);
    }
    element.push_back({kir::Barrier{}});
    body.push_back({over_positions(packed.items, kir::Axis::block, whole_begin(), whole_end(),
                                   located(packed.items, std::move(element)))});
    builder_.add_kernel(function, Builder::with_range(packed.parameters), std::move(body));
    limit(builder_.module().functions.back());
    builder_.finish({builder_.launch(function, kir::Grid::teams, whole_end() - whole_begin(),
                                     {{"begin", whole_begin()}, {"end", whole_end()}})},
                    kir::integer(0));
    builder_.module().items = kir::Items::elements;
  }

 private:
  [[nodiscard]] kernel::KernelPtr kernel() const {
    auto made = std::make_shared<kernel::Kernel>(*loop_.members.front().kernel);
    made->body = form_.body;
    auto& parameters = made->body->functions.back().parameters;
    for (std::size_t arg = 0; arg < loop_.args.size(); ++arg) {
      if (!is_dat(arg)) continue;
      const auto at = static_cast<std::size_t>(ir::parameter_of(loop_, arg));
      parameters[at].type.is_shared = true;
    }
    made->parameters = parameters;
    if (!is_gpu_) roll(*made->body);
    return made;
  }

  /// Processors have no registers for arrays, and PoCL's compiler breaks down where loops with
  /// barriers are written out.
  static void roll(kernel::KernelBody& body) {
    for (kernel::FunctionDef& function : body.functions) {
      kernel::for_each_body(function.body, [](kernel::Body& stmts) {
        for (kernel::Stmt& stmt : stmts) {
          if (auto* loop = std::get_if<kernel::For>(&stmt.node)) loop->is_unrolled = false;
        }
      });
    }
  }

  /// A warp is started whole; a lane that has no work waits at barriers. So many lanes shall be on
  /// a multiprocessor that each has 168 registers of 255: Q4 gained a fifth, Q6 nothing, and with
  /// 128 it lost a fifth. Functions of dense algebra need fewer: with 64 registers products of 16 x
  /// 16 and 24 x 24 matrices gained a sixth, and with as many lanes as 32 x 32 have lost a tenth
  /// (H200). Functions with arrays in registers need those besides.
  void limit(kir::Function& function) const {
    const bool is_light =
        !form_.shared_parameters.empty() && (form_.n_lanes < 64 || form_.n_own > 0);
    const auto n_own = static_cast<int>(form_.n_own);
    const int light_lanes = n_own == 0 ? 1024 : std::min(1024, 65536 / (48 + 2 * n_own));
    const int resident_lanes = is_light ? light_lanes : 384;
    function.max_lanes = lanes();
    function.least_blocks = std::max(resident_lanes / function.max_lanes, 1);
    function.has_all_lanes = true;
    builder_.module().blocks_are_warps = lanes() <= warp_;
  }

  [[nodiscard]] int lanes() const {
    return std::min((form_.n_lanes + warp_ - 1) / warp_ * warp_, most_lanes);
  }

  [[nodiscard]] bool is_dat(std::size_t arg) const {
    return std::holds_alternative<ir::IndirectDat>(loop_.args[arg]) ||
           std::holds_alternative<ir::DirectDat>(loop_.args[arg]);
  }

  /// Loads of all steps are under way at the same time: a GPU waits for memory once.
  [[nodiscard]] kir::Stmt over_lanes(int extent, kir::Stmt stmt) const {
    kir::For loop{kir::Axis::lane, "i", kir::integer(0), kir::integer(extent), {std::move(stmt)}};
    const int n_steps = (extent + lanes() - 1) / lanes();
    if (is_gpu_) loop.unrolled = std::min(n_steps, most_loads);
    return {std::move(loop)};
  }

  /// Lanes side by side take scalars side by side.
  template <class Make>
  kir::Stmt over_scalars(const kir::Rows& rows, const Make& make) const {
    const kir::Expr i = kir::name("i");
    const kir::Expr dim = kir::integer(rows.dim);
    const kir::Expr row = rows.dim == 1 ? i : i / dim;
    const kir::Expr c = rows.dim == 1 ? kir::integer(0) : i % dim;
    return over_lanes(rows.arity * rows.dim, make(scalar_of(rows, row, c), i));
  }

  /// The values of a Global are in private memory: each lane loads all of them.
  static kir::Stmt load_global(const kir::Gather& gather) {
    const kir::Expr i = kir::name("i");
    const kir::Expr value = scalar_of(gather.rows, kir::integer(0), i);
    kir::Stmt stmt{kir::Assign{kir::element(gather.pack, i), kir::Update::set, value}};
    return {kir::For{
        kir::Axis::serial, "i", kir::integer(0), kir::integer(gather.rows.dim), {std::move(stmt)}}};
  }

  void load(const kir::Stmt& stmt, kir::Block& body, kir::Block& element) const {
    if (const auto* decl = std::get_if<kir::Decl>(&stmt.node);
        decl != nullptr && decl->arg != kir::no_arg &&
        is_dat(static_cast<std::size_t>(decl->arg))) {
      kir::Decl shared = *decl;
      shared.storage = kir::Storage::block;
      shared.value.reset();
      body.push_back({shared});
      if (!decl->value) return;
      element.push_back(over_lanes(
          decl->extent,
          {kir::Assign{kir::element(decl->name, kir::name("i")), kir::Update::set, *decl->value}}));
    } else if (const auto* gather = std::get_if<kir::Gather>(&stmt.node);
               gather != nullptr && !is_dat(static_cast<std::size_t>(gather->arg))) {
      element.push_back(load_global(*gather));
    } else if (gather != nullptr) {
      element.push_back(
          over_scalars(gather->rows, [&](const kir::Expr& source, const kir::Expr& i) -> kir::Stmt {
            return {kir::Assign{kir::element(gather->pack, i), kir::Update::set, source}};
          }));
    } else {
      element.push_back(stmt);
    }
  }

  void store(std::size_t arg, const kir::Stmt& stmt, kir::Block& element) const {
    const auto* scatter = std::get_if<kir::Scatter>(&stmt.node);
    if (scatter == nullptr) throw InternalError("team: a pack is not stored row by row");
    const bool is_atomic = std::ranges::find(races_.reductions, arg) != races_.reductions.end();
    element.push_back(
        over_scalars(scatter->rows, [&](const kir::Expr& target, const kir::Expr& i) -> kir::Stmt {
          const kir::Expr value = kir::element(scatter->pack, i);
          if (is_atomic) {
            return {kir::Atomic{kir::memory_dtype(scatter->rows), target, scatter->update, value}};
          }
          return {kir::Assign{target, scatter->update, value}};
        }));
  }

  Builder& builder_;
  const ir::Loop& loop_;
  const kernel::TeamForm& form_;
  Races races_;
  int warp_;
  bool is_gpu_;
  std::string workspace_;
};

}  // namespace

void lay_out_team(Builder& builder) {
  Team(builder).run();
}

}  // namespace op2::lower
