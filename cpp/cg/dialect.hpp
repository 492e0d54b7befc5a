// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/dtype.hpp"
#include "cg/complex_numbers.hpp"
#include "cg/library.hpp"
#include "cg/words.hpp"

namespace op2::cg {

/// @brief The vendor's words. An empty entry means that the language needs or has none.
struct Dialect {
  std::string_view name = {};
  std::string_view kernel = {};    ///< Before the return type of what the host launches.
  std::string_view function = {};  ///< Before the return type of a helper.
  /// Before the return type of a function over a range: inlined into a parallel region it would
  /// lose what `restrict` says about its parameters (docs/performance.md: 1.6x on adt_calc).
  std::string_view keep_apart = {};
  std::string_view global = {};    ///< Address space of arguments, before the pointed-to type.
  std::string_view local = {};     ///< Storage shared by a block, before a declaration.
  std::string_view to_local = {};  ///< What a pointer to such storage leads to, before its type.
  std::string_view restrict_word = {};
  std::string_view barrier = {};         ///< One line: every lane of the block has arrived.
  std::string_view warp_barrier = {};    ///< The same for blocks of one warp; empty: `barrier`.
  std::string_view global_barrier = {};  ///< The same, and sees what the others wrote to arguments.
  std::string_view global_id = {};
  std::string_view block_id = {};
  std::string_view lane_id = {};
  std::string_view n_lanes = {};
  std::string_view n_blocks = {};
  std::string_view n_global = {};
  std::string_view shuffle = {};  ///< A call's name and first arguments; value, lane, width follow.
  /// How a block notes in flag {0} whether it is the last of {2} at counter {1}, which counts
  /// round.
  std::string_view arrive = {};
  /// How {3} indices behind {1} + {2} come into array {0}, past the caches; empty: they do not.
  std::string_view fetch = {};
  std::string_view kernel_start = {};  ///< A kernel's first statement.
  /// How a kernel learns that pointer {0} of type {1} is a multiple of 16 bytes, as all memory that
  /// devices give out is: rows are then moved in whole words instead of one number at a time.
  std::string_view assume_aligned = {};
  std::string_view grid_loop = {};  ///< A pragma before a loop over the grid, which runs but once.
  std::string_view bounds = {};     ///< Of a kernel of up to {} lanes, {} blocks at a time.
  std::string_view literal_open =
      {};  ///< Before the type of a braced value, as in `(uint4){0, 1}`.
  std::string_view literal_close = {};
  std::array<std::string_view, n_dtypes> types;  ///< By DType.
  std::string_view boolean = {};                 ///< C's _Bool.
  std::string_view table = {};                   ///< Storage of a constant table at file scope.
  std::string_view large_table = {};  ///< Of tables that constant memory has no room for.
  std::int64_t constant_bytes = 0;    ///< Room for tables in constant memory; 0: no limit.
  /// Bytes of a block's arrays that code may declare; 0: all. Beyond, launches give the memory.
  std::int64_t declared_shared_bytes = 0;
  std::string_view shared_request = {};  ///< Of kernel {0}, for launches with {1} bytes.
  std::string_view shared_memory = {};   ///< The memory in the kernel, named `op2_block`.
  std::string_view real_part = {};       ///< Of a complex value `{}`.
  std::string_view imaginary_part = {};
  std::string_view complex_value =
      {};  ///< The complex value of parts `{1}` and `{2}`, of type {0}.
  ComplexBy complex_by = ComplexBy::operators;
  /// Instructions that update memory which other lanes update, too. A line each: an update, the
  /// dtypes it is for, and behind a colon the statement that updates where {0} points by {1}.
  std::string_view atomics = {};
  /// The body of a function that does what has no instruction to `target`, a pointer to type {0}:
  /// {1} is the new value if the old one is `seen`. Empty: words are exchanged.
  std::string_view exchange_any = {};
  std::string_view words = {};  ///< A pointer's type: to words {0} that others exchange.
  std::array<std::string_view, 2> word = {};       ///< [4 or 8 bytes] The unsigned integer.
  std::array<std::string_view, 2> exchange = {};   ///< Of `before` in `*word` by {0}.
  std::array<std::string_view, 2> from_bits = {};  ///< The real number that has bits {0},
  std::array<std::string_view, 2> to_bits = {};    ///< and the bits of real number {0}.
  bool is_cxx = false;                             ///< Refuses conversions that C makes.
  /// Vectors are types, as double8: a cast fills one, and __builtin_astype renames its bits.
  bool has_vectors = false;
  bool compares_conditions = false;  ///< Floating-point numbers are no truth values.
  bool hides_ranges = false;         ///< Of what decides between several ways.
  bool has_constant_space = false;   ///< Tables are in an address space of their own.
  /// What the C library's functions are called; null: as in C, with prototypes.
  LibraryFunction (*library)(const kernel::KnownFunction& function) = nullptr;
  Vocabulary vocabulary = {};

  /// @brief Spelling of a scalar type.
  /// @throws UnsupportedError if the dialect has no such type.
  [[nodiscard]] std::string_view type_name(DType dtype) const;
};

/// @brief C11 for the host; parallel with OpenMP. The same text is valid C++.
[[nodiscard]] const Dialect& c_dialect();

/// @brief OpenCL C 1.2.
[[nodiscard]] const Dialect& opencl_dialect();

/// @brief CUDA C++.
[[nodiscard]] const Dialect& cuda_dialect();

}  // namespace op2::cg
