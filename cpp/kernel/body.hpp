// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.hpp"
#include "base/kept.hpp"

/// The typed AST of a user's kernel: data, with no opinion on how it is parsed or printed.
/// Source lines are carried for messages and take no part in equality.
namespace op2::kernel {

/// @brief Scalar a type is made of: every DType, and what only kernels need.
enum class Base : std::uint8_t {
  unknown,  ///< of expressions only: a name or function nobody declared
  none,     ///< C's void
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float32,
  float64,
  complex64,
  complex128,
  structure,  ///< one of the kernel's own, which Type::tag names
};

[[nodiscard]] Base base_of(DType dtype);
/// @brief The DType stored the same way (bool is stored as uint8); nothing for void, structures and
/// unknown.
[[nodiscard]] std::optional<DType> dtype_of(Base base);
/// @brief "void", "bool", "struct", or the DType's NumPy name.
[[nodiscard]] std::string_view name_of(Base base);
/// @brief Spelling in header-free C11.
[[nodiscard]] std::string_view c_name_of(Base base);
/// @throws InternalError if no base is called @p name.
[[nodiscard]] Base base_from_name(std::string_view name);
[[nodiscard]] bool is_floating(Base base);  ///< real or complex
[[nodiscard]] bool is_complex(Base base);
[[nodiscard]] bool is_integer(Base base);  ///< includes bool

/// @brief One step from a declared name to its scalar: `*` or `[extent]`.
struct Derivation {
  enum class Kind : std::uint8_t { pointer, array };
  Kind kind = Kind::pointer;
  std::int64_t extent = 0;  ///< of an array; -1 for `[]`
  bool is_const = false;    ///< of a pointer: `* const`
  bool is_restrict = false;
  bool operator==(const Derivation&) const = default;
};

/// @brief A C type: `double (*x)[2]` is {pointer, array 2} over float64.
struct Type {
  Base base = Base::unknown;
  bool is_const = false;               ///< of the scalar
  std::vector<Derivation> derivation;  ///< outermost first
  int lanes = 0;                       ///< of the scalar: values side by side; 0: just one
  std::string tag{};                   ///< of a structure: its name in KernelBody::structures
  bool is_shared = false;              ///< of a pointer: to memory of a block of lanes
  bool is_outside = false;             ///< of a pointer: to memory of all lanes
  bool operator==(const Type&) const = default;

