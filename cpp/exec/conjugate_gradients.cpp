// SPDX-License-Identifier: BSD-3-Clause
#include "exec/conjugate_gradients.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <barrier>
#include <cmath>
#include <exception>
#include <numeric>
#include <thread>

#include "base/error.hpp"

namespace op2::exec {
namespace {

// Rows of blocks whose products are added before others are: a part of the result's definition.
constexpr std::int64_t rows_of_chunk = 1024;
constexpr std::size_t steps_between = 32;

/// A sum over all rows: each chunk's part, added by every thread in the same order.
class Sum {
 public:
  explicit Sum(std::int64_t n_chunks) : parts_(static_cast<std::size_t>(n_chunks), 0.0) {}
  double& part(std::int64_t chunk) { return parts_[static_cast<std::size_t>(chunk)]; }
  [[nodiscard]] double total() const { return std::accumulate(parts_.begin(), parts_.end(), 0.0); }

 private:
  std::vector<double> parts_;
};

template <class Index>
class CgSolve {
 public:
  CgSolve(const BlockRows<Index>& matrix, std::span<const double> b, std::span<double> x,
          const CgOptions& options)
      : matrix_(matrix),
        b_(b),
        x_(x),
        options_(options),
        n_chunks_((matrix.n_rows + rows_of_chunk - 1) / rows_of_chunk),
        n_threads_(std::clamp(n_chunks_, std::int64_t{1},
                              static_cast<std::int64_t>(std::max(options.n_threads, 1)))),
        barrier_(n_threads_),
        r_(b.size()),
        p_(b.size()),
        q_(b.size()),
        inverse_(b.size(), 1.0),
        bb_(n_chunks_),
        rr_(n_chunks_),
        rz_(n_chunks_),
        pq_(n_chunks_) {}

  CgResult run() {
    std::vector<std::thread> others;
    others.reserve(static_cast<std::size_t>(n_threads_ - 1));
    for (std::int64_t thread = 1; thread < n_threads_; ++thread) {
      others.emplace_back([this, thread] { iterate(thread); });
    }
    iterate(0);
    for (std::thread& other : others) other.join();
    if (failure_) std::rethrow_exception(failure_);
    return std::move(result_);
  }

 private:
  /// The steps of one thread. All take the same way through them: what decides are sums.
  void iterate(std::int64_t thread) {
    start(thread);
    wait();
    const double norm_b = std::sqrt(bb_.total());
    const double wanted = std::max(options_.rtol * norm_b, options_.atol);
    double norm = std::sqrt(rr_.total());
    double rz = rz_.total();
    const double limit = options_.divtol * std::max(norm, norm_b);
    if (thread == 0) result_.history.push_back(norm);
    if (norm <= wanted) return finish(thread, CgEnd::converged);
    for (std::int64_t step = 0; step < options_.max_it; ++step) {
      multiply(thread);
      wait();
      if (is_stopped_) return;
      advance(thread, rz / pq_.total());
      wait();
      norm = std::sqrt(rr_.total());
      const double next = rz_.total();
      if (thread == 0) result_.history.push_back(norm);
      if (norm <= wanted) return finish(thread, CgEnd::converged);
      if (!std::isfinite(norm)) return finish(thread, CgEnd::not_a_number);
      if (norm > limit) return finish(thread, CgEnd::diverged);
      turn(thread, next / rz);
      rz = next;
      if (thread == 0 && result_.history.size() % steps_between == 0) look_around();
      wait();
    }
    finish(thread, CgEnd::max_it);
  }

  void wait() {
    if (n_threads_ > 1) barrier_.arrive_and_wait();
  }

  void finish(std::int64_t thread, CgEnd end) {
    if (thread == 0) result_.end = end;
  }

  void look_around() {
    try {
      if (options_.between) options_.between();
    } catch (...) {
      failure_ = std::current_exception();
      is_stopped_ = true;
    }
  }

  /// Call @p body(chunk, first scalar, one past the last) for the chunks of a thread.
  template <class Body>
  void for_chunks(std::int64_t thread, const Body& body) {
    const std::int64_t end = n_chunks_ * (thread + 1) / n_threads_;
    for (std::int64_t chunk = n_chunks_ * thread / n_threads_; chunk < end; ++chunk) {
      const std::int64_t first = chunk * rows_of_chunk;
      const std::int64_t last = std::min(first + rows_of_chunk, matrix_.n_rows);
      body(chunk, static_cast<std::size_t>(first * matrix_.dim),
           static_cast<std::size_t>(last * matrix_.dim));
    }
  }

  /// One scalar of A v.
  double row_times(std::size_t scalar, const double* v) const {
    const auto dim = static_cast<std::size_t>(matrix_.dim);
    const std::size_t row = scalar / dim;
    const std::size_t component = scalar % dim;
    const auto begin = static_cast<std::size_t>(matrix_.row_offset[row]);
    const auto end = static_cast<std::size_t>(matrix_.row_offset[row + 1]);
    double sum = 0;
    for (std::size_t place = begin; place < end; ++place) {
      const double* block = &matrix_.values[(place * dim + component) * dim];
      const double* part = &v[static_cast<std::size_t>(matrix_.columns[place]) * dim];
      for (std::size_t i = 0; i < dim; ++i) sum += block[i] * part[i];
    }
    return sum;
  }

