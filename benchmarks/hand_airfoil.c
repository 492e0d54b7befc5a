// SPDX-License-Identifier: BSD-3-Clause
//
// Airfoil's five loops as an engineer writes them by hand for one mesh layout and one machine:
// the peer that generated loops are measured against. AoS arrays, interior edges in blocks of two
// or more colours, `_lanes` variants with one entity a lane where flops dominate.
#include <math.h>
#include <omp.h>

static const double gam = 1.4f;
static const double gm1 = 1.4f - 1.0f;
static const double cfl = 0.9f;
static const double eps = 0.05f;
static const double mach = 0.4f;

typedef double d2 __attribute__((vector_size(16), aligned(8)));
typedef double d4 __attribute__((vector_size(32)));
typedef double d4_unaligned __attribute__((vector_size(32), aligned(8)));
typedef double d8 __attribute__((vector_size(64)));
typedef long long l8 __attribute__((vector_size(64)));
#define SHUFFLE __builtin_shufflevector

static inline d4 load4(const double* p) {
  return *(const d4_unaligned*)p;
}
static inline void add4(double* p, d4 v) {
  *(d4_unaligned*)p = load4(p) + v;
}
static inline d4 load_pair(const double* a, const double* b) {
  const d2 u = *(const d2*)a, v = *(const d2*)b;
  return SHUFFLE(u, v, 0, 1, 2, 3);
}

