// SPDX-License-Identifier: BSD-3-Clause
#include "exec/krylov.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>
#include <thread>
#include <utility>

#include "base/error.hpp"

namespace op2::exec {
namespace {

// Rows of blocks whose products are added before others are: a part of the result's definition.
constexpr std::int64_t rows_of_chunk = 1024;
constexpr std::int64_t steps_between = 32;
constexpr double eps = std::numeric_limits<double>::epsilon();
// A residual above the tolerance is accepted where it is rounding: at most so many times `eps` of
// the magnitudes of A x and b, and at most so much of the norm of b.
constexpr double rounding = 100 * eps;
constexpr double most_rounding = 1e-8;
// A method that starts anew must have reduced the residual by this factor, but for some breakdowns.
constexpr double least_progress = 0.5;
constexpr int most_vain = 3;

using Vector = std::vector<double>;

/// A sum over all rows: each chunk's part, added by every thread in the same order. Of processes
/// that share the rows the sum over all is kept.
class Sum {
 public:
  explicit Sum(std::int64_t n_chunks) : parts_(static_cast<std::size_t>(n_chunks), 0.0) {}
  double& part(std::int64_t chunk) { return parts_[static_cast<std::size_t>(chunk)]; }
  [[nodiscard]] double here() const { return std::accumulate(parts_.begin(), parts_.end(), 0.0); }
  [[nodiscard]] double total() const { return is_kept_ ? kept_ : here(); }
  void keep(double total) {
    kept_ = total;
    is_kept_ = true;
  }

 private:
  std::vector<double> parts_;
  double kept_ = 0;
  bool is_kept_ = false;
};

/// Why the steps of a method ended, before the residual is computed from x.
enum class Pause { claims, broke_down, is_indefinite, restarts, is_stopped };

template <class Index>
class Solve {
 public:
  Solve(const BlockRows<Index>& matrix, std::span<const double> b, std::span<double> x,
        const KrylovOptions& options)
      : matrix_(matrix),
        b_(b),
        x_(x),
        options_(options),
        n_chunks_((matrix.n_rows + rows_of_chunk - 1) / rows_of_chunk),
        n_threads_(std::clamp(n_chunks_, std::int64_t{1},
                              static_cast<std::int64_t>(std::max(options.n_threads, 1)))),
        restart_(std::clamp(
            options.restart, std::int64_t{1},
            std::max(std::min(is_shared() ? options.max_it : n_scalars(), options.max_it),
                     std::int64_t{1}))),
        barrier_(n_threads_),
        inverse_(options.is_jacobi ? b.size() : 0),
        product_(options.product ? b.size() : 0),
        bb_(n_chunks_),
        magnitudes_(n_chunks_) {
    const bool is_gmres = options.method == KrylovMethod::gmres;
    const bool is_cg = options.method == KrylovMethod::cg;
    const std::size_t n_of_cg = options.is_fused ? 5 : 4;
    vectors_.assign(is_gmres ? static_cast<std::size_t>(restart_) + 2 : (is_cg ? n_of_cg : 7),
                    Vector(x.size()));
    sums_.assign(is_gmres ? 2 * static_cast<std::size_t>(restart_) + 2 : 5, Sum(n_chunks_));
  }