  double diagonal(std::size_t scalar) const {
    const auto dim = static_cast<std::size_t>(matrix_.dim);
    const std::size_t row = scalar / dim;
    for (auto place = static_cast<std::size_t>(matrix_.row_offset[row]);
         place < static_cast<std::size_t>(matrix_.row_offset[row + 1]); ++place) {
      if (static_cast<std::size_t>(matrix_.columns[place]) != row) continue;
      const std::size_t component = scalar % dim;
      return matrix_.values[(place * dim + component) * dim + component];
    }
    return 0;
  }

  void start(std::int64_t thread) {
    for_chunks(thread, [this](std::int64_t chunk, std::size_t begin, std::size_t end) {
      double bb = 0;
      double rr = 0;
      double rz = 0;
      for (std::size_t i = begin; i < end; ++i) {
        if (options_.is_jacobi) {
          const double entry = diagonal(i);
          inverse_[i] = entry == 0 ? 1 : 1 / entry;
        }
        r_[i] = b_[i] - row_times(i, x_.data());
        p_[i] = inverse_[i] * r_[i];
        bb += b_[i] * b_[i];
        rr += r_[i] * r_[i];
        rz += r_[i] * p_[i];
      }
      bb_.part(chunk) = bb;
      rr_.part(chunk) = rr;
      rz_.part(chunk) = rz;
    });
  }

  void multiply(std::int64_t thread) {
    for_chunks(thread, [this](std::int64_t chunk, std::size_t begin, std::size_t end) {
      double pq = 0;
      for (std::size_t i = begin; i < end; ++i) {
        q_[i] = row_times(i, p_.data());
        pq += p_[i] * q_[i];
      }
      pq_.part(chunk) = pq;
    });
  }

  void advance(std::int64_t thread, double alpha) {
    for_chunks(thread, [this, alpha](std::int64_t chunk, std::size_t begin, std::size_t end) {
      double rr = 0;
      double rz = 0;
      for (std::size_t i = begin; i < end; ++i) {
        x_[i] += alpha * p_[i];
        r_[i] -= alpha * q_[i];
        rr += r_[i] * r_[i];
        rz += r_[i] * inverse_[i] * r_[i];
      }
      rr_.part(chunk) = rr;
      rz_.part(chunk) = rz;
    });
  }

  void turn(std::int64_t thread, double beta) {
    for_chunks(thread, [this, beta](std::int64_t /*chunk*/, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) p_[i] = inverse_[i] * r_[i] + beta * p_[i];
    });
  }

  const BlockRows<Index>& matrix_;
  std::span<const double> b_;
  std::span<double> x_;
  const CgOptions& options_;
  std::int64_t n_chunks_;
  std::int64_t n_threads_;
  std::barrier<> barrier_;
  std::vector<double> r_;        // [n] residual
  std::vector<double> p_;        // [n] direction
  std::vector<double> q_;        // [n] A p
  std::vector<double> inverse_;  // [n] of the diagonal
  Sum bb_;
  Sum rr_;
  Sum rz_;
  Sum pq_;
  CgResult result_;
  std::exception_ptr failure_;
  bool is_stopped_ = false;  // written by thread 0, read by others after a barrier
};

template <class Index>
void check_system(const BlockRows<Index>& matrix, std::size_t n_b, std::size_t n_x) {
  const auto rows = static_cast<std::size_t>(matrix.n_rows);
  const auto dim = static_cast<std::size_t>(matrix.dim);
  const bool fits = matrix.row_offset.size() == rows + 1 &&
                    matrix.values.size() == matrix.columns.size() * dim * dim &&
                    n_b == rows * dim && n_x == rows * dim && matrix.row_offset[0] == 0 &&
                    matrix.row_offset[rows] == static_cast<std::int64_t>(matrix.columns.size()) &&
                    std::is_sorted(matrix.row_offset.begin(), matrix.row_offset.end());
  if (!fits) {
    throw UsageError(
        fmt::format("conjugate gradients: a matrix of {} rows does not fit vectors of "
                    "{} and {} values",
                    rows * dim, n_b, n_x));
  }
  for (const Index column : matrix.columns) {
    if (column < 0 || static_cast<std::size_t>(column) >= rows) {
      throw UsageError(fmt::format("conjugate gradients: there is no column {}", column));
    }
  }
}

}  // namespace

template <class Index>
CgResult conjugate_gradients(const BlockRows<Index>& matrix, std::span<const double> b,
                             std::span<double> x, const CgOptions& options) {
  check_system(matrix, b.size(), x.size());
  return CgSolve<Index>(matrix, b, x, options).run();
}

template CgResult conjugate_gradients(const BlockRows<std::int32_t>&, std::span<const double>,
                                      std::span<double>, const CgOptions&);
template CgResult conjugate_gradients(const BlockRows<std::int64_t>&, std::span<const double>,
                                      std::span<double>, const CgOptions&);

}  // namespace op2::exec