  [[nodiscard]] bool is_scalar() const {
    return derivation.empty() && base != Base::none && base != Base::structure;
  }
  [[nodiscard]] bool is_array() const;
  [[nodiscard]] bool is_pointer() const;
  [[nodiscard]] bool is_known() const { return base != Base::unknown; }
  /// @brief Number of pointers and arrays on the way to the scalar.
  [[nodiscard]] int depth() const { return static_cast<int>(derivation.size()); }
};

/// @brief What a variable of a type takes, at most 2^40. A pointer and a structure, whose members
/// are not known here, count as 8.
[[nodiscard]] std::int64_t bytes_of(const Type& type);

[[nodiscard]] Type scalar(Base base);
/// @brief @p lanes values of @p base side by side; a scalar if there are none.
[[nodiscard]] Type on_lanes(Base base, int lanes);
[[nodiscard]] Type pointer_to(Type target, bool is_const = false);
/// @brief What `*p` or `p[i]` has; unknown if @p type is neither pointer nor array.
[[nodiscard]] Type element_of(const Type& type);
/// @brief An array as the pointer it becomes when passed or used.
[[nodiscard]] Type decayed(Type type);
/// @brief Scalars, or structures, in one value of @p type: the product of its extents; 1 for
/// pointers.
[[nodiscard]] std::int64_t n_scalars(const Type& type);

enum class UnaryOp : std::uint8_t {
  plus,
  minus,
  bit_not,
  logical_not,
  dereference,
  address,
  pre_increment,
  pre_decrement,
  post_increment,
  post_decrement,
};

/// In the order of C's precedence groups; `comma` binds least.
enum class BinaryOp : std::uint8_t {
  multiply,
  divide,
  modulo,
  add,
  subtract,
  shift_left,
  shift_right,
  less,
  greater,
  less_equal,
  greater_equal,
  equal,
  not_equal,
  bit_and,
  bit_xor,
  bit_or,
  logical_and,
  logical_or,
  comma,
};

[[nodiscard]] std::string_view spelling_of(UnaryOp op);
[[nodiscard]] std::string_view spelling_of(BinaryOp op);
/// @throws InternalError if there is no such operator.
[[nodiscard]] UnaryOp unary_from(std::string_view spelling, bool is_postfix);
[[nodiscard]] BinaryOp binary_from(std::string_view spelling);

// Alternatives of Expr. Operands sit in Expr itself, so that a walk needs no visit.

/// @brief A number, character or string, spelled as the user did.
struct Literal {
  std::string spelling;
  bool operator==(const Literal&) const = default;
};
struct Name {
  std::string name;
  bool operator==(const Name&) const = default;
};
struct Unary {  ///< operands: {argument}
  UnaryOp op = UnaryOp::plus;
  bool operator==(const Unary&) const = default;
};
struct Binary {  ///< operands: {left, right}
  BinaryOp op = BinaryOp::add;
  bool operator==(const Binary&) const = default;
};
struct Assign {                ///< operands: {target, value}
  std::optional<BinaryOp> op;  ///< of `op=`; nothing for a plain `=`
  bool operator==(const Assign&) const = default;
};
struct Ternary {  ///< operands: {condition, if true, if false}
  bool operator==(const Ternary&) const = default;
};
struct Index {  ///< operands: {array, index}
  bool operator==(const Index&) const = default;
};
struct MemberOf {  ///< operands: {structure}; `p->x` is a member of `*p`
  std::string name;
  bool operator==(const MemberOf&) const = default;
};
struct Call {  ///< operands: the arguments
  std::string function;
  bool operator==(const Call&) const = default;
};
struct Cast {  ///< operands: {argument}; a structure is made of an InitList
  Type target;
  bool operator==(const Cast&) const = default;
};
struct SizeOf {  ///< operands: {argument}, or none if a type is given
  std::optional<Type> target;
  bool operator==(const SizeOf&) const = default;
};
struct InitList {  ///< operands: the items, with a list for each array and structure inside
  bool operator==(const InitList&) const = default;
};

using ExprNode = std::variant<Literal, Name, Unary, Binary, Assign, Ternary, Index, MemberOf, Call,
                              Cast, SizeOf, InitList>;

struct Expr {
  ExprNode node;
  std::vector<Expr> operands;
  Type type;     ///< filled by infer_types()
  int line = 0;  ///< in the user's text, from 1; 0 if the user did not write it
  bool operator==(const Expr& other) const;
};

struct Variable {
  std::string name;
  Type type;
  std::optional<Expr> value;
  int line = 0;
  bool is_by_lane = false;  ///< of a table: lanes of a block read different entries
  bool operator==(const Variable& other) const;
};

struct Stmt;
using Body = std::vector<Stmt>;

struct Declare {
  bool is_static = false;           ///< then also const: a table
  std::vector<Variable> variables;  ///< one; several only in the head of a `for`
  bool operator==(const Declare&) const = default;
};
struct Evaluate {
  Expr value;
  bool operator==(const Evaluate&) const = default;
};
struct Block {
  Body body;
  bool operator==(const Block&) const = default;
};
struct If {
  Expr condition;
  Body then_body;
  Body else_body;  ///< empty: no else
  bool operator==(const If&) const = default;
};
struct For {
  Body init;  ///< none, or one Declare or Evaluate
  std::optional<Expr> condition;
  std::optional<Expr> step;
  Body body;
  bool is_unrolled = false;  ///< compilers are told to write all steps out
  bool operator==(const For&) const = default;
};
struct While {
  Expr condition;
  Body body;
  bool is_do = false;  ///< test after the body
  bool operator==(const While&) const = default;
};
struct Case {
  std::optional<Expr> label;  ///< nothing for `default`
  Body body;                  ///< runs on into the next case unless it breaks
  bool operator==(const Case&) const = default;
};
struct Switch {
  Expr value;
  std::vector<Case> cases;
  bool operator==(const Switch&) const = default;
};
struct Return {
  std::optional<Expr> value;
  bool operator==(const Return&) const = default;
};
struct Break {
  bool operator==(const Break&) const = default;
};
struct Continue {
  bool operator==(const Continue&) const = default;
};

using StmtNode =
    std::variant<Declare, Evaluate, Block, If, For, While, Switch, Return, Break, Continue>;

struct Stmt {
  StmtNode node;
  int line = 0;
  bool operator==(const Stmt& other) const;
};

struct Parameter {
  std::string name;
  Type type;
  int line = 0;
  bool operator==(const Parameter& other) const;
};

struct FunctionDef {
  std::string name;
  Type result;
  std::vector<Parameter> parameters;
  Body body;
  int line = 0;
  /// The same body as C for compilers with vector types; `$0` is the first parameter. Empty: none.
  std::string vector_text = {};
  bool operator==(const FunctionDef& other) const;
};

/// @brief A structure that the kernel defines, wherever it does.
struct Structure {
  std::string name;
  std::vector<Parameter> members;
  int line = 0;
  bool operator==(const Structure& other) const;
};

/// @brief A function as the lanes of a block carry it out together.
///
/// The function has three more parameters than its namesake: the lane, the number of lanes, and
/// shared memory. Callers put barriers around the call.
struct TeamFunction {
  FunctionDef function;
  int n_lanes = 0;  ///< of a block; a function with arrays of its own needs all of them
  std::int64_t n_shared = 0;
  bool operator==(const TeamFunction&) const = default;
};

/// @brief A kernel as the front end understood it.
///
/// Only what the entry function reaches is kept. Functions stand callee first, so the entry
/// function is the last and no prototype is needed; there is no recursion.
struct KernelBody {
  std::vector<Variable> tables;  ///< file-scope constants, in the user's order
  std::vector<FunctionDef> functions;
  std::vector<Structure> structures = {};  ///< what is inside of another stands before it
  std::vector<TeamFunction> team_functions = {};
  bool operator==(const KernelBody&) const = default;

