// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/abi_types.hpp"
#include "base/access.hpp"
#include "base/dtype.hpp"
#include "kernel/body.hpp"
#include "kernel/lane_functions.hpp"
#include "kernel/rows.hpp"

namespace op2::kir {

/// KernelIR: how a loop is carried out, still without any dialect. Passes in lower/ build and
/// rewrite it; after `expand` only the nodes that a dialect can print are left (is_expanded).

using abi::Items;
using abi::Parameter;
using abi::PlanArray;
using abi::PlanSpec;
using abi::Role;
using abi::ScratchSpec;
using abi::VariableType;

// ---------------------------------------------------------------------------------- expressions

struct Expr;

struct Integer {
  std::int64_t value;
  bool operator==(const Integer&) const = default;
};

struct Name {
  std::string name;
  bool operator==(const Name&) const = default;
};

/// @brief `array[subscript]`; `subscript` holds one expression.
struct Element {
  std::string array;
  std::vector<Expr> subscript;
  bool operator==(const Element&) const = default;
};

/// @brief `array + subscript`: the address handed to a function.
struct Offset {
  std::string array;
  std::vector<Expr> subscript;
  bool operator==(const Offset&) const = default;
};

enum class BinaryOp : std::uint8_t { add, subtract, multiply, divide, modulo, less, equal };

struct Binary {
  BinaryOp op;
  std::vector<Expr> operands;  // [2]
  bool operator==(const Binary&) const = default;
};

/// @brief An index in 64 bits: products of narrow Map entries could overflow.
struct Widen {
  std::vector<Expr> operands;  // [1]
  bool operator==(const Widen&) const = default;
};

/// @brief The smaller of two index expressions.
struct Minimum {
  std::vector<Expr> operands;  // [2]
  bool operator==(const Minimum&) const = default;
};

/// @brief `condition ? then : otherwise`; a pointer as condition asks whether it is there.
struct Select {
  std::vector<Expr> operands;  // [3]
  bool operator==(const Select&) const = default;
};

/// @brief The address `bytes` into the launch's scratch memory.
struct ScratchAt {
  std::vector<Expr> bytes;  // [1]
  bool operator==(const ScratchAt&) const = default;
};

/// @brief The value that lane `lane` holds, counted within groups of `width` neighbouring lanes.
/// All lanes of the group must get here.
struct Shuffle {
  std::vector<Expr> operands;  // [2] value, lane
  int width;
  bool operator==(const Shuffle&) const = default;
};

/// @brief Scalars from one component to the next of the Dat of argument `argument`, which lies as a
/// structure of arrays. Only in the launch of a grid.
struct Stride {
  int argument;
  bool operator==(const Stride&) const = default;
};

/// @brief How many blocks a Launch over `items` work items gets; does not fall as items grow, and
/// has an upper bound. Only in the launch of a grid.
struct BlocksFor {
  std::vector<Expr> items;  // [1]
  bool operator==(const BlocksFor&) const = default;
};

/// @brief One lane of a value of vectors: `array[subscript][lane]`.
struct LaneOf {
  std::string array;
  std::vector<Expr> operands;  // [2] subscript, lane
  bool operator==(const LaneOf&) const = default;
};

/// @brief What the launch context provides, and in functions that are launched the place of a lane.
enum class Builtin : std::uint8_t {
  n_threads,  ///< host: threads of the team
  block_id,
  n_blocks,  ///< of this launch
  lane_id,   ///< within its block
  n_lanes,   ///< of a block
  global_id,
  n_global,  ///< lanes of this launch
};

struct Expr {
  std::variant<Integer, Name, Element, Offset, Binary, Widen, Minimum, Select, ScratchAt, Shuffle,
               BlocksFor, Stride, LaneOf, Builtin>
      node;
  bool operator==(const Expr&) const = default;
};

[[nodiscard]] Expr integer(std::int64_t value);
[[nodiscard]] Expr name(std::string text);
[[nodiscard]] Expr element(std::string array, Expr subscript);
[[nodiscard]] Expr offset(std::string array, Expr subscript);
[[nodiscard]] Expr builtin(Builtin value);
[[nodiscard]] Expr scratch_at(Expr bytes);
[[nodiscard]] Expr widen(Expr narrow);
[[nodiscard]] Expr minimum(Expr left, Expr right);
[[nodiscard]] Expr select(Expr condition, Expr then, Expr otherwise);
[[nodiscard]] Expr shuffle(Expr value, Expr lane, int width);
[[nodiscard]] Expr blocks_for(Expr items);
[[nodiscard]] Expr lane_of(std::string array, Expr subscript, Expr lane);
[[nodiscard]] Expr less(Expr left, Expr right);
[[nodiscard]] Expr equal(Expr left, Expr right);
/// Arithmetic folds additions of 0 and multiplications by 0 and 1, so that text stays readable.
[[nodiscard]] Expr operator+(Expr left, Expr right);
[[nodiscard]] Expr operator-(Expr left, Expr right);
[[nodiscard]] Expr operator*(Expr left, Expr right);
[[nodiscard]] Expr operator/(Expr left, Expr right);
[[nodiscard]] Expr operator%(Expr left, Expr right);

// ----------------------------------------------------------------------------------- statements

struct Stmt;
using Block = std::vector<Stmt>;

/// @brief In the place of an argument's number: a statement that is for no argument of the loop.
inline constexpr int no_arg = -1;

/// @brief Who runs the iterations: one after the other, or spread over the lanes of the backend.
enum class Axis : std::uint8_t {
  serial,
  thread,  ///< over the threads of a Region
  grid,    ///< over all lanes of a launch
  block,   ///< over the blocks of a launch: all lanes of a block run the same iterations
  lane,    ///< over the lanes of a block
  vector,  ///< side by side, [0, end) of as many as there are lanes; all lanes must have items
};

/// @brief How a value enters its target.
enum class Update : std::uint8_t { set, add, min, max };

/// @brief Why a scatter does not race.
enum class Sync : std::uint8_t { none, atomic };

/// @brief Whose a variable is: of one lane, or of all lanes of a block.
enum class Storage : std::uint8_t { lane, block };

struct Decl {
  VariableType type;
  std::string name;
  int extent = 0;                   ///< 0: no array
  std::optional<Expr> value;        ///< initial value; of an array: 0, for all entries
  Storage storage = Storage::lane;  ///< a block's variables have no initial value
  int arg = no_arg;                 ///< whose pack or sum it is
  bool operator==(const Decl&) const = default;
};

/// @brief `target = value` or `target += value`; min and max become an If in `expand`.
struct Assign {
  Expr target;
  Update update;
  Expr value;
  bool operator==(const Assign&) const = default;
};

/// @brief `target op= value` for components [0, n), which both say in terms of `c`; becomes a loop
/// in `expand`.
struct Copy {
  static constexpr const char* index = "c";
  int n;
  Expr target;
  Update update;
  Expr value;
  int arg = no_arg;  ///< whose components they are
  bool operator==(const Copy&) const = default;
};

/// @brief An indivisible update of memory that other lanes may touch.
struct Atomic {
  DType dtype;
  Expr target;
  Update update;  ///< add, min or max
  Expr value;
  bool operator==(const Atomic&) const = default;
};

/// @brief Call of one of the module's kernels, which the user wrote.
struct CallUser {
  std::vector<Expr> arguments;
  int kernel = 0;              ///< of Module::kernels
  std::vector<int> read = {};  ///< places in `arguments` of what the kernel does not write
  bool operator==(const CallUser&) const = default;
};

/// @brief Call of another function of the module.
struct Call {
  std::string function;
  std::vector<Expr> arguments;
  bool operator==(const Call&) const = default;
};

/// @brief What a loop over positions says of what is there: the cells of columns of equal height,
/// column by column, from the bottom to the top. These variables of its body are, if it has them,
/// `row = index / n_cells` and `level = first_level + (index - row * n_cells)`.
struct Columns {
  Expr n_cells;      ///< of a column that are visited
  Expr first_level;  ///< of the first one of them
  std::string row;
  std::string level;
  std::string element;  ///< which element `row` is: it depends on nothing else in the loop
  bool operator==(const Columns&) const = default;
};

struct For {
  Axis axis;
  std::string index;
  Expr begin;
  Expr end;
  Block body;
  DType index_type = DType::int64;
  int step = 1;
  std::string step_name = {};  ///< a variable that is stepped by instead, if not empty
  bool is_rolled = false;      ///< unrolling it would only cost the compiler time
  int unrolled = 0;            ///< so many steps side by side; 0: the compiler's choice
  std::optional<Columns> columns = {};
  bool operator==(const For&) const = default;
};

struct If {
  Expr condition;
  Block then;
  bool operator==(const If&) const = default;
};

/// @brief Code that a team of threads runs; `For{thread}` inside shares its iterations out and
/// ends with a barrier. The launch function's variables are the same for all of them.
struct Region {
  Block body;
  bool operator==(const Region&) const = default;
};

/// @brief All lanes of the block have come here, and see what the others wrote to its variables.
struct Barrier {
  bool global_memory = false;  ///< ... and to memory that all blocks share
  bool operator==(const Barrier&) const = default;
};

/// @brief How many lanes a Launch gets.
enum class Grid : std::uint8_t {
  items,   ///< enough for `items` work items; the function strides, so that any number is right
  blocks,  ///< `items` blocks
  single,  ///< one block; `items` is 1
  teams,   ///< `items` blocks of exactly Function::max_lanes lanes
};

/// @brief Run a function on the device; later launches see what it wrote. Only in Module::launch.
///
/// One argument for each parameter: of a pointer the Name of an argv entry or of a Scratch, else an
/// index expression. Nothing is launched for no items.
struct Launch {
  std::string function;
  Grid grid;
  Expr items;
  std::vector<Expr> arguments;
  bool operator==(const Launch&) const = default;
};

/// @brief Device memory of `extent` scalars, undefined at first, until the end of the launch. Only
/// in Module::launch.
struct Scratch {
  DType dtype;
  std::string name;
  Expr extent;
  bool is_zero = false;  ///< zero at first, and what a launch leaves there is there at the next
  bool operator==(const Scratch&) const = default;
};

/// @brief The row of the element itself.
struct OwnRow {
  Expr element;
  bool operator==(const OwnRow&) const = default;
};

/// @brief Rows of a Map: row i has the number `map[element * arity + i]`. Of a ragged Map it is
/// `map[map[element] + i]`, and there are `map[element + 1] - map[element]`, at most `arity`.
struct MapRows {
  std::string map;
  Expr element;
  bool ragged = false;
  bool operator==(const MapRows&) const = default;
};

/// @brief Rows with these numbers.
struct ListedRows {
  std::vector<Expr> entries;  ///< [arity]
  /// `entries[i]` as an expression of `i`, if there is one.
  std::optional<Expr> any_entry = {};
  /// [arity] Rows from a level to the next, if known.
  std::optional<std::vector<std::int64_t>> climbs = {};
  std::optional<std::string> origin = {};  ///< the Map of the numbers
  bool operator==(const ListedRows&) const = default;
};

/// @brief Components of a row stand together: `data[row * stride + component + c]`.
struct Together {
  int stride;  ///< scalars from a row to the next
  bool operator==(const Together&) const = default;
};

/// @brief Each component is a separate array: `data[row + (component + c) * stride]`.
struct Apart {
  std::string stride;  ///< a number's name: scalars from a component to the next
  bool operator==(const Apart&) const = default;
};

/// @brief Where a pack's rows lie.
struct Rows {
  DType dtype;
  int dim;    ///< used components
  int arity;  ///< rows
  std::string data;
  std::variant<OwnRow, MapRows, ListedRows> which;
  std::variant<Together, Apart> layout = Together{dim};
  int component = 0;                 ///< of the row: the first used one
  bool is_shared = false;            ///< data is a variable of the block
  std::optional<DType> stored = {};  ///< what data holds, if not `dtype`, which the pack holds
  bool operator==(const Rows&) const = default;
};

/// @brief What the memory of rows or entries holds.
template <class Places>
[[nodiscard]] DType memory_dtype(const Places& places) {
  return places.stored.value_or(places.dtype);
}

/// @brief Load all rows into the private array `pack`.
struct Gather {
  std::string pack;
  Rows rows;
  int arg = no_arg;
  bool operator==(const Gather&) const = default;
};

/// @brief Update all rows from the private array `pack`.
struct Scatter {
  std::string pack;
  Rows rows;
  Update update;
  Sync sync;
  int arg = no_arg;
  bool operator==(const Scatter&) const = default;
};

/// @brief Where the entries of an element's tensor lie in a matrix of blocks:
/// `data[(row_start[row] + position[entry]) * row_dim * col_dim + r * col_dim + c]`.
struct Entries {
  DType dtype;
  int row_arity;
  int col_arity;
  int row_dim;  ///< of a block
  int col_dim;
  std::string data;
  std::string row_map;
  std::string row_start;  ///< first block of each row
  std::string position;   ///< of each entry of each element: blocks from the start of its row
  Expr element;
  std::int64_t dropped = 0;          ///< positions from here on mean "no place"; 0: there are none
  bool unrolled = false;             ///< positions are given scalar by scalar, not block by block
  std::vector<Expr> rows = {};       ///< [row_arity] the row entities; empty: entries of row_map
  std::optional<DType> stored = {};  ///< what data holds, if not `dtype`, which the pack holds
  /// By ragged Maps, the element's own numbers of rows, which are then as in MapRows, and of
  /// columns: at most the arities.
  std::optional<Expr> n_rows = {};
  std::optional<Expr> n_columns = {};
  std::optional<Expr> begin = {};  ///< where its positions begin; nothing: all have as many
  bool operator==(const Entries&) const = default;
};

/// @brief Update a matrix from the element tensor in the private array `pack`, row by row:
/// shape (row_arity, row_dim, col_arity, col_dim).
struct MatInsert {
  std::string pack;
  Entries entries;
  Update update;
  Sync sync;
  int arg = no_arg;
  bool operator==(const MatInsert&) const = default;
};

/// @brief Components [begin, begin + size) of a row, which move as one vector.
struct RowPiece {
  int begin;
  int size;
};
/// @brief The widest vectors, of powers of two and at most @p lanes values, that @p dim components
/// fill one after the other.
[[nodiscard]] std::vector<RowPiece> row_pieces(int dim, int lanes);

/// @brief What a machine or its library does in one step; beside each its operands, in order. What
/// they have to be is in kir/instructions.hpp.
enum class Instruction : std::uint8_t {
  /// (flag, counter, n): the first lane says that its block is done. `flag`, a variable of the
  /// block, becomes 1 if all `n` blocks have said so, else 0; the last one sees what the others'
  /// first lanes wrote before. `counter[0]` is 0 before the launch and after it.
  arrive,
  /// (to, from + begin): `to[i] = from[begin + i]` for `extent` indices that nothing else reads:
  /// they need not stay in a cache. They are one word of memory, as `begin` is a multiple of
  /// `extent`.
  fetch,
  /// (pack + at, rows...): component c of the row of lane l goes to lane l of `pack[at + c]`, for
  /// `extent` components. A row for each lane: its address; where `bytes` is not 0 an offset in one
  /// array.
  lane_gather,
  /// (pack + at, from + start, n_live): the values at `from + start`, one for each lane, side by
  /// side. Lanes from `n_live` on repeat the last live one.
  lane_read,
  /// (to + start, pack + at, n_live): the way back, for the live lanes.
  lane_write,
  /// (rows, pack + at): the way back. `extent` components of `pack`, from `at` on, become
  /// `rows[lane]`, an array of vectors of `extent`, which hold the components of one lane each.
  lane_turn,
  /// (data + start, rows, lane): update the row of `extent` numbers by `rows[lane]`, as one vector;
  /// update is set or add.
  lane_store,
  /// (sum, pack, n_live): `sum[c] += pack[c]` lane by lane; lanes from `n_live` on add nothing.
  lane_add,
  /// (sum, pack + at, entries + first): `sum[c] op= pack[at + c]` on the lanes whose
  /// `entries[first + lane]` is not negative; update is add, min or max.
  lane_share,
  /// (to, codes + first, one + at, other + at): `to[c]` is `one[at + c]` on the lanes whose
  /// `codes[first + lane]` has slot 0, and `other[at + c]` where the slot is 1: neighbours, as
  /// plan::PairColumns says.
  lane_pick,
  /// (sum, codes + first, one + at, other + at): add what lane_pick picks on the lanes whose code
  /// says that there is an incidence.
  lane_pick_share,
  /// (data, pack): combine the lanes of `pack[c]`, the first one first, with `data[c]`.
  lane_fold,
  /// (to, from): `to[c] = from[c]` for `extent` vectors, of the statement's type and of another.
  lane_convert,
};

struct Intrinsic {
  Instruction name;
  std::vector<Expr> operands;
  VariableType type = {};       ///< of the vectors, with their lanes, or of what is moved
  int extent = 1;               ///< how many of them
  Update update = Update::set;  ///< of what is written, where there is a choice
  int unrolled = 16;            ///< up to so many vectors have a statement each; more are a loop
  int bytes = 0;  ///< of the widest gather instruction, 0: whole rows, transposed; of an entry
  std::optional<DType> other = {};  ///< that is converted: of a lane_convert, or a store's rows
  bool operator==(const Intrinsic&) const = default;
};

struct Stmt {
  std::variant<Decl, Assign, Copy, Atomic, CallUser, Call, For, If, Region, Barrier, Intrinsic,
               Launch, Scratch, Gather, Scatter, MatInsert>
      node;
  std::string comment = {};  ///< what this and what follows does, for readers of the text
  bool operator==(const Stmt&) const = default;
};

// ------------------------------------------------------------------------------------ functions

/// @brief A function over a range of work items, `name(begin, end, parameters...)`; or one that is
/// launched on a grid, whose parameters are complete: a range, if it has one, is among them.
struct Function {
  std::string name;
  std::vector<Parameter> parameters;
  Block body;
  bool is_kernel = false;  ///< launched from the host
  int max_lanes = 0;       ///< of a kernel: the most lanes a block may have; 0: any number
  int least_blocks = 0;    ///< of `max_lanes`: a multiprocessor shall hold so many; 0: any number
  bool has_all_lanes = false;  ///< each block has `max_lanes`: all launches are Grid::teams
};

struct Module {
  std::string name;  ///< of the loop, as messages and file names have it
  int n_args = 0;    ///< of the loop; `arg` of a statement is one of them, or no_arg
  /// What `CallUser` calls, ready to be printed: with Consts as parameters, perhaps for several
  /// elements, one a lane.
  std::vector<kernel::KernelPtr> kernels;
  int lanes = 0;                    ///< elements that one call computes side by side; 0: one alone
  std::vector<Function> functions;  ///< wrappers, callees first
  std::string launch_name;
  std::vector<Parameter> argv;  ///< roles data, constant, map, items, plan, in ABI order
  /// Body of the launch function; argv names are in scope. Where functions are kernels it is not
  /// printed but evaluated by the runtime, once a plan, and is made of Decl and Assign of index
  /// values, For{serial}, If, Scratch and Launch; it may read the plan's arrays.
  Block launch;
  PlanSpec plan;
  ScratchSpec scratch;
  Items items = Items::elements;
  /// Loops of `kernel` along rows stay loops; 0 steps: none.
  kernel::RowLimits rows = {};
  kernel::Elementary elementary = {};  ///< where elementary functions of vectors come from
  bool converts = false;          ///< memory may hold narrower numbers than what is computed with
  bool blocks_are_warps = false;  ///< no block has lanes of two warps
};

/// @brief True if the module's functions are launched on a grid.
[[nodiscard]] bool has_kernels(const Module& module);

/// @brief Whether the launch function opens a team of threads. Then it can also take part in one
/// that several loops share: base/abi.h, OP2_IN_TEAM.
[[nodiscard]] bool opens_team(const Module& module);

/// @brief Names that passes give to the local variables of wrappers and launches. A kernel's
/// functions and parameters must not have them.
[[nodiscard]] std::span<const std::string_view> local_names();

/// @throws InternalError if @p module has no function of that name.
[[nodiscard]] const Function& function_of(const Module& module, const std::string& name);

}  // namespace op2::kir