// Eight rows of four become four columns of eight, and back: the same network of shuffles.
static inline void transpose(d8 r04, d8 r15, d8 r26, d8 r37, d8 out[4]) {
  const d8 a = SHUFFLE(r04, r15, 0, 8, 2, 10, 4, 12, 6, 14);
  const d8 b = SHUFFLE(r04, r15, 1, 9, 3, 11, 5, 13, 7, 15);
  const d8 c = SHUFFLE(r26, r37, 0, 8, 2, 10, 4, 12, 6, 14);
  const d8 d = SHUFFLE(r26, r37, 1, 9, 3, 11, 5, 13, 7, 15);
  out[0] = SHUFFLE(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
  out[1] = SHUFFLE(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
  out[2] = SHUFFLE(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
  out[3] = SHUFFLE(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
}
static inline void transpose_rows(const d4 r[8], d8 out[4]) {
  transpose(SHUFFLE(r[0], r[4], 0, 1, 2, 3, 4, 5, 6, 7),
            SHUFFLE(r[1], r[5], 0, 1, 2, 3, 4, 5, 6, 7),
            SHUFFLE(r[2], r[6], 0, 1, 2, 3, 4, 5, 6, 7),
            SHUFFLE(r[3], r[7], 0, 1, 2, 3, 4, 5, 6, 7), out);
}
static inline d8 sqrt8(d8 v) {
  d8 r;
  for (int l = 0; l < 8; ++l) r[l] = sqrt(v[l]);
  return r;
}
static inline d8 abs8(d8 v) {
  return (d8)((l8)v & 0x7fffffffffffffffLL);
}

void hand_set_threads(int n) {
  omp_set_num_threads(n);
}

void hand_save_soln(int n_cells, const double* restrict q, double* restrict qold) {
#pragma omp parallel for schedule(static)
  for (int i = 0; i < 4 * n_cells; ++i) qold[i] = q[i];
}

static inline double side(double dx, double dy, double u, double v, double c) {
  return fabs(u * dy - v * dx) + c * sqrt(dx * dx + dy * dy);
}

// The corners are packed first: that lets the compiler load and subtract x and y as pairs.
static inline double adt_cell(const double* x, const double* q, const int* node) {
  const double a[2] = {x[2 * node[0]], x[2 * node[0] + 1]};
  const double b[2] = {x[2 * node[1]], x[2 * node[1] + 1]};
  const double c[2] = {x[2 * node[2]], x[2 * node[2] + 1]};
  const double d[2] = {x[2 * node[3]], x[2 * node[3] + 1]};
  const double ri = 1.0 / q[0], u = ri * q[1], v = ri * q[2];
  const double sound = sqrt(gam * gm1 * (ri * q[3] - 0.5 * (u * u + v * v)));
  return (side(b[0] - a[0], b[1] - a[1], u, v, sound) +
          side(c[0] - b[0], c[1] - b[1], u, v, sound) +
          side(d[0] - c[0], d[1] - c[1], u, v, sound) +
          side(a[0] - d[0], a[1] - d[1], u, v, sound)) /
         cfl;
}

// A function of its own: inside the parallel region compilers forget `restrict`, and with it the
// permission to vectorise over cells.
__attribute__((noinline)) static void adt_range(int begin, int end, const double* restrict x,
                                                const double* restrict q, double* restrict adt,
                                                const int* restrict cell2node) {
  for (int i = begin; i < end; ++i) adt[i] = adt_cell(x, q + 4 * i, cell2node + 4 * i);
}

void hand_adt_calc(int n_cells, const double* x, const double* q, double* adt,
                   const int* cell2node) {
  const int chunk = 4096;
#pragma omp parallel for schedule(static)
  for (int begin = 0; begin < n_cells; begin += chunk)
    adt_range(begin, begin + chunk < n_cells ? begin + chunk : n_cells, x, q, adt, cell2node);
}

static inline d8 side8(d8 dx, d8 dy, d8 u, d8 v, d8 c) {
  return abs8(u * dy - v * dx) + c * sqrt8(dx * dx + dy * dy);
}

void hand_adt_calc_lanes(int n_cells, const double* restrict x, const double* restrict q,
                         double* restrict adt, const int* restrict cell2node) {
#pragma omp parallel for schedule(static)
  for (int batch = 0; batch < n_cells / 8; ++batch) {
    const int i = 8 * batch;
    d4 row[8];
    d8 near[4], far[4], state[4];
    for (int l = 0; l < 8; ++l) {
      const int* node = cell2node + 4 * (i + l);
      row[l] = load_pair(x + 2 * node[0], x + 2 * node[1]);
    }
    transpose_rows(row, near);
    for (int l = 0; l < 8; ++l) {
      const int* node = cell2node + 4 * (i + l);
      row[l] = load_pair(x + 2 * node[2], x + 2 * node[3]);
    }
    transpose_rows(row, far);
    for (int l = 0; l < 8; ++l) row[l] = load4(q + 4 * (i + l));
    transpose_rows(row, state);
    const d8 ri = 1.0 / state[0], u = ri * state[1], v = ri * state[2];
    const d8 c = sqrt8(gam * gm1 * (ri * state[3] - 0.5 * (u * u + v * v)));
    const d8 sum = side8(near[2] - near[0], near[3] - near[1], u, v, c) +
                   side8(far[0] - near[2], far[1] - near[3], u, v, c) +
                   side8(far[2] - far[0], far[3] - far[1], u, v, c) +
                   side8(near[0] - far[2], near[1] - far[3], u, v, c);
    const d8 result = sum / cfl;
    for (int l = 0; l < 8; ++l) adt[i + l] = result[l];
  }
  for (int i = n_cells / 8 * 8; i < n_cells; ++i)
    adt[i] = adt_cell(x, q + 4 * i, cell2node + 4 * i);
}

// The flux is written once, over a type that is a double or eight of them.
#define DEFINE_FLUX(NAME, T)                                                            \
  static inline void NAME(T dx, T dy, const T* q1, const T* q2, T adt1, T adt2, T* f) { \
    const T r1 = 1.0 / q1[0], r2 = 1.0 / q2[0];                                         \
    const T p1 = gm1 * (q1[3] - 0.5 * r1 * (q1[1] * q1[1] + q1[2] * q1[2]));            \
    const T p2 = gm1 * (q2[3] - 0.5 * r2 * (q2[1] * q2[1] + q2[2] * q2[2]));            \
    const T w1 = r1 * (q1[1] * dy - q1[2] * dx), w2 = r2 * (q2[1] * dy - q2[2] * dx);   \
    const T mu = 0.5 * (adt1 + adt2) * eps;                                             \
    f[0] = 0.5 * (w1 * q1[0] + w2 * q2[0]) + mu * (q1[0] - q2[0]);                      \
    f[1] = 0.5 * (w1 * q1[1] + p1 * dy + w2 * q2[1] + p2 * dy) + mu * (q1[1] - q2[1]);  \
    f[2] = 0.5 * (w1 * q1[2] - p1 * dx + w2 * q2[2] - p2 * dx) + mu * (q1[2] - q2[2]);  \
    f[3] = 0.5 * (w1 * (q1[3] + p1) + w2 * (q2[3] + p2)) + mu * (q1[3] - q2[3]);        \
  }
DEFINE_FLUX(flux, double)
DEFINE_FLUX(flux8, d8)

struct edges {
  const double *x, *q, *adt;
  double* res;
  const int *edge2node, *edge2cell;
};

static void res_range(int begin, int end, struct edges a) {
  const double* restrict x = a.x, * restrict q = a.q, * restrict adt = a.adt;
  double* restrict res = a.res;
  for (int e = begin; e < end; ++e) {
    const double *x1 = x + 2 * a.edge2node[2 * e], *x2 = x + 2 * a.edge2node[2 * e + 1];
    const int c1 = a.edge2cell[2 * e], c2 = a.edge2cell[2 * e + 1];
    double f[4];
    flux(x1[0] - x2[0], x1[1] - x2[1], q + 4 * c1, q + 4 * c2, adt[c1], adt[c2], f);
    for (int k = 0; k < 4; ++k) res[4 * c1 + k] += f[k];
    for (int k = 0; k < 4; ++k) res[4 * c2 + k] -= f[k];
  }
}

static void res_range_lanes(int begin, int end, struct edges a) {
  const double* restrict x = a.x, * restrict q = a.q, * restrict adt = a.adt;
  double* restrict res = a.res;
  int e = begin;
  for (; e + 8 <= end; e += 8) {
    const int *node = a.edge2node + 2 * e, *cell = a.edge2cell + 2 * e;
    d4 row[8];
    d8 xs[4], q1[4], q2[4], f[4], columns[4], adt1, adt2;
    for (int l = 0; l < 8; ++l) row[l] = load_pair(x + 2 * node[2 * l], x + 2 * node[2 * l + 1]);
    transpose_rows(row, xs);
    for (int l = 0; l < 8; ++l) row[l] = load4(q + 4 * cell[2 * l]);
    transpose_rows(row, q1);
    for (int l = 0; l < 8; ++l) row[l] = load4(q + 4 * cell[2 * l + 1]);
    transpose_rows(row, q2);
    for (int l = 0; l < 8; ++l) adt1[l] = adt[cell[2 * l]];
    for (int l = 0; l < 8; ++l) adt2[l] = adt[cell[2 * l + 1]];
    flux8(xs[0] - xs[2], xs[1] - xs[3], q1, q2, adt1, adt2, f);
    transpose(f[0], f[1], f[2], f[3], columns);
    // Edges of one batch share cells, so their rows are added one after the other.
    for (int l = 0; l < 4; ++l) {
      const d4 increment = SHUFFLE(columns[l], columns[l], 0, 1, 2, 3);
      add4(res + 4 * cell[2 * l], increment);
      add4(res + 4 * cell[2 * l + 1], -increment);
    }
    for (int l = 0; l < 4; ++l) {
      const d4 increment = SHUFFLE(columns[l], columns[l], 4, 5, 6, 7);
      add4(res + 4 * cell[2 * (l + 4)], increment);
      add4(res + 4 * cell[2 * (l + 4) + 1], -increment);
    }
  }
  res_range(e, end, a);
}

// Blocks of one colour share no cell; block b holds the edges from b * block_size.
static void res_blocks(void (*range)(int, int, struct edges), int n_edges, int block_size,
                       int n_colours, const int* offsets, const int* blocks, struct edges a) {
#pragma omp parallel
  for (int colour = 0; colour < n_colours; ++colour) {
#pragma omp for schedule(static)
    for (int k = offsets[colour]; k < offsets[colour + 1]; ++k) {
      const int begin = blocks[k] * block_size;
      range(begin, begin + block_size < n_edges ? begin + block_size : n_edges, a);
    }
  }
}

void hand_res_calc(int n_edges, int block_size, int n_colours, const int* offsets,
                   const int* blocks, const double* x, const double* q, const double* adt,
                   double* res, const int* edge2node, const int* edge2cell) {
  const struct edges a = {x, q, adt, res, edge2node, edge2cell};
  res_blocks(res_range, n_edges, block_size, n_colours, offsets, blocks, a);
}

void hand_res_calc_lanes(int n_edges, int block_size, int n_colours, const int* offsets,
                         const int* blocks, const double* x, const double* q, const double* adt,
                         double* res, const int* edge2node, const int* edge2cell) {
  const struct edges a = {x, q, adt, res, edge2node, edge2cell};
  res_blocks(res_range_lanes, n_edges, block_size, n_colours, offsets, blocks, a);
}

// Two thousand edges cost less than opening a parallel region for them.
void hand_bres_calc(int n_bedges, const double* restrict x, const double* restrict q,
                    const double* restrict adt, double* restrict res, const int* restrict bound,
                    const int* restrict bedge2node, const int* restrict bedge2cell) {
  const double u = sqrt(gam) * mach;
  const double qinf[4] = {1.0, u, 0.0, 1.0 / gm1 + 0.5 * (u * u)};
  for (int e = 0; e < n_bedges; ++e) {
    const double *x1 = x + 2 * bedge2node[2 * e], *x2 = x + 2 * bedge2node[2 * e + 1];
    const double dx = x1[0] - x2[0], dy = x1[1] - x2[1];
    const double* q1 = q + 4 * bedge2cell[e];
    double* r = res + 4 * bedge2cell[e];
    if (bound[e] == 1) {
      const double p = gm1 * (q1[3] - 0.5 * (q1[1] * q1[1] + q1[2] * q1[2]) / q1[0]);
      r[1] += p * dy;
      r[2] -= p * dx;
    } else {
      double f[4];
      // The far field has no time step of its own: the cell's counts for both.
      flux(dx, dy, q1, qinf, adt[bedge2cell[e]], adt[bedge2cell[e]], f);
      for (int k = 0; k < 4; ++k) r[k] += f[k];
    }
  }
}

double hand_update(int n_cells, const double* restrict qold, double* restrict q,
                   double* restrict res, const double* restrict adt) {
  double rms = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : rms)
  for (int i = 0; i < n_cells; ++i) {
    const double adti = 1.0 / adt[i];
    double squares = 0.0;
    for (int k = 4 * i; k < 4 * i + 4; ++k) {
      const double del = adti * res[k];
      q[k] = qold[k] - del;
      res[k] = 0.0;
      squares += del * del;
    }
    rms += squares;
  }
  return rms;
}

// --------------------------------------------------------------- one pass over the cells a stage
//
// The same step restructured: a cell sums the fluxes through its own sides, each computed from both
// of its sides, updates its solution into a second array, and finds the next stage's time step.
// `beyond[4 * i + s]` is the cell behind side s, from corner s to corner s + 1: -1 at a wall, -2
// where the far field begins.

struct stage {
  const double *x, *qold, *q, *adt;
  double *q_new, *adt_new;
  const int *cell2node, *beyond;
};

static double stage_cell(struct stage a, int i) {
  const double u = sqrt(gam) * mach;
  const double qinf[4] = {1.0, u, 0.0, 1.0 / gm1 + 0.5 * (u * u)};
  const int* node = a.cell2node + 4 * i;
  const double* own = a.q + 4 * i;
  double res[4] = {0.0, 0.0, 0.0, 0.0};
  for (int s = 0; s < 4; ++s) {
    const double *from = a.x + 2 * node[s], *to = a.x + 2 * node[(s + 1) % 4];
    const double dx = to[0] - from[0], dy = to[1] - from[1];
    const int beyond = a.beyond[4 * i + s];
    double f[4];
    if (beyond == -1) {
      const double p = gm1 * (own[3] - 0.5 * (own[1] * own[1] + own[2] * own[2]) / own[0]);
      res[1] += p * dy;
      res[2] -= p * dx;
      continue;
    }
    const double* other = beyond < 0 ? qinf : a.q + 4 * beyond;
    flux(dx, dy, own, other, a.adt[i], a.adt[beyond < 0 ? i : beyond], f);
    for (int k = 0; k < 4; ++k) res[k] += f[k];
  }
  const double adti = 1.0 / a.adt[i];
  double squares = 0.0;
  for (int k = 0; k < 4; ++k) {
    const double del = adti * res[k];
    a.q_new[4 * i + k] = a.qold[4 * i + k] - del;
    squares += del * del;
  }
  a.adt_new[i] = adt_cell(a.x, a.q_new + 4 * i, node);
  return squares;
}

static inline void load_rows(const double* from, const int* rows, int stride, d8 out[4]) {
  d4 row[8];
  for (int l = 0; l < 8; ++l) row[l] = load4(from + 4 * rows[stride * l]);
  transpose_rows(row, out);
}

static inline void load_own_rows(const double* from, d8 out[4]) {
  d4 row[8];
  for (int l = 0; l < 8; ++l) row[l] = load4(from + 4 * l);
  transpose_rows(row, out);
}

// Eight cells none of which is at a boundary.
static void stage_lanes(struct stage a, int i, d8* sum) {
  const int *node = a.cell2node + 4 * i, *beyond = a.beyond + 4 * i;
  d4 row[8];
  d8 corner[4][2], pair[4], own[4], other[4], f[4], old[4], adt, adt_other;
  d8 res[4] = {{0}, {0}, {0}, {0}};
  for (int h = 0; h < 2; ++h) {
    for (int l = 0; l < 8; ++l)
      row[l] = load_pair(a.x + 2 * node[4 * l + 2 * h], a.x + 2 * node[4 * l + 2 * h + 1]);
    transpose_rows(row, pair);
    corner[2 * h][0] = pair[0], corner[2 * h][1] = pair[1];
    corner[2 * h + 1][0] = pair[2], corner[2 * h + 1][1] = pair[3];
  }
  load_own_rows(a.q + 4 * i, own);
  for (int l = 0; l < 8; ++l) adt[l] = a.adt[i + l];
  for (int s = 0; s < 4; ++s) {
    load_rows(a.q, beyond + s, 4, other);
    for (int l = 0; l < 8; ++l) adt_other[l] = a.adt[beyond[4 * l + s]];
    const int t = (s + 1) % 4;
    flux8(corner[t][0] - corner[s][0], corner[t][1] - corner[s][1], own, other, adt, adt_other, f);
    for (int k = 0; k < 4; ++k) res[k] += f[k];
  }
  load_own_rows(a.qold + 4 * i, old);
  const d8 adti = 1.0 / adt;
  d8 q[4], columns[4];
  for (int k = 0; k < 4; ++k) {
    const d8 del = adti * res[k];
    q[k] = old[k] - del;
    *sum += del * del;
  }
  transpose(q[0], q[1], q[2], q[3], columns);
  for (int l = 0; l < 4; ++l) {
    *(d4_unaligned*)(a.q_new + 4 * (i + l)) = SHUFFLE(columns[l], columns[l], 0, 1, 2, 3);
    *(d4_unaligned*)(a.q_new + 4 * (i + l + 4)) = SHUFFLE(columns[l], columns[l], 4, 5, 6, 7);
  }
  const d8 ri = 1.0 / q[0], u = ri * q[1], v = ri * q[2];
  const d8 c = sqrt8(gam * gm1 * (ri * q[3] - 0.5 * (u * u + v * v)));
  d8 speed = {0};
  for (int s = 0; s < 4; ++s) {
    const int t = (s + 1) % 4;
    speed += side8(corner[t][0] - corner[s][0], corner[t][1] - corner[s][1], u, v, c);
  }
  speed = speed / cfl;
  for (int l = 0; l < 8; ++l) a.adt_new[i + l] = speed[l];
}

static double stage_range(int begin, int end, struct stage a) {
  d8 sum = {0};
  double squares = 0.0;
  int i = begin;
  for (; i + 8 <= end; i += 8) {
    int at_boundary = 0;
    for (int k = 0; k < 32; ++k) at_boundary |= a.beyond[4 * i + k] < 0;
    if (at_boundary) {
      for (int l = 0; l < 8; ++l) squares += stage_cell(a, i + l);
    } else {
      stage_lanes(a, i, &sum);
    }
  }
  for (; i < end; ++i) squares += stage_cell(a, i);
  for (int l = 0; l < 8; ++l) squares += sum[l];
  return squares;
}

double hand_stage(int n_cells, const double* x, const double* qold, const double* q,
                  const double* adt, double* q_new, double* adt_new, const int* cell2node,
                  const int* beyond) {
  const struct stage a = {x, qold, q, adt, q_new, adt_new, cell2node, beyond};
  const int chunk = 4096;
  double squares = 0.0;
#pragma omp parallel for schedule(static) reduction(+ : squares)
  for (int begin = 0; begin < n_cells; begin += chunk)
    squares += stage_range(begin, begin + chunk < n_cells ? begin + chunk : n_cells, a);
  return squares;
}
