// SPDX-License-Identifier: BSD-3-Clause
//
// Two loops one after the other against the same two in tiles, by hand: what cache tiling of chains
// could gain on a CPU. `heat` adds fluxes of triangles to their vertices and then advances these;
// `jacobi` adds differences along edges to their ends and then advances these. A tile is a range of
// elements; behind it come the targets that no later element touches, so that values which the
// first loop has just used are still in a cache when the second one needs them.
//
//   gcc -O3 -march=native -ffast-math -fno-math-errno -fopenmp tiling.c -lm -o tiling
//   ./tiling [squares to a side, default 1000] [threads, default 1]
#include <math.h>
#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { n_rounds = 9, n_steps = 10 };

/// A mesh, its values, and tiles of its elements.
typedef struct {
  int64_t n_elements, n_targets;
  int arity;
  int32_t* map;                    // [n_elements * arity]
  int64_t n_tiles, *begin, *done;  // [n_tiles + 1] first element, first target that is not done
  double *x, *u, *r, *m;           // [n_targets * 2] for x
} Problem;

static void flow(const double* a, const double* b, const double* c, const double* u, double* f) {
  const double ax = b[0] - a[0], ay = b[1] - a[1], bx = c[0] - a[0], by = c[1] - a[1];
  const double det = ax * by - ay * bx, p = u[1] - u[0], q = u[2] - u[0];
  const double gx = (p * by - q * ay) / det, gy = (q * ax - p * bx) / det;
  const double sense = det > 0.0 ? 0.5 : -0.5;
  f[0] = sense * (gx * by - gy * bx);
  f[1] = sense * (gy * ax - gx * ay);
}

static void add(const Problem* p, int64_t begin, int64_t end) {
  for (int64_t e = begin; e < end; ++e) {
    const int32_t* t = p->map + p->arity * e;
    if (p->arity == 3) {
      const double u[3] = {p->u[t[0]], p->u[t[1]], p->u[t[2]]};
      double f[2];
      flow(p->x + 2 * t[0], p->x + 2 * t[1], p->x + 2 * t[2], u, f);
      p->r[t[0]] += f[0] + f[1];
      p->r[t[1]] -= f[0];
      p->r[t[2]] -= f[1];
    } else {
      const double f = 0.25 * (p->u[t[1]] - p->u[t[0]]);
      p->r[t[0]] += f;
      p->r[t[1]] -= f;
    }
  }
}

static void advance(const Problem* p, int64_t begin, int64_t end) {
  for (int64_t v = begin; v < end; ++v) {
    p->u[v] += p->m[v] * p->r[v];
    p->r[v] = 0.0;
  }
}

/// Elements [first, last) of a thread, and the targets [low, high) that only they touch.
static void one_after_the_other(const Problem* p) {
#pragma omp parallel
  {
    const int64_t n = omp_get_num_threads(), i = omp_get_thread_num();
    // neighbouring halves meet in one row of targets: even threads first, as colours would do
    for (int colour = 0; colour < 2; ++colour) {
      if (i % 2 == colour) add(p, p->n_elements * i / n, p->n_elements * (i + 1) / n);
#pragma omp barrier
    }
    advance(p, p->n_targets * i / n, p->n_targets * (i + 1) / n);
  }
}

/// With several threads each has tiles of its own; what lies between two of them comes last.
static void in_tiles(const Problem* p) {
  if (omp_get_max_threads() == 1) {
    for (int64_t k = 0; k < p->n_tiles; ++k) {
      add(p, p->begin[k], p->begin[k + 1]);
      advance(p, p->done[k], p->done[k + 1]);
    }
    return;
  }
#pragma omp parallel
  {
    const int64_t n = omp_get_num_threads(), i = omp_get_thread_num();
    const int64_t first = p->n_tiles * i / n, last = p->n_tiles * (i + 1) / n;
    for (int64_t k = first; k < last; ++k) {
      const int64_t is_shared = k == last - 1 || (k == first && i > 0);
      if (is_shared) continue;  // touches what the neighbour's tiles touch, too
      add(p, p->begin[k], p->begin[k + 1]);
      if (k > first + 1 || i == 0) advance(p, p->done[k], p->done[k + 1]);
    }
  }
  const int64_t n = omp_get_max_threads();
  for (int64_t i = 0; i < n; ++i) {
    const int64_t first = p->n_tiles * i / n, last = p->n_tiles * (i + 1) / n;
    if (i > 0) add(p, p->begin[first], p->begin[first + 1]);
    add(p, p->begin[last - 1], p->begin[last]);
  }
  for (int64_t i = 0; i < n; ++i) {
    const int64_t first = p->n_tiles * i / n, last = p->n_tiles * (i + 1) / n;
    if (i > 0) advance(p, p->done[first], p->done[first + 2]);
    advance(p, p->done[last - 1], p->done[last]);
  }
}