  KrylovResult run() {
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
  /// What a thread knows of the solve. All know the same: what decides are sums.
  struct State {
    double wanted = 0;  // norm of the residual
    double limit = 0;   // beyond which it diverges
    double norm = 0;    // of the residual, updated
    std::int64_t n_steps = 0;
  };

  void iterate(std::int64_t thread) {
    State state;
    double last = std::numeric_limits<double>::infinity();  // norm where the method began
    int n_vain = 0;
    Pause pause = Pause::restarts;
    prepare(thread);
    for (bool is_first = true;; is_first = false) {
      compute_residual(thread);
      meet(thread, std::array{sums_.data(), &bb_});
      if (is_stopped_) return;
      const double norm = state.norm = std::sqrt(sums_[0].total());
      const double norm_b = std::sqrt(bb_.total());
      if (is_first) {
        state.wanted = std::max(options_.rtol * norm_b, options_.atol);
        state.limit = options_.divtol * std::max(norm, norm_b);
      }
      note(thread, norm, is_first);
      if (norm <= state.wanted) return finish(thread, KrylovEnd::converged);
      if (!std::isfinite(norm)) return finish(thread, KrylovEnd::not_a_number);
      if (norm > state.limit) return finish(thread, KrylovEnd::diverged);
      const bool is_vain = pause != Pause::restarts && !(norm < least_progress * last);
      if (is_vain && (pause != Pause::broke_down || ++n_vain > most_vain)) {
        const double limit = std::min(rounding * magnitude(thread), most_rounding * norm_b);
        if (norm <= limit) return finish(thread, KrylovEnd::converged);
        return finish(thread,
                      pause == Pause::is_indefinite ? KrylovEnd::indefinite : KrylovEnd::breakdown);
      }
      if (state.n_steps >= options_.max_it) return finish(thread, KrylovEnd::max_it);
      last = norm;
      pause = step(thread, state);
      if (pause == Pause::is_stopped) return;
    }
  }

  Pause step(std::int64_t thread, State& state) {
    switch (options_.method) {
      case KrylovMethod::cg:
        return options_.is_fused ? fused_gradients(thread, state)
                                 : conjugate_gradients(thread, state);
      case KrylovMethod::bicgstab:
        return bicgstab(thread, state);
      case KrylovMethod::gmres:
        return gmres(thread, state);
    }
    throw InternalError("there is no such Krylov method");
  }

  void note(std::int64_t thread, double norm, bool is_new) {
    if (thread != 0) return;
    if (is_new) {
      result_.history.push_back(norm);
    } else {
      result_.history.back() = norm;
    }
  }

  /// Count a step; say whether there may be another one.
  bool counts(std::int64_t thread, State& state, double norm) {
    state.norm = norm;
    note(thread, norm, true);
    ++state.n_steps;
    if (thread == 0 && state.n_steps % steps_between == 0) look_around();
    return norm > state.wanted && norm <= state.limit && state.n_steps < options_.max_it;
  }

  [[nodiscard]] Pause pause_of(const State& state) const {
    // a NaN claims to have ended, too; the residual of x decides
    return state.norm > state.wanted && state.n_steps >= options_.max_it ? Pause::restarts
                                                                         : Pause::claims;
  }

  void wait() {
    if (n_threads_ > 1) barrier_.arrive_and_wait();
  }

  void finish(std::int64_t thread, KrylovEnd end) {
    if (thread == 0) result_.end = end;
  }

  void look_around() {
    if (options_.between) call(options_.between);
  }

  /// Call out of the solve, on thread 0; an exception ends the solve where threads meet next.
  template <class Call, class... Args>
  void call(const Call& called, Args... args) {
    if (failure_) return;
    try {
      called(args...);
    } catch (...) {
      failure_ = std::current_exception();
      is_stopped_ = true;
    }
  }

  // Other processes

  [[nodiscard]] bool is_shared() const { return static_cast<bool>(options_.others.add_up); }
  [[nodiscard]] std::int64_t n_scalars() const { return static_cast<std::int64_t>(b_.size()); }

  /// Meet the other threads; add sums up over processes, in one reduction.
  void meet(std::int64_t thread, std::span<Sum* const> sums) {
    wait();
    if (!is_shared()) return;
    if (thread == 0) {
      Vector totals;
      for (const Sum* sum : sums) totals.push_back(sum->here());
      call(options_.others.add_up, std::span<double>(totals));
      for (std::size_t i = 0; i < totals.size(); ++i) sums[i]->keep(totals[i]);
    }
    wait();
  }

  /// The same for @p n consecutive sums.
  void meet(std::int64_t thread, std::size_t first, std::size_t n) {
    std::vector<Sum*> sums;
    for (std::size_t i = 0; i < n; ++i) sums.push_back(&sums_[first + i]);
    meet(thread, std::span<Sum* const>(sums));
  }

  /// Give the ghosts of a vector their values; all threads have written before.
  void bring(std::int64_t thread, std::span<double> vector) {
    if (!options_.others.bring) return;
    wait();
    if (thread == 0) call(options_.others.bring, vector);
    wait();
  }

  /// Make a vector ready to be multiplied.
  void begin_product(std::int64_t thread, std::span<double> vector) {
    bring(thread, vector);
    if (!options_.product) return;
    wait();
    if (thread == 0) call(options_.product, vector, std::span<double>(product_));
    wait();
  }

  // Products

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

  /// Compute out = A v for the scalars from @p begin to @p end, whole rows of blocks.
  void multiply(std::size_t begin, std::size_t end, const double* v, double* out) const {
    if (options_.product) {
      std::copy(&product_[begin], &product_[begin] + (end - begin), &out[begin]);
      return;
    }
    switch (matrix_.dim) {
      case 1:
        return multiply_blocks<1>(begin, end, v, out);
      case 2:
        return multiply_blocks<2>(begin, end, v, out);
      case 3:
        return multiply_blocks<3>(begin, end, v, out);
      default:
        for (std::size_t i = begin; i < end; ++i) {
          out[i] = 0;
          each_entry(i, [&](std::size_t column, double value) { out[i] += value * v[column]; });
        }
    }
  }

  template <std::size_t dim>
  void multiply_blocks(std::size_t begin, std::size_t end, const double* v, double* out) const {
    for (std::size_t row = begin / dim; row < end / dim; ++row) {
      std::array<double, dim> sums{};
      const std::size_t stop = matrix_.end(row);
      for (std::size_t place = matrix_.begin(row); place < stop; ++place) {
        const double* block = &matrix_.values[place * dim * dim];
        const double* part = &v[static_cast<std::size_t>(matrix_.columns[place]) * dim];
        for (std::size_t i = 0; i < dim; ++i) {
          for (std::size_t k = 0; k < dim; ++k) sums[i] += block[i * dim + k] * part[k];
        }
      }
      for (std::size_t i = 0; i < dim; ++i) out[row * dim + i] = sums[i];
    }
  }

  /// Call @p body(column, value) for the entries of a row of scalars.
  template <class Body>
  void each_entry(std::size_t scalar, const Body& body) const {
    const auto dim = static_cast<std::size_t>(matrix_.dim);
    const std::size_t row = scalar / dim;
    for (std::size_t place = matrix_.begin(row); place < matrix_.end(row); ++place) {
      const double* block = &matrix_.values[(place * dim + scalar % dim) * dim];
      const std::size_t first = static_cast<std::size_t>(matrix_.columns[place]) * dim;
      for (std::size_t k = 0; k < dim; ++k) body(first + k, block[k]);
    }
  }

  [[nodiscard]] double diagonal(std::size_t scalar) const {
    const auto dim = static_cast<std::size_t>(matrix_.dim);
    const std::size_t row = scalar / dim;
    const std::size_t component = scalar % dim;
    for (std::size_t place = matrix_.begin(row); place < matrix_.end(row); ++place) {
      if (static_cast<std::size_t>(matrix_.columns[place]) != row) continue;
      return matrix_.values[(place * dim + component) * dim + component];
    }
    return 0;
  }

  void prepare(std::int64_t thread) {
    if (!options_.is_jacobi || needs_all()) return;
    for_chunks(thread, [this](std::int64_t /*chunk*/, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        const double entry = diagonal(i);
        inverse_[i] = entry == 0 ? 1 : 1 / entry;
      }
    });
  }