  [[nodiscard]] const FunctionDef& entry() const { return functions.back(); }
  /// @return The function called @p name, or nullptr.
  [[nodiscard]] const FunctionDef* function(std::string_view name) const;
  /// @return The structure called @p name, or nullptr.
  [[nodiscard]] const Structure* structure(std::string_view name) const;
};

struct KernelFacts;
struct LeftBehind;
struct SeenBefore;

/// @brief Sum factorization of a kernel's body: what contracted() has done.
struct Contraction {
  int n_sums = 0;           ///< sums computed dimension by dimension
  std::int64_t before = 0;  ///< floating-point operations of a call of the text, as written
  std::int64_t after = 0;   ///< the same of the body
};

/// @brief A kernel whose sums the lanes of a block compute together; see team_form().
struct TeamForm {
  /// The entry function has three more parameters: the lane, the number of lanes, and an array of
  /// `n_shared` numbers of type `base` that all lanes of the block see.
  KernelBody body;
  int n_lanes = 0;  ///< of a block
  std::int64_t n_shared = 0;
  std::int64_t n_own = 0;  ///< numbers in arrays of a lane, kept in registers
  Base base = Base::float64;
  std::set<int> shared_parameters = {};  ///< that must lead to memory of the block
};

/// @brief A user's kernel, immutable once built; passed around as shared_ptr<const Kernel>.
struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;  ///< of the entry function; empty if !has_signature
  bool has_signature = true;          ///< false for C++ text whose signature was not understood
  std::optional<KernelBody> body;     ///< nothing for an opaque kernel
  std::string text;           ///< the user's, verbatim: what an opaque kernel is compiled from
  std::string opaque_reason;  ///< why there is no body; empty if there is one
  bool cpp = false;
  std::vector<std::string> headers;  ///< to include, with their delimiters: `<stdlib.h>`, `"a.h"`
  std::vector<std::string> include_dirs;
  std::vector<std::string> options;  ///< for the compiler
  std::vector<std::string> ldargs;
  bool requires_zeroed_output_arguments = false;
  std::int64_t flop_count = -1;  ///< per call, as the user gave it; -1 if not given
  Contraction contraction{};
  std::shared_ptr<const TeamForm> team{};  ///< null if it has none
  std::string key;  ///< kernel_key(); equality of kernels is equality of keys
  /// What left_behind() and seen_before() say of the body, for each parameter, and kernel_facts().
  Kept<std::vector<LeftBehind>> left = {};
  Kept<std::vector<SeenBefore>> seen = {};
  Kept<KernelFacts> facts = {};
};

using KernelPtr = std::shared_ptr<const Kernel>;

/// @brief Canonical key of @p kernel.
/// @param[in] tokens The text's tokens: blanks and comments do not count.
/// @param[in] header_contents Name and content of each header that is not known, alternating.
/// @param[in] abi The kernel convention, e.g. "2026".
[[nodiscard]] std::string kernel_key(const Kernel& kernel, std::span<const std::string> tokens,
                                     std::span<const std::string> header_contents,
                                     std::string_view abi);

}  // namespace op2::kernel