static void tile(Problem* p, int64_t size) {
  p->n_tiles = (p->n_elements + size - 1) / size;
  p->begin = realloc(p->begin, sizeof(int64_t) * (p->n_tiles + 1));
  p->done = realloc(p->done, sizeof(int64_t) * (p->n_tiles + 1));
  // the first target that some element of a later tile touches
  int64_t open = p->n_targets;
  for (int64_t k = p->n_tiles; k >= 0; --k) {
    const int64_t begin = k * size < p->n_elements ? k * size : p->n_elements;
    const int64_t end = k < p->n_tiles ? p->begin[k + 1] : begin;
    for (int64_t i = p->arity * begin; i < p->arity * end; ++i) {
      if (p->map[i] < open) open = p->map[i];
    }
    p->begin[k] = begin;
    p->done[k] = open;
  }
  p->done[0] = 0;
}

static Problem made(int64_t n, int arity) {
  Problem p = {.arity = arity, .n_targets = (n + 1) * (n + 1)};
  p.map = malloc(sizeof(int32_t) * 6 * (n + 1) * (n + 1));
  int32_t* next = p.map;
  for (int64_t j = 0; j <= n; ++j) {
    for (int64_t i = 0; i <= n; ++i) {
      const int32_t a = (int32_t)(j * (n + 1) + i), b = a + 1, c = a + (int32_t)n + 1, d = c + 1;
      const int32_t found[6] = {a, b, c, d, c, b};
      const int32_t along[2] = {a, b}, up[2] = {a, c};
      if (arity == 3 && i < n && j < n) memcpy(next, found, sizeof(found)), next += 6;
      if (arity == 2 && i < n) memcpy(next, along, sizeof(along)), next += 2;
      if (arity == 2 && j < n) memcpy(next, up, sizeof(up)), next += 2;
    }
  }
  p.n_elements = (next - p.map) / arity;
  p.x = malloc(sizeof(double) * 2 * p.n_targets);
  p.u = malloc(sizeof(double) * p.n_targets);
  p.r = calloc(p.n_targets, sizeof(double));
  p.m = malloc(sizeof(double) * p.n_targets);
  for (int64_t v = 0; v < p.n_targets; ++v) {
    p.x[2 * v] = (double)(v % (n + 1)) / (double)n;
    p.x[2 * v + 1] = (double)(v / (n + 1)) / (double)n;
    p.u[v] = sin(3.0 * p.x[2 * v]) * sin(5.0 * p.x[2 * v + 1]);
    p.m[v] = 0.1;
  }
  return p;
}

/// CPU time of all threads, as others may use the machine, too.
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double seconds(const Problem* p, void (*step)(const Problem*)) {
  const double start = now();
  for (int i = 0; i < n_steps; ++i) step(p);
  return now() - start;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void measure(const char* name, Problem* p) {
  double* const start = malloc(sizeof(double) * p->n_targets);
  double* const wanted = malloc(sizeof(double) * p->n_targets);
  memcpy(start, p->u, sizeof(double) * p->n_targets);
  (void)seconds(p, one_after_the_other);
  memcpy(wanted, p->u, sizeof(double) * p->n_targets);
  for (int64_t size = 1 << 11; size <= 1 << 17; size <<= 2) {
    tile(p, size);
    memcpy(p->u, start, sizeof(double) * p->n_targets);
    (void)seconds(p, in_tiles);
    double apart = 0.0;
    for (int64_t v = 0; v < p->n_targets; ++v) apart = fmax(apart, fabs(p->u[v] - wanted[v]));
    double ratios[n_rounds], times[n_rounds];
    for (int round = 0; round < n_rounds; ++round) {
      times[round] = seconds(p, one_after_the_other);
      ratios[round] = seconds(p, in_tiles) / times[round];
    }
    qsort(ratios, n_rounds, sizeof(double), ascending);
    qsort(times, n_rounds, sizeof(double), ascending);
    printf(
        "%s, tiles of %6ld elements: %.3f of two loops (%.3f to %.3f), which take %.2f ms; "
        "largest difference %.1e\n",
        name, (long)size, ratios[n_rounds / 2], ratios[n_rounds / 4],
        ratios[n_rounds - 1 - n_rounds / 4], 1e3 * times[n_rounds / 2] / n_steps, apart);
  }
}

int main(int argc, char** argv) {
  const int64_t n = argc > 1 ? atoll(argv[1]) : 1000;
  omp_set_num_threads(argc > 2 ? atoi(argv[2]) : 1);
  Problem heat = made(n, 3), jacobi = made(n, 2);
  measure("heat", &heat);
  measure("jacobi", &jacobi);
  return 0;
}
