/* SPDX-License-Identifier: BSD-3-Clause */
/* What a graph would gain on threads if all its loops were in one parallel region.
 *
 * Eight loops that depend on each other, over n numbers: each in a parallel region of its own, as
 * generated loops are, and all in one region, with a barrier behind each. Both take turns; the best
 * round counts.
 *
 *   gcc -O3 -march=native -fopenmp benchmarks/one_region.c -o one_region && ./one_region
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

enum { n_loops = 8 };

static void part(long begin, long end, double *restrict y, const double *restrict x) {
  for (long i = begin; i < end; ++i) y[i] = 0.5 * (y[i] + x[i]);
}

static void share(long n, double *y, const double *x) {
  const long t = omp_get_thread_num(), n_threads = omp_get_num_threads();
  part(n * t / n_threads, n * (t + 1) / n_threads, y, x);
}

static void own_regions(long n, double *x, double *y) {
  for (int loop = 0; loop < n_loops; ++loop) {
#pragma omp parallel
    share(n, loop % 2 ? x : y, loop % 2 ? y : x);
  }
}

static void one_region(long n, double *x, double *y) {
#pragma omp parallel
  for (int loop = 0; loop < n_loops; ++loop) {
    share(n, loop % 2 ? x : y, loop % 2 ? y : x);
#pragma omp barrier
  }
}

static double seconds(void (*run)(long, double *, double *), long n, double *x, double *y,
                      int times) {
  const double start = omp_get_wtime();
  for (int i = 0; i < times; ++i) run(n, x, y);
  return (omp_get_wtime() - start) / times / n_loops;
}

int main(void) {
  const long sizes[] = {600, 6000, 60000, 720000};
  printf("%d threads; microseconds a loop\n", omp_get_max_threads());
  printf("%10s %12s %12s %8s\n", "numbers", "own regions", "one region", "ratio");
  for (int k = 0; k < 4; ++k) {
    const long n = sizes[k];
    double *x = calloc((size_t)n, sizeof *x), *y = calloc((size_t)n, sizeof *y);
    if (x == NULL || y == NULL) return 1;
    for (long i = 0; i < n; ++i) x[i] = (double)i;
    const int times = n < 100000 ? 200 : 20;
    double own = 1e9, one = 1e9;
    for (int round = 0; round < 30; ++round) {
      const double a = seconds(own_regions, n, x, y, times);
      const double b = seconds(one_region, n, x, y, times);
      own = a < own ? a : own;
      one = b < one ? b : one;
    }
    printf("%10ld %12.2f %12.2f %8.2f\n", n, 1e6 * own, 1e6 * one, own / one);
    free(x);
    free(y);
  }
  return 0;
}