  /// Whether a preconditioner needs all rows.
  [[nodiscard]] bool needs_all() const {
    return options_.ilu != nullptr || options_.inverse != nullptr;
  }

  /// Precondition a chunk, if that needs no others, with its part of the product with @p in.
  void precondition(std::int64_t chunk, std::size_t begin, std::size_t end, const Vector& in,
                    Vector& out, Sum& product) const {
    if (needs_all()) return;
    if (options_.is_jacobi) {
      for (std::size_t i = begin; i < end; ++i) out[i] = inverse_[i] * in[i];
    } else {
      for (std::size_t i = begin; i < end; ++i) out[i] = in[i];
    }
    product.part(chunk) = dot(in, out, begin, end);
  }

  /// Precondition all rows where that cannot be done by chunks.
  void precondition_whole(std::int64_t thread, Vector& in, Vector& out, Sum& product) {
    if (!needs_all()) return;
    wait();
    if (options_.is_inverse_wide) bring(thread, in);
    const auto from = std::span<const double>(in);
    const auto to = std::span(out).first(b_.size());
    if (options_.ilu != nullptr) {
      if (thread == 0) options_.ilu->solve(from.first(b_.size()), to);
      wait();
    }
    for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
      if (options_.ilu == nullptr) options_.inverse->multiply(begin, end, from, to);
      product.part(chunk) = dot(in, out, begin, end);
    });
  }

