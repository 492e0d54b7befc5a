// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace op2::exec {

/// @brief A square matrix of doubles: compressed rows of dense blocks.
template <class Index>
struct BlockRows {
  std::int64_t n_rows = 0;                   ///< of blocks
  int dim = 1;                               ///< rows and columns of a block
  std::span<const std::int64_t> row_offset;  // [n_rows + 1] into columns
  std::span<const Index> columns;            // [n_places]
  std::span<const double> values;            // [n_places * dim * dim] blocks, row-major
};

/// @brief When to stop; all as in PETSc.
struct CgOptions {
  double rtol = 1e-7;   ///< of the norm of the right-hand side
  double atol = 0;      ///< absolute
  double divtol = 1e4;  ///< of the larger one of the norms of right-hand side and first residual
  std::int64_t max_it = 10000;
  bool is_jacobi = true;  ///< precondition by the diagonal; entries of zero count as one
  int n_threads = 1;
  std::function<void()> between;  ///< called now and then; what it throws ends the solve
};

enum class CgEnd { converged, max_it, diverged, not_a_number };

struct CgResult {
  CgEnd end = CgEnd::converged;
  std::vector<double> history;  ///< norms of the residual: the first one before the first step
};

/// @brief Solve A x = b by conjugate gradients.
///
/// Hestenes and Stiefel, J. Res. Nat. Bur. Standards 49 (1952), with the residual that is updated,
/// not computed anew. Threads are started once for all steps. Dot products are added by fixed
/// chunks of rows, so results do not depend on @p n_threads.
/// @param[in] b [n_rows * dim]
/// @param[in,out] x [n_rows * dim] The first guess, then what was found.
/// @throws UsageError if sizes do not fit or a column is out of range.
template <class Index>
[[nodiscard]] CgResult conjugate_gradients(const BlockRows<Index>& matrix,
                                           std::span<const double> b, std::span<double> x,
                                           const CgOptions& options);

}  // namespace op2::exec
