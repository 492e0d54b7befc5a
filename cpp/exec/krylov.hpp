// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "exec/block_rows.hpp"
#include "exec/incomplete_lu.hpp"
#include "exec/sparse_inverse.hpp"

namespace op2::exec {

enum class KrylovMethod { cg, bicgstab, gmres };

/// @brief Calls for a matrix whose rows are shared by processes; empty for a whole matrix.
///
/// The thread of the solve calls, in an order equal in all processes.
struct OtherProcesses {
  std::function<void(std::span<double>)> bring;   ///< give the ghosts of a vector their values
  std::function<void(std::span<double>)> add_up;  ///< replace numbers by the sums over processes
};

/// @brief How to solve, and when to stop; tolerances as in PETSc.
struct KrylovOptions {
  KrylovMethod method = KrylovMethod::cg;
  double rtol = 1e-7;   ///< of the norm of the right-hand side
  double atol = 0;      ///< absolute
  double divtol = 1e4;  ///< of the larger of the norms of right-hand side and first residual
  std::int64_t max_it = 10000;
  std::int64_t restart = 30;  ///< directions kept by gmres
  bool is_jacobi = true;      ///< precondition by the diagonal; entries of zero count as one
  const IncompleteLu* ilu = nullptr;       ///< preconditioner in place of the diagonal, if not null
  const SparseInverse* inverse = nullptr;  ///< the same, by a product
  int n_threads = 1;
  std::function<void()> between;  ///< called now and then; an exception ends the solve
  bool is_fused = false;          ///< cg adds up all sums of a step at once
  OtherProcesses others;
  bool is_inverse_wide = false;  ///< the inverse reads ghosts, too, in all processes alike
  /// Computes A v in place of the matrix, of v with ghosts; on the thread of the solve.
  std::function<void(std::span<double> v, std::span<double> product)> product;
};

/// @brief Why a solve ended. Breakdown: the residual stopped falling above the tolerance.
enum class KrylovEnd { converged, max_it, diverged, not_a_number, breakdown, indefinite };

struct KrylovResult {
  KrylovEnd end = KrylovEnd::converged;
  std::vector<double> history;  ///< norms of the residual; the first is from before the first step
};

/// @brief Solve A x = b by a Krylov method.
///
/// Conjugate gradients: Hestenes and Stiefel, J. Res. Nat. Bur. Standards 49 (1952). BiCGStab: van
/// der Vorst, SIAM J. Sci. Stat. Comput. 13 (1992). GMRES: Saad and Schultz, SIAM J. Sci. Stat.
/// Comput. 7 (1986), orthogonalised twice. The latter two are preconditioned from the right. Fused
/// conjugate gradients: Chronopoulos and Gear, J. Comput. Appl. Math. 25 (1989).
/// Between the first and the last, norms in the history are those of updated residuals. Where such
/// a norm falls below the tolerance, the residual is computed from x, and the method starts anew if
/// the computed norm is too large. The last norm is the norm of b - A x.
/// Threads are started once for all steps. Sums over rows are added by fixed chunks, so results do
/// not depend on the number of threads.
/// A matrix given by `product` has rows without entries, and no preconditioner by entries.
/// @param[in] b [n_rows * dim]
/// @param[in,out] x [(n_rows + n_ghosts) * dim] The first guess, then the solution.
/// @throws UsageError if sizes do not fit or a column is out of range.
template <class Index>
[[nodiscard]] KrylovResult solve_krylov(const BlockRows<Index>& matrix, std::span<const double> b,
                                        std::span<double> x, const KrylovOptions& options);

}  // namespace op2::exec