  static double dot(const Vector& a, const Vector& b, std::size_t begin, std::size_t end) {
    constexpr std::size_t width = 8;  // sums that do not wait for each other
    std::array<double, width> sums{};
    std::size_t i = begin;
    for (; i + width <= end; i += width) {
      for (std::size_t k = 0; k < width; ++k) sums[k] += a[i + k] * b[i + k];
    }
    for (; i < end; ++i) sums[i % width] += a[i] * b[i];
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  /// Set the first vector to b - A x, with the sums of its squares and of those of b.
  void compute_residual(std::int64_t thread) {
    Vector& r = vectors_[0];
    begin_product(thread, x_);
    for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
      multiply(begin, end, x_.data(), r.data());
      double bb = 0;
      for (std::size_t i = begin; i < end; ++i) {
        r[i] = b_[i] - r[i];
        bb += b_[i] * b_[i];
      }
      bb_.part(chunk) = bb;
      sums_[0].part(chunk) = dot(r, r, begin, end);
    });
  }

  /// Norm of |A| |x| + |b|: rounding errors of the residual are a small part of this.
  double magnitude(std::int64_t thread) {
    for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
      double squares = 0;
      for (std::size_t i = begin; i < end; ++i) {
        double sum = std::abs(b_[i]);
        each_entry(i,
                   [&](std::size_t column, double value) { sum += std::abs(value * x_[column]); });
        squares += sum * sum;
      }
      magnitudes_.part(chunk) = squares;
    });
    meet(thread, std::array{&magnitudes_});
    return std::sqrt(magnitudes_.total());
  }

  /// Go along a direction, whose product with A is @p image; return the residual's squares.
  double move(std::size_t begin, std::size_t end, double factor, const Vector& direction,
              const Vector& image) {
    Vector& r = vectors_[0];
    for (std::size_t i = begin; i < end; ++i) {
      x_[i] += factor * direction[i];
      r[i] -= factor * image[i];
    }
    return dot(r, r, begin, end);
  }

  // Methods. Each starts from the residual in the first vector, and ends where all threads meet.

  Pause conjugate_gradients(std::int64_t thread, State& state) {
    Vector& r = vectors_[0];
    Vector& z = vectors_[1];
    Vector& p = vectors_[2];
    Vector& q = vectors_[3];
    Sum& rr = sums_[0];
    Sum& rz = sums_[1];
    Sum& pq = sums_[2];
    for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
      std::fill(&p[begin], &p[begin] + (end - begin), 0.0);
      precondition(chunk, begin, end, r, z, rz);
    });
    precondition_whole(thread, r, z, rz);
    meet(thread, std::array{&rz});
    double rz_now = rz.total();
    double beta = 0;
    double sign = 0;  // of p A p
    bool is_definite = true;
    do {
      for_chunks(thread, [&](std::int64_t /*chunk*/, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) p[i] = z[i] + beta * p[i];
      });
      wait();
      begin_product(thread, p);
      for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
        multiply(begin, end, p.data(), q.data());
        pq.part(chunk) = dot(p, q, begin, end);
      });
      meet(thread, std::array{&pq});
      if (is_stopped_) return Pause::is_stopped;
      const double curvature = pq.total();
      if (curvature == 0 || rz_now == 0) return Pause::is_indefinite;
      if (sign == 0) sign = curvature;
      is_definite = is_definite && (curvature > 0) == (sign > 0);
      const double alpha = rz_now / curvature;
      for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
        rr.part(chunk) = move(begin, end, alpha, p, q);
        precondition(chunk, begin, end, r, z, rz);
      });
      precondition_whole(thread, r, z, rz);
      meet(thread, std::array{&rr, &rz});
      beta = rz.total() / rz_now;
      rz_now = rz.total();
    } while (counts(thread, state, std::sqrt(rr.total())));
    wait();
    return is_definite ? pause_of(state) : Pause::is_indefinite;
  }

  /// Conjugate gradients with one reduction a step, by recurrences for the direction's image.
  Pause fused_gradients(std::int64_t thread, State& state) {
    Vector& r = vectors_[0];
    Vector& z = vectors_[1];
    Vector& p = vectors_[2];
    Vector& q = vectors_[3];  // A p
    Vector& w = vectors_[4];  // A z
    Sum& rr = sums_[0];
    Sum& rz = sums_[1];
    Sum& wz = sums_[2];
    double rz_last = 0;
    double alpha = 0;
    double sign = 0;  // of p A p
    bool is_definite = true;
    bool is_first = true;
    while (true) {
      for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
        if (is_first) {
          std::fill(&p[begin], &p[begin] + (end - begin), 0.0);
          std::fill(&q[begin], &q[begin] + (end - begin), 0.0);
        }
        rr.part(chunk) = is_first ? dot(r, r, begin, end) : move(begin, end, alpha, p, q);
        precondition(chunk, begin, end, r, z, rz);
      });
      precondition_whole(thread, r, z, rz);
      wait();
      begin_product(thread, z);
      for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
        multiply(begin, end, z.data(), w.data());
        wz.part(chunk) = dot(w, z, begin, end);
      });
      meet(thread, std::array{&rr, &rz, &wz});
      if (is_stopped_) return Pause::is_stopped;
      if (!is_first && !counts(thread, state, std::sqrt(rr.total()))) break;
      const double rz_now = rz.total();
      const double beta = is_first ? 0 : rz_now / rz_last;
      const double curvature = wz.total() - (is_first ? 0 : beta * rz_now / alpha);
      if (curvature == 0 || rz_now == 0) return Pause::is_indefinite;
      if (sign == 0) sign = curvature;
      is_definite = is_definite && (curvature > 0) == (sign > 0);
      alpha = rz_now / curvature;
      rz_last = rz_now;
      is_first = false;
      for_chunks(thread, [&](std::int64_t /*chunk*/, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
          p[i] = z[i] + beta * p[i];
          q[i] = w[i] + beta * q[i];
        }
      });
    }
    wait();
    return is_definite ? pause_of(state) : Pause::is_indefinite;
  }

  Pause bicgstab(std::int64_t thread, State& state) {
    Vector& r = vectors_[0];  // also s, half-way through a step
    Vector& shadow = vectors_[1];
    Vector& p = vectors_[2];
    Vector& v = vectors_[3];
    Vector& y = vectors_[4];
    Vector& t = vectors_[5];
    Vector& z = vectors_[6];
    Sum& rr = sums_[0];
    Sum& rho = sums_[1];
    Sum& one = sums_[2];
    Sum& two = sums_[3];
    Sum& unused = sums_[4];
    for_chunks(thread, [&](std::int64_t /*chunk*/, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) {
        shadow[i] = r[i];
        p[i] = v[i] = 0;
      }
    });
    turn(thread, 0, 0);
    const double norm_shadow = state.norm;
    double rho_now = norm_shadow * norm_shadow;
    while (true) {
      begin_product(thread, y);
      for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
        multiply(begin, end, y.data(), v.data());
        one.part(chunk) = dot(shadow, v, begin, end);
      });
      meet(thread, std::array{&one});
      if (is_stopped_) return Pause::is_stopped;
      if (one.total() == 0) return Pause::broke_down;
      const double alpha = rho_now / one.total();
      for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
        rr.part(chunk) = move(begin, end, alpha, y, v);
        precondition(chunk, begin, end, r, z, unused);
      });
      precondition_whole(thread, r, z, unused);
      meet(thread, std::array{&rr});
      const double norm_half = std::sqrt(rr.total());
      if (!(norm_half > state.wanted)) {
        counts(thread, state, norm_half);
        break;
      }
      begin_product(thread, z);
      for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
        multiply(begin, end, z.data(), t.data());
        one.part(chunk) = dot(t, r, begin, end);
        two.part(chunk) = dot(t, t, begin, end);
      });
      meet(thread, std::array{&one, &two});
      const double omega = two.total() == 0 ? 0 : one.total() / two.total();
      for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
        rr.part(chunk) = move(begin, end, omega, z, t);
        rho.part(chunk) = dot(shadow, r, begin, end);
      });
      meet(thread, std::array{&rr, &rho});
      if (!counts(thread, state, std::sqrt(rr.total()))) break;
      const double rho_next = rho.total();
      if (omega == 0 || std::abs(rho_next) <= eps * norm_shadow * state.norm) {
        wait();
        return Pause::broke_down;
      }
      const double beta = rho_next / rho_now * (alpha / omega);
      rho_now = rho_next;
      turn(thread, beta, omega);
    }
    wait();
    return pause_of(state);
  }

  /// Find the next direction of bicgstab, p, and precondition it.
  void turn(std::int64_t thread, double beta, double omega) {
    const Vector& r = vectors_[0];
    Vector& p = vectors_[2];
    const Vector& v = vectors_[3];
    for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) p[i] = r[i] + beta * (p[i] - omega * v[i]);
      precondition(chunk, begin, end, p, vectors_[4], sums_[4]);
    });
    precondition_whole(thread, p, vectors_[4], sums_[4]);
    wait();
  }

  /// The least-squares problem of gmres: a Hessenberg matrix, made triangular by rotations.
  class Hessenberg {
   public:
    Hessenberg(std::int64_t n, double norm)
        : n_(static_cast<std::size_t>(n)), h_((n_ + 1) * n_), cos_(n_), sin_(n_), g_(n_ + 1) {
      g_[0] = norm;
    }
    double& at(std::size_t row, std::size_t column) { return h_[column * (n_ + 1) + row]; }

    /// Take in a column; return the norm of the residual.
    double rotate(std::size_t column) {
      for (std::size_t i = 0; i < column; ++i) turn(at(i, column), at(i + 1, column), i);
      const double length = std::hypot(at(column, column), at(column + 1, column));
      cos_[column] = length == 0 ? 1 : at(column, column) / length;
      sin_[column] = length == 0 ? 0 : at(column + 1, column) / length;
      turn(at(column, column), at(column + 1, column), column);
      turn(g_[column], g_[column + 1], column);
      return std::abs(g_[column + 1]);
    }

    /// Factors of the first @p n directions.
    Vector solve(std::size_t n) {
      Vector y(g_.begin(), g_.begin() + static_cast<std::ptrdiff_t>(n));
      for (std::size_t row = n; row-- > 0;) {
        for (std::size_t k = row + 1; k < n; ++k) y[row] -= at(row, k) * y[k];
        y[row] = at(row, row) == 0 ? 0 : y[row] / at(row, row);
      }
      return y;
    }

   private:
    void turn(double& upper, double& lower, std::size_t i) const {
      const double rotated = cos_[i] * upper + sin_[i] * lower;
      lower = cos_[i] * lower - sin_[i] * upper;
      upper = rotated;
    }

    std::size_t n_;
    Vector h_;  // [n * (n + 1)] by columns
    Vector cos_;
    Vector sin_;
    Vector g_;
  };

  Pause gmres(std::int64_t thread, State& state) {
    const auto most = static_cast<std::size_t>(restart_);
    Vector& z = vectors_[most + 1];
    Sum& unused = sums_[2 * most + 1];
    Hessenberg hessenberg(restart_, state.norm);
    double scale = 1 / state.norm;
    std::size_t n = 0;
    bool is_full = false;
    bool has_more = true;
    while (has_more && !is_full) {
      for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) vectors_[n][i] *= scale;
        precondition(chunk, begin, end, vectors_[n], z, unused);
      });
      precondition_whole(thread, vectors_[n], z, unused);
      wait();
      if (is_stopped_) return Pause::is_stopped;
      const double norm = add_direction(thread, n, hessenberg);
      scale = norm == 0 ? 0 : 1 / norm;
      has_more = counts(thread, state, hessenberg.rotate(n++)) && norm != 0;
      is_full = n == most;
    }
    const Vector factors = hessenberg.solve(n);
    Vector& sum = vectors_[n];
    for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
      std::fill(&sum[begin], &sum[begin] + (end - begin), 0.0);
      for (std::size_t k = 0; k < n; ++k) add(factors[k], vectors_[k], sum, begin, end);
      precondition(chunk, begin, end, sum, z, unused);
    });
    precondition_whole(thread, sum, z, unused);
    for_chunks(thread, [&](std::int64_t /*chunk*/, std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) x_[i] += z[i];
    });
    wait();
    return has_more ? Pause::restarts : pause_of(state);
  }

  /// Append A z to the directions, orthogonal to the first @p n + 1 of them; return its norm.
  double add_direction(std::int64_t thread, std::size_t n, Hessenberg& hessenberg) {
    const auto most = static_cast<std::size_t>(restart_);
    Vector& w = vectors_[n + 1];
    begin_product(thread, vectors_[most + 1]);
    for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
      multiply(begin, end, vectors_[most + 1].data(), w.data());
      for (std::size_t k = 0; k <= n; ++k) {
        sums_[1 + k].part(chunk) = dot(vectors_[k], w, begin, end);
      }
    });
    meet(thread, 1, n + 1);
    for (std::size_t k = 0; k <= n; ++k) hessenberg.at(k, n) = sums_[1 + k].total();
    for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
      for (std::size_t k = 0; k <= n; ++k) add(-hessenberg.at(k, n), vectors_[k], w, begin, end);
      for (std::size_t k = 0; k <= n; ++k) {
        sums_[1 + most + k].part(chunk) = dot(vectors_[k], w, begin, end);
      }
    });
    meet(thread, 1 + most, n + 1);
    Vector corrections(n + 1);
    for (std::size_t k = 0; k <= n; ++k) {
      hessenberg.at(k, n) += corrections[k] = sums_[1 + most + k].total();
    }
    for_chunks(thread, [&](std::int64_t chunk, std::size_t begin, std::size_t end) {
      for (std::size_t k = 0; k <= n; ++k) add(-corrections[k], vectors_[k], w, begin, end);
      sums_[0].part(chunk) = dot(w, w, begin, end);
    });
    meet(thread, std::array{sums_.data()});
    return hessenberg.at(n + 1, n) = std::sqrt(sums_[0].total());
  }

  static void add(double factor, const Vector& from, Vector& to, std::size_t begin,
                  std::size_t end) {
    for (std::size_t i = begin; i < end; ++i) to[i] += factor * from[i];
  }

  const BlockRows<Index>& matrix_;
  std::span<const double> b_;
  std::span<double> x_;
  const KrylovOptions& options_;
  std::int64_t n_chunks_;
  std::int64_t n_threads_;
  std::int64_t restart_;
  std::barrier<> barrier_;
  std::vector<Vector> vectors_;  // [n_rows * dim] each; the first one holds the residual
  Vector inverse_;               // [n_rows * dim] of the diagonal
  Vector product_;               // [n_rows * dim] of a matrix given by products
  Sum bb_;                       // squares of b
  Sum magnitudes_;               // squares of what stands in |A| |x| + |b|
  std::vector<Sum> sums_;        // the first one is that of the residual's squares
  KrylovResult result_;
  std::exception_ptr failure_;
  bool is_stopped_ = false;  // written by thread 0, read by others after a barrier
};

}  // namespace

template <class Index>
KrylovResult solve_krylov(const BlockRows<Index>& matrix, std::span<const double> b,
                          std::span<double> x, const KrylovOptions& options) {
  check_rows(matrix);
  const auto n = static_cast<std::size_t>(matrix.n_rows * matrix.dim);
  const auto n_ghosts = static_cast<std::size_t>(matrix.n_ghosts * matrix.dim);
  const bool fits = b.size() == n && x.size() == n + n_ghosts &&
                    (options.ilu == nullptr || options.ilu->n_rows() == n) &&
                    (options.inverse == nullptr || options.inverse->n_rows() == n);
  if (!fits) {
    throw UsageError(fmt::format("a matrix of {} rows does not fit vectors of {} and {} values", n,
                                 b.size(), x.size()));
  }
  return Solve<Index>(matrix, b, x, options).run();
}

template KrylovResult solve_krylov(const BlockRows<std::int32_t>&, std::span<const double>,
                                   std::span<double>, const KrylovOptions&);
template KrylovResult solve_krylov(const BlockRows<std::int64_t>&, std::span<const double>,
                                   std::span<double>, const KrylovOptions&);

}  // namespace op2::exec
